"""SAMPLING (Algorithm 2 of the paper), which draws the set B of m of n attributes that an exploration observes, and its
inclusion probabilities for single attributes, pairs and triples.

    first index ~ q, the other m - 1 uniform without replacement from the n - 1 that remain:

    P[B]    = sum_{i in B} q_i / C(n-1, m-1)
    P[i]    = (n-m)/(n-1) q_i + (m-1)/(n-1)
    P[i, j] = (m-1)(m-2)/((n-1)(n-2)) + (m-1)(n-m)/((n-1)(n-2)) (q_i + q_j)
    P[i, j, r] = (m-1)(m-2)/((n-1)(n-2)(n-3)) ((m-3) + (n-m) (q_i + q_j + q_r))

Valid for every 1 <= m <= n; for m = n everything is observed and every probability is one. The paper writes
d, k (Algorithm 1) and d' = d - k, k0 (Algorithm 3) for n, m.
"""

import numpy as np

from .._core import join_draws, set_law, set_pair_probabilities
from .._internal.typing import Floats, Ints
from ..errors import ConfigError

# Weights whose sum is below this are treated as w = 0, because dividing by the sum would only amplify rounding.
_NOTHING = 1e-300

__all__ = [
    "distribution",
    "draw",
    "inclusion",
    "pair_inclusion",
    "triple_inclusion",
    "union_inclusion",
    "union_pair_inclusion",
]


def distribution(w: Floats) -> Floats:
    """Return q = |w| / |w|_1, or the uniform distribution if w = 0.

    >>> distribution(np.array([0.5, -0.25, 0.25])).tolist()
    [0.5, 0.25, 0.25]
    >>> distribution(np.zeros(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    w = np.asarray(w, dtype=np.float64)
    if w.ndim != 1 or w.size == 0 or not np.isfinite(w).all():
        raise ConfigError("w must be a finite vector with at least one entry")
    # Deviation: |w|, and the uniform distribution at w = 0; line 2 of Algorithm 2 has w/|w|_1 (E4, E5).
    total = np.abs(w).sum()
    return np.abs(w) / total if total > _NOTHING else np.full(w.size, 1.0 / w.size)


def law(w: Floats) -> Floats:
    """Compute `distribution` in the core, for callers whose w is finite."""
    q = np.empty(w.size)
    set_law(w, q)
    return q


def draw(q: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Draw k distinct indices by Algorithm 2: the first with probabilities q, the others uniformly.

    >>> draw(np.array([0.0, 1.0, 0.0, 0.0]), 2, np.random.default_rng(0)).size
    2
    """
    return sample(_checked(q, k), k, rng)


def sample(q: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Draw like `draw`, for a q that is known to be a probability distribution, without checking it."""
    if k == q.size:
        return np.arange(k)
    B = np.empty(k, np.int64)
    join_draws(q, *numbers(q.size, k, rng), B)
    return B


def numbers(n: int, m: int, rng: np.random.Generator) -> tuple[float, Ints]:
    """Return the random numbers that one draw of m < n consumes, which do not depend on the distribution."""
    return rng.random(), rng.choice(n - 1, size=m - 1, replace=False, shuffle=False)


def inclusion(q: Floats, k: int) -> Floats:
    """Return, for each attribute, the probability that it is in the set B of k attributes drawn with SAMPLING, as a
    (d,) array: the first is drawn from the distribution q, the others uniformly from the rest.

    >>> inclusion(np.array([1.0, 0.0, 0.0]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    return np.diagonal(pair_inclusion(q, k)).copy()


def pair_inclusion(q: Floats, k: int) -> Floats:
    """Return the pair inclusion probabilities P[i, j in B] as a (d, d) array; the diagonal is `inclusion`.

    >>> float(pair_inclusion(np.array([0.5, 0.25, 0.25, 0, 0, 0]), 3)[0, 1])
    0.325
    """
    q, n, m = _checked(q, k), q.size, k
    if m == n:
        return np.ones((n, n))
    # Deviation: the factor (d-k)/(k-2) on q_i + q_j is from the lemma in the main text; the appendix omits it (E1).
    P = (m - 1) / max((n - 1) * (n - 2), 1) * ((m - 2) + (n - m) * (q[:, None] + q))
    np.fill_diagonal(P, ((n - m) * q + (m - 1)) / (n - 1))
    return np.asarray(P)


def triple_inclusion(q: Floats, k: int) -> Floats:
    """Return P[i, j, r in B] as a (d, d, d) array, needed for the variance of h_ij; if two indices are equal, it is
    `pair_inclusion`.

    >>> float(triple_inclusion(np.array([0.5, 0.25, 0.25, 0, 0, 0]), 3)[0, 1, 2])
    0.1
    """
    P = pair_inclusion(q, k)
    d = q.size
    if k == d:
        return np.ones((d, d, d))
    front = (k - 1) * (k - 2) / max((d - 1) * (d - 2) * (d - 3), 1)
    triples = front * ((k - 3) + (d - k) * (q[:, None, None] + q[:, None] + q))
    i = np.arange(d)
    triples[i, i, :] = triples[i, :, i] = triples[:, i, i] = P
    return triples


def union_inclusion(q: Floats, k0: int, always: Ints) -> Floats:
    """Return, as a (d,) array, P[i in B] for B = always + SAMPLING(k0) from the other attributes; q must be zero on
    `always`.
    """
    return np.diagonal(union_pair_inclusion(q, k0, always)).copy()


def union_pair_inclusion(q: Floats, k0: int, always: Ints) -> Floats:
    """Return, as a (d, d) array, P[i, j in B] for B = always + SAMPLING(k0); the diagonal is `union_inclusion`."""
    q = np.asarray(q, dtype=np.float64)
    S = np.unique(np.asarray(always, dtype=np.int64))
    C = np.setdiff1d(np.arange(q.size), S)
    k0 = min(k0, C.size)
    if q[S].any():
        raise ConfigError("q must be zero on the attributes that are always observed")
    joined = union_pairs(S.size, _checked(q[C], k0) if k0 else np.zeros(C.size), C.size, k0)
    back = np.argsort(np.concatenate([S, C]))
    return joined[np.ix_(back, back)]


def singles(q_B: Floats, n: int, m: int) -> Floats:
    """Return P[i] for attributes with probabilities q_B, if m of n are drawn."""
    return np.diagonal(pairs(q_B, n, m)).copy()


def pairs(q_B: Floats, n: int, m: int) -> Floats:
    """Return P[i, j] for attributes with probabilities q_B, with P[i] on the diagonal, in O(|B|^2) for any n."""
    return union_pairs(0, q_B, n, m)


def union_pairs(fixed: int, q_B: Floats, n: int, m: int) -> Floats:
    """Return P[i, j] for `fixed` always-observed attributes followed by drawn ones with probabilities q_B."""
    P = np.ones((fixed + q_B.size, fixed + q_B.size))
    if m < n:
        set_pair_probabilities(fixed, q_B, n, m, P)
    return P


def _checked(q: Floats, k: int) -> Floats:
    """Return q as an array after checking that it is a distribution from which k indices can be drawn."""
    q = np.asarray(q, dtype=np.float64)
    if q.ndim != 1 or not (q >= 0).all() or not abs(q.sum() - 1.0) <= 1e-9:
        raise ConfigError("q must be a vector of probabilities: >= 0 with sum 1")
    if not 1 <= k <= q.size:
        raise ConfigError(f"k must be between 1 and {q.size}, the length of q; it is {k}")
    return q
