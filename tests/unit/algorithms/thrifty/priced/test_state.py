"""A priced state from outside: what is believed in general must be a law."""

import numpy as np
import pytest

import keyhole as kh

LAW = np.log([0.5, 0.2, 0.1, 0.1, 0.1])


def played():
    X, y, _ = kh.streams.synthetic(6, 2, 120, seed=1)
    learner = kh.make("thrifty", d=6, prices=[1.0] * 6, error_cost=50.0, seed=0)
    kh.play(learner, X, y)
    return learner


@pytest.mark.parametrize(
    "prior", [LAW + 0.1, LAW - 0.1, np.log([2.0, 1.0, 1.0, 1.0, 1.0]), np.array([0.0, -np.inf, -1e300, -1e300, -1e300])]
)
def test_a_prior_that_is_no_law_is_refused(prior):
    learner = played()
    state = learner.get_state()
    assert np.exp(state["memory.prior"]).sum() == pytest.approx(1.0)
    with pytest.raises(kh.StateError, match="prior"):
        learner.set_state(state | {"memory.prior": prior})
    learner.set_state(state | {"memory.prior": LAW})
    assert np.array_equal(learner.memory.state.prior, LAW)
