"""An experiment: a grid of parts as data (TOML), what is finished on disk, and a judgement of the whole."""

import importlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import product
from pathlib import Path
from typing import TypeAlias

from .._internal.atomic_io import write_atomically
from .._internal.output_folder import Folder
from ..errors import ConfigError
from .executors import Executor
from .finding import Finding
from .trace_job import Part, Trace, trace

__all__ = ["Experiment", "names"]

Progress: TypeAlias = Callable[[int, int], None]
Results: TypeAlias = "Sequence[tuple[Part, Trace]]"

_NAMES = ("rates", "dimension", "sampling", "regret", "oslr", "poslr", "bandit", "edges", "switching", "events")
_LISTS = ("algorithms", "d", "k", "k0", "sigma", "design", "rounds", "w_min", "s0")
_DEFAULTS: Mapping[str, object] = {"k0": 0, "sigma": 0.1, "design": "uniform", "looks": "log", "w_min": 0.0, "s0": 0.0}


def names() -> tuple[str, ...]:
    """The experiments there are."""
    return _NAMES


class Experiment:
    """One of `names()`, whole or quick; parts that are on disk are not played again, whoever played them.

    `also` are further algorithms, such as "mypackage.module:Class", played with the settings of each grid.
    """

    def __init__(self, name: str, quick: bool = False, also: Sequence[str] = ()) -> None:
        if name not in _NAMES:
            raise ConfigError(f"there is no experiment '{name}'; there are: {', '.join(_NAMES)}, and all")
        self.name, self.quick = name, quick
        text = resources.files(__package__).joinpath("studies", f"{name}.toml").read_text(encoding="utf-8")
        data = tomllib.loads(text)
        self.title, self.question = str(data["title"]), str(data["question"])
        grids = data["quick" if quick else "full"]
        parts = [part for grid in grids for part in expand(grid)]
        parts += [part for grid in grids for part in expand({**grid, "algorithms": list(also)})] if also else []
        self.parts = list(dict.fromkeys(parts))
        module = importlib.import_module(f".studies.{name}_study", __package__)
        self._judge: Callable[[Results], Finding] = module.judge

    def missing(self, folder: Path) -> list[Part]:
        """The parts that are not on disk yet."""
        return [part for part in self.parts if _read(folder, part) is None]

    def judge(self, folder: Path) -> Finding:
        """What the finished parts say."""
        return self._judge([(part, found) for part in self.parts if (found := _read(folder, part)) is not None])


def run(experiments: Sequence[Experiment], folder: Folder, executor: Executor, progress: Progress) -> None:
    """Play what is missing, the longest first, so that no process is left alone with it at the end."""
    place = folder.subfolder("parts")
    every = {part.key: part for experiment in experiments for part in experiment.parts}
    missing = [part for part in every.values() if _read(folder.path, part) is None]
    missing.sort(key=lambda part: -part.rounds * part.d)
    done = len(every) - len(missing)
    progress(done, len(every))
    for part, found in executor.run(missing, trace) if missing else iter(()):
        write_atomically(place / f"{part.key}.json", json.dumps(found).encode())
        done += 1
        progress(done, len(every))


def expand(grid: Mapping[str, object]) -> Iterator[Part]:
    """Every combination of the lists of a grid, with seeds 0, 1, ..."""
    filled = {**_DEFAULTS, **grid}
    axes = [value if isinstance(value := filled[key], list) else [value] for key in _LISTS]
    looks, seeds = str(filled["looks"]), filled["seeds"]
    if not isinstance(seeds, int):
        raise ConfigError("a grid says with how many seeds it is played: seeds = 10")
    for algorithm, d, k, k0, sigma, design, rounds, w_min, s0 in product(*axes):
        for seed in range(seeds):
            yield Part(algorithm, d, k, k0, float(sigma), design, rounds, seed, looks, float(w_min), float(s0))


def _read(folder: Path, part: Part) -> Trace | None:
    try:
        found: Trace = json.loads((folder / "parts" / f"{part.key}.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    return found
