"""The grid that was tried for each peer, and the setting that its default is.

A peer is tuned on the league's streams with seeds of its own (100 and up) by `tune.py`; the league plays the defaults.
What `chosen` gives is read off the learner's class, so that it cannot differ from what is played.
"""

import importlib
import inspect
from itertools import product

import keyhole as kh
from _bench import Options

GRIDS: dict[str, dict[str, list[object]]] = {
    "ds-oslrc": {
        "explore": ["squares", "2 t^(-1/3)"],
        "sampling": ["paper", "uniform"],
        "reset": ["paper", "partial"],
    },
    "aer": {
        "step": [0.1, 0.3, 1.0, 3.0],
        "average": [0.0, 3.0],
        "explore": ["squares", "2 t^(-1/3)", "4 t^(-1/3)"],
        "exploit": ["weights", "newton"],
    },
    "aerr": {
        "step": [0.01, 0.03, 0.1, 0.3],
        "average": [0.0, 3.0],
        "explore": ["squares", "2 t^(-1/3)", "4 t^(-1/3)"],
        "exploit": ["weights", "newton"],
    },
    "aelr": {
        "step": [1.0, 3.0, 10.0, 30.0],
        "average": [0.0, 3.0],
        "explore": ["squares", "2 t^(-1/3)", "4 t^(-1/3)"],
        "exploit": ["weights", "newton"],
    },
    "olin-lasso": {"c": [0.01, 0.02, 0.05, 0.1, 1.0], "n0": [50, 200, 1000, 4000]},
    "rda": {"gamma": [1.0, 1.5, 2.0, 3.0, 5.0], "lam": [0.0, 0.0003, 0.001, 0.003], "rho": [0.0, 0.005, 0.02]},
    "i-lamm": {"penalty": ["scad", "mcp"], "c": [0.02, 0.05, 0.1, 0.2, 0.5, 1.0], "share": [0.0, 0.03]},
    "vaw": {"a": [0.01, 0.1, 1.0, 10.0]},
    "fixed-random": {"tuning": ["practical", "theory"], "eps": [0.01, 0.03, 0.1, 0.3, 1.0]},
    "oracle-support": {"tuning": ["practical", "theory"], "eps": [0.01, 0.03, 0.1, 0.3, 1.0]},
}

# Where a default must be the paper's letter, the league plays the best of the grid beside it. Six seeds do not tell the
# paper's sampling from the uniform one; the paper's is kept.
TUNED: dict[str, dict[str, object]] = {
    "ds-oslrc": {"explore": "2 t^(-1/3)", "sampling": "paper", "reset": "partial"},
}


def points(name: str) -> list[Options]:
    """Every combination of a learner's grid."""
    grid = GRIDS[name]
    return [tuple(zip(grid, values, strict=True)) for values in product(*grid.values())]


def chosen(name: str) -> Options:
    """What the default is on the axes of the grid."""
    module, cls = next(a.path for a in kh.list_algorithms() if a.name == name).split(":")
    learner = getattr(importlib.import_module(module), cls)
    defaults = {p.name: p.default for p in inspect.signature(learner).parameters.values()}
    preset = getattr(learner, "presets", {}).get(defaults.get("tuning"), {})
    axes = GRIDS.get(name, {})
    return tuple((axis, defaults[axis] if defaults[axis] is not None else preset[axis]) for axis in axes)


def text(options: Options) -> str:
    """A setting as it would be typed."""
    return ", ".join(f"{key}={value!r}" for key, value in options)
