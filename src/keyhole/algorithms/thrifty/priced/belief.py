"""What a source explains, by the posterior of a spike and four slabs.

    theta = 0                                             with probability 1 - p       the spike
    theta ~ |theta|^2 N(0, c var(y) / (q + 2)), normed    with probability p_c         c in SLABS, q attributes

in units of unit variance: E |theta|^2 = c var(y), however many attributes. The factor |theta|^2 (a moment prior) says
that what matters is not next to nothing: few rows that show nothing so tell more, against it and against sources that
matter a little, and an unlucky few tell less. Some rows, which say as much as n ordinary ones (`calm`), say that it
explains `gain` of the variance v that is left without it. With a g-prior,

    g = n c var(y) / ((q + 2) v),   kappa = g / (1 + g),   R^2 = n gain / (rows v)                       in these rows
    mu^2 = kappa^2 gain,      u = kappa v (1 - kappa R^2) / n
    log Bayes factor = -q/2 log(1 + g) - (rows - 1)/2 log(1 - kappa R^2) + log((mu^2 + q u) (q + 2) / (q c var(y)))
    E |theta|^2      = ((mu^2 + q u)^2 + 2 q u^2 + 4 u mu^2) / (mu^2 + q u)                          within a slab

The probabilities are learnt from all sources together.
"""

import math

import numpy as np

from ...._internal.numba._jit import inner
from ...._internal.typing import Floats

__all__ = ["FAITH", "SLABS", "learn_prior", "posterior", "prior_weights"]

SLABS = np.array([0.01, 0.03, 0.1, 0.35])
# How the weight of all slabs is spread: what is worth a price is seldom small.
_SPREAD = np.array([0.08, 0.1, 0.27, 0.55])
# For so many sources counts what was hoped of them before any was judged.
FAITH = 12.0


def prior_weights(sources: int, expected: float = 10.0) -> Floats:
    """Log weights of the spike and the slabs: about `expected` sources matter, half of few."""
    p = min(0.5, expected / max(sources, 1))
    weights: Floats = np.log(np.append(1.0 - p, p * _SPREAD))
    return weights


@inner
def learn_prior(prior: Floats, hoped: Floats, tally: Floats, faith: float) -> None:
    """A step of EM over all sources (empirical Bayes): (faith hoped + tally) / (faith + how many were judged)."""
    judged = tally.sum()
    for i in range(prior.size):
        prior[i] = math.log((faith * math.exp(hoped[i]) + tally[i]) / (faith + judged))


@inner
def posterior(
    gain: float, n: float, rows: float, q: int, v: float, y_var: float, prior: Floats, weight: Floats, kappa: Floats
) -> float:
    """E |theta|^2; weight and kappa get the posterior weights and the shrinkage of the spike (0) and the slabs."""
    R2, heaviest = min(max(n / rows * gain / v, 0.0), 0.995) if rows > 0.0 else 0.0, 0.0
    weight[0], kappa[0] = prior[0], 0.0
    told = rows > q + 1.0
    heaviest = prior[0]
    for i in range(1, weight.size):
        g = n * SLABS[i - 1] * y_var / ((q + 2) * v)
        kappa[i] = g / (1.0 + g) if told else 0.0
        weight[i] = prior[i]
        if told:
            u = kappa[i] * v * (1.0 - kappa[i] * R2) / n
            square = (kappa[i] ** 2 * gain + q * u) * (q + 2) / (q * SLABS[i - 1] * y_var)
            weight[i] -= 0.5 * q * math.log1p(g) + 0.5 * max(rows - 1.0, q) * math.log(1.0 - R2 * kappa[i])
            weight[i] += math.log(square)
        heaviest = max(heaviest, weight[i])
    total = 0.0
    for i in range(weight.size):
        weight[i] = math.exp(weight[i] - heaviest)
        total += weight[i]
    mean = 0.0
    for i in range(weight.size):
        weight[i] /= total
        if i > 0:
            mu2, u = 0.0, SLABS[i - 1] * y_var / (q + 2)
            if told:
                mu2, u = kappa[i] ** 2 * gain, kappa[i] * v * (1.0 - kappa[i] * R2) / n
            mean += weight[i] * ((mu2 + q * u) ** 2 + 2.0 * q * u * u + 4.0 * u * mu2) / (mu2 + q * u)
    return mean
