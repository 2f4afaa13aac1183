"""`check_learner` finds what is wrong with a learner: one fault for each check."""

from typing import ClassVar

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.state import NumberCheck
from keyhole.testing import CHECKS, check_learner


class Sound(kh.Learner):
    """Buys by weight, explores every third round, learns by gradient steps."""

    name = "sound"
    _state: ClassVar = {"w": NumberCheck()}

    def __init__(self, names, k, k0, seed):
        super().__init__(names, k, k0, seed)
        self.w = np.zeros(self.d)

    def _weights(self):
        return self.w.copy()

    def _support(self):
        return np.sort(self._best(self.order)[: self.k])

    def _best(self, places):
        return places[np.argsort(-np.abs(self.w[places]), kind="stable")]

    def _ask(self, t, pool):
        places = self._available_in_draw_order(pool)
        if t % 3 == 0:
            return kh.Acquisition("explore", self.rng.permutation(places)[: self.k])
        return kh.Acquisition("exploit", self._best(places)[: self.k])

    def _predict(self, r, x):
        return float(self.w[r.attributes] @ np.nan_to_num(x))

    def _tell(self, r, x, y, more):
        self.w[r.attributes] += 0.1 * (y - self._predict(r, x)) * np.nan_to_num(x)


class Overspends(Sound):
    def _ask(self, t, pool):
        return kh.Acquisition("exploit", self._available_in_draw_order(pool)[: self.k + 1])


class Peeks(Sound):
    """Draws outside its own generator."""

    def _ask(self, t, pool):
        return kh.Acquisition(
            "explore", np.random.default_rng().permutation(self._available_in_draw_order(pool))[: self.k]
        )


class Counts(Sound):
    """Predicting changes it."""

    def _predict(self, r, x):
        self.w[0] += 1e-3
        return super()._predict(r, x)


class Raises(Sound):
    def _tell(self, r, x, y, more):
        raise KeyError("w")


class Diverges(Sound):
    """Its weights become NaN after a few rounds."""

    def _tell(self, r, x, y, more):
        self.w[r.attributes] += np.nan if r.index > 2 else 0.1


class Forgets(Sound):
    """Not everything that changes is saved."""

    scale = 1.0

    def _predict(self, r, x):
        return super()._predict(r, x) * self.scale

    def _tell(self, r, x, y, more):
        super()._tell(r, x, y, more)
        self.scale *= 0.99


class Infinite(Sound):
    def _predict(self, r, x):
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.divide(1.0, np.abs(np.nan_to_num(x)).sum())) if r.index > 1 else 0.0


class Remembers(Sound):
    """Keeps what belongs to a round to itself."""

    def _ask(self, t, pool):
        found = super()._ask(t, pool)
        self.last = found.attributes
        return found

    def _tell(self, r, x, y, more):
        self.w[self.last[: x.size]] += 0.1 * y * np.nan_to_num(x)[: self.last.size]


class Ignores(Sound):
    """Does not look at what is available."""

    def _ask(self, t, pool):
        return super()._ask(t, None)


class Poisoned(Sound):
    """Computes with NaN."""

    def _predict(self, r, x):
        return float(self.w[r.attributes] @ x)


class Silent(Sound):
    """Takes everything."""

    def tell(self, r, values, y, extra_attributes=None, extra_values=None):
        try:
            super().tell(r, values, y, extra_attributes, extra_values)
        except kh.ProtocolError:
            self.w += 1.0


class Late(Sound):
    """A round that is given up changes it."""

    def abandon(self, r):
        super().abandon(r)
        self.w *= 0.9


class Wide(Sound):
    def _weights(self):
        return np.zeros(self.d + 1)


class Unmade(Sound):
    def __init__(self, names, k, k0, seed):
        self.w = np.zeros(len(names))


def factory(cls):
    return lambda seed: kh.make(f"{__name__}:{cls.__name__}", d=8, k=3, seed=seed)


def test_a_sound_learner_passes():
    check_learner(factory(Sound))
    assert len(CHECKS) == 13


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        (Overspends, "budget: round 1 buys"),
        (Raises, "budget: the learner raised KeyError"),
        (Diverges, "equal seeds: the prediction of round .* is not finite"),
        (Wide, "budget: weights must have shape"),
        (Peeks, "equal seeds: round 1 differs"),
        (Counts, "no side effects: "),
        (Forgets, "save and load: .* named in _state"),
        (Infinite, "constant data: not finite"),
        (Remembers, "late labels: "),
        (Late, "abandoned rounds: abandoning a round changes"),
        (Ignores, "availability: .* keep to pool"),
        (Poisoned, "missing values: the prediction is not finite"),
        (Silent, "mistakes: "),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_first_check_that_fails_names_the_fault(cls, said):
    with pytest.raises(AssertionError, match=f"^{said}"):
        check_learner(factory(cls), skip=["save and load"] if cls is Remembers else [])


def test_a_factory_must_give_a_learner_and_a_check_must_exist():
    check_learner(lambda seed: Sound(tuple("abcdefgh"), 3, 0, seed))
    with pytest.raises(kh.ConfigError, match=r"Unmade.__init__ must call super\(\).__init__\(names, k, k0, seed\)"):
        check_learner(factory(Unmade))
    with pytest.raises(kh.ConfigError, match="must return a learner"):
        check_learner(lambda seed: Sound)
    with pytest.raises(kh.ConfigError, match="no check 'speed'"):
        check_learner(factory(Sound), skip=["speed"])
