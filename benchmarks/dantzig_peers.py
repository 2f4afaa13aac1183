"""What else a Python user could solve the Dantzig selector with, each behind the same three methods.

A peer that is not installed raises ImportError when it is built.
"""

from typing import Protocol

import numpy as np

from keyhole._internal.typing import Floats, Ints


class Peer(Protocol):
    """Sums of rounds, and the objective of DS on them at raw Gamma = s gamma."""

    name: str
    edits: bool

    def update(self, B: Ints, h: Floats, v: Floats) -> None: ...

    def solve(self, Gamma: float) -> float: ...


class Sums:
    """H and b, for peers that start from nothing each time."""

    edits = False

    def __init__(self, d: int) -> None:
        self.H, self.b = np.zeros((d, d)), np.zeros(d)

    def update(self, B: Ints, h: Floats, v: Floats) -> None:
        self.H[np.ix_(B, B)] += h
        self.b[B] += v


class LinprogTwoSided(Sums):
    """scipy, rows H(p - n) + r = b with -Gamma <= r <= Gamma."""

    name = "linprog, two-sided rows"

    def solve(self, Gamma: float) -> float:
        from scipy.optimize import linprog

        d = self.b.size
        bounds = np.empty((3 * d, 2))
        bounds[: 2 * d], bounds[2 * d :] = (0.0, np.inf), (-Gamma, Gamma)
        cost = np.concatenate([np.ones(2 * d), np.zeros(d)])
        rows = np.hstack([self.H, -self.H, np.eye(d)])
        return float(linprog(cost, A_eq=rows, b_eq=self.b, bounds=bounds, method="highs-ds").fun)


class LinprogOneSided(Sums):
    """scipy, 2 d one-sided rows."""

    name = "linprog, one-sided rows"

    def solve(self, Gamma: float) -> float:
        from scipy.optimize import linprog

        rows = np.block([[self.H, -self.H], [-self.H, self.H]])
        right = np.concatenate([Gamma + self.b, Gamma - self.b])
        return float(linprog(np.ones(2 * self.b.size), A_ub=rows, b_ub=right, method="highs-ds").fun)


class HighspyWarm(Sums):
    """highspy with one model kept: coefficients and bounds are edited, the basis stays."""

    name = "highspy, warm, edits included"
    edits = True

    def __init__(self, d: int) -> None:
        import highspy

        super().__init__(d)
        self._model = model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        model.setOptionValue("presolve", "off")
        empty = np.empty(0)
        for _ in range(2 * d):
            model.addCol(1.0, 0.0, highspy.kHighsInf, 0, empty.astype(np.int32), empty)
        for _ in range(d):
            model.addRow(-highspy.kHighsInf, highspy.kHighsInf, 0, empty.astype(np.int32), empty)

    def update(self, B: Ints, h: Floats, v: Floats) -> None:
        super().update(B, h, v)
        d, change = self.b.size, self._model.changeCoeff
        for i in B.tolist():
            row = self.H[i]
            for j in B.tolist():
                change(i, j, row[j])
                change(i, j + d, -row[j])

    def solve(self, Gamma: float) -> float:
        d = self.b.size
        self._model.changeRowsBounds(d, np.arange(d, dtype=np.int32), self.b - Gamma, self.b + Gamma)
        self._model.run()
        return float(self._model.getObjectiveValue())


class CvxpyClarabel(Sums):
    """cvxpy with Clarabel."""

    name = "cvxpy + clarabel"

    def __init__(self, d: int) -> None:
        import clarabel  # noqa: F401
        import cvxpy  # noqa: F401

        super().__init__(d)

    def solve(self, Gamma: float) -> float:
        import cvxpy as cp

        w = cp.Variable(self.b.size)
        problem = cp.Problem(cp.Minimize(cp.norm1(w)), [cp.norm_inf(self.b - self.H @ w) <= Gamma])
        return float(problem.solve(solver=cp.CLARABEL))


class Pyprimal(Sums):
    """pyprimal's path, down to Gamma; the objective there is read off its last segment."""

    name = "pyprimal (path)"

    def __init__(self, d: int) -> None:
        import pyprimal  # noqa: F401

        super().__init__(d)

    def solve(self, Gamma: float) -> float:
        from pyprimal import compressed_sensing_solver

        path = compressed_sensing_solver(self.H, self.b, max_it=20 * self.b.size, lambda_threshold=Gamma)
        order = np.argsort(path.lambda_)
        return float(np.interp(Gamma, path.lambda_[order], np.abs(path.beta).sum(axis=0)[order]))


PEERS: tuple[type, ...] = (LinprogTwoSided, LinprogOneSided, HighspyWarm, CvxpyClarabel, Pyprimal)
