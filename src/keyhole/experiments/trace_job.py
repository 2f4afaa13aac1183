"""One part of an experiment: a learner on a synthetic stream with a seed, observed at intervals."""

import ast
import hashlib
import json
import time
import warnings
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

import numpy as np

from .. import __version__
from .._internal.typing import Floats, Ints
from ..core.learner import Learner
from ..core.registry.catalogue import make, options_of, record
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Spec
from ..data.synthetic_streams import synthetic
from ..errors import KeyholeWarning
from ..simulation import play
from ..theory import Constants, oracle_trace

__all__ = ["Part", "Trace", "source_digest", "trace"]

_ROOT = Path(__file__).parents[1]


def source_digest(file: Path) -> str:
    """Return 16 hexadecimal digits that change with the file, any file of the package it imports, or the compiled core.

    >>> source_digest(Path(__file__)) == source_digest(Path(__file__))
    True
    """
    reached, open_ = set(), [file.resolve()]
    while open_:
        path = open_.pop()
        if path not in reached:
            reached.add(path)
            open_ += _imports(path)
    total = sha256(_core().encode())
    for path in sorted(reached):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]


@lru_cache(maxsize=1)
def _core() -> str:
    """Return the digest of the compiled core; that of no bytes if it is not built."""
    files = sorted(p for p in _ROOT.glob("_core.*") if p.suffix in (".so", ".pyd"))
    return sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


@lru_cache(maxsize=1024)
def _imports(path: Path) -> tuple[Path, ...]:
    """Return the files of the package that a file imports, anywhere in the file."""
    found: list[Path] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else _ROOT.parent
            module = base.joinpath(*(node.module or "").split(".")) if node.module else base
            found += [module, *(module / alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [_ROOT.parent.joinpath(*alias.name.split(".")) for alias in node.names]
    files = [file for place in found for file in (place.with_suffix(".py"), place / "__init__.py")]
    return tuple(file.resolve() for file in files if _ROOT in file.parents and file.is_file())


# The failure probability of one event, for the paper's constants.
_DELTA = 0.01
_GRID_SIZES = {"log": 30, "even": 200, "phases": 120}


@dataclass(frozen=True)
class Part:
    """The parameters that determine a trace."""

    algorithm: str
    """The algorithm as on the command line: "ds-oslrc[tuning=theory]"."""
    d: int
    k: int
    """The number of relevant attributes, and the budget."""
    k0: int
    sigma: float
    design: str
    rounds: int
    seed: int
    time_grid: str = "log"
    """When to record: "log" (30 times, evenly in ln t), "phases" (120 times, in ln t from t = 1) or "even" (200)."""
    w_min: float = 0.0
    """h(w*), the smallest true weight; 0: as drawn."""
    s0: float = 0.0
    """If not 0: delta_S is scaled so that the paper's s0 is this number, and every exploration is compared with gamma_s
    and Lemma 2 (`kh.theory.oracle_trace`)."""

    @property
    def key(self) -> str:
        """The name of the part's file: equal for equal parts, as long as their source files are unchanged."""
        text = json.dumps(
            {"version": __version__, "source": _source(Spec.parse(self.algorithm).name), **asdict(self)}, sort_keys=True
        )
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Trace(TypedDict):
    """The observations of a part of an experiment; one entry per observed round."""

    t: list[int]
    s: list[int]
    """The number of explorations so far."""
    regret: list[float]
    """Regret against the true weights."""
    exploring: list[float]
    """The part of the regret from exploration rounds."""
    error: list[float]
    """|w_hat - w*|_1 of the learner's estimate."""
    error_l2: list[float]
    """|w_hat - w*|_2."""
    size: list[float]
    """|w_hat|_1 / |w*|_1."""
    found: list[float]
    """The share of the true support in the learner's support."""
    fits: list[float]
    """Whether w* satisfies the current Dantzig constraint (gamma_s is large enough); NaN if there is none."""
    gamma: list[float]
    """The largest gamma_s / gamma_hat_s since the previous look; NaN without `s0`."""
    bound: list[float]
    """The largest ratio of the support error to Lemma 2's bound since the previous look; NaN without `s0`."""
    seconds: list[float]
    """CPU time so far; the only column that is not reproducible."""


@cache
def _source(name: str) -> str:
    """Return a digest of all source files behind a learner and a trace, so that a part is computed again if one of them
    changes.
    """
    import_algorithm(name)
    origin = find_spec(record(name).path.partition(":")[0]).origin  # type: ignore[union-attr]
    return " ".join(source_digest(Path(str(file))) for file in (origin, __file__))


def trace(part: Part) -> Trace:
    """Run the part and return its trace."""
    X, y, w = synthetic(part.d, part.k, part.rounds, part.sigma, part.design, part.seed, part.w_min or None)
    learner, rival = _learner(part, w), (y - X @ w) ** 2
    seen: Trace = {name: [] for name in Trace.__annotations__}  # type: ignore[assignment]
    oracle = _Oracle(part, learner, w) if part.s0 else None
    start, s, total, exploring, seconds = 0, 0, 0.0, 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KeyholeWarning)  # the table contains what they say
        for end in time_grid(part.rounds, part.time_grid):
            # The oracle needs the estimate after every exploration, so rows are played one by one.
            for stop in range(start + 1, end + 1) if oracle else (end,):
                began = time.process_time()
                history = play(learner, X[start:stop], y[start:stop], keep=False)
                seconds += time.process_time() - began
                excess = history.losses - rival[start:stop]
                total += float(excess.sum())
                exploring += float(excess[history.explored].sum())
                s += int(history.explored.sum())
                if oracle and history.explored[-1]:
                    oracle.note(learner)
                start = stop
            _record(seen, learner, w)
            for name, value in (
                ("t", end),
                ("s", s),
                ("regret", total),
                ("exploring", exploring),
                ("seconds", seconds),
            ):
                seen[name].append(value)  # type: ignore[literal-required]
    if oracle:
        seen["gamma"], seen["bound"] = oracle.between(seen["s"])
    else:
        seen["gamma"] = seen["bound"] = [float("nan")] * len(seen["t"])
    return seen


class _Oracle:
    """The estimates of a learner after each exploration, compared with the statements of the proofs."""

    def __init__(self, part: Part, learner: Learner, w: Floats) -> None:
        self.w, self.constants = w, scaled_constants(part)
        self.estimates = [estimate_of(learner).copy()]

    def note(self, learner: Learner) -> None:
        self.estimates.append(estimate_of(learner).copy())

    def between(self, ends: list[int]) -> tuple[list[float], list[float]]:
        """Return the largest gamma_s / gamma_hat_s and the largest error / bound between recorded rounds; NaN if there
        was no exploration.
        """
        found = oracle_trace(self.constants, np.array(self.estimates), self.w)
        spans = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
        ratios = found.gamma / found.gamma_hat, found.error / found.bound
        gamma, bound = ([float(r[span].max()) if r[span].size else float("nan") for span in spans] for r in ratios)
        return gamma, bound


def scaled_constants(part: Part) -> Constants:
    """Return the paper's constants of a part, with delta_S chosen so that s0 has the value that the part states."""
    k0 = part.k0 or None
    return Constants(part.d, part.k, part.sigma, delta_s=1.0, delta=_DELTA, k0=k0).with_s0(part.s0)


def time_grid(rounds: int, how: str) -> list[int]:
    """Return the rounds after which the learner is recorded; the last round is always included."""
    n = min(_GRID_SIZES[how], rounds)
    if how == "even":
        ends = np.linspace(rounds / n, rounds, n)
    else:
        ends = np.geomspace(min(10 if how == "log" else 1, rounds), rounds, n)
    return sorted({round(float(end)) for end in ends})


def estimate_of(learner: Learner) -> Floats:
    """Return w_hat: the Dantzig estimate, the explorer's average, or else the weights."""
    w_hat: Floats | None = getattr(getattr(learner, "estimate", None), "w_hat", None)
    if w_hat is not None:
        return w_hat
    total, explorer = getattr(learner, "total", None), getattr(learner, "explorer", None)
    if total is not None and explorer is not None and explorer.tally[0] > 0:
        return np.asarray(total / explorer.tally[0])
    return learner.weights


def _record(seen: Trace, learner: Learner, w: Floats) -> None:
    w_hat, S = estimate_of(learner), np.flatnonzero(w)
    seen["error"].append(float(np.abs(w_hat - w).sum()))
    seen["error_l2"].append(float(np.linalg.norm(w_hat - w)))
    seen["size"].append(float(np.abs(w_hat).sum() / np.abs(w).sum()))
    seen["found"].append(float(np.isin(S, learner.support).mean()))
    seen["fits"].append(_fits(learner, w, S))


def _fits(learner: Learner, w: Floats, S: Ints) -> float:
    """Return 1 if the true weights w* satisfy the Dantzig constraint, |b - H w*| <= s gamma_s in every coordinate,
    otherwise 0; NaN if the learner has no Dantzig estimate yet.
    """
    estimate = getattr(learner, "estimate", None)
    seq, width = getattr(estimate, "seq", None), getattr(estimate, "width", None)
    if seq is None or width is None or not seq.s:
        return float("nan")
    slack = np.abs(seq.b - seq.H[:, S] @ w[S])
    return float((slack <= seq.s * width.gamma(seq.s)).all())


def _learner(part: Part, w: Floats) -> Learner:
    spec = Spec.parse(part.algorithm)
    import_algorithm(spec.name)
    options = dict(spec.options)
    if "support" in options_of(spec.name):
        options["support"] = [int(i) for i in np.flatnonzero(w)]
    if part.s0:
        options |= {"sigma": part.sigma, "delta": _DELTA, "delta_s": scaled_constants(part).delta_s}
    seed = int(np.random.SeedSequence([part.seed, 1]).generate_state(1)[0])  # independent of the stream's generator
    return make(spec.name, d=part.d, k=part.k, k0=part.k0, seed=seed, **options)  # type: ignore[arg-type]
