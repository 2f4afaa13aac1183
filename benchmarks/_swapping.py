"""A rival that swaps: recursive least squares on its support, and a test of all other attributes against its residuals.

    z_j^2 = (sum x_j e)^2 / (sum x_j^2 s2)        e: errors of the rows that bought j beside the support
    joins when z_j^2 > L = 2 ln(e d / k), instead of the weakest member where that explains less; leaves below L / 2

The place of the weakest member is given to another attribute now and then. With `decay` < 1 all sums forget. No value
is read that was not bought.
"""

import numpy as np
import numpy.typing as npt

from _basket import affordable, ridged_solve

Floats, Ints = npt.NDArray[np.float64], npt.NDArray[np.int64]

__all__ = ["swapping"]


class Swapping:
    """The support, its sums, and the evidence on all other attributes."""

    def __init__(self, d: int, k: int, decay: float) -> None:
        self.k, self.decay, self.L = k, decay, 2.0 * np.log(np.e * d / k)
        # Per attribute: its first value, how often it was seen, sums of x and x^2 less the first value.
        self.first, self.n, self.x, self.xx = np.zeros((4, d))
        # Beside the support: rows, sums of x e and x^2, and the row of the last.
        self.rows, self.xe, self.square = np.zeros((3, d))
        self.last = np.zeros(d, np.int64)
        # The members in the order in which they joined; sums of x x' and x y; the weights; the weakest member's place.
        self.members: list[int] = []
        self.G, self.b, self.w, self.weakest = np.zeros((0, 0)), np.zeros(0), np.zeros(0), 0

    def scores(self, s2: float, displaced: bool, t: int, rng: np.random.Generator) -> Floats:
        """Members first (but for one that is displaced), then what was never seen, then by an upper bound."""
        score = 0.5 * np.sqrt(np.log(t + 2.0)) * np.sqrt(max(s2, 1e-12) / (self.rows + 0.5))
        known = (self.rows > 0.0) & (self.square > 0.0)
        score[known] += np.abs(self.xe[known]) / np.sqrt(self.square[known] * self.rows[known])
        unseen = self.n == 0.0
        unseen[self.members] = False
        score[unseen] = 1e6 + rng.random(int(unseen.sum()))
        score[self.members] = 1e9
        if displaced:
            score[self.members[self.weakest]] = -1.0
        return score

    def centred(self, B: Ints, x: Floats) -> tuple[Floats, int]:
        """The members' values less their means, 0 where not seen; how many are seen."""
        v = np.zeros(len(self.members))
        place = {j: a for a, j in enumerate(self.members)}
        hit = 0
        for j, value in zip(B.tolist(), x.tolist(), strict=True):
            if j in place and value == value:
                v[place[j]] = value - self.first[j] - self.x[j] / self.n[j]
                hit += 1
        return v, hit

    def note(self, B: Ints, x: Floats, e: float, t: int) -> None:
        """The values of row t, whose error was e."""
        B, x = B[~np.isnan(x)], x[~np.isnan(x)]
        new = self.n[B] == 0.0
        self.first[B[new]] = x[new]
        u = x - self.first[B]
        self.n[B] += 1.0
        self.x[B] += u
        self.xx[B] += u * u
        beside = ~np.isin(B, self.members)
        B, u = B[beside], u[beside] - self.x[B[beside]] / self.n[B[beside]]
        keep = self.decay ** (t - self.last[B])
        self.last[B] = t
        self.rows[B] = keep * self.rows[B] + 1.0
        self.xe[B] = keep * self.xe[B] + u * e
        self.square[B] = keep * self.square[B] + u * u

    def learn(self, v: Floats, y: float) -> None:
        """A row that saw all members: their values and the label, both less their means."""
        self.b = self.decay * self.b + v * y
        self.G = self.decay * self.G + np.outer(v, v)

    def solve(self) -> None:
        """The weights, ridged by two rows."""
        n = self.n[self.members]
        variance = self.xx[self.members] / n - (self.x[self.members] / n) ** 2
        self.w = ridged_solve(self.G + np.diag(2.0 * variance + 1e-300), self.b)

    def reconsider(self, s2: float, rows: float) -> None:
        """Who joins, leaves, is swapped."""
        candidate, gain = self._candidate(s2)
        m = len(self.members)
        if m:
            A = self.G + np.diag(1e-6 * np.diag(self.G) + 1e-12)
            loss = self.w**2 / np.maximum(np.diag(np.linalg.inv(A)), 1e-300)
            self.weakest = int(np.argmin(loss))
            least = loss[self.weakest]
            counted = max(1.0, min(rows, self.n[self.members[self.weakest]]))
            useless = least < 0.5 * self.L * s2 and counted > 8.0
            if useless or (candidate >= 0 and m == self.k and gain > 1.2 * least / counted):
                self._leave(self.weakest)
        if candidate >= 0 and len(self.members) < self.k:
            self._join(candidate)

    def _candidate(self, s2: float) -> tuple[int, float]:
        """The attribute that passes the test and explains most a row (-1: none), and how much that is."""
        may = (self.rows >= 6.0) & (self.square > 0.0)
        may[self.members] = False
        J = np.flatnonzero(may)
        gain = self.xe[J] ** 2 / self.square[J]
        share = np.maximum(np.minimum(0.98, gain / self.rows[J] / s2), 1e-9)
        passes = gain / s2 * -np.log(1.0 - share) / share > self.L
        J, each = J[passes], (gain / self.rows[J])[passes]
        return (int(J[np.argmax(each)]), float(each.max())) if J.size and each.max() > 0.0 else (-1, 0.0)

    def _leave(self, a: int) -> None:
        j = self.members.pop(a)
        self.rows[j] = self.xe[j] = self.square[j] = 0.0
        self.b, self.w = np.delete(self.b, a), np.delete(self.w, a)
        self.G = np.delete(np.delete(self.G, a, 0), a, 1)

    def _join(self, j: int) -> None:
        """j becomes a member; since residuals change, all others keep a quarter of the evidence."""
        m = len(self.members)
        G = np.zeros((m + 1, m + 1))
        G[:m, :m], G[m, m] = self.G, self.square[j]
        self.G, self.b = G, np.append(self.b, self.xe[j])
        self.w = np.append(self.w, 0.8 * self.xe[j] / self.square[j])
        self.members.append(j)
        beside = np.ones(self.n.size, dtype=bool)
        beside[self.members] = False
        for sums in (self.rows, self.xe, self.square):
            sums[beside] *= 0.25


def swapping(
    X: Floats, y: Floats, k: int, price: Floats, budget_per_row: float, seed: int, decay: float = 1.0
) -> Floats:
    """Its predictions."""
    (T, d), rng, still = X.shape, np.random.default_rng([seed, 13]), decay == 1.0
    mine, out = Swapping(d, k, decay), np.zeros(T)
    rows = total = fy = ff = squares = counted = 0.0
    low, high, at = np.inf, -np.inf, 2.0
    for t, label in enumerate(y.tolist()):
        s2, m = squares / max(counted, 1e-9), len(mine.members)
        displaced = m == k and rng.random() < min(0.3, 0.3 * np.sqrt(d / k / (t + 1.0)))
        B = affordable(mine.scores(s2, displaced, t, rng), k, price, budget_per_row)
        x = X[t, B]
        v, hit = mine.centred(B, x)
        mean, f = total / rows if t > 0 else 0.0, float(mine.w @ v)
        alpha = min(1.0, max(0.0, fy) / (ff + s2)) if t > 1 and ff + s2 > 0.0 else 0.0
        p = mean + alpha * f
        if t > 1:
            p = min(high + 0.05 * (high - low), max(low - 0.05 * (high - low), p))
        out[t] = p
        e = label - p if t > 0 else 0.0
        if t > 0:
            inside = min(high - mean, max(low - mean, f))
            keep = 1.0 - 1.0 / max(50.0, t / 2.0) if still else max(decay, 0.98)
            fy, ff = keep * fy + inside * (label - mean), keep * ff + inside * inside
            if hit == m:
                keep = 1.0 - 1.0 / max(30.0, t / 4.0) if still else 0.98
                squares, counted = keep * squares + e * e, keep * counted + 1.0
        rows, total, low, high = decay * rows + 1.0, decay * total + label, min(low, label), max(high, label)
        mine.note(B, x, e, t)
        if hit == m > 0:
            mine.learn(v, label - mean)
        if m > 0 and (t + 1 >= at or t % max(1, t // 200) == 0):
            mine.solve()
        if t + 1 >= at:
            at = max(t + 2.0, (t + 1.0) * 1.03) if still else t + 50.0
            mine.reconsider(max(squares / max(counted, 1e-9), 1e-300), rows)
    return out
