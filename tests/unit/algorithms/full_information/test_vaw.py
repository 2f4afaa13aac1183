"""VAW against its definition, with a fresh solve in every round."""

import numpy as np

import keyhole as kh


def direct(X, y, a):
    """b' (a I + sum of x x' up to and with this row)^-1 x."""
    A, b, y_hat = a * np.eye(X.shape[1]), np.zeros(X.shape[1]), []
    for x, label in zip(X, y, strict=True):
        A += np.outer(x, x)
        y_hat.append(b @ np.linalg.solve(A, x))
        b += label * x
    return np.array(y_hat), np.linalg.solve(A, b)


def test_the_predictions_are_those_of_the_formula():
    X, y, _ = kh.streams.synthetic(d=6, k=3, T=500, seed=0, design="ar(0.5)")
    for a in (0.01, 1.0, 30.0):
        learner = kh.make("vaw", d=6, seed=0, a=a)
        y_hat, w = direct(X, y, a)
        np.testing.assert_allclose(kh.play(learner, X, y).predictions, y_hat, atol=1e-11)
        np.testing.assert_allclose(learner.weights, w, atol=1e-11)


def test_the_inverse_is_still_the_inverse_after_many_rounds():
    X, y, _ = kh.streams.synthetic(d=8, k=3, T=20_000, seed=0, design="equicorrelated(0.9)")
    learner = kh.make("vaw", d=8, seed=0)
    kh.play(learner, X, y)
    np.testing.assert_allclose(learner.A_inv @ (np.eye(8) + X.T @ X), np.eye(8), atol=1e-8)
    np.testing.assert_array_equal(learner.A_inv, learner.A_inv.T)


def test_the_regret_bound_holds_for_labels_chosen_against_it():
    """Any u: regret <= a |u|^2 + d max y^2 ln(1 + T max |x_i|^2 / a); the labels oppose every prediction."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (300, 3))
    learner = kh.make("vaw", d=3, seed=0, a=1.0)
    y = np.empty(300)
    losses = np.empty(300)
    for t, x in enumerate(X):
        r = learner.ask()
        y_hat = learner.predict(r, x)
        y[t] = -1.0 if y_hat > 0 else 1.0
        losses[t] = (y_hat - y[t]) ** 2
        learner.tell(r, x, y[t])
    u = np.linalg.solve(np.eye(3) + X.T @ X, X.T @ y)
    assert losses.sum() - ((X @ u - y) ** 2).sum() <= u @ u + 3 * np.log(1 + 300)
