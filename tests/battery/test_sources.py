"""Every learner that takes sources: never one in part, known ones always and for free, prices as they are."""

import numpy as np
import pytest

import keyhole as kh

NAMES = ["age", "ldl", "hdl", "trig", "glucose", "f", "m", "bmi"]
SOURCES = {"lipids": ["ldl", "hdl", "trig"], "sex": ["f", "m"]}
PRICES = {"lipids": 12.0, "sex": 0.3, "glucose": 3.0, "bmi": 0.1}
LEARNERS = {
    "fixed-random": {"k": 2},
    "oracle-support": {"k": 2, "support": ["hdl", "bmi"]},
    "vaw": {},
    "thrifty": {"k": 2},
    "thrifty, worth": {"error_cost": 300.0},
    "thrifty, spend": {"budget_per_row": 4.0, "error_cost": 300.0, "k0": 1},
    "thrifty, total": {"k": 3, "total_budget": 800.0, "expected_rows": 200},
}


def make(name, **more):
    options = dict(names=NAMES, sources=SOURCES, free=["age"], prices=PRICES, seed=3, **LEARNERS[name], **more)
    return kh.make(name.partition(",")[0], **options)


def rows(T=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (T, len(NAMES)))
    return X, 0.4 * X[:, 0] + 0.4 * X[:, 2] - 0.2 * X[:, 7]


def tell(learner, r, x, y):
    """Answer a round from the full row."""
    learner.tell(r, x[r.attributes], y, r.extra, x[r.extra])


def check(learner, r):
    """What holds for every round."""
    names = [learner.names[i] for i in r.attributes]
    assert list(r.names) == names
    assert names[:1] == ["age"]
    bought = set(names[1:])
    for source in r.sources:
        brings = set(SOURCES.get(source, [source]))
        assert brings <= bought
        bought -= brings
    assert not bought
    extras = learner.catalog.ordered(r.extra)
    assert r.price == pytest.approx(sum(PRICES[s] for s in (*r.sources, *extras)), abs=1e-12)
    assert not set(extras) & set(r.sources)
    assert len(extras) <= learner.k0
    if not learner.info.buys_all:
        assert len(r.sources) <= learner.k


@pytest.mark.parametrize("name", LEARNERS)
def test_a_source_is_bought_whole_and_what_is_known_is_free(name):
    learner, (X, y) = make(name), rows()
    for x, label in zip(X[:50], y[:50], strict=True):
        r = learner.ask()
        check(learner, r)
        assert kh.Round.from_json(r.to_json()) == r
        learner.predict(r, x[r.attributes])
        tell(learner, r, x, label)


@pytest.mark.parametrize("name", LEARNERS)
def test_only_whole_sources_that_can_be_had_are_ordered(name):
    learner, (X, y) = make(name), rows()
    for available in (["lipids"], ["ldl", "hdl"], ["glucose", "sex"], [], ["bmi", "ldl", "trig", "hdl"]):
        r = learner.ask(available=available)
        check(learner, r)
        can = {s for s in PRICES if s in available or set(SOURCES.get(s, [s])) <= set(available)}
        assert set(r.sources) <= can
        tell(learner, r, X[0], y[0])


def test_available_may_say_yes_or_no_of_each_name():
    """A mapping, or a series of pandas in any order; read as a list, its keys would all have been available."""
    pd = pytest.importorskip("pandas")
    said = {"lipids": False, "sex": True, "glucose": False, "bmi": True}
    mask = pd.Series({name: name in ("m", "bmi", "f") for name in reversed(NAMES)})
    for available in (said, mask):
        assert set(make("vaw").ask(available=available).sources) == {"sex", "bmi"}
    with pytest.raises(kh.ProtocolError, match="available must map a name to True or False; 'sex' has 0.3"):
        make("vaw").ask(available=PRICES | {"lipids": True})
    with pytest.raises(kh.ProtocolError, match="neither an attribute nor a source"):
        make("vaw").ask(available={"x": True})


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("compiled", [True, False])
def test_the_history_counts_what_was_bought_and_what_it_cost(name, compiled):
    learner, (X, y) = make(name), rows()
    history = kh.play(learner, X, y, compiled=compiled)
    assert history.bought[0] == 0
    spent = sum(PRICES[s] * history.bought[NAMES.index(SOURCES.get(s, [s])[0])] for s in PRICES)
    assert history.price.sum() == pytest.approx(spent)
    assert learner.support.tolist() == sorted(set(learner.support) - {0})
    assert learner.weights[0] != 0.0


@pytest.mark.parametrize("name", LEARNERS)
def test_a_known_attribute_may_be_missing(name):
    learner, (X, y) = make(name), rows()
    r = learner.ask()
    x = X[0, r.attributes].copy()
    x[0] = np.nan
    assert np.isfinite(learner.predict(r, x))
    learner.tell(r, x, y[0], r.extra, X[0, r.extra])
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_the_file_keeps_the_market(name, tmp_path):
    learner, (X, y) = make(name), rows()
    kh.play(learner, X[:20], y[:20])
    r = learner.ask()
    learner.save(tmp_path / "model.kh")
    loaded = kh.load(tmp_path / "model.kh")
    assert loaded.open_rounds == (r,)
    assert loaded.catalog.sources == learner.catalog.sources
    assert loaded.ask() == learner.ask()


def test_learners_of_the_papers_say_who_takes_sources():
    with pytest.raises(kh.ConfigError, match="'ds-oslrc' buys single .* no sources such as '.*'; 'thrifty' does"):
        kh.make("ds-oslrc", names=NAMES, k=3, sources=SOURCES)


def test_k_counts_sources():
    with pytest.raises(kh.ConfigError, match="k must be between 1 and the number of sources = 4; it is 5"):
        kh.make("fixed-random", names=NAMES, k=5, sources=SOURCES, free=["age"])
