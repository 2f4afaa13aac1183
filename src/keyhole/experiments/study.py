"""A study: a grid of parts as data (TOML), its findings, and the chapter written from them."""

import hashlib
import importlib
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .. import __version__
from .._internal.atomic_io import write_atomically
from .._internal.output_folder import Folder
from ..core.registry.catalogue import make
from ..core.registry.spec import Spec
from ..data.synthetic_streams import synthetic
from ..errors import ConfigError, KeyholeWarning
from ..figures import Figure, standalone
from ..simulation import play
from .executors import Executor
from .trace_job import Part, Trace, trace
from .traces import enumeration

__all__ = [
    "Agreement",
    "Experiment",
    "Finding",
    "algorithms_of",
    "chapter",
    "learners_digest",
    "names",
    "publish",
    "write_chapter",
]


class Agreement(StrEnum):
    """The verdict on a claim of the paper."""

    CONFIRMED = "confirmed"
    UNDECIDED = "undecided"
    NOT_CONFIRMED = "not confirmed"
    NOTHING = "the paper promises nothing"

    @classmethod
    def where(cls, holds: bool | None) -> "Agreement":
        """Return the verdict on a claim that holds or does not; None if the seeds do not decide."""
        return cls.UNDECIDED if holds is None else cls.CONFIRMED if holds else cls.NOT_CONFIRMED


@dataclass(frozen=True, eq=False)
class Finding:
    """The result of one experiment."""

    verdict: str
    agrees: Mapping[str, Agreement]
    """The verdict on each part of the claim, such as {"for DS-OSLRC": Agreement.CONFIRMED}."""
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    figures: Sequence[Figure]

    def agreement(self) -> str:
        """Return the verdicts in words: one if all are equal, otherwise each with the parts of the claim it is about.

        >>> parts = {"for A": Agreement.CONFIRMED, "for B": Agreement.CONFIRMED, "for C": Agreement.UNDECIDED}
        >>> Finding("", parts, [], [], []).agreement()
        'confirmed for A and B; undecided for C'
        """
        words = [word for word in Agreement if word in self.agrees.values()]
        if len(words) == 1:
            return str(words[0])
        about = {word: [part for part, found in self.agrees.items() if found is word] for word in words}
        return "; ".join(f"{word} {_without_repeated_preposition(parts)}" for word, parts in about.items())

    def table(self) -> str:
        """Return the table as CommonMark."""
        lines = [self.head, ["---"] * len(self.head), *self.rows]
        return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _without_repeated_preposition(parts: Sequence[str]) -> str:
    """Join "for A", "for B" to "for A and B"."""
    preposition = parts[0].partition(" ")[0] + " "
    return enumeration([parts[0], *(part.removeprefix(preposition) for part in parts[1:])])


Progress: TypeAlias = Callable[[int, int], None]
Results: TypeAlias = "Sequence[tuple[Part, Trace]]"

_NAMES = ("rates", "dimension", "sampling", "regret", "oslr", "poslr", "bandit", "edges", "switching", "events")
_LISTS = ("algorithms", "d", "k", "k0", "sigma", "design", "rounds", "w_min", "s0")
_DEFAULTS: Mapping[str, object] = {
    "k0": 0,
    "sigma": 0.1,
    "design": "uniform",
    "time_grid": "log",
    "w_min": 0.0,
    "s0": 0.0,
}


def names() -> tuple[str, ...]:
    """Return the names of the experiments."""
    return _NAMES


class Experiment:
    """One of `names()`, in full or quick size; parts that are on disk are not computed again.

    `also` are further algorithms, such as "mypackage.module:Class", which are run with the settings of each grid.
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
        """Return the parts that are not on disk yet."""
        return [part for part in self.parts if _read(folder, part) is None]

    def judge(self, folder: Path) -> Finding:
        """Return the finding of the experiment from its finished parts."""
        return self._judge([(part, found) for part in self.parts if (found := _read(folder, part)) is not None])


def run(experiments: Sequence[Experiment], folder: Folder, executor: Executor, progress: Progress) -> None:
    """Compute the missing parts, the longest first, so that the processes finish at about the same time."""
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
    """Yield every combination of the lists of a grid, with seeds 0, 1, ..."""
    filled = {**_DEFAULTS, **grid}
    axes = [value if isinstance(value := filled[key], list) else [value] for key in _LISTS]
    time_grid, seeds = str(filled["time_grid"]), filled["seeds"]
    if not isinstance(seeds, int):
        raise ConfigError("a grid must state its number of seeds, such as seeds = 10")
    for algorithm, d, k, k0, sigma, design, rounds, w_min, s0 in product(*axes):
        for seed in range(seeds):
            yield Part(algorithm, d, k, k0, float(sigma), design, rounds, seed, time_grid, float(w_min), float(s0))


def _read(folder: Path, part: Part) -> Trace | None:
    try:
        found: Trace = json.loads((folder / "parts" / f"{part.key}.json").read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return None
    return found


_HEAD = """# The paper, measured

The paper has no experiments. These are ours: they show which of its claims are confirmed when its algorithms are run,
which are not, and how well other algorithms do. Every number below was written by

    {command}

with keyhole {version}. Numbers are medians over seeds, with the 10 % and 90 % quantiles in brackets unless stated
otherwise. The last line of each section gives the size of the experiment; `make measured` repeats all of them at full
size. By default the paper's algorithms run with our tuning (`empirical`), and those of other papers with constants that
we chose (`practical`), not with the constants of the proofs (`theory`); the tables say which, and the
[glossary](concepts.md) defines them under "tuning". Streams are synthetic, so the true weights are known and regret is
measured against them. Two learners are compared seed by seed, on the same rows; the comparison is undecided where the
95 % confidence interval of the median ratio contains 1. At these T the theorems promise nothing yet (`keyhole bounds`
says from which T on they do): a claim that is not confirmed here is not refuted.

Digest of the learners played: `{digest}`. A test computes it again and fails when a learner's predictions have changed:
then run `make measured`.
"""

# The size of the stream on which the digest of a learner is computed.
_ROWS, _D, _K, _K0 = 400, 8, 3, 3


def publish(folder: Folder, experiment: Experiment, finding: Finding) -> None:
    """Write NAME/figure.svg (and figure-2.svg ...), NAME/table.md and NAME/verdict.txt."""
    for i, figure in enumerate(finding.figures):
        place = folder.file(f"{experiment.name}/figure{f'-{i + 1}' if i else ''}.svg")
        write_atomically(place, standalone(figure.svg).encode())
    write_atomically(folder.file(f"{experiment.name}/table.md"), (finding.table() + "\n").encode())
    write_atomically(folder.file(f"{experiment.name}/verdict.txt"), (finding.verdict + "\n").encode())


def chapter(
    findings: "Sequence[tuple[Experiment, Finding]]", command: str, figures: Mapping[str, Sequence[str]]
) -> str:
    """Return all findings as CommonMark; `figures` holds the image links of each experiment."""
    digest = learners_digest(algorithms_of(experiment.name for experiment, _ in findings))
    parts = [_HEAD.format(command=command, version=__version__, digest=digest), _summary(findings)]
    for experiment, finding in findings:
        links = "\n".join(
            f"![{f.title}]({link})" for f, link in zip(finding.figures, figures[experiment.name], strict=True)
        )
        setting = _setting(experiment)
        blocks = (
            f"## {experiment.title}",
            experiment.question,
            f"**{finding.verdict}**",
            finding.table(),
            links,
            setting,
        )
        parts.append("\n\n".join(blocks) + "\n")
    return "\n".join(parts)


def algorithms_of(experiments: Iterable[str]) -> set[str]:
    """Return every algorithm that these experiments run, in full or quick size."""
    sizes = [(name, quick) for name in experiments for quick in (True, False)]
    return {part.algorithm for name, quick in sizes for part in Experiment(name, quick).parts}


def learners_digest(algorithms: Iterable[str]) -> str:
    """Return a digest of the learners' predictions on a small stream; it changes if one of them behaves differently.

    >>> learners_digest(["vaw"]) == learners_digest(["vaw"]) != learners_digest(["fixed-random"])
    True
    """
    found = hashlib.sha256()
    X, y, w = synthetic(_D, _K, _ROWS, seed=0)
    for algorithm in sorted(algorithms):
        spec = Spec.parse(algorithm)
        options: dict[str, Any] = dict(spec.options)
        options |= {"support": np.flatnonzero(w).tolist()} if spec.record.oracle else {}
        k0 = options.pop("k0", _K0 if spec.record.needs_k0 else 0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KeyholeWarning)
            learner = make(spec.name, d=_D, k=_D if spec.record.buys_all else _K, k0=k0, seed=0, **options)
            predictions = play(learner, X, y, keep=False).predictions
        # Six digits, because the last bits may differ between machines.
        found.update(algorithm.encode() + " ".join(f"{p:.6g}" for p in predictions).encode())
    return found.hexdigest()[:16]


def write_chapter(path: Path, findings: "Sequence[tuple[Experiment, Finding]]", command: str) -> None:
    """Write the chapter, and replace its images in the folder `figures` beside it."""
    place = path.parent / "figures"
    place.mkdir(exist_ok=True)
    links: dict[str, list[str]] = {}
    for experiment, finding in findings:
        for i, figure in enumerate(finding.figures):
            name = f"measured-{experiment.name}{f'-{i + 1}' if i else ''}.svg"
            write_atomically(place / name, standalone(figure.svg).encode())
            links.setdefault(experiment.name, []).append(f"figures/{name}")
    write_atomically(path, chapter(findings, command, links).encode())


def _summary(findings: "Sequence[tuple[Experiment, Finding]]") -> str:
    """Return a table of the verdicts, one line per experiment."""
    lines = [f"| [{e.title}](#{_anchor(e.title)}) | {f.agreement()} |" for e, f in findings]
    return "\n".join(["| experiment | the paper's claim is |", "|---|---|", *lines]) + "\n"


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


def _setting(experiment: Experiment) -> str:
    parts = experiment.parts
    fields = {"d": "d", "k": "k", "k0": "k0", "sigma": "sigma", "T": "rounds"}
    values = {letter: sorted({getattr(part, field) for part in parts}) for letter, field in fields.items()}
    shown = [f"{letter} = {'/'.join(f'{v:g}' for v in found)}" for letter, found in values.items() if found != [0]]
    seeds = sorted({1 + max(p.seed for p in group) for group in _cells(parts)})
    size = "quick" if experiment.quick else "full"
    return f"*{', '.join(shown)}, {'/'.join(map(str, seeds))} seeds; `keyhole study {experiment.name}` ({size} size).*"


def _cells(parts: "Sequence[Part]") -> "list[list[Part]]":
    """Group the parts that differ only by their seed."""
    cells: dict[Part, list[Part]] = {}
    for part in parts:
        cells.setdefault(replace(part, seed=0), []).append(part)
    return list(cells.values())
