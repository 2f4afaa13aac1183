"""What a practitioner would do: buy everything for n rows, choose k by the lasso, then use those k for good.

n complete rows of d attributes cost what n d / k rows of k do; while that is saved up, the mean is predicted. The best
n in hindsight is reported, which is not known in advance.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

__all__ = ["lasso_support", "practitioner"]

_SIZES = (20, 40, 80, 150, 300, 600)


def lasso_support(X: Floats, y: Floats, k: int) -> npt.NDArray[np.int64]:
    """At most k columns: the longest support on the lasso's path that is no larger, by coordinate descent."""
    spread = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(spread > 0.0, spread, 1.0)
    r, n = y - y.mean(), y.size
    gram, cross = Z.T @ Z / n, Z.T @ r / n
    w, best = np.zeros(X.shape[1]), np.empty(0, np.int64)
    for level in np.abs(cross).max() * 0.85 ** np.arange(1, 40):
        for _ in range(50):
            before = w.copy()
            for j in range(w.size):
                z = cross[j] - gram[j] @ w + gram[j, j] * w[j]
                w[j] = np.sign(z) * max(abs(z) - level, 0.0) / max(gram[j, j], 1e-12)
            if np.abs(w - before).max() < 1e-4 * max(np.abs(w).max(), 1e-12):
                break
        chosen = np.flatnonzero(w)
        if chosen.size > k:
            break
        best = chosen
    return best


def practitioner(X: Floats, y: Floats, k: int) -> Floats:
    """Predictions of the best n: the mean until n complete rows are paid for, then least squares on the support."""
    T, d = X.shape
    means = np.concatenate([[0.0], np.cumsum(y)[:-1] / np.arange(1, T)])
    best, least = means, float(((means - y)[1:] ** 2).sum())
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    for n in _SIZES:
        first = int(np.ceil(n * d / k))
        if first >= T:
            break
        rows = X[first - n : first], y[first - n : first]
        S = lasso_support(*rows, k)
        predictions = means.copy()
        # From here on the k attributes are bought in every row, and least squares learns on.
        A, b = np.zeros((S.size + 1, S.size + 1)) + 1e-9 * np.eye(S.size + 1), np.zeros(S.size + 1)
        for x, label in zip(*rows, strict=True):
            z = np.append(x[S], 1.0)
            A, b = A + np.outer(z, z), b + label * z
        w = np.linalg.solve(A, b)
        for t in range(first, T):
            z = np.append(X[t, S], 1.0)
            predictions[t] = z @ w
            A, b = A + np.outer(z, z), b + y[t] * z
            if t < 2 * first or t % 50 == 0:
                w = np.linalg.solve(A, b)
        loss = float(((predictions - y)[1:] ** 2).sum())
        if loss < least:
            best, least = predictions, loss
    return best
