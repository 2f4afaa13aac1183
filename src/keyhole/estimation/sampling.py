"""SAMPLING (Algorithm 2) and the probability that it observes an attribute, or a pair of them.

    first index ~ q, the other m - 1 uniform without replacement from the n - 1 that remain:

    P[B]    = sum_{i in B} q_i / C(n-1, m-1)
    P[i]    = (n-m)/(n-1) q_i + (m-1)/(n-1)
    P[i, j] = (m-1)(m-2)/((n-1)(n-2)) + (m-1)(n-m)/((n-1)(n-2)) (q_i + q_j)
    P[i, j, r] = (m-1)(m-2)/((n-1)(n-2)(n-3)) ((m-3) + (n-m) (q_i + q_j + q_r))

Valid for every 1 <= m <= n; where m = n everything is observed and every probability is one. The paper calls
n, m by d, k (Algorithm 1) and by d' = d - k, k0 (Algorithm 3).
"""

import numpy as np

from .._internal.numba._bare import inner, short
from .._internal.typing import Floats, Ints
from ..errors import ConfigError

__all__ = [
    "distribution",
    "draw",
    "inclusion",
    "pair_inclusion",
    "triple_inclusion",
    "union_inclusion",
    "union_pair_inclusion",
]

# Weights whose sum is below this are treated as w = 0: dividing by it would only amplify rounding.
_NOTHING = 1e-300


def distribution(w: Floats) -> Floats:
    """q = |w| / |w|_1, and the uniform law where w = 0.

    >>> distribution(np.array([0.5, -0.25, 0.25])).tolist()
    [0.5, 0.25, 0.25]
    >>> distribution(np.zeros(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    w = np.asarray(w, dtype=np.float64)
    if w.ndim != 1 or w.size == 0 or not np.isfinite(w).all():
        raise ConfigError("w must be a finite vector with at least one entry")
    return law(w)


def law(w: Floats) -> Floats:
    """`distribution` for callers whose w is finite."""
    q = np.empty(w.size)
    fill_law(w, q)
    return q


@short
def fill_law(w: Floats, q: Floats) -> None:
    """q = the law of w."""
    # Deviation: |w| and the uniform law at w = 0; line 2 of Algorithm 2 has w/|w|_1 (E4, E5).
    total = 0.0
    for i in range(w.size):
        total += abs(w[i])
    for i in range(w.size):
        q[i] = abs(w[i]) / total if total > _NOTHING else 1.0 / w.size


def draw(q: Floats, k: int, rng: np.random.Generator) -> Ints:
    """Algorithm 2: k distinct indices, the first with probabilities q, the others uniform.

    >>> draw(np.array([0.0, 1.0, 0.0, 0.0]), 2, np.random.default_rng(0)).size
    2
    """
    return sample(_checked(q, k), k, rng)


def sample(q: Floats, k: int, rng: np.random.Generator) -> Ints:
    """`draw` for callers whose q is a law already."""
    if k == q.size:
        return np.arange(k)
    B = np.empty(k, np.int64)
    join(q, *numbers(q.size, k, rng), B)
    return B


def numbers(n: int, m: int, rng: np.random.Generator) -> tuple[float, Ints]:
    """What one draw of m < n takes from the generator, whatever the law is."""
    return rng.random(), rng.choice(n - 1, size=m - 1, replace=False, shuffle=False)


def inclusion(q: Floats, k: int) -> Floats:
    """(d,) P[i in B].

    >>> inclusion(np.array([1.0, 0.0, 0.0]), 2).tolist()
    [1.0, 0.5, 0.5]
    """
    return singles(_checked(q, k), q.size, k)


def pair_inclusion(q: Floats, k: int) -> Floats:
    """(d, d) P[i, j in B]; the diagonal is `inclusion`.

    >>> float(pair_inclusion(np.array([0.5, 0.25, 0.25, 0, 0, 0]), 3)[0, 1])
    0.325
    """
    return pairs(_checked(q, k), q.size, k)


def triple_inclusion(q: Floats, k: int) -> Floats:
    """(d, d, d) P[i, j, r in B]; where two of them are the same it is `pair_inclusion`. For the variance of h_ij.

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
    """(d,) P[i in B] for B = always + SAMPLING(k0) from the rest; q is a law on all d with no mass on `always`."""
    return np.diagonal(union_pair_inclusion(q, k0, always)).copy()


def union_pair_inclusion(q: Floats, k0: int, always: Ints) -> Floats:
    """(d, d) P[i, j in B] for B = always + SAMPLING(k0) from the rest; the diagonal is `union_inclusion`."""
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
    """P[i] for the attributes whose q is given, in a pool of n of which m are drawn."""
    return np.diagonal(pairs(q_B, n, m)).copy()


def pairs(q_B: Floats, n: int, m: int) -> Floats:
    """P[i, j] for the attributes whose q is given, P[i] on the diagonal: O(|B|^2) whatever n is."""
    return union_pairs(0, q_B, n, m)


def union_pairs(fixed: int, q_B: Floats, n: int, m: int) -> Floats:
    """P[i, j] for `fixed` always-observed attributes followed by drawn ones whose q is given."""
    P = np.ones((fixed + q_B.size, fixed + q_B.size))
    if m < n:
        fill_pairs(fixed, q_B, n, m, P)
    return P


@short
def fill_pairs(fixed: int, q_B: Floats, n: int, m: int, P: Floats) -> None:
    """P, which holds ones, where m < n."""
    # Deviation: the factor (d-k)/(k-2) on q_i + q_j is that of the main text's lemma; the appendix drops it (E1).
    both = (m - 1) / ((n - 1) * (n - 2) if n > 2 else 1)
    mixed = 1.0 / (n - 1)
    for i in range(q_B.size):
        single = ((n - m) * q_B[i] + (m - 1)) * mixed
        for j in range(fixed):
            P[fixed + i, j] = single
            P[j, fixed + i] = single
        for j in range(q_B.size):
            P[fixed + i, fixed + j] = both * ((m - 2) + (n - m) * (q_B[i] + q_B[j]))
        P[fixed + i, fixed + i] = single


def _checked(q: Floats, k: int) -> Floats:
    """q as an array, if it is a law and k indices can be drawn from it."""
    q = np.asarray(q, dtype=np.float64)
    if q.ndim != 1 or not (q >= 0).all() or not abs(q.sum() - 1.0) <= 1e-9:
        raise ConfigError("q must be a vector of probabilities: >= 0 with sum 1")
    if not 1 <= k <= q.size:
        raise ConfigError(f"k must be between 1 and {q.size}, the length of q; it is {k}")
    return q


@inner
def _inverse_cdf(q: Floats, u: float) -> int:
    """The index whose share of [0, 1) contains u; never one with q = 0."""
    total = 0.0
    for i in range(q.size):
        total += q[i]
    cdf = 0.0
    last = 0
    for i in range(q.size):
        if q[i] > 0.0:
            cdf += q[i]
            last = i
            if cdf > u * total:
                break
    return last


@short
def join(q: Floats, u: float, others: Ints, B: Ints) -> None:
    """The first index ~ q by its uniform u, then the others, which are drawn from all but the first."""
    # Deviation: the index that is drawn is the one inserted; Algorithm 2 slips between I_t, I_r and I_{r+1} (E6).
    B[0] = _inverse_cdf(q, u)
    for r in range(others.size):
        B[r + 1] = others[r] + (1 if others[r] >= B[0] else 0)
