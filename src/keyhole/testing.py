"""`check_learner(factory)`: a battery of checks that every learner must pass, including user-defined ones.

>>> import keyhole as kh
>>> check_learner(lambda seed: kh.make("fixed-random", d=9, k=3, seed=seed))
"""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ._internal.typing import Bools, Floats
from .core.learner import Learner
from .core.round import Round
from .core.serialization import from_bytes, to_bytes
from .data.synthetic_streams import synthetic
from .errors import ConfigError, KeyholeWarning, ProtocolError
from .simulation import play

__all__ = ["CHECKS", "Setup", "answer_round", "check_learner", "play_by_protocol"]

_ROUNDS = 60


@dataclass(frozen=True)
class Setup:
    """A learner under test: its factory, and whether it treats a missing value as zero."""

    factory: Callable[[int], Learner]
    missing_is_zero: bool = True
    """Whether a missing value is predicted as if it were 0; False for learners that estimate the columns' means."""

    def make(self, seed: int = 0) -> Learner:
        """Return a new learner."""
        learner = self.factory(seed)
        if not isinstance(learner, Learner):
            raise ConfigError('the factory must return a learner: lambda seed: kh.make("module:Class", ..., seed=seed)')
        if not hasattr(learner, "catalog"):
            raise ConfigError(f"{type(learner).__name__}.__init__ must call super().__init__(names, k, k0, seed)")
        return learner

    @cached_property
    def size(self) -> tuple[int, int, int]:
        """Return (d, k, k0)."""
        learner = self.make()
        return learner.d, learner.k, learner.k0

    def stream(self, T: int, seed: int = 0) -> tuple[Floats, Floats]:
        """Return rows and labels of a test stream."""
        d, k, _ = self.size
        X, y, _ = synthetic(d, min(k, 3), T, sigma=0.05, seed=seed)
        return X, y


def check_learner(factory: Callable[[int], Learner], *, missing_is_zero: bool = True, skip: Sequence[str] = ()) -> None:
    """Run every check in `CHECKS` on a learner and fail at the first violation with an explanation.

    Parameters
    ----------
    factory
        A function from a seed to a learner made by `kh.make`, for example
        `lambda seed: kh.make("my_module:MyClass", d=9, k=3, seed=seed)`. Between 6 and 12 attributes are enough.
    missing_is_zero
        Set to False if the learner estimates column means, so that a missing value is not equivalent to 0.
    skip
        The names of checks to omit.

    Raises
    ------
    AssertionError
        If a check fails; the message begins with its name.
    ConfigError
        If the factory does not return a learner made by `kh.make`, or `skip` contains an unknown name.

    >>> import keyhole as kh
    >>> check_learner(lambda seed: kh.make("vaw", d=6, seed=seed), skip=["budget"])
    """
    unknown = [name for name in skip if name not in CHECKS]
    if unknown:
        raise ConfigError(f"there is no check '{unknown[0]}'; there are: {', '.join(CHECKS)}")
    setup = Setup(factory, missing_is_zero)
    setup.make()
    for name, check in CHECKS.items():
        if name not in skip:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", KeyholeWarning)
                try:
                    check(setup)
                except AssertionError as fault:
                    raise AssertionError(f"{name}: {fault}") from None
                except Exception as fault:
                    raise AssertionError(f"{name}: the learner raised {type(fault).__name__}: {fault}") from fault


def _require(condition: object, sentence: str) -> None:
    if not condition:
        raise AssertionError(sentence)


def _rows(X: Floats, y: Floats) -> Iterator[tuple[Floats, float]]:
    return zip(X, y.tolist(), strict=True)


def answer_round(learner: Learner, r: Round, x: Floats, y: float) -> None:
    """Complete a round with the values of a full row, passing on only those that the learner requested."""
    extra = learner.ask_more(r)
    learner.tell(r, x[r.attributes], y, extra_attributes=extra, extra_values=x[extra])


def play_by_protocol(learner: Learner, X: Floats, y: Floats) -> tuple[Floats, Bools]:
    """Go through the rows with the public methods; return the predictions and the mask of bought cells."""
    predictions, bought = np.empty(y.size), np.zeros(X.shape, dtype=np.bool_)
    for t, (x, label) in enumerate(_rows(X, y)):
        r = learner.ask()
        bought[t, r.attributes] = bought[t, learner.ask_more(r)] = True
        predictions[t] = learner.predict(r, x[r.attributes])
        if np.isnan(label):
            learner.abandon(r)
        else:
            answer_round(learner, r, x, label)
    return predictions, bought


def _gaps(
    X: Floats, y: Floats, rng: np.random.Generator, scale: float = 1.0, unlabelled: float = 0.06
) -> tuple[Floats, Floats]:
    """Remove some labels, some cells and some entire rows."""
    y = scale * np.where(rng.random(y.size) < unlabelled, np.nan, y)
    X = scale * np.where(rng.random(X.shape) < 0.05, np.nan, X)
    X[rng.random(y.size) < 0.04] = np.nan
    return X, y


_STREAMS: dict[str, Callable[[Floats, Floats, np.random.Generator], tuple[Floats, Floats]]] = {
    "gaps": _gaps,
    "half unlabelled": lambda X, y, rng: _gaps(X, y, rng, unlabelled=0.5),
    "beyond 1": lambda X, y, rng: _gaps(X, y, rng, scale=8.0),
    "signed zeros and denormals": lambda X, y, rng: (
        np.where(rng.random(X.shape) < 0.3, rng.choice([0.0, -0.0, 5e-324, -1e-320], X.shape), X),
        np.where(rng.random(y.size) < 0.2, rng.choice([-0.0, 1e-320], y.size), y),
    ),
    "whole numbers with minus zero": lambda X, y, rng: (np.round(2 * X), np.round(2 * y)),
    "columns as a frame keeps them": lambda X, y, rng: (np.asfortranarray(_gaps(X, y, rng)[0]), np.repeat(y, 2)[::2]),
}
_POISONS = (
    [-50.0, 3.0, 1e6],
    [1e-320, -5e-324, -0.0],
    [1e101, np.inf, -np.inf],
    [0.5, 1e-320, -0.0, np.nan, 1e50, 1e101, np.inf],
)


def budget(setup: Setup) -> None:
    """No round buys more than k attributes before the label or k0 after it, or the same attribute twice."""
    d, k, k0 = setup.size
    learner = setup.make()
    for x, y in _rows(*setup.stream(_ROUNDS)):
        r = learner.ask()
        extra = learner.ask_more(r)
        distinct = len(set(r.attributes.tolist())) == r.attributes.size
        bought = r.attributes.tolist()
        _require(distinct and r.attributes.size <= k, f"round {r.index} buys {bought}; at most {k} different ones")
        _require(extra.size <= k0, f"round {r.index} buys {extra.size} after the label, k0 is {k0}")
        both = {*r.attributes.tolist(), *extra.tolist()}
        _require(len(both) == r.attributes.size + extra.size, f"round {r.index} buys an attribute twice")
        _require(r.names == tuple(learner.names[i] for i in r.attributes), "names and attributes differ")
        _require(learner.support.size <= k, f"the support has {learner.support.size} attributes, k is {k}")
        _require(learner.weights.shape == (d,), f"weights must have shape ({d},), not {learner.weights.shape}")
        answer_round(learner, r, x, y)


def unbought_values(setup: Setup) -> None:
    """Predictions and state do not depend on the cells that were not bought."""
    for poison in _POISONS:
        rng = np.random.default_rng(0)
        X, y = setup.stream(_ROUNDS)
        X = np.where(rng.random(X.shape) < 0.1, -0.0, X)
        bought = play_by_protocol(setup.make(), X, y)[1]
        garbage = np.where(bought, X, rng.choice(poison, X.shape))
        honest, fooled = setup.make(), setup.make()
        a, b = play(honest, X, y), play(fooled, garbage, y)
        _require(np.array_equal(a.predictions, b.predictions), "predictions depend on values that were not bought")
        _require(to_bytes(honest) == to_bytes(fooled), "the state depends on values that were not bought")


def equal_seeds(setup: Setup) -> None:
    """Equal seeds give equal rounds, predictions and states."""
    one, two = setup.make(3), setup.make(3)
    for x, label in _rows(*setup.stream(_ROUNDS)):
        r, q = one.ask(), two.ask()
        _require(r.to_json() == q.to_json(), f"round {r.index} differs: draw everything random from self.rng in _ask")
        y_hat, other = one.predict(r, x[r.attributes]), two.predict(q, x[q.attributes])
        _require(np.isfinite([y_hat, other]).all(), f"the prediction of round {r.index} is not finite")
        _require(y_hat == other, f"the predictions of round {r.index} differ")
        answer_round(one, r, x, label)
        answer_round(two, q, x, label)
    _require(to_bytes(one) == to_bytes(two), "the states differ")


def no_side_effects(setup: Setup) -> None:
    """`predict` and `ask_more` have no side effects, and the prediction is finite."""
    learner = setup.make()
    for x, label in _rows(*setup.stream(30)):
        r = learner.ask()
        before = to_bytes(learner)
        first = learner.predict(r, x[r.attributes])
        learner.ask_more(r)
        _require(learner.predict(r, x[r.attributes]) == first, "a second prediction of the same round differs")
        _require(np.isfinite(first), f"the prediction of round {r.index} is {first}")
        _require(to_bytes(learner) == before, "predict or ask_more changes the state")
        answer_round(learner, r, x, label)


def save_and_load(setup: Setup) -> None:
    """A learner that is saved and loaded after any round, with open rounds, continues bit for bit."""
    whole, broken = setup.make(), setup.make()
    sentence = "a loaded learner differs: everything that changes must be named in _state"
    for x, label in _rows(*setup.stream(40)):
        q, r = whole.ask(), broken.ask()
        broken = from_bytes(to_bytes(broken))
        # Comparing files would miss state that is not saved, because it is in neither file.
        _require(whole.predict(q, x[q.attributes]) == broken.predict(r, x[r.attributes]), sentence)
        answer_round(whole, q, x, label)
        answer_round(broken, r, x, label)
        broken = from_bytes(to_bytes(broken))
        _require(np.array_equal(whole.weights, broken.weights), sentence)
    _require(to_bytes(whole) == to_bytes(broken), sentence)


def compiled_play(setup: Setup) -> None:
    """`kh.play` (compiled or row by row) and the protocol give identical predictions and identical model bytes."""
    for name, made in _STREAMS.items():
        X, y = made(*setup.stream(150), np.random.default_rng(1))
        fast, slow, rowwise = setup.make(), setup.make(), setup.make()
        a, b = play(fast, X, y), play(rowwise, X, y, compiled=False)
        predictions, bought = play_by_protocol(slow, X, y)
        same = all(np.array_equal(found.predictions, predictions, equal_nan=True) for found in (a, b))
        _require(same, f"play and the protocol predict differently ({name})")
        _require(np.array_equal(a.bought, bought.sum(axis=0)), f"play and the protocol buy differently ({name})")
        _require(np.array_equal(a.explored, b.explored), f"compiled and row-by-row explorations differ ({name})")
        _require(np.array_equal(np.isnan(a.losses), np.isnan(y)), f"a row without a label has a loss ({name})")
        same = to_bytes(fast) == to_bytes(slow) == to_bytes(rowwise)
        _require(same, f"play and the protocol end in different states ({name})")


def short_streams(setup: Setup) -> None:
    """Streams of 0 to 17 rows are accepted."""
    d, _, _ = setup.size
    _require(play(setup.make(), np.empty((0, d)), np.empty(0)).losses.size == 0, "an empty stream has losses")
    for n in range(1, 18):
        history = play(setup.make(), *setup.stream(n))
        _require(history.losses.shape == (n,) and np.isfinite(history.losses).all(), f"{n} rows: {history.losses}")


def constant_data(setup: Setup) -> None:
    """Predictions and weights stay finite if all attributes are 0 and all labels are equal."""
    for label in (0.0, 0.7):
        for factor in (0.0, 1.0):
            X, y = setup.stream(200)
            learner = setup.make()
            history = play(learner, factor * X, np.full(y.size, label))
            finite = np.isfinite(history.predictions).all() and np.isfinite(learner.weights).all()
            _require(finite, f"not finite with labels {label} and attributes times {factor}")


def late_labels(setup: Setup) -> None:
    """Rounds may be closed late, in any order and from another process."""
    X, y = setup.stream(_ROUNDS)
    here, learner, waiting = setup.make(), setup.make(), []
    rng = np.random.default_rng(2)
    for t in range(_ROUNDS):
        waiting.append((t, here.ask(), learner.ask().to_json()))
        learner = from_bytes(to_bytes(learner))
        while len(waiting) > 5 or (waiting and t == _ROUNDS - 1):
            at, r, text = waiting.pop(int(rng.integers(len(waiting))))
            sent = Round.from_json(text)
            _require(sent == r, "a round sent as text differs: what _tell needs belongs into Acquisition.memo")
            same = here.predict(r, X[at][r.attributes]) == learner.predict(sent, X[at][r.attributes])
            _require(same, f"the predictions of round {r.index} differ between processes")
            answer_round(here, r, X[at], float(y[at]))
            answer_round(learner, sent, X[at], float(y[at]))
    _require(learner.open_rounds == (), "rounds with a label are still open")
    _require(to_bytes(learner) == to_bytes(here), "the states differ between processes")


def abandoned_rounds(setup: Setup) -> None:
    """Abandoning a round changes nothing except the random numbers that `ask` consumed."""
    learner = setup.make()
    for t, (x, label) in enumerate(_rows(*setup.stream(_ROUNDS))):
        r = learner.ask()
        if t % 3:
            answer_round(learner, r, x, label)
            continue
        before, weights, drawn = learner.get_state(), learner.weights, learner.rng.bit_generator.state
        learner.abandon(r)
        _require(learner.rng.bit_generator.state == drawn, "abandoning a round draws a random number")
        after = learner.get_state()
        changed = [key for key in before if not np.array_equal(before[key], after[key])]
        _require(not changed and np.array_equal(learner.weights, weights), f"abandoning a round changes {changed}")
    _require(learner.open_rounds == () and np.isfinite(learner.weights).all(), "rounds are open, or weights not finite")


def availability(setup: Setup) -> None:
    """Only available attributes are bought, and at least one is bought if any is available."""
    d, _, _ = setup.size
    learner, rng = setup.make(), np.random.default_rng(4)
    for t, (x, label) in enumerate(_rows(*setup.stream(_ROUNDS))):
        mask = rng.random(d) < rng.choice([0.0, 0.2, 0.5, 1.0])
        r = learner.ask(available=mask if t % 2 else [learner.names[i] for i in np.flatnonzero(mask)])
        asked = [*r.attributes, *learner.ask_more(r)]
        _require(mask[asked].all(), f"round {r.index} buys what is not available: _ask(t, pool) must keep to pool")
        some = len(asked) > 0 or not mask.any() or r.kind == "exploit"
        _require(some, f"round {r.index} explores and buys nothing, though something is available")
        _require(np.isfinite(learner.predict(r, x[r.attributes])), "the prediction is not finite")
        answer_round(learner, r, x, label)
    _require(np.isfinite(learner.weights).all(), "weights are not finite")


def missing_values(setup: Setup) -> None:
    """A bought value that is missing (NaN) is ignored."""
    learner, rng = setup.make(), np.random.default_rng(6)
    for full, label in _rows(*setup.stream(_ROUNDS)):
        x = np.where(rng.random(full.size) < rng.choice([0.0, 0.3, 1.0]), np.nan, full)
        r = learner.ask()
        y_hat = learner.predict(r, x[r.attributes])
        _require(np.isfinite(y_hat), "the prediction is not finite where a value is missing")
        if setup.missing_is_zero:
            same = y_hat == learner.predict(r, np.nan_to_num(x[r.attributes]))
            _require(same, "a missing value and 0 give different predictions (see missing_is_zero)")
            _require(y_hat == 0.0 or not np.isnan(x[r.attributes]).all(), "with nothing observed it predicts not 0")
        answer_round(learner, r, x, label)
    _require(np.isfinite(learner.weights).all(), "weights are not finite")


def mistakes(setup: Setup) -> None:
    """A call with invalid arguments raises `ProtocolError` and leaves the state unchanged."""
    X, y = setup.stream(20)
    learner = setup.make()
    play(learner, X, y)
    closed = learner.ask()
    answer_round(learner, closed, X[0], float(y[0]))
    r = next(r for r in (learner.ask() for _ in range(50)) if r.attributes.size)  # some rounds buy nothing
    x, extra = X[1][r.attributes], learner.ask_more(r)
    more = X[1][extra]
    changed = Round.from_json(json.dumps({**json.loads(r.to_json()), "index": r.index + 1}))
    before = to_bytes(learner)
    wrong: dict[str, Callable[[], object]] = {
        "too many values": lambda: learner.tell(r, np.append(x, 0.0), 0.1, extra, more),
        "too few values": lambda: learner.tell(r, x[:-1], 0.1, extra, more),
        "infinite values": lambda: learner.tell(r, x * np.inf, 0.1, extra, more),
        "a label that is NaN": lambda: learner.tell(r, x, np.nan, extra, more),
        "an infinite label": lambda: learner.tell(r, x, np.inf, extra, more),
        "other extra attributes": lambda: learner.tell(r, x, 0.1, np.append(extra, 0), np.append(more, 0.0)),
        "a second label for a round": lambda: learner.tell(closed, x, 0.1, extra, more),
        "a changed round": lambda: learner.tell(changed, x, 0.1, extra, more),
        "an unknown attribute": lambda: learner.ask(available=["no such attribute"]),
        "too many values to predict": lambda: learner.predict(r, np.append(x, 0.0)),
    }
    for what, call in wrong.items():
        try:
            call()
        except ProtocolError:
            _require(to_bytes(learner) == before, f"{what}: the state has changed")
        else:
            raise AssertionError(f"{what}: the learner raised no ProtocolError")
    answer_round(learner, r, X[1], float(y[1]))


CHECKS: dict[str, Callable[[Setup], None]] = {
    check.__name__.replace("_", " "): check
    for check in (
        *(budget, equal_seeds, no_side_effects, constant_data, missing_values, availability, unbought_values),
        *(save_and_load, late_labels, abandoned_rounds, compiled_play, short_streams, mistakes),
    )
}
"""All checks by name, ordered so that later checks may assume that the earlier ones passed."""
