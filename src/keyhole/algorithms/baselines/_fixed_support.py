"""Online Newton steps on a fixed support, with online standardization of raw columns if wanted.

The learner assumes values in [-1, 1]; the standardization uses bought values only:

    z_i = clip((x_i - m_i) / (3 s_i), -1, 1)        m_i, s_i: running mean and standard deviation of attribute i
    y   = m_y + 3 s_y u                             u: the learner's prediction, |u| <= 1
"""

from math import log, sqrt
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from ..._core import standardise
from ..._internal.typing import Bools, Floats, Ints
from ...core.learner import Acquisition, Learner, PlayedRows
from ...core.round import Round
from ...core.state import IndexCheck, NumberCheck, Part, RecordCheck, Stateful, StateSchema
from ...estimation.online_newton import Newton
from .._options import Presets, number, preset, yes_or_no
from .._support_exploiter import OnSupport

Records: TypeAlias = npt.NDArray[np.record]

# The number of values, their mean m, and the sum of squared deviations from it.
COLUMN = np.dtype([("n", "f8"), ("m", "f8"), ("squares", "f8")])

# Values within 3 standard deviations are mapped to [-1, 1], as in the synthetic streams.
_WIDTH = 3.0


class Standard(Stateful):
    """The running moments of k columns and of the label, which is the last of `columns`."""

    _state: ClassVar[StateSchema] = {
        "columns": RecordCheck(),
    }

    def __init__(self, k: int) -> None:
        self.columns: Records = np.zeros(k + 1, COLUMN)

    def _check_state(self) -> None:
        for name in ("n", "squares"):
            NumberCheck(least=0.0).check(f"columns.{name}", self.columns[name], self)

    def run(self, X: Floats, y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return Z, scaled labels, and centre and width to rescale predictions; learn from the labelled rows."""
        Z, labels, centre, width = np.empty(X.shape), np.empty(y.size), np.empty(y.size), np.empty(y.size)
        columns = self.columns.view(np.float64).reshape(-1, 3)
        standardise(columns, np.ascontiguousarray(X), y, Z, labels, centre, width)
        return Z, labels, centre, width

    def slopes(self, w: Floats) -> Floats:
        """Return the weights on the raw columns that are equivalent to w on z where nothing is clipped."""
        n = self.columns["n"]
        spread = np.where(n > 1.0, _WIDTH * np.sqrt(self.columns["squares"] / np.maximum(n, 1.0)), 0.0)  # 3 s_i
        known = spread[:-1] > 0.0
        slopes: Floats = np.zeros(w.size)
        slopes[known] = spread[-1] * w[known] / spread[:-1][known]
        return slopes


def spread_out(attributes: Ints, x: Floats, S: Ints) -> Floats:
    """Return the bought values at their positions in S; NaN for attributes that were not bought."""
    full = np.full(S.size, np.nan)
    full[np.searchsorted(S, attributes)] = x
    return full


class FixedSupport(Learner):
    """The online Newton step of `keyhole.estimation.online_newton` on x(S), with A_0 = eps k I.

    tuning="theory" is the paper's: eps = 1 and rho = 1/(2 (1+Y)^2) with Y = 1 + sigma sqrt(2 ln(1/delta)); "practical"
    has a self-tuned rho and the eps chosen by `benchmarks/tune.py`.
    """

    _state: ClassVar[StateSchema] = {
        "exploiter": Part(S=IndexCheck("d", ascending=True)),
        "standard": Part(),
    }
    presets: ClassVar[Presets] = {"theory": {"eps": 1.0}, "practical": {"eps": 0.3}}

    def _begin(self, S: Ints, tuning: str, eps: float | None, sigma: float, delta: float, standardize: bool) -> None:
        """Set S and the options; called at the end of a constructor."""
        eps = number("eps", preset(self.presets, tuning, eps=eps)["eps"], above=0.0)
        sigma, delta = number("sigma", sigma), number("delta", delta, above=0.0)
        rho = 0.5 / (2.0 + sigma * sqrt(2.0 * log(1.0 / min(delta, 1.0)))) ** 2 if tuning == "theory" else None
        self.exploiter = OnSupport(Newton(S.size, eps=eps * S.size, rho=rho), S, np.zeros(S.size), partial=False)
        self.standardize = yes_or_no("standardize", standardize)
        self.standard = Standard(S.size if standardize else 0)

    def _weights(self) -> Floats:
        """Return the weights on S, zero elsewhere; with standardize=True, per unit of the raw attribute."""
        w, S = self.exploiter.weights(self.d), self.exploiter.S
        if self.standardize:
            w[S] = self.standard.slopes(w[S])
        return w

    def _support(self) -> Ints:
        """Return S without the free attributes."""
        S = self.exploiter.S
        return S if self.catalog.plain else S[self.catalog.of[S] >= 0]

    def _ask(self, t: int, pool: Bools | None) -> Acquisition:
        S = self.exploiter.S if pool is None else self.exploiter.S[pool[self.exploiter.S]]
        return Acquisition(
            "exploit", S.copy() if self.catalog.plain else self.catalog.attributes(self.catalog.basket(S))
        )

    def _predict(self, r: Round, x: Floats) -> float:
        if not self.standardize:
            return self.exploiter.predict(r.attributes, x)
        S = self.exploiter.S
        Z, _, centre, width = self.standard.run(spread_out(r.attributes, x, S)[None], np.array([np.nan]))
        return float(centre[0] + width[0] * self.exploiter.predict(S, Z[0]))

    def _tell(self, r: Round, x: Floats, y: float, more: Floats) -> None:
        self._play(spread_out(r.attributes, x, self.exploiter.S)[None], np.array([y]))

    def _learn(self, X: Floats, y: Floats) -> None:
        self._play(X[:, self.exploiter.S], y)

    def _play(self, X: Floats, y: Floats) -> Floats:
        """Return the predictions of the rows in order: scale each row, take a Newton step, and convert the prediction
        back to the label's units.
        """
        if not self.standardize:
            return self.exploiter.run(X, y)
        Z, labels, centre, width = self.standard.run(X, y)
        return centre + width * self.exploiter.run(Z, labels)

    def _play_block(self, X: Floats, y: Floats, prices: Floats | None) -> PlayedRows:
        if prices is not None:
            return super()._play_block(X, y, prices)
        S = self.exploiter.S
        predictions = self._play(np.ascontiguousarray(X[:, S]), y)
        self.t += y.size
        return PlayedRows.alike(predictions, S)
