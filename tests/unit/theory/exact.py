"""The bounds once more, in 60 decimal digits, from the paper's printed formulas: nothing is shared with the code."""

from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 60
getcontext().Emax = 10**6
getcontext().Emin = -(10**6)


def number(x: float) -> D:
    return D(x)


class Exact:
    """Letters of the paper for (d, k) or, with k0, for (d - k, k0)."""

    def __init__(self, d: int, k: int, sigma: float, delta_s: float, delta: float, k0: int | None = None) -> None:
        self.d, self.k, self.sigma, self.S, self.delta = D(d), D(k), D(sigma), D(delta_s), D(delta)
        n, m = (D(d), D(k)) if k0 is None else (D(d) - D(k), D(min(k0, d - k)))
        self.D, self.R = (n - 1) / (m - 1), (n - 2) / (m - 2)
        self.g = self.D * self.R
        self.L1, self.L2 = (self.d / self.delta).ln(), (self.d**2 / self.delta).ln()
        r3, r6 = D(3).sqrt(), D(6).sqrt()
        self.mu1 = 9 / (9 - 2 * r3)
        self.mu2 = 1 / (1 - r6 / (9 * (self.R * self.L2).sqrt()))
        self.s0 = 576 * self.k**2 * self.g * self.L2 / self.S**4
        self.s1 = self.s0 * self.R * self.L1
        self.root = D("6.9") + D("1.2") * self.sigma
        self.a1 = (D(64) / 3 + D(32) / 3 * self.sigma) * self.L1
        self.a2 = D(16) / 3 * self.root * self.L1.sqrt()
        self.a3 = D(8) / 3 * (3 * self.L1).sqrt()
        c = self.S**2 / self.k
        self.a4 = c * self.a1 + 24 * self.a2 * (self.L2 / self.R).sqrt()
        self.a4 += 4 * self.a3 * (24 * self.L2.sqrt() + c / self.g.sqrt())
        inner = c * (8 + 4 * self.sigma) / 9 + 32 / r3 + 4 * r3 * c / 9 / (self.g * self.L2).sqrt()
        self.a5 = self.mu1 * inner + self.a2 + 2 * r3 / (9 - 2 * r3) * self.a2 / (self.R * self.L2).sqrt()
        self.Y = 1 + self.sigma * (2 * (1 / self.delta).ln()).sqrt()
        self.rho = 1 / (2 * (1 + self.Y) ** 2)

    def s2(self, h: float) -> D:
        return 4 * (self.mu2 * self.a5) ** 2 * self.k**2 * self.D / (self.S**4 * D(h) ** 2)

    def theorem_1(self, T: float, h: float) -> dict[str, D]:
        X = (self.mu2 * self.a5) ** 2 * self.k**2 * self.D / self.S**4
        return {
            "exploration": 4 * D(T).sqrt(),
            "newton": 2 * X * self.k / D(h) ** 2 * (4 * (1 + self.Y) ** 2 * D(T) + 1).ln(),
            "middle": 22 * self.a4**2 / self.S**8 * self.k**4 * self.g**2 * (self.R * self.L1).ln(),
            "late": 2 * (2 * self.mu2 * self.a5) ** 4 / self.S**8 * self.k**4 * self.D**2 / D(h) ** 2,
        }

    def theorem_2(self, T: float) -> dict[str, D]:
        X = (self.mu2 * self.a5) ** 2 * self.k**2 * self.D / self.S**4
        return {
            "start": 48**2 * self.k**2 * self.g / self.S**4 * self.L2,
            "middle": D("2.7") * self.a4**2 * self.k**2 * self.g / (64 * self.S**4 * self.L2),
            "late": 9 * X * (D(T) / (self.s1 + 1)).ln(),
        }

    def error(self, s: float) -> D:
        if D(s) > self.s1:
            return self.mu2 * self.a5 / self.S**2 * (self.k**2 * self.D / D(s)).sqrt()
        if D(s) > self.s0:
            return self.mu1 * self.a4 / self.S**4 * self.k**2 * self.g / D(s)
        first = (16 + 8 * self.sigma) / self.S**2 * self.k * self.g / D(s) * self.L1
        noise = (26 + D("4.8") * self.sigma) * self.k / self.S**2 * (self.D * self.L1 / D(s)).sqrt()
        return first + noise + 22 * self.k / self.S**2 * (self.g * self.L1 / D(s)).sqrt()


def others(
    d: int, k: int, T: float, k0: int, sigma: float, dS: float, sd: float, h: float, delta: float
) -> dict[str, D]:
    """The bounds that the paper quotes, its remark and its lower bounds."""
    n, m, t, e = D(d), D(k), D(T), D(k0)
    ln = (n * t / D(delta)).ln()
    return {
        "ito2017-1": n / (D(sd) ** 2 * e) * t.sqrt(),
        "ito2017-2": 8 * (m * t).sqrt() + 8192**2 * n**8 / (D(sd) ** 8 * m**7 * D(h) ** 7),
        "ito2017-3": 8 * (m * t).sqrt() + D(128) ** 2 * D(36) ** 8 * n**8 / (D(dS) ** 8 * m**3 * D(h) ** 7),
        "kale2017-dantzig": m**2 * n**3 / e**3 * t.ln() * ln,
        "kale2017-error": n / e * (n / e * m**2 / t * (n / D(delta)).ln()).sqrt(),
        "foster2016": n**2 / e**2 * (m * t * n.ln()).sqrt(),
        "best-sparse": 2 * m * D(sigma) ** 2 + 4 * m * D(sigma) ** 2 * (n / D(delta)).ln(),
        "lower-regret": m * (t + 1).ln() * (n / m).ln(),
        "lower-error": (m / t * (n / m).ln()).sqrt(),
    }
