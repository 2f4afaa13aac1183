"""Rounds per second of the Newton step: the epoch kernel, one compiled call per round, and the same step in numpy.

    python benchmarks/newton.py

CPU time, one process, the variants called alternately on the same rows, the best of several repeats; read the ratios.
"""

import time

import numpy as np

from keyhole.estimation.online_newton import Newton

N, REPEATS = 20_000, 5


def rows(k):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (N, k))
    return X, X @ (rng.normal(size=k) / k) + 0.1 * rng.normal(size=N)


def epoch(k, X, y):
    """The whole array in one compiled call."""
    newton = Newton(k, eps=k, rho=0.1)
    newton.run(X, y)
    return newton.w


def rounds(k, X, y):
    """One compiled call per round, as in live use."""
    newton = Newton(k, eps=k, rho=0.1)
    for x, label in zip(X, y, strict=True):
        newton.learn(x, label)
    return newton.w


def plain(k, X, y):
    """The same arithmetic in numpy: one product A^-1 x, a rank-one update."""
    w, A_inv, rho = np.zeros(k), np.eye(k) / k, 0.1
    for x, label in zip(X, y, strict=True):
        v = A_inv @ x
        u, xv = w @ x, x @ v
        if abs(u) > 1.0:
            w -= (u - np.sign(u)) / xv * v
            u = np.sign(u)
        c = 2.0 * (u - label)
        den = 1.0 + rho * c * c * xv
        A_inv -= (rho * c * c / den) * np.outer(v, v)
        w -= c / den * v
    return w


def main():
    heads = {"k": 3, "epoch kernel": 15, "call a round": 15, "numpy": 12, "epoch/numpy": 13, "epoch/call": 12}
    print("".join(f"{head:>{width}}" for head, width in heads.items()) + "  difference")
    for k in (5, 10, 20):
        X, y = rows(k)
        best = dict.fromkeys((epoch, rounds, plain), np.inf)
        answers = {f: f(k, X[:100], y[:100]) for f in best}  # shows that they agree
        for _ in range(REPEATS):
            for f in best:
                start = time.process_time()
                f(k, X, y)
                best[f] = min(best[f], time.process_time() - start)
        difference = np.abs(answers[epoch] - answers[plain]).max()
        rate = {f: N / seconds for f, seconds in best.items()}
        ratios = f"{rate[epoch] / rate[plain]:13.1f}{rate[epoch] / rate[rounds]:12.1f}{difference:12.1e}"
        print(f"{k:3}{rate[epoch]:15.3g}{rate[rounds]:15.3g}{rate[plain]:12.3g}{ratios}")


if __name__ == "__main__":
    main()
