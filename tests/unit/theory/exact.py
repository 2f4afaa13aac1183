"""The bounds once more, in 60 decimal digits, from the paper's formulas, printed or corrected: nothing is shared with
the code."""

from decimal import ROUND_CEILING, getcontext
from decimal import Decimal as D

getcontext().prec = 60
getcontext().Emax = 10**6
getcontext().Emin = -(10**6)


def number(x: float) -> D:
    return D(x)


class Exact:
    """Letters of the paper for (d, k) or, with k0, for (d - k, k0); `corrected` by E21, E24, E26-E29, E33, E35, E43."""

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
        u = self.k**2 * self.g / self.S**4
        self.M = self.mu1 * self.a4 * u
        self.v = self.a2 * self.k * self.D.sqrt() / self.S**2
        self.B = self.M - self.s0.sqrt() * self.v
        # The two repairs of E35: R0 where condition (C) holds, R1 elsewhere.
        t, v, M = 1 / (self.R * self.L1).sqrt(), self.v / self.s0.sqrt(), self.M / self.s0
        left = v * ((1 - t) * (2 * M - 3 * v - (2 * M - v) * t) + v * (self.R * self.L1).ln())
        self.condition = left / (4 * M * (1 - t * t).sqrt())
        q = self.a3 / (12 * self.L2.sqrt())
        A = self.M / self.mu1 - self.s0.sqrt() * self.v
        self.W = q * self.s0.sqrt() * self.v
        self.N = (A + self.W) / (1 - q)
        self.P = self.N - self.W
        self.repair = "none" if not corrected else "R0" if self.condition <= 1 else "R1"

    def s2(self, h: float) -> D:
        late = 4 * self.X / D(h) ** 2
        if self.repair == "R0" and late <= self.s1:
            return min(self.s1, max(self.s0, self.falls_to(self.B, h)))
        if self.repair == "R1":
            early = self.falls_to(self.N, h)
            return max(self.s0, early if early <= self.s0 * D(1).exp() else self.falls_late(h))
        return late

    def falls_to(self, B: D, h: float) -> D:
        """2 (B/s + v/sqrt s) = h."""
        return ((self.v + (self.v**2 + 2 * B * D(h)).sqrt()) / D(h)) ** 2

    def falls_late(self, h: float) -> D:
        """2 (v/sqrt s + (P + W sqrt ln(s/s0))/s) = h, by Newton's method in ln s from below."""
        x = D(1)
        for _ in range(20_000):
            e = x.exp() * self.s0
            f = 2 * (self.v / e.sqrt() + (self.P + self.W * x.sqrt()) / e) - D(h)
            slope = 2 * (-self.v / e.sqrt() / 2 - (self.P + self.W * x.sqrt() - self.W / (2 * x.sqrt())) / e)
            x -= f / slope
            if abs(f / slope) < D("1e-40"):
                break
        return x.exp() * self.s0

    def theorem_1(self, T: float, h: float) -> tuple[dict[str, D], dict[str, D]]:
        """The terms, and what the printed theorem hides in its O(1)."""
        s2, t = self.s2(h), D(T)
        reg3 = {"exploration": 4 * t.sqrt(), "start": 4 * self.s0 * (self.s0 + 1)}
        if not self.corrected:
            middle = 22 * self.a4**2 / self.S**8 * self.k**4 * self.g**2
            newton = self.k * (4 * (1 + self.Y) ** 2 * t + 1).ln()
            reg3 |= {"middle": middle * (self.R * self.L1).ln(), "late": 32 * self.X**2 / D(h) ** 2}
            hidden = {"start": reg3.pop("start"), "restarts": 2 * self.k * s2, "noise": self.noise(reg3)}
            return reg3 | {"newton": 2 * self.X / D(h) ** 2 * newton}, hidden
        n0 = self.s0.to_integral_value(ROUND_CEILING)
        reg3 |= {"start": 4 * n0 * (n0 + 1)} | (self.sums_of_two_terms(s2) if self.repair == "R0" else self.one_sum(s2))
        logs = s2 * (1 + 2 * min(t, (s2 + 1) ** 2) / self.k).ln() + (1 + 2 * t / self.k).ln()
        rest = {"newton": self.k * (1 + self.Y) ** 2 * logs, "restarts": 2 * self.k * (s2 + 1)}
        return reg3 | rest | {"noise": self.noise(reg3)}, {}

    def sums_of_two_terms(self, s2: D) -> dict[str, D]:
        B, v, s0, e = self.B, self.v, self.s0, min(self.s1, s2)
        middle = 8 * (B**2 * (e / s0).ln() + 4 * B * v * (e.sqrt() - s0.sqrt()) + v**2 * (e - s0))
        return {"middle": middle, "late": 8 * self.X * max(D(0), s2 - self.s1)}

    def one_sum(self, s2: D) -> dict[str, D]:
        P, W, v, s0, log = self.P, self.W, self.v, self.s0, (s2 / self.s0).ln()
        middle = P**2 * log + D(4) / 3 * P * W * log * log.sqrt() + W**2 * log**2 / 2
        middle += 4 * v * (P + W * log.sqrt()) * (s2.sqrt() - s0.sqrt())
        return {"middle": 8 * middle, "late": 8 * v**2 * (s2 - s0)}

    def theorem_2(self, T: float) -> tuple[dict[str, D], dict[str, D]]:
        parts = {"start": 48**2 * self.k**2 * self.g / self.S**4 * self.L2}
        B, v, N, P, W, s0, t = self.B, self.v, self.N, self.P, self.W, self.s0, D(T)
        if self.repair == "none":
            middle = D("2.7") * self.a4**2 * self.k**2 * self.g / (64 * self.S**4 * self.L2)
            parts |= {"middle": middle, "late": 9 * self.X * (t / (self.s1 + 1)).ln()}
        elif self.repair == "R0":
            e = max(s0, min(self.s1, t))
            middle = B**2 * (1 / s0 - 1 / e) + 4 * B * v * (1 / s0.sqrt() - 1 / e.sqrt()) + v**2 * (e / s0).ln()
            late = 9 * self.X * max(D(0), (t / self.s1).ln())
            parts |= {"start": parts["start"] + 8, "middle": 9 * middle, "late": late}
        else:
            middle = 9 * (N**2 / s0 + 4 * v * (P + D(2).sqrt() * W) / s0.sqrt())
            late = 9 * v**2 * max(D(0), (t / s0).ln())
            parts |= {"start": parts["start"] + 8, "middle": middle, "late": late}
        noise = {"noise": self.noise(parts)}
        return (parts | noise, {}) if self.corrected else (parts, noise)

    def noise(self, reg3: dict[str, D]) -> D:
        front = self.sigma if self.corrected else D(1)
        return front * 2 * (2 * max(D(0), sum(reg3.values(), D(0))) * (1 / self.delta).ln()).sqrt()

    def events(self) -> D:
        ratio = (self.n + self.m - 4) / (self.m - 2) if self.corrected else (self.d + self.k) / (self.k - 2)
        return 6 + ratio.ln() / D("1.5").ln()

    def error(self, s: float) -> D:
        if self.repair == "R1" and D(s) > self.s0:
            return self.v / D(s).sqrt() + (self.P + self.W * (D(s) / self.s0).ln().sqrt()) / D(s)
        if D(s) > self.s1:
            return (self.X / D(s)).sqrt()
        if D(s) > self.s0:
            return self.M / D(s) if self.repair == "none" else self.B / D(s) + self.v / D(s).sqrt()
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
    noise = D(sigma) if corrected else D(1)
    return {
        "ito2017-2-error": (n * (n - 1) / (m * (m - 1))).sqrt() / D(sd) / t ** D("0.125"),
        "ito2017-3-error": (n * (n - 1) / (m - 1)).sqrt() / D(dS) / t ** D("0.125"),
        "olin-lasso-error": (m / t).sqrt(),
        "ito2017-1": n / (D(sd) ** 2 * e) * t.sqrt(),
        "ito2017-2": 8 * (m * t).sqrt() + 8192**2 * m * pairs / (D(sd) ** 8 * D(h) ** 7),
        "ito2017-3": 8 * (m * t).sqrt() + D(128) ** 2 * D(36) ** 8 * m**5 * pairs / (D(dS) ** 8 * D(h) ** 7),
        "support-bandit": (D(supports) * t).sqrt(),
        "kale2017-dantzig": m**2 * n**3 / e**3 * t.ln() * ln,
        "kale2017-error": n / e * (n / e * m**2 / t * (n / D(delta)).ln()).sqrt(),
        "foster2016": n**2 / e**2 * (m * t * n.ln()).sqrt(),
        "best-sparse": 2 * m * D(sigma) ** 2 + 4 * m * D(sigma) ** 2 * (n / D(delta)).ln(),
        "lower-regret": noise**2 * m * (t + 1).ln() * (n / m).ln(),
        "lower-error": noise * (m / t * (n / m).ln()).sqrt(),
    }
