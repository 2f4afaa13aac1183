"""Online sparse linear regression when every attribute costs something.

>>> import keyhole as kh
>>> learner = kh.make("ds-oslrc", d=20, k=4, seed=0)
>>> r = learner.ask()                               # which attributes to buy
>>> y_hat = learner.predict(r, [0.1, 0.2, 0.3, 0.4])
>>> learner.tell(r, [0.1, 0.2, 0.3, 0.4], y=0.5)
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.3.0.dev0"

if TYPE_CHECKING:
    from . import data, experiments, theory
    from .core.learner import Acquisition, Learner
    from .core.registry.catalogue import Algorithm, list_algorithms
    from .core.registry.footprint import footprint
    from .core.registry.making import make
    from .core.round import Round
    from .core.serialization import load
    from .data import streams
    from .errors import ConfigError, KeyholeWarning, ProtocolError, StateError
    from .estimation import dantzig, sampling
    from .estimation import dantzig_width as tuning
    from .integrations.dantzig_selector import DantzigSelector, DantzigSelectorCV
    from .service.client import connect
    from .simulation import History, play
    from .store import open_store

# Where each public name lives; nothing is imported before it is used.
_HOME = {
    "Acquisition": "core.learner",
    "Algorithm": "core.registry.catalogue",
    "ConfigError": "errors",
    "DantzigSelector": "integrations.dantzig_selector",
    "DantzigSelectorCV": "integrations.dantzig_selector",
    "History": "simulation",
    "KeyholeWarning": "errors",
    "Learner": "core.learner",
    "ProtocolError": "errors",
    "Round": "core.round",
    "StateError": "errors",
    "footprint": "core.registry.footprint",
    "list_algorithms": "core.registry.catalogue",
    "connect": "service.client",
    "load": "core.serialization",
    "make": "core.registry.catalogue",
    "open_store": "store",
    "play": "simulation",
}
_MODULES = {
    "dantzig": "estimation.dantzig",
    "data": "data",
    "sampling": "estimation.sampling",
    "streams": "data.streams",
    "experiments": "experiments",
    "theory": "theory",
    "tuning": "estimation.dantzig_width",
}

__all__ = [
    "Acquisition",
    "Algorithm",
    "ConfigError",
    "DantzigSelector",
    "DantzigSelectorCV",
    "History",
    "KeyholeWarning",
    "Learner",
    "ProtocolError",
    "Round",
    "StateError",
    "connect",
    "dantzig",
    "data",
    "experiments",
    "footprint",
    "list_algorithms",
    "load",
    "make",
    "open_store",
    "play",
    "sampling",
    "streams",
    "theory",
    "tuning",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f".{_MODULES[name]}", __name__)
    if name in _HOME:
        try:
            found: object = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
        except ModuleNotFoundError as missing:
            if (missing.name or "").split(".")[0] != "sklearn":
                raise
            from .errors import ConfigError

            raise ConfigError(f"{name} needs scikit-learn; install it with: pip install 'keyhole[sklearn]'") from None
        globals()[name] = found
        return found
    raise AttributeError(f"module 'keyhole' has no attribute '{name}'")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
