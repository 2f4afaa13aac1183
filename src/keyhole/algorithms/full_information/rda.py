"""Regularised dual averaging with an l1 penalty (Xiao) or a group penalty (DA-GL)."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from ..._core import rda_epoch
from ..._internal.typing import Floats, Ints
from ...core.registry.algorithm import AlgorithmInfo
from ...core.state import NumberCheck, StateSchema
from ...errors import ConfigError
from .._options import Presets, number, places, preset
from ._full_information import BuysEverything


class RDA(BuysEverything):
    """Dual averaging with an l1 or a group penalty, on all d attributes.

        g_t = 2 (<w_t, x_t> - y_t) x_t,   g_bar_t = ((t-1)/t) g_bar_{t-1} + (1/t) g_t
        w_{t+1,G} = -(sqrt(t)/gamma_t) [1 - lam_t sqrt(d_G) / |g_bar_{t,G}|_2]_+ g_bar_{t,G}     for every group G

    with gamma_t = gamma sqrt(d) v_t n_t and lam_t = lam r_t + gamma sqrt(d) rho y_t / sqrt(t). If every group is one
    attribute this is the soft threshold of l1-RDA (rho > 0: its "enhanced" form); with larger groups it is DA-GL, whose
    group formula is reconstructed (its paper promises a closed form in O(d); sqrt(d_G) is the group lasso's factor).

    Cost: O(d) per round and in memory.

    Parameters
    ----------
    groups
        Lists of attributes, by name or by number; an attribute in none of them is a group of its own.
    tuning
        "theory": v_t = n_t = r_t = y_t = 1 and gamma = 4, which balances the two terms of the regret bound if |x|_inf,
        |w|_1 and |y| are at most 1, rho = 0 and lam = 0.001. "practical" (the default): v_t is the running mean of
        x_i^2 over all attributes, n_t = 1 + 1.5 noise / signal as estimated from the errors so far, r_t and y_t are the
        root mean squares of the errors and of the labels, times sqrt(v_t), and <w_t, x_t> is clipped at the largest
        label so far; without these (our) changes the same gamma diverges on one design and hardly moves on another.
        gamma = 1, rho = 0.04 and lam = 0.02 are for the streams of `benchmarks/tune.py`.
    gamma, lam, rho
        The numbers above; each overrides the preset.

    >>> import keyhole as kh
    >>> X, y, w = kh.streams.synthetic(d=20, k=4, T=2000, seed=1)
    >>> history = kh.play(kh.make("rda", d=20, seed=0, groups=[[0, 1], ["x7", "x9"]]), X, y)
    >>> bool(history.losses[-500:].mean() < 0.02 < (y**2).mean())
    True

    References: Xiao, JMLR 2010; Yang, Xu, King and Lyu, ICML 2010 (reconstructed: the group formula).
    """

    name = "rda"
    info: ClassVar[AlgorithmInfo] = AlgorithmInfo(
        setting="d of d",
        bound="O(sqrt(T)), penalty included",
        cost="O(d)",
        reference="Xiao, JMLR 2010; with groups= Yang, Xu, King and Lyu, ICML 2010 (reconstructed)",
        status="verified",
        buys_all=True,
        further="bounded gradients",
    )
    _state: ClassVar[StateSchema] = {
        "w": NumberCheck(),
        "g_bar": NumberCheck(),
        "tally": NumberCheck(least=0.0),
        "errors": NumberCheck(least=0.0),
    }
    presets: ClassVar[Presets] = {
        "theory": {"gamma": 4.0, "lam": 0.001, "rho": 0.0},
        "practical": {"gamma": 1.0, "lam": 0.02, "rho": 0.04},
    }

    def __init__(
        self,
        names: tuple[str, ...],
        k: int,
        k0: int,
        seed: int,
        groups: Sequence[Sequence[str | int]] | None = None,
        tuning: Literal["practical", "theory"] = "practical",
        gamma: float | None = None,
        lam: float | None = None,
        rho: float | None = None,
    ) -> None:
        super().__init__(names, k, k0, seed)
        numbers = preset(self.presets, tuning, gamma=gamma, lam=lam, rho=rho)
        number("gamma", numbers["gamma"], above=0.0)
        self.numbers = np.array([*numbers.values(), float(tuning != "theory")])
        self.group, self.size = _partition(groups or (), self.names)
        self.w: Floats = np.zeros(self.d)
        self.g_bar: Floats = np.zeros(self.d)
        self.tally: Floats = np.zeros(3)
        self.errors: Floats = np.zeros(3)

    def _weights(self) -> Floats:
        """Return w_{t+1}, with exact zeros."""
        return self.w.copy()

    def _rounds(self, X: Floats, y: Floats) -> Floats:
        gamma, lam, rho, practical = self.numbers.tolist()
        y_hat, sums = np.empty(y.size), (self.w, self.g_bar, self.tally, self.errors)
        rda_epoch(*sums, X, y, self.group, self.size, gamma, lam, rho, practical > 0.0, y_hat)
        return y_hat


def _partition(groups: Sequence[Sequence[str | int]], names: Sequence[str]) -> tuple[Ints, Ints]:
    """Return the (d,) group number of every attribute, and the sizes of the groups."""
    if isinstance(groups, str) or not isinstance(groups, Sequence):
        raise ConfigError(f"groups must be a list of lists of attributes, not {groups!r}")
    group = np.full(len(names), -1)
    for label, members in enumerate(groups):
        S = places("groups", members, names)
        if (group[S] >= 0).any():
            raise ConfigError(f"groups must not overlap: '{names[S[group[S] >= 0][0]]}' is in two of them")
        group[S] = label
    alone = np.flatnonzero(group < 0)
    group[alone] = len(groups) + np.arange(alone.size)
    return group, np.bincount(group)
