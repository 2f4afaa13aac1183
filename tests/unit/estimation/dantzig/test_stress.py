"""The engine against HiGHS on problems made to break it: every answer the same, every answer certified."""

import numpy as np
import pytest

from keyhole._internal.typing import Floats
from keyhole.estimation.dantzig import Sequence, Solution
from keyhole.estimation.dantzig.highs import solve_highs

from .stress import LAWS, rounds


def agree(seq: Sequence, gamma: "float | Floats", sol: Solution, tolerance: float) -> None:
    """The same verdict as HiGHS, the same objective, and a certificate."""
    reference = solve_highs(seq.H, seq.b, np.broadcast_to(np.asarray(gamma, float), seq.d) * seq.s)
    # HiGHS itself may be undecided at the edge of infeasibility; then there is nothing to compare.
    assert sol.status == reference.status or reference.status == "failed"
    if sol.status == "optimal":
        assert max(sol.primal_residual, sol.dual_residual, sol.gap) <= 1e-9
        assert sol.objective == pytest.approx(reference.objective, rel=tolerance, abs=0)


@pytest.mark.parametrize("name", LAWS)
def test_a_warm_sequence_agrees_with_highs(name: str) -> None:
    for seq, gamma in rounds(name, seed=100, length=14):
        agree(seq, gamma, seq.solve(gamma), 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_450_solves_of_each_law_agree_with_highs(name: str) -> None:
    for seed in range(9):
        for seq, gamma in rounds(name, seed, length=50):
            agree(seq, gamma, seq.solve(gamma), 1e-8)
