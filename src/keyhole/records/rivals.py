"""The records of what others have published for the same settings: k of d attributes, or k and then k0 more."""

from ..algorithm import Algorithm

__all__ = ["RIVALS"]

_PAPER = "Li, Liao, Xu and Nie, COLT 2025"
_ITO = "Ito, Hatano, Sumita, Yabe, Fukunaga, Kakimura and Kawarabayashi, NIPS 2017"
_KALE = "Kale, Karnin, Liang and Pal, ICML 2017"
_MURATA = "Murata and Suzuki, NeurIPS 2018"

RIVALS = (
    Algorithm(
        name="ito2017-1",
        setting="k of d, then k0 more",
        conditions="abcgi",
        further="k0 >= 2",
        bound="O(d / (sigma_d^2 k0) sqrt(T)), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 1",
        status="reconstructed",
        path="keyhole.learners.ito2017_1:Ito1",
        extras=True,
        needs_extras=True,
    ),
    Algorithm(
        name="ito2017-2",
        setting="k of d",
        conditions="abcgi",
        further="k >= 2",
        bound="8 sqrt(kT) + 8192^2 d^8 / (sigma_d^8 k^7 h^7) + O(1), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 2",
        status="reconstructed",
        path="keyhole.learners.ito2017_2:Ito2",
    ),
    Algorithm(
        name="ito2017-3",
        setting="k of d",
        conditions="abdgi",
        further="k >= 2",
        bound="8 sqrt(kT) + 128^2 36^8 d^8 / (delta_S^8 k^3 h^7) + O(1), in expectation",
        cost="O(d)",
        reference=f"{_ITO}, Algorithm 3",
        status="reconstructed",
        path="keyhole.learners.ito2017_2:Ito3",
    ),
    Algorithm(
        name="kale2017-dantzig",
        setting="k of d, then k0 more",
        conditions="abef",
        further="k0 >= 2",
        bound="O(k^2 d^3 / k0^3 ln(T) ln(dT/delta)), with high probability",
        cost="O(LP_d log(T) / T + d)",
        reference=f"{_KALE}, Algorithm 1",
        status="reconstructed",
        path="keyhole.learners.kale2017_dantzig:KaleDantzig",
        extras=True,
        needs_extras=True,
    ),
    Algorithm(
        name="foster2016",
        setting="k of d, then k0 more; small d",
        further="none; k0 >= 2",
        bound="O(d^2 / k0^2 sqrt(kT ln d)), in expectation",
        cost="O(d^k)",
        reference="Foster, Kale and Karloff, COLT 2016",
        status="reconstructed",
        path="keyhole.learners.foster2016:Foster",
        extras=True,
        needs_extras=True,
    ),
    Algorithm(
        name="support-bandit",
        setting="k of d; small d, or k <= 2, or k >= d-2",
        further="none",
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
        conditions="e",
        further="k0 >= 1",
        bound="~O(T^(2/3)) poly(k, d), in expectation, with O(k ln T) attributes a round (here k)",
        cost="O(k0 k^2 + d)",
        reference=f"{_KALE}, Algorithm 2",
        status="reconstructed",
        path="keyhole.learners.kale2017_greedy:KaleGreedy",
        extras=True,
        needs_extras=True,
    ),
    Algorithm(
        name="murata2018-explore",
        setting="k of d, iterates with s < k non-zeros",
        conditions="abi",
        further="restricted eigenvalues; k >= 2",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d)",
        reference=f"{_MURATA}, exploration",
        status="reconstructed",
        path="keyhole.learners.murata2018_explore:MurataExplore",
    ),
    Algorithm(
        name="murata2018-hybrid",
        setting="k of d, iterates with s < k non-zeros",
        conditions="abi",
        further="restricted eigenvalues; k >= 2",
        bound="none for regret; O(1/eps) examples for excess risk eps",
        cost="O(d + k^2)",
        reference=f"{_MURATA}, hybrid",
        status="reconstructed",
        path="keyhole.learners.murata2018_hybrid:MurataHybrid",
    ),
)
