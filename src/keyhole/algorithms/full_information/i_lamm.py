"""I-LAMM: folded-concave least squares by two stages of majorise-minimise, refitted as the data double."""

from collections.abc import Mapping
from math import log, sqrt
from typing import ClassVar

import numpy as np

from ..._internal.numba._jit import jit
from ..._internal.typing import Floats
from ...core.learner import Learner
from ...core.state import Gram, Numbers, Rule
from .._dantzig_estimate import one_of
from .._options import Presets, preset
from .._quadratic import add_residual, add_row, inner, soft
from ._full_information import BuysEverything

# The authors' constants: first curvature, its growth, the stages' tolerance, and the most iterations of a loop.
_PHI, _GROW, _ENOUGH, _MOST = 1e-3, 1.5, 1e-4, 500
_SCAD, _MCP = 3.7, 3.0


@jit
def _lamm(G: Floats, b: Floats, Lambda: Floats, beta: Floats, phi: float) -> tuple[Floats, float]:
    """beta+ = soft(beta - grad/phi, Lambda/phi), phi grown until the isotropic quadratic lies above the loss there."""
    grad = np.dot(G, beta) - b
    while True:
        new = np.empty(beta.size)
        for i in range(beta.size):
            new[i] = soft(beta[i] - grad[i] / phi, Lambda[i] / phi)
        step = new - beta
        # For least squares, loss(new) - loss(beta) - <grad, step> is exactly step'G step / 2. "not >" ends on NaN too.
        if not np.dot(step, np.dot(G, step)) > phi * np.dot(step, step):
            return new, phi
        phi *= _GROW


@jit
def _stage(G: Floats, b: Floats, Lambda: Floats, beta: Floats, tolerance: float) -> Floats:
    """The weighted l1 problem min v'Gv/2 - b'v + sum Lambda_i |v_i|, from beta, by LAMM steps."""
    phi = _PHI
    for _ in range(_MOST):
        new, phi = _lamm(G, b, Lambda, beta, phi)
        change = np.sqrt(np.sum((new - beta) ** 2) / (beta.size + 1))
        beta = new
        if change <= tolerance:
            break
        phi = max(_PHI, phi / _GROW)
    return beta


@jit
def _slope(beta: Floats, lam: float, mcp: bool) -> Floats:
    """p'_lam(|beta_i|): the weight that the penalty leaves on an entry of this size."""
    size = np.abs(beta)
    if mcp:
        return np.maximum(lam - size / _MCP, 0.0)
    return np.minimum(lam, np.maximum(_SCAD * lam - size, 0.0) / (_SCAD - 1.0))


@jit
def fit(G: Floats, b: Floats, lam: float, mcp: bool, tolerance: float) -> Floats:
    """Contraction at Lambda = lam, then tightening: Lambda = p'_lam(|beta|) until beta stays."""
    beta = _stage(G, b, np.full(b.size, lam), np.zeros(b.size), tolerance)
    for _ in range(_MOST):
        new = _stage(G, b, _slope(beta, lam, mcp), beta, tolerance)
        change = np.sqrt(np.sum((new - beta) ** 2) / (beta.size + 1))
        beta = new
        if change <= tolerance:
            break
    return beta


@jit
def _ilamm(
    beta: Floats,
    XX: Floats,
    Xy: Floats,
    tally: Floats,
    n: int,
    X: Floats,
    y: Floats,
    scale: float,
    share: float,
    mcp: bool,
) -> tuple[Floats, int]:
    """The rounds, one after another; a refit when n, the rows learnt from, is a power of two; scale < 0: times r."""
    # The same steps as in `olin_lasso`, up to the fit: what a round is, in the words of `_quadratic`.
    y_hat = np.empty(y.size)
    for t in range(y.size):
        y_hat[t] = inner(beta, X[t])
        if np.isnan(y[t]):
            continue
        n += 1
        add_row(XX, Xy, X[t], y[t])
        r = add_residual(tally, y_hat[t] - y[t])
        if n & (n - 1) == 0:
            b = Xy / n
            lam = max((scale if scale >= 0.0 else -scale * r) / np.sqrt(n), share * np.max(np.abs(b)))
            beta[:] = fit(XX / n, b, lam, mcp, _ENOUGH)
    return y_hat, n


class ILAMM(BuysEverything):
    """Iterative local adaptive majorise-minimise on all d attributes, refitted whenever the rows have doubled.

        loss(v) = 1/(2n) sum (y - <x, v>)^2,   LAMM: beta+ = soft(beta - grad/phi, Lambda/phi), phi grown by 1.5 until
                                                     loss(beta+) is under the quadratic of curvature phi at beta
        contraction:   Lambda_i = lam                        the LASSO, to tolerance 1e-4
        tightening:    Lambda_i = p'_lam(|beta_i|)           again and again, until beta stays: large entries go free

    Cost: O(d^2) a round and in memory; a fit costs O(d^2) per LAMM step and there are log2(T) fits.

    Parameters
    ----------
    penalty
        p: "scad" (a = 3.7) or "mcp" (a = 3).
    tuning
        lam = max(c r sqrt(ln d / n), share max_i |b_i|). "theory": the rate, c = r = 1 and share = 0; "authors": their
        code's default, c = 0 and share = 0.01^0.3 = 0.25; "practical" (the default): r is the root mean square of the
        errors so far, c = 0.5 and share = 0.03, chosen by `benchmarks/tune.py` (where r is 0.1).
    c, share
        The numbers above; each overrides the preset.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> learner = kh.make("i-lamm", d=20, seed=0)
    >>> _ = kh.play(learner, X, y)
    >>> bool(np.linalg.norm(learner.weights - w) < 0.02)
    True

    References: Fan, Liu, Sun and Zhang, Annals of Statistics 2018, and the authors' code.
    """

    name = "i-lamm"
    _fields: ClassVar[tuple[str, ...]] = (*Learner._fields, "beta", "XX", "Xy", "tally", "n")
    _rules: ClassVar[Mapping[str, Rule]] = {"XX": Gram(), "tally": Numbers(least=0.0)}
    presets: ClassVar[Presets] = {
        "theory": {"c": 1.0, "share": 0.0},
        "authors": {"c": 0.0, "share": 0.01**0.3},
        "practical": {"c": 0.5, "share": 0.03},
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        penalty: str = "scad",
        tuning: str = "practical",
        c: float | None = None,
        share: float | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed)
        numbers = preset(self.presets, tuning, c=c, share=share)
        self.mcp = one_of("penalty", penalty, ("scad", "mcp")) == "mcp"
        self.scale = numbers["c"] * sqrt(log(max(self.d, 2))) * (-1.0 if tuning == "practical" else 1.0)
        self.tally: Floats = np.zeros(2)
        self.share = numbers["share"]
        self.beta: Floats = np.zeros(self.d)
        self.XX: Floats = np.zeros((self.d, self.d))
        self.Xy: Floats = np.zeros(self.d)
        self.n = 0

    @property
    def weights(self) -> Floats:
        """The last fit, with true zeros."""
        return self.beta.copy()

    @classmethod
    def _entries(cls, d: int, k: int) -> int:
        return d * d

    def _rounds(self, X: Floats, y: Floats) -> Floats:
        y_hat, self.n = _ilamm(self.beta, self.XX, self.Xy, self.tally, self.n, X, y, self.scale, self.share, self.mcp)
        return y_hat
