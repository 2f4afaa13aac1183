"""The bounds once more, in 60 decimal digits, from the paper's formulas, printed or corrected: nothing is shared with
the code."""

from decimal import Decimal as D
from decimal import getcontext

getcontext().prec = 60
getcontext().Emax = 10**6
getcontext().Emin = -(10**6)


def number(x: float) -> D:
    return D(x)


class Exact:
    """Letters of the paper for (d, k) or, with k0, for (d - k, k0); `corrected` by E21, E24, E26 to E29 and E33."""

    def __init__(
        self, d: int, k: int, sigma: float, delta_s: float, delta: float, k0: int | None = None, corrected: bool = False
    ) -> None:
        self.d, self.k, self.sigma, self.S, self.delta = D(d), D(k), D(sigma), D(delta_s), D(delta)
        self.n, self.m = n, m = (D(d), D(k)) if k0 is None else (D(d) - D(k), D(min(k0, d - k)))
        self.corrected = corrected
        self.D, self.R = (n - 1) / (m - 1), (n - 2) / (m - 2)
        self.g = self.D * self.R
        self.L1, self.L2 = (self.d / self.delta).ln(), (self.d**2 / self.delta).ln()
        r3, r6 = D(3).sqrt(), D(6).sqrt()
        self.mu1 = 9 / (9 - 2 * r3)
        self.mu2 = 1 / (1 - r6 / (9 * (self.R * self.L2).sqrt()))
        self.s0 = 576 * self.k**2 * self.g * self.L2 / self.S**4
        self.s1 = self.s0 * self.R * self.L1
        self.root = D("6.9") + (D("1.66") if corrected else D("1.2")) * self.sigma
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
        self.X = (self.mu2 * self.a5) ** 2 * self.k**2 * self.D / self.S**4
        self.M = self.mu1 * self.a4 / self.S**4 * self.k**2 * self.g

    def s2(self, h: float) -> D:
        late = 4 * self.X / D(h) ** 2
        if self.corrected and late <= self.s1:
            return min(self.s1, max(self.s0, 2 * self.M / D(h)))
        return late

    def theorem_1(self, T: float, h: float) -> tuple[dict[str, D], dict[str, D]]:
        """The terms, and what the printed theorem hides in its O(1)."""
        s2, t = self.s2(h), D(T)
        middle = 22 * self.a4**2 / self.S**8 * self.k**4 * self.g**2
        newton = self.k * (4 * (1 + self.Y) ** 2 * t + 1).ln()
        reg3 = {"exploration": 4 * t.sqrt(), "start": 4 * self.s0 * (self.s0 + 1)}
        if not self.corrected:
            reg3 |= {"middle": middle * (self.R * self.L1).ln(), "late": 32 * self.X**2 / D(h) ** 2}
            hidden = {"start": reg3.pop("start"), "restarts": 2 * self.k * s2, "noise": self.noise(reg3)}
            return reg3 | {"newton": 2 * self.X / D(h) ** 2 * newton}, hidden
        last = min(self.s1, s2)
        reg3 |= {"middle": middle * (last / self.s0).ln(), "late": 8 * self.X * max(D(0), s2 - self.s1)}
        rest = {"newton": (s2 + 1) * newton / (2 * self.rho), "restarts": 2 * self.k * (s2 + 1)}
        return reg3 | rest | {"noise": self.noise(reg3)}, {}

    def theorem_2(self, T: float) -> tuple[dict[str, D], dict[str, D]]:
        parts = {
            "start": 48**2 * self.k**2 * self.g / self.S**4 * self.L2,
            "middle": D("2.7") * self.a4**2 * self.k**2 * self.g / (64 * self.S**4 * self.L2),
            "late": 9 * self.X * (D(T) / (self.s1 + 1)).ln(),
        }
        noise = {"noise": self.noise(parts)}
        return (parts | noise, {}) if self.corrected else (parts, noise)

    def noise(self, reg3: dict[str, D]) -> D:
        front = self.sigma if self.corrected else D(1)
        return front * 2 * (2 * max(D(0), sum(reg3.values(), D(0))) * (1 / self.delta).ln()).sqrt()

    def events(self) -> D:
        n, m = (self.n, self.m) if self.corrected else (self.d, self.k)
        return 6 + ((n + self.k) / (m - 2)).ln() / D("1.5").ln()

    def error(self, s: float) -> D:
        if D(s) > self.s1:
            return (self.X / D(s)).sqrt()
        if D(s) > self.s0:
            return self.M / D(s)
        first = (16 + 8 * self.sigma) / self.S**2 * self.k * self.g / D(s) * self.L1
        root = 4 * self.root if self.corrected else 26 + D("4.8") * self.sigma
        noise = root * self.k / self.S**2 * (self.D * self.L1 / D(s)).sqrt()
        return first + noise + 22 * self.k / self.S**2 * (self.g * self.L1 / D(s)).sqrt()


def others(
    d: int, k: int, T: float, k0: int, sigma: float, dS: float, sd: float, h: float, delta: float, corrected: bool
) -> dict[str, D]:
    """The bounds that the paper quotes, its remark and its lower bounds."""
    n, m, t, e = D(d), D(k), D(T), D(k0)
    ln = (n * t / D(delta)).ln()
    # Corrected, the sums from which the paper's tables round: d^4 (d-1)^4 for d^8 and (k-1)^4 for k^4.
    pairs = (n * (n - 1) / (m * (m - 1))) ** 4 if corrected else (n / m) ** 8
    supports = 1
    for i in range(k):
        supports = supports * (d - i) // (i + 1)
    return {
        "ito2017-1": n / (D(sd) ** 2 * e) * t.sqrt(),
        "ito2017-2": 8 * (m * t).sqrt() + 8192**2 * m * pairs / (D(sd) ** 8 * D(h) ** 7),
        "ito2017-3": 8 * (m * t).sqrt() + D(128) ** 2 * D(36) ** 8 * m**5 * pairs / (D(dS) ** 8 * D(h) ** 7),
        "support-bandit": (D(supports) * t).sqrt(),
        "kale2017-dantzig": m**2 * n**3 / e**3 * t.ln() * ln,
        "kale2017-error": n / e * (n / e * m**2 / t * (n / D(delta)).ln()).sqrt(),
        "foster2016": n**2 / e**2 * (m * t * n.ln()).sqrt(),
        "best-sparse": 2 * m * D(sigma) ** 2 + 4 * m * D(sigma) ** 2 * (n / D(delta)).ln(),
        "lower-regret": m * (t + 1).ln() * (n / m).ln(),
        "lower-error": (m / t * (n / m).ln()).sqrt(),
    }
