"""One part of an experiment: a learner on a synthetic stream with a seed, looked at now and then while it plays."""

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
    """16 hexadecimal digits that change where the file, a file of the package that it reaches, or the core changes.

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
    """The compiled core's own digest; empty where it is not built."""
    files = sorted(p for p in _ROOT.glob("_core.*") if p.suffix in (".so", ".pyd"))
    return sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


@lru_cache(maxsize=1024)
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of the package that a file imports, wherever the import stands."""
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


# The failure probability of one event, where the paper's constants are needed.
_DELTA = 0.01
_LOOKS = {"log": 30, "even": 200, "phases": 120}


@dataclass(frozen=True)
class Part:
    """What decides a trace."""

    algorithm: str
    """As on the command line: "ds-oslrc[tuning=theory]"."""
    d: int
    k: int
    """Attributes that matter, and the budget."""
    k0: int
    sigma: float
    design: str
    rounds: int
    seed: int
    looks: str = "log"
    """When to look: "log" (30 times, evenly apart in ln t), "phases" (120 times so, from t = 1 on) or "even" (200)."""
    w_min: float = 0.0
    """h(w*), the smallest true weight; 0: as it is drawn."""
    s0: float = 0.0
    """Where not 0: delta_S is scaled so that the paper's s0 is this number, and every exploration is held against
    gamma_s and Lemma 2 (`kh.theory.oracle_trace`)."""

    @property
    def key(self) -> str:
        """A name for the part's file: equal for equal parts, as long as the sources they are made of are the same."""
        text = json.dumps(
            {"version": __version__, "source": _source(Spec.parse(self.algorithm).name), **asdict(self)}, sort_keys=True
        )
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Trace(TypedDict):
    """What was seen; one entry per look."""

    t: list[int]
    s: list[int]
    """Explorations so far."""
    regret: list[float]
    """Against the true weights."""
    exploring: list[float]
    """The part of it from rounds that explore."""
    error: list[float]
    """|w_hat - w*|_1 of the learner's estimate."""
    error_l2: list[float]
    """|w_hat - w*|_2."""
    size: list[float]
    """|w_hat|_1 / |w*|_1."""
    found: list[float]
    """The share of the true support in the learner's."""
    fits: list[float]
    """Whether w* satisfies the Dantzig constraint of that moment (gamma_s is large enough); NaN where there is none."""
    gamma: list[float]
    """The largest gamma_s / gamma_hat_s since the look before; NaN without `s0`."""
    bound: list[float]
    """The largest error on the support over Lemma 2's bound since the look before; NaN without `s0`."""
    seconds: list[float]
    """CPU time of playing so far; the only column that is not the same twice."""


@cache
def _source(name: str) -> str:
    """A digest of every source that a learner and a trace are made of: where one changes, parts are played again."""
    import_algorithm(name)
    origin = find_spec(record(name).path.partition(":")[0]).origin  # type: ignore[union-attr]
    return " ".join(source_digest(Path(str(file))) for file in (origin, __file__))


def trace(part: Part) -> Trace:
    """Play the part."""
    X, y, w = synthetic(part.d, part.k, part.rounds, part.sigma, part.design, part.seed, part.w_min or None)
    learner, rival = _learner(part, w), (y - X @ w) ** 2
    seen: Trace = {name: [] for name in Trace.__annotations__}  # type: ignore[assignment]
    oracle = _Oracle(part, learner, w) if part.s0 else None
    start, s, total, exploring, seconds = 0, 0, 0.0, 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KeyholeWarning)  # what they say is in the table
        for end in looks(part.rounds, part.looks):
            # The oracle needs the estimate after every exploration, so that it is played row by row.
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
            _look(seen, learner, w)
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
    """The estimates of a learner after each exploration, against what the proofs say of them."""

    def __init__(self, part: Part, learner: Learner, w: Floats) -> None:
        self.w, self.constants = w, scaled_constants(part)
        self.estimates = [estimate_of(learner).copy()]

    def note(self, learner: Learner) -> None:
        self.estimates.append(estimate_of(learner).copy())

    def between(self, looks: list[int]) -> tuple[list[float], list[float]]:
        """The largest gamma_s / gamma_hat_s and error / bound of the explorations between two looks; NaN for none."""
        found = oracle_trace(self.constants, np.array(self.estimates), self.w)
        spans = [slice(start, end) for start, end in zip([0, *looks], looks, strict=False)]
        ratios = found.gamma / found.gamma_hat, found.error / found.bound
        gamma, bound = ([float(r[span].max()) if r[span].size else float("nan") for span in spans] for r in ratios)
        return gamma, bound


def scaled_constants(part: Part) -> Constants:
    """The paper's constants of a part, with delta_S such that s0 is the part's."""
    k0 = part.k0 or None
    return Constants(part.d, part.k, part.sigma, delta_s=1.0, delta=_DELTA, k0=k0).with_s0(part.s0)


def looks(rounds: int, how: str) -> list[int]:
    """The rounds after which to look; the last is always one."""
    n = min(_LOOKS[how], rounds)
    if how == "even":
        ends = np.linspace(rounds / n, rounds, n)
    else:
        ends = np.geomspace(min(10 if how == "log" else 1, rounds), rounds, n)
    return sorted({round(float(end)) for end in ends})


def estimate_of(learner: Learner) -> Floats:
    """w_hat: the Dantzig estimate, the explorer's average, or else the weights."""
    w_hat: Floats | None = getattr(getattr(learner, "estimate", None), "w_hat", None)
    if w_hat is not None:
        return w_hat
    total, explorer = getattr(learner, "total", None), getattr(learner, "explorer", None)
    if total is not None and explorer is not None and explorer.tally[0] > 0:
        return np.asarray(total / explorer.tally[0])
    return learner.weights


def _look(seen: Trace, learner: Learner, w: Floats) -> None:
    w_hat, S = estimate_of(learner), np.flatnonzero(w)
    seen["error"].append(float(np.abs(w_hat - w).sum()))
    seen["error_l2"].append(float(np.linalg.norm(w_hat - w)))
    seen["size"].append(float(np.abs(w_hat).sum() / np.abs(w).sum()))
    seen["found"].append(float(np.isin(S, learner.support).mean()))
    seen["fits"].append(_fits(learner, w, S))


def _fits(learner: Learner, w: Floats, S: Ints) -> float:
    """Whether |b - H w*| <= s gamma_s everywhere."""
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
    seed = int(np.random.SeedSequence([part.seed, 1]).generate_state(1)[0])  # not the stream's own numbers again
    return make(spec.name, d=part.d, k=part.k, k0=part.k0, seed=seed, **options)  # type: ignore[arg-type]
