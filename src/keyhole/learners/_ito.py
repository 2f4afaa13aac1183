"""What the learners of Ito et al. 2017 share: the importance-weighted gradient, and what a round says of its draw."""

from .._internal.typing import Floats, Ints
from ..estimation.importance_weighting import estimate

__all__ = ["gradient", "is_draw"]


def gradient(B: Ints, x: Floats, y: float, P: Floats, w: Floats) -> Floats:
    """2 h w - 2 y x_hat on the observed B: E equals 2 (<w, x> - y) x, whatever the full x and w are."""
    x_hat, h = estimate(x, P)
    return 2.0 * (h @ w[B] - y * x_hat)


def is_draw(memo: tuple[float, ...], drawn: int, d: int) -> bool:
    """Whether this is (n, m) of m attributes drawn from n, and m as many as the round has."""
    return len(memo) == 2 and memo[1] == drawn and memo[0] in range(drawn, d + 1)
