"""One part of an experiment: a learner on a synthetic stream with a seed, looked at now and then while it plays."""

import hashlib
import json
import warnings
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TypedDict

import numpy as np

from .. import __version__, _core
from .._internal.typing import Floats, Ints
from ..core.learner import Learner
from ..core.registry.catalogue import make, options_of
from ..core.registry.spec import Spec
from ..data.synthetic_streams import synthetic
from ..errors import KeyholeWarning
from ..simulation import play

__all__ = ["Part", "Trace", "trace"]

_LOOKS = {"log": 30, "even": 200}
# The packages that decide what a learner does on a synthetic stream.
_SOURCES = ("_internal", "core", "data", "estimation", "theory", "algorithms", "simulation")


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
    """When to look: "log" (30 times, evenly apart in ln t) or "even" (200 times)."""

    @property
    def key(self) -> str:
        """A name for the part's file: equal for equal parts, as long as the sources they are made of are the same."""
        text = json.dumps({"version": __version__, "source": _source(), **asdict(self)}, sort_keys=True)
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
    size: list[float]
    """|w_hat|_1 / |w*|_1."""
    found: list[float]
    """The share of the true support in the learner's."""
    fits: list[float]
    """Whether w* satisfies the Dantzig constraint of that moment (gamma_s is large enough); NaN where there is none."""


@cache
def _source() -> str:
    """A digest of the sources and the compiled core behind a trace: when one changes, parts are played again."""
    package = Path(__file__).parents[1]
    sources = [path for folder in _SOURCES for path in sorted((package / folder).rglob("*.py"))]
    digest = hashlib.sha256()
    for path in (*sources, Path(__file__), Path(_core.__file__)):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def trace(part: Part) -> Trace:
    """Play the part."""
    X, y, w = synthetic(part.d, part.k, part.rounds, sigma=part.sigma, design=part.design, seed=part.seed)
    learner, rival = _learner(part, w), (y - X @ w) ** 2
    seen = Trace(t=[], s=[], regret=[], exploring=[], error=[], size=[], found=[], fits=[])
    start, s, total, exploring = 0, 0, 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KeyholeWarning)  # what they say is in the table
        for end in looks(part.rounds, part.looks):
            history = play(learner, X[start:end], y[start:end], keep=False)
            excess = history.losses - rival[start:end]
            total += float(excess.sum())
            exploring += float(excess[history.explored].sum())
            s += int(history.explored.sum())
            _look(seen, learner, w)
            for name, value in (("t", end), ("s", s), ("regret", total), ("exploring", exploring)):
                seen[name].append(value)  # type: ignore[literal-required]
            start = end
    return seen


def looks(rounds: int, how: str) -> list[int]:
    """The rounds after which to look; the last is always one."""
    n = min(_LOOKS[how], rounds)
    ends = np.geomspace(min(10, rounds), rounds, n) if how == "log" else np.linspace(rounds / n, rounds, n)
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
    options = dict(spec.options)
    if "support" in options_of(spec.name):
        options["support"] = [int(i) for i in np.flatnonzero(w)]
    seed = int(np.random.SeedSequence([part.seed, 1]).generate_state(1)[0])  # not the stream's own numbers again
    return make(spec.name, d=part.d, k=part.k, k0=part.k0, seed=seed, **options)  # type: ignore[arg-type]
