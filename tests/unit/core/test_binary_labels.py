"""Labels 0 and 1: predictions are probabilities, and right in the long run."""

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.probability_calibration import ProbabilityCalibrator
from keyhole.core.serialization import from_bytes, to_bytes

ABLE = [a.name for a in kh.list_algorithms() if a.binary_labels]
UNABLE = [a.name for a in kh.list_algorithms() if not a.binary_labels]


def made(name, d=8, k=3, seed=0, **options):
    if name == "oracle-support":
        options["support"] = [0, 1, 2]
    if name in ("fixed-random", "oracle-support"):
        options["standardize"] = True
    return kh.make(name, d=d, k=d if name == "vaw" else k, seed=seed, label="binary", **options)


def stream(law, T=3000, seed=0, d=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(T, d))
    z = X[:, :3] @ [2.0, -1.5, 1.0]
    score = {
        "logistic": z,
        "rare": z - 4.0,
        "hard": 8.0 * z,
        "no signal": 0.0 * z,
        "change": np.where(np.arange(T) < T // 2, z, -z),
    }[law]
    return X, (rng.random(T) < 1.0 / (1.0 + np.exp(-score))).astype(float)


@pytest.mark.parametrize("law", ["logistic", "rare", "hard", "no signal", "change"])
@pytest.mark.parametrize("name", ABLE)
def test_probabilities_are_right_in_the_long_run(name, law):
    X, y = stream(law)
    history = kh.play(made(name), X, y)
    assert ((history.predictions >= 0.0) & (history.predictions <= 1.0)).all()
    found = history.reliability(bins=5)
    off = np.abs(found.observed - found.predicted)
    assert (off <= 0.02 + 2.0 * found.standard_error)[found.rows >= 500].all(), found


@pytest.mark.parametrize("name", ABLE)
def test_no_worse_than_the_same_learner_told_numbers(name):
    X, y = stream("logistic")
    options = {"support": [0, 1, 2]} if name == "oracle-support" else {}
    if name in ("fixed-random", "oracle-support"):
        options["standardize"] = True
    numbers = kh.play(kh.make(name, d=8, k=8 if name == "vaw" else 3, seed=0, **options), X, y)
    binary = kh.play(made(name), X, y)
    assert binary.losses.sum() <= 1.005 * numbers.losses.sum()
    np.testing.assert_array_equal(binary.bought, numbers.bought)


@pytest.mark.parametrize("name", ABLE)
def test_played_at_once_or_row_by_row_saved_or_not_it_is_the_same(name):
    X, y = stream("logistic", T=300)
    y[7] = np.nan
    one, other = made(name), made(name)
    at_once = kh.play(one, X, y)
    first = kh.play(other, X[:100], y[:100], compiled=False)
    other = from_bytes(to_bytes(other))
    rest = kh.play(other, X[100:], y[100:], compiled=False)
    np.testing.assert_array_equal(at_once.predictions, np.concatenate([first.predictions, rest.predictions]))
    assert to_bytes(one) == to_bytes(other)
    assert np.isnan(at_once.levels).all()


def test_before_both_labels_were_seen_it_predicts_the_smoothed_share():
    learner = made("thrifty")
    X, _ = stream("logistic", T=20)
    history = kh.play(learner, X, np.ones(20))
    np.testing.assert_allclose(history.predictions, [(n + 1) / (n + 2) for n in range(20)])
    past = made("thrifty")
    past.calibrator.count(np.ones(9))
    r = past.ask()
    assert past.predict(r, X[0][r.attributes]) == pytest.approx(10 / 11)


@pytest.mark.parametrize("name", ["vaw", "explore-then-commit"])
def test_other_labels_are_refused_with_their_row(name):
    X, y = stream("logistic", T=40)
    learner = made(name)
    kh.play(learner, X[:10], y[:10])
    before = to_bytes(learner)
    odd = y[10:].copy()
    odd[0] = 2.0
    with pytest.raises(kh.ProtocolError, match='row 1: the label is 2.0; with label="binary" it is 0 or 1'):
        kh.play(learner, X[10:], odd)
    r = learner.ask()
    for wrong in (0.5, -1, 2):
        with pytest.raises(kh.ProtocolError, match="it is 0 or 1"):
            learner.tell(r, X[0][r.attributes], wrong)
    learner.tell(r, X[0][r.attributes], True)
    learner = from_bytes(before)
    with pytest.raises(kh.ProtocolError, match="labelled row 1 is 2"):
        learner.learn(X[10:], odd)
    assert to_bytes(learner) == before


def test_there_is_no_interval():
    learner = made("thrifty")
    r = learner.ask()
    with pytest.raises(kh.ProtocolError, match="predict returns the probability itself"):
        learner.interval(r, np.zeros(r.attributes.size))
    assert not learner.gives_intervals


@pytest.mark.parametrize("name", UNABLE)
def test_the_others_name_those_that_take_binary_labels(name):
    with pytest.raises(kh.ConfigError, match='takes no label="binary"; thrifty, .*vaw'):
        kh.make(name, d=8, k=3, k0=4, label="binary")


def test_label_is_one_of_two_words():
    with pytest.raises(kh.ConfigError, match="label must be 'number' or 'binary', not 'yes'"):
        kh.make("thrifty", d=8, k=3, label="yes")


def test_scores_of_probabilities():
    X, y = stream("logistic")
    history = kh.play(made("thrifty"), X, y)
    assert 0.85 < history.auc() < 0.92
    assert history.log_loss() < 0.5
    assert history.reliability(3).rows.sum() == 3000
    assert history.plot_reliability().to_dict()
    numbers = kh.play(kh.make("thrifty", d=8, k=3, seed=0), X, X[:, 0])
    with pytest.raises(kh.ConfigError, match="needs labels 0 and 1"):
        numbers.auc()


def test_whatever_the_labels_do_shares_and_probabilities_agree():
    """Integral control: an adversary who always answers against the prediction gains at most the dead zone."""
    calibrator, rng = ProbabilityCalibrator(), np.random.default_rng(0)
    p, y = np.empty(20_000), np.empty(20_000)
    for i in range(p.size):
        score = rng.normal(0.5, 0.3)
        p[i] = calibrator.probability(score)
        y[i] = float(p[i] < 0.4) if i % 3 else float(rng.random() < 0.3)
        calibrator.update(score, y[i])
    assert abs((y - p)[2000:].mean()) < 0.02


def test_a_forged_calibrator_is_refused():
    learner = made("vaw")
    state = learner.get_state()
    state["calibrator.weight"] = np.zeros_like(state["calibrator.weight"])
    with pytest.raises(kh.StateError):
        learner.set_state(state)


@pytest.mark.parametrize("name", ABLE)
def test_past_rows_calibrate_the_probabilities(name):
    """Scores of labels that change abruptly with x are far from probabilities; past rows show how far."""
    X, y = stream("hard", T=3000)
    learner = made(name)
    learner.learn(X[:2000], y[:2000])
    p = learner.predict_rows(X[2000:])
    assert learner.calibrator.counts.tolist() == [2000 - y[:2000].sum(), y[:2000].sum()]
    assert learner.calibrator.residual.tolist() == [0.0] * learner.calibrator.residual.size
    blank = from_bytes(to_bytes(learner))
    blank.calibrator = ProbabilityCalibrator()
    blank.calibrator.count(y[:2000])
    uncalibrated = blank.predict_rows(X[2000:])
    most = 1.0 if name == "fixed-random" else 0.97  # its three attributes are drawn blindly
    assert ((p - y[2000:]) ** 2).mean() < most * ((uncalibrated - y[2000:]) ** 2).mean()


def test_few_past_rows_only_count_their_labels():
    X, y = stream("logistic", T=9)
    learner = made("explore-then-commit")
    learner.learn(X, y)
    fresh = ProbabilityCalibrator()
    assert learner.calibrator.weight.tolist() == fresh.weight.tolist()
    assert learner.calibrator.counts.sum() == 9
