"""One record per algorithm: what there is to know of it before running it."""

from dataclasses import asdict, dataclass

__all__ = ["ALGORITHMS", "Algorithm"]


@dataclass(frozen=True)
class Algorithm:
    """What there is to know about an algorithm before running it."""

    name: str
    setting: str
    assumptions: str
    bound: str
    cost: str
    reference: str
    status: str
    """"verified" (read and checked) or "reconstructed" (its steps are ours, its rate is theirs)."""
    path: str
    """Where the learner is: "module:Class", imported when it is made."""
    buys_all: bool = False
    """It buys all d attributes of every row."""
    extras: bool = False
    """It buys after the label too, where k0 > 0."""
    raw_columns: bool = False
    """It takes columns as they are; the others expect them scaled into [-1, 1]."""

    def to_dict(self) -> dict[str, str | bool]:
        """The record as plain data, without the module path."""
        return {key: value for key, value in asdict(self).items() if key != "path"}


_PAPER = "Li, Liao, Xu and Nie, COLT 2025"
_ITO = "Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura and Kawarabayashi, NIPS 2017"
_INDEPENDENT = "(a) realizable, (b) sparse, (c) linearly independent features, (g) bounded noise, (i) i.i.d. rows"
_KALE = "Kale, Karnin, Liang and Pal, ICML 2017"
_MURATA = "Murata and Suzuki, NeurIPS 2018"

ALGORITHMS = (
    Algorithm(
        name="thrifty",
        setting="k of d, optional k0, optional costs",
        assumptions="(i) exchangeable rows",
        bound="none proven",
        cost="O(k^2), and O(d k^2) at each 2 % more rows",
        reference="keyhole's own, docs/thrifty.md",
        status="verified",
        path="keyhole.learners.thrifty:Thrifty",
        extras=True,
        raw_columns=True,
    ),
    Algorithm(
        name="ds-oslrc",
        setting="k of d",
        assumptions="(a) realizable, (b) sparse, (d) compatibility, (f) Gaussian noise; 3 <= k <= d-3",
        bound="4 sqrt(T) + 102^4 k^2 d^2 / (delta_S^8 h^2) ln^2(dT/delta) + O(1), with high probability",
        cost="O(LP_d / sqrt(T) + k^2)",
        reference=f"{_PAPER}, Algorithm 1",
        status="verified",
        path="keyhole.learners.ds_oslrc:DSOSLRC",
    ),
    Algorithm(
        name="ds-poslrc",
        setting="k of d, then k0 more",
        assumptions="(a) realizable, (b) sparse, (d) compatibility, (f) Gaussian noise; 3 <= k <= d-3, k0 >= 3",
        bound="O(k^2 d / (delta_S^4 k0) (d/k0 + ln T) ln(dT/delta)), with high probability",
        cost="O(LP_d)",
        reference=f"{_PAPER}, Algorithm 3",
        status="verified",
        path="keyhole.learners.ds_poslrc:DSPOSLRC",
        extras=True,
    ),
    Algorithm(
        name="gibbs-thompson",
        setting="k of d",
        assumptions="(i) exchangeable rows",
        bound="none proven",
        cost="O(d^2), and O(d^2 k T) at each 10 % more rows, which it keeps",
        reference="keyhole's own: what a Bayesian statistician would use instead; spike and slab, Thompson sampling",
        status="verified",
        path="keyhole.learners.gibbs_thompson:GibbsThompson",
        raw_columns=True,
    ),
    Algorithm(
        name="explore-then-commit",
        setting="k of d",
        assumptions="(i) exchangeable rows",
        bound="none proven",
        cost="O(k^3), and O(d k^3) at each commitment",
        reference="keyhole's own: what a statistician would try first; matching pursuit on pooled moments",
        status="verified",
        path="keyhole.learners.explore_then_commit:ExploreThenCommit",
        raw_columns=True,
    ),
    Algorithm(
        name="aer",
        setting="k of d",
        assumptions="(i) i.i.d. instances; k >= 2",
        bound="excess risk O(d / sqrt(k s)) of the dense predictor after s explorations",
        cost="O(d log d) to explore, O(k^2) else",
        reference="Cesa-Bianchi, Shalev-Shwartz and Shamir, ICML 2010, played on its k largest weights",
        status="reconstructed",
        path="keyhole.learners.aer:AER",
    ),
    Algorithm(
        name="aerr",
        setting="k of d",
        assumptions="(i) i.i.d. instances; |x|_2 <= 1; k >= 2",
        bound="excess risk 4 sqrt(2d / ((k-1) s)) of the dense predictor after s explorations",
        cost="O(d) to explore, O(k^2) else",
        reference="Hazan and Koren, ICML 2012, ridge, played on its k largest weights",
        status="reconstructed",
        path="keyhole.learners.aerr:AERR",
    ),
    Algorithm(
        name="aelr",
        setting="k of d",
        assumptions="(i) i.i.d. instances; k >= 2",
        bound="excess risk 4 sqrt(10 d ln(2d) / ((k-1) s)) of the dense predictor after s explorations",
        cost="O(d) to explore, O(k^2) else",
        reference="Hazan and Koren, ICML 2012, lasso, played on its k largest weights",
        status="reconstructed",
        path="keyhole.learners.aelr:AELR",
    ),
    Algorithm(
        name="olin-lasso",
        setting="d of d",
        assumptions="(a) realizable, (b) sparse, (i) i.i.d. instances; restricted strong convexity",
        bound="|theta_t - w|_2 = O(sqrt(k ln d / t)), with high probability",
        cost="O(d^2)",
        reference="Yang et al., AISTATS 2023",
        status="reconstructed",
        path="keyhole.learners.olin_lasso:OLinLasso",
        buys_all=True,
    ),
    Algorithm(
        name="rda",
        setting="d of d",
        assumptions="bounded gradients",
        bound="O(sqrt(T)), penalty included",
        cost="O(d)",
        reference="Xiao, JMLR 2010; with groups= Yang, Xu, King and Lyu, ICML 2010 (reconstructed)",
        status="verified",
        path="keyhole.learners.rda:RDA",
        buys_all=True,
    ),
    Algorithm(
        name="i-lamm",
        setting="d of d",
        assumptions="(a) realizable, (b) sparse; localized sparse eigenvalues, a lower bound on the weights",
        bound="|beta_n - w|_2 = O(sqrt(k / n)), with high probability",
        cost="O(d^2)",
        reference="Fan, Liu, Sun and Zhang, Annals of Statistics 2018",
        status="verified",
        path="keyhole.learners.i_lamm:ILAMM",
        buys_all=True,
    ),
    Algorithm(
        name="vaw",
        setting="d of d",
        assumptions="none",
        bound="a |w|_2^2 + d max y^2 ln(1 + T / a)",
        cost="O(d^2)",
        reference="Vovk, NIPS 1997; Azoury and Warmuth, Machine Learning 2001",
        status="verified",
        path="keyhole.learners.vaw:VAW",
        buys_all=True,
    ),
    Algorithm(
        name="fixed-random",
        setting="k of d",
        assumptions="none",
        bound="O(k ln T) against weights on its k attributes; linear in T against others",
        cost="O(k^2)",
        reference="baseline: online Newton step (Hazan, Agarwal and Kale 2007) on k attributes drawn once",
        status="verified",
        path="keyhole.learners.fixed_random:FixedRandom",
    ),
    Algorithm(
        name="oracle-support",
        setting="reference",
        assumptions="the support is given",
        bound="O(k ln T)",
        cost="O(k^2)",
        reference="baseline: online Newton step (Hazan, Agarwal and Kale 2007) on the true support",
        status="verified",
        path="keyhole.learners.oracle_support:OracleSupport",
    ),
    Algorithm(
        name="ito2017-1",
        setting="k of d, then k0 more",
        assumptions=f"{_INDEPENDENT}; k0 >= 2",
        bound="O(d / (sigma_d^2 k0) sqrt(T)), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 1",
        status="reconstructed",
        path="keyhole.learners.ito2017:Ito1",
        extras=True,
    ),
    Algorithm(
        name="ito2017-2",
        setting="k of d",
        assumptions=f"{_INDEPENDENT}; k >= 2",
        bound="8 sqrt(kT) + 8192^2 d^8 / (sigma_d^8 k^7 h^7) + O(1), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 2",
        status="reconstructed",
        path="keyhole.learners.ito2017:Ito2",
    ),
    Algorithm(
        name="ito2017-3",
        setting="k of d",
        assumptions="(a) realizable, (b) sparse, (d) compatibility, (g) bounded noise, (i) i.i.d. rows; k >= 2",
        bound="8 sqrt(kT) + 128^2 36^8 d^8 / (delta_S^8 k^3 h^7) + O(1), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 3",
        status="reconstructed",
        path="keyhole.learners.ito2017:Ito3",
    ),
    Algorithm(
        name="kale2017-dantzig",
        setting="k of d, then k0 more",
        assumptions="(a) realizable, (b) sparse, (e) restricted isometry, (f) Gaussian noise; k0 >= 2",
        bound="O(k^2 d^3 / k0^3 ln(T) ln(dT/delta)), with high probability",
        cost="O(LP_d log(T) / T + d)",
        reference=f"{_KALE}, Algorithm 1",
        status="reconstructed",
        path="keyhole.learners.kale2017_dantzig:KaleDantzig",
        extras=True,
    ),
    Algorithm(
        name="foster2016",
        setting="k of d, then k0 more; small d",
        assumptions="none; k0 >= 2",
        bound="O(d^2 / k0^2 sqrt(kT ln d)), in expectation",
        cost="O(d^k)",
        reference="Foster, Kale and Karloff, COLT 2016",
        status="reconstructed",
        path="keyhole.learners.foster2016:Foster",
        extras=True,
    ),
    Algorithm(
        name="support-bandit",
        setting="k of d; small d, or k <= 2, or k >= d-2",
        assumptions="none",
        bound="O(sqrt(NT)) in expectation, N = C(d, k) (batched-exp3: ~O(N^(1/3) T^(2/3)))",
        cost="O(d^k)",
        reference=f"{_PAPER}, section 2; Agarwal et al., COLT 2017; Foster et al., NeurIPS 2020; "
        "Ito et al., AISTATS 2018",
        status="reconstructed",
        path="keyhole.learners.support_bandit:SupportBandit",
    ),
    Algorithm(
        name="kale2017-greedy",
        setting="k of d, then k0 more",
        assumptions="(e) restricted isometry; k0 >= 1",
        bound="~O(T^(2/3)) poly(k, d), in expectation, with O(k ln T) attributes a round (here k)",
        cost="O(k0 k^2 + d)",
        reference=f"{_KALE}, Algorithm 2",
        status="reconstructed",
        path="keyhole.learners.kale2017_greedy:KaleGreedy",
        extras=True,
    ),
    Algorithm(
        name="murata2018-explore",
        setting="k of d, iterates with s < k non-zeros",
        assumptions="(a) realizable, (b) sparse, restricted eigenvalues, (i) i.i.d. rows; k >= 2",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d)",
        reference=f"{_MURATA}, exploration",
        status="reconstructed",
        path="keyhole.learners.murata2018:MurataExplore",
    ),
    Algorithm(
        name="murata2018-hybrid",
        setting="k of d, iterates with s < k non-zeros",
        assumptions="(a) realizable, (b) sparse, restricted eigenvalues, (i) i.i.d. rows; k >= 2",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d + k^2)",
        reference=f"{_MURATA}, hybrid",
        status="reconstructed",
        path="keyhole.learners.murata2018:MurataHybrid",
    ),
)
