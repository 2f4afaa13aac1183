"""Synthetic streams against the laws they state; statistical margins are 5 standard errors, seeds fixed."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from keyhole.data.streams import Stream, designs
from keyhole.data.synthetic_streams import synthetic
from keyhole.errors import ConfigError

Floats = npt.NDArray[np.float64]
EXAMPLES = ["uniform", "rademacher", "ar(0.6)", "ar(-0.5)", "equicorrelated(0.4)", "block(3, 0.7)", "switching(50)"]


def clipped_moment(rho: float) -> float:
    """E[x_i x_j] for x = clip(z/3, -1, 1) and corr(z_i, z_j) = rho, by quadrature over z_i and an independent e."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(120)
    z, e = np.meshgrid(nodes, nodes, indexing="ij")
    other = rho * z + math.sqrt(1 - rho**2) * e
    product = np.clip(z / 3, -1, 1) * np.clip(other / 3, -1, 1)
    return float(np.einsum("ij,i,j->", product, weights, weights) / (2 * math.pi))


def assert_second_moments(X: Floats, expected: Floats) -> None:
    """mean x_i x_j is within 5 standard errors (and the quadrature's 5e-5) of what the law says, and mean x_i of 0."""
    T, d = X.shape
    assert (np.abs(X.mean(axis=0)) <= 5 * X.std(axis=0) / math.sqrt(T)).all()
    for i in range(d):
        products = X * X[:, [i]]
        error = np.abs(products.mean(axis=0) - expected[i])
        assert (error <= 5 * products.std(axis=0) / math.sqrt(T) + 5e-5).all()


def gaussian(correlation: Floats) -> Floats:
    table = {rho: clipped_moment(rho) for rho in np.unique(correlation)}
    return np.vectorize(table.__getitem__)(correlation)


LAGS = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
BLOCKS = np.equal.outer(np.arange(7) // 3, np.arange(7) // 3)


@pytest.mark.parametrize(
    ("design", "expected"),
    [
        ("uniform", np.eye(7) / 3),
        ("rademacher", np.eye(7)),
        ("ar(0.6)", gaussian(0.6**LAGS)),
        ("ar(-0.5)", gaussian((-0.5) ** LAGS)),
        ("equicorrelated(0.4)", gaussian(np.where(LAGS == 0, 1.0, 0.4))),
        ("block(3, 0.7)", gaussian(np.where(LAGS == 0, 1.0, 0.7 * BLOCKS))),
    ],
)
def test_rows_have_the_moments_of_their_law(design: str, expected: Floats) -> None:
    assert_second_moments(synthetic(7, 3, 40_000, design=design, seed=3).X, expected)


def test_switching_alternates_uniform_and_ar_rows_while_w_stays() -> None:
    X, y, w = synthetic(7, 3, 40_100, sigma=0.0, design="switching(50)", seed=3)
    first = np.arange(40_100) // 50 % 2 == 0
    assert_second_moments(X[first], np.eye(7) / 3)
    assert_second_moments(X[~first], gaussian(0.5**LAGS))
    np.testing.assert_allclose(y, X @ w, rtol=1e-12)


def test_uniform_and_rademacher_have_their_values() -> None:
    X = synthetic(5, 2, 20_000, design="uniform").X
    # The fourth moment tells the uniform law from others of variance 1/3: E x^4 = 1/5, sd of x^4 is 4/15.
    assert abs((X**4).mean() - 1 / 5) <= 5 * (4 / 15) / math.sqrt(X.size)
    assert set(np.unique(synthetic(5, 2, 100, design="rademacher").X)) == {-1.0, 1.0}


@pytest.mark.parametrize("design", ["ar(0.6)", "equicorrelated(0.4)", "block(3, 0.7)"])
def test_gaussian_entries_are_clipped_as_often_as_they_should_be(design: str) -> None:
    X = synthetic(6, 3, 50_000, design=design, seed=5).X
    rows = (np.abs(X) == 1.0).mean(axis=1)
    assert abs(rows.mean() - math.erfc(3 / math.sqrt(2))) <= 5 * rows.std() / math.sqrt(len(rows))


@pytest.mark.parametrize("design", EXAMPLES)
def test_a_stream_has_its_shape_and_range_and_repeats(design: str) -> None:
    stream = synthetic(10, 4, 333, design=design, seed=7)
    assert isinstance(stream, Stream)
    X, y, w = stream
    assert X.shape == (333, 10)
    assert y.shape == (333,)
    assert X.dtype == y.dtype == w.dtype == np.float64
    assert X.flags.c_contiguous
    assert np.abs(X).max() <= 1.0
    for a, b in zip(stream, synthetic(10, 4, 333, design=design, seed=7), strict=True):
        assert a.tobytes() == b.tobytes()
    assert synthetic(10, 4, 333, design=design, seed=8).X.tobytes() != X.tobytes()


def test_weights_are_sparse_of_norm_one_with_sizes_from_a_half_to_one() -> None:
    ratios = []
    for seed in range(200):
        w = synthetic(9, 4, 1, seed=seed).w
        assert np.count_nonzero(w) == 4
        assert np.abs(w).sum() == pytest.approx(1.0, abs=1e-15)
        sizes = np.sort(np.abs(w[w != 0]))
        ratios.append(sizes[-1] / sizes[0])
    assert max(ratios) <= 2.0
    # The sizes do fill (1/2, 1): the largest of 200 ratios of extremes of 4 is close to 2.
    assert max(ratios) > 1.8


def test_support_and_signs_are_uniform() -> None:
    n = 3000
    W = np.array([synthetic(6, 2, 1, seed=seed).w for seed in range(n)])
    counts = (W != 0).mean(axis=0)
    assert (np.abs(counts - 1 / 3) <= 5 * math.sqrt(2 / 9 / n)).all()
    assert abs((W > 0).sum() - n) <= 5 * math.sqrt(2 * n / 4)
    pairs = {tuple(np.flatnonzero(w)) for w in W}
    assert len(pairs) == 15


def test_labels_are_the_linear_signal_plus_gaussian_noise() -> None:
    X, y, w = synthetic(8, 3, 40_000, sigma=0.2, seed=2)
    noise = (y - X @ w) / 0.2
    for power, moment, variance in ((1, 0, 1), (2, 1, 2), (4, 3, 96)):
        assert abs((noise**power).mean() - moment) <= 5 * math.sqrt(variance / 40_000)
    assert (np.abs(X.T @ noise) / 40_000 <= 5 * math.sqrt(1 / 3 / 40_000)).all()


def test_spaces_in_a_design_do_not_matter() -> None:
    a, b = (synthetic(5, 2, 50, design=design).X for design in ("block(2,0.5)", "  block ( 2 , 5e-1 ) "))
    assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ("gauss", "uniform.*rademacher.*ar\\(rho\\).*switching\\(period\\)"),
        ("", "the designs are"),
        ("ar(0.5", "the designs are"),
        ("ar(0.5)(0.5)", "the designs are"),
        ("ar", "written ar\\(rho\\)"),
        ("uniform(1)", "written uniform"),
        ("block(3)", "written block\\(size, rho\\)"),
        ("ar(x)", "numbers"),
        ("ar(,)", "numbers"),
        ("ar(1)", "-1 < rho < 1"),
        ("ar(nan)", "-1 < rho < 1"),
        ("equicorrelated(-0.1)", "0 <= rho < 1"),
        ("block(0, 0.5)", "size >= 1"),
        ("block(2.5, 0.5)", "size >= 1"),
        ("block(inf, 0.5)", "size >= 1"),
        ("block(2, 1)", "0 <= rho < 1"),
        ("switching(0)", "period >= 1"),
    ],
)
def test_a_bad_design_is_refused_with_the_way_to_write_it(design: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        synthetic(5, 2, 10, design=design)


@pytest.mark.parametrize(
    "change", [{"d": 0}, {"k": 0}, {"k": 6}, {"T": 0}, {"sigma": -1.0}, {"sigma": math.nan}, {"seed": -1}]
)
def test_a_bad_size_is_refused(change: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match="|".join(change)):
        synthetic(**{"d": 5, "k": 2, "T": 10} | change)


def test_every_listed_design_can_be_written() -> None:
    assert {form.split("(")[0] for form in designs()} == {form.split("(")[0] for form in EXAMPLES}
