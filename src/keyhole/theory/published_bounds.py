"""The known results, one `Statement` each: the paper's lemmas, theorems and remark, and the bounds its tables quote.

An order O(f) without a constant is stated as f (`exact=False`): compare its growth, not its value.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from .arithmetic import product
from .constants import Constants, check_w_min

__all__ = ["STATEMENTS", "Evaluation", "Setting", "Statement"]


@dataclass(frozen=True)
class Setting:
    """The parameters that a bound may depend on; None if not given."""

    d: int
    k: int
    T: float
    delta: float
    k0: int | None = None
    sigma: float | None = None
    delta_s: float | None = None
    sigma_d: float | None = None
    kappa: float | None = None
    w_min: float | None = None
    corrected: bool = False

    @cached_property
    def oslr(self) -> Constants:
        """The constants of DS-OSLRC."""
        return Constants(self.d, self.k, self.sigma, self.delta_s, self.delta, None, self.corrected)  # type: ignore[arg-type]

    @cached_property
    def poslr(self) -> Constants:
        """The constants of DS-POSLRC."""
        return Constants(self.d, self.k, self.sigma, self.delta_s, self.delta, self.k0, self.corrected)  # type: ignore[arg-type]

    def of(self, letter: str) -> float:
        """Return the value of a parameter that was given."""
        value: float = getattr(self, letter)
        return value


@dataclass(frozen=True)
class Evaluation:
    """A statement evaluated at one setting."""

    parts: Mapping[str, float]
    hidden: Mapping[str, float]
    T_needed: float
    """The T that must be exceeded; infinite if no T suffices."""
    why: str


@dataclass(frozen=True)
class Statement:
    """A bound as data: `evaluate` returns its terms; `spends` returns its failure probability divided by delta (0 for a
    bound in expectation).
    """

    name: str
    kind: str
    """The kind: "regret", "error" (of the estimate), "rival" or "lower"."""
    source: str
    assumptions: str
    """The assumptions, by the paper's letters (a) to (i)."""
    needs: tuple[str, ...]
    evaluate: Callable[[Setting], Evaluation]
    spends: Callable[[Setting], float]
    exact: bool = True


def _order(name: str, f: Callable[[Setting], float]) -> Callable[[Setting], Evaluation]:
    return lambda p: Evaluation({name: f(p)}, {}, 0.0, "holds for every T")


def _theorem(constants: str) -> Callable[[Setting], Evaluation]:
    def evaluate(p: Setting) -> Evaluation:
        t = getattr(p, constants).regret_terms(p.T, p.w_min)
        return Evaluation(t.parts, t.hidden, t.T_needed, t.why)

    return evaluate


def _error(constants: str, times: float = 1.0) -> Callable[[Setting], Evaluation]:
    """Return a function that evaluates `times` the lemma after s explorations: s = floor(sqrt(T)) for OSLR, s = T for
    POSLR.

    Like the theorems it is printed for T > (s1 + 1)^2, but its proof needs no lower bound on T.
    """

    def evaluate(p: Setting) -> Evaluation:
        c: Constants = getattr(p, constants)
        s = max(1.0, p.T if constants == "poslr" else float(math.isqrt(int(p.T))))
        needed = 0.0 if p.corrected else product((c.s1 + 1, 2))
        phase = "s <= s0" if s <= c.s0 else "s0 < s <= s1" if s <= c.s1 else "s > s1"
        why = f"after s = {s:.3g} explorations ({phase})" + (f"; T > {needed:.3g}" if needed else "")
        return Evaluation({name: times * part for name, part in c.error_terms(s).items()}, {}, needed, why)

    return evaluate


def _restricted(constants: str) -> Callable[[Setting], Evaluation]:
    """Return a function for sqrt(2/k) times the lemma with kappa in place of delta_S (docs/derivations.md)."""

    def evaluate(p: Setting) -> Evaluation:
        return _error(constants, math.sqrt(2 / p.k))(replace(p, delta_s=p.kappa))

    return evaluate


def _rival(p: Setting) -> Evaluation:
    """Return 2 k sigma^2 + 4 k sigma^2 ln(d/delta): the gain of the best k-sparse vector in hindsight over w*."""
    front = 2 * product((p.k, 1), (p.of("sigma"), 2))
    L1 = math.log(p.d) - math.log(p.delta)
    return Evaluation({"fit": front, "search": 2 * front * L1}, {}, 0.0, "add it for the regret against the best k")


def _ito(number: int) -> Callable[[Setting], Evaluation]:
    """Return a function that evaluates 8 sqrt(kT) plus a term that differs between the algorithms of Ito et al.

    Algorithm 2: 8192^2 d^8/(sigma_d^8 k^7 h^7). Algorithm 3: 128^2 36^8 d^8/(delta_S^8 k^3 h^7).

    Corrected: the sums of the paper's section 4, from which its tables are rounded, with d^4 (d-1)^4 for d^8 and
    (k-1)^4 for k^4, where all k weights have size h.
    """

    def evaluate(p: Setting) -> Evaluation:
        a, letter, power = (8192.0, "sigma_d", 4) if number == 2 else (128.0 * 36**4, "delta_s", 0)
        d, k = ((p.d, 4), (p.d - 1, 4)), ((p.k, 1 - power), (p.k - 1, -4))
        if not p.corrected:
            d, k = ((p.d, 8), (1, 1)), ((p.k, -3 - power), (1, 1))
        late = product((a, 2), *d, *k, (p.of(letter), -8), (check_w_min(p.w_min), -7))
        return Evaluation({"descent": 8 * math.sqrt(p.k) * math.sqrt(p.T), "supports": late}, {}, 0.0, "in expectation")

    return evaluate


def _log_dT(p: Setting) -> float:
    return math.log(p.d) + math.log(max(p.T, 1.0)) - math.log(p.delta)


def _kale(p: Setting) -> float:
    """Return k^2 d^3/k0^3 ln(T) ln(dT/delta); the appendix prints k0^2 (E34)."""
    return product((p.k, 2), (p.d / p.of("k0"), 3)) * math.log(max(p.T, 1.0)) * _log_dT(p)


def _kale_error(p: Setting) -> float:
    L1 = math.log(p.d) - math.log(p.delta)
    return product((p.d / p.of("k0"), 1.5), (p.k, 1), (p.T, -0.5), (L1, 0.5))


@lru_cache(maxsize=16)
def _count(d: int, k: int) -> tuple[float, int]:
    """Return N = C(d, k), the number of supports, as (m, e) with N = m 4^e, because N may overflow a double."""
    N = math.comb(d, k)
    e = max(0, N.bit_length() - 60) // 2
    return float(N >> 2 * e), e


def _supports(p: Setting) -> float:
    """Return sqrt(NT); infinite if min(k, d - k) > 2048, because then N > 2^2048 and its root overflows a double."""
    if min(p.k, p.d - p.k) > 2048:
        return math.inf
    m, e = _count(p.d, p.k)
    try:
        return math.ldexp(product((m, 0.5), (p.T, 0.5)), e)
    except OverflowError:
        return math.inf


def _lower_regret(p: Setting) -> float:
    return product((_noise_scale(p), 2)) * p.k * math.log1p(p.T) * math.log(p.d / p.k)


def _lower_error(p: Setting) -> float:
    return product((_noise_scale(p), 1), (p.k, 0.5), (p.T, -0.5), (math.log(p.d / p.k), 0.5))


def _noise_scale(p: Setting) -> float:
    """Return 1 as printed; corrected (E38), sigma if given, because without noise there is nothing to estimate."""
    return p.sigma if p.corrected and p.sigma is not None else 1.0


def _ito_error(power: int, letter: str) -> Callable[[Setting], float]:
    """Return a function that evaluates sqrt(d (d-1)/(k^power (k-1)))/letter s^(-1/4), with s = sqrt(T).

    This is the error at which the regret bound lets weights of size h into the support.
    """
    return lambda p: product(
        (p.d, 0.5), (p.d - 1, 0.5), (p.k, -power / 2), (max(p.k - 1, 1), -0.5), (p.of(letter), -1), (p.T, -1 / 8)
    )


_PAPER, _ITO = "Li et al. 2025", "Ito et al. 2017"
_THEIRS = "(a) (b) (d) (f)"


def _in_mean(p: Setting) -> float:
    return 0.0


def _once(p: Setting) -> float:
    return 1.0


def _oslr_explorations(p: Setting) -> float:
    return math.sqrt(p.T) * p.oslr.events


def _poslr_explorations(p: Setting) -> float:
    return p.T * p.poslr.events


def _kappa_explorations(constants: str) -> Callable[[Setting], float]:
    spends = _oslr_explorations if constants == "oslr" else _poslr_explorations
    return lambda p: spends(replace(p, delta_s=p.kappa))


def _errors(name: str, constants: str, lemma: str, needs: tuple[str, ...]) -> tuple[Statement, ...]:
    """Return the lemma, and its consequence for all coordinates: |Delta|_2 <= |Delta|_1 <= 2 |Delta(S)|_1."""
    spends = _oslr_explorations if constants == "oslr" else _poslr_explorations
    source, letters = f"{_PAPER}, {lemma}", ("sigma", "delta_s", *needs)
    return (
        Statement(f"{name}-error", "error", f"{source}: l1 on S", _THEIRS, letters, _error(constants), spends),
        Statement(f"{name}-l1", "error", f"{source}: l1", _THEIRS, letters, _error(constants, 2), spends),
        Statement(f"{name}-l2", "error", f"{source}: l2", _THEIRS, letters, _error(constants, 2), spends),
        Statement(
            f"{name}-l2-restricted",
            "error",
            f"{source}: l2, restricted eigenvalue",
            "(a) (b) (f), restricted eigenvalue",
            ("sigma", "kappa", *needs),
            _restricted(constants),
            _kappa_explorations(constants),
        ),
    )


STATEMENTS = (
    Statement(
        "ds-oslrc",
        "regret",
        f"{_PAPER}, Theorem 1",
        _THEIRS,
        ("sigma", "delta_s", "w_min"),
        _theorem("oslr"),
        lambda p: p.T + _oslr_explorations(p) + 1,
    ),
    *_errors("ds-oslrc", "oslr", "Lemma 2", ()),
    Statement(
        "ito2017-2", "regret", f"{_ITO}, Algorithm 2", "(a) (b) (c) (g) (i)", ("sigma_d", "w_min"), _ito(2), _in_mean
    ),
    Statement(
        "ito2017-2-error",
        "error",
        f"{_ITO}, Algorithm 2 (from its regret bound)",
        "(a) (b) (c) (g) (i)",
        ("sigma_d",),
        _order("sqrt(d(d-1)/(k(k-1)))/sigma_d s^(-1/4)", _ito_error(1, "sigma_d")),
        _in_mean,
        False,
    ),
    Statement(
        "ito2017-3", "regret", f"{_ITO}, Algorithm 3", "(a) (b) (d) (g) (i)", ("delta_s", "w_min"), _ito(3), _in_mean
    ),
    Statement(
        "ito2017-3-error",
        "error",
        f"{_ITO}, Lemma 14",
        "(a) (b) (d) (g) (i)",
        ("delta_s",),
        _order("sqrt(d(d-1)/(k-1))/delta_S s^(-1/4)", _ito_error(0, "delta_s")),
        _in_mean,
        False,
    ),
    Statement(
        "support-bandit",
        "regret",
        f"{_PAPER}, section 2 (hedged-ftrl with gradient descent)",
        "-",
        (),
        _order("sqrt(NT)", _supports),
        _in_mean,
        False,
    ),
    Statement(
        "ds-poslrc",
        "regret",
        f"{_PAPER}, Theorem 2",
        _THEIRS,
        ("sigma", "delta_s", "k0"),
        _theorem("poslr"),
        lambda p: _poslr_explorations(p) + 1,
    ),
    *_errors("ds-poslrc", "poslr", "Lemma 3", ("k0",)),
    Statement(
        "ito2017-1",
        "regret",
        f"{_ITO}, Algorithm 1",
        "(a) (b) (c) (g) (i)",
        ("sigma_d", "k0"),
        _order("d sqrt(T)/(sigma_d^2 k0)", lambda p: product((p.d / p.of("k0"), 1), (p.T, 0.5), (p.of("sigma_d"), -2))),
        _in_mean,
        False,
    ),
    Statement(
        "kale2017-dantzig",
        "regret",
        "Kale et al. 2017, Algorithm 1",
        "(a) (b) (e) (f)",
        ("k0",),
        _order("k^2 d^3/k0^3 ln(T) ln(dT/delta)", _kale),
        _once,
        False,
    ),
    Statement(
        "kale2017-error",
        "error",
        "Kale et al. 2017",
        "(a) (b) (e) (f)",
        ("k0",),
        _order("(d/k0)^1.5 k sqrt(ln(d/delta)/s)", _kale_error),
        _once,
        False,
    ),
    Statement(
        "foster2016",
        "regret",
        "Foster et al. 2016",
        "-",
        ("k0",),
        _order(
            "d^2/k0^2 sqrt(kT ln d)", lambda p: product((p.d / p.of("k0"), 2), (p.k * math.log(p.d), 0.5), (p.T, 0.5))
        ),
        _in_mean,
        False,
    ),
    Statement(
        "olin-lasso-error",
        "error",
        "Yang et al. 2023 (sees every attribute)",
        "(a) (b) (f), restricted strong convexity",
        (),
        _order("sqrt(k/T)", lambda p: product((p.k, 0.5), (p.T, -0.5))),
        _once,
        False,
    ),
    Statement("best-sparse", "rival", f"{_PAPER}, Remark 1", "(a) (b) (f)", ("sigma",), _rival, _once),
    Statement(
        "lower-regret",
        "lower",
        f"{_PAPER}, section 4.3",
        "(a) (b) (f)",
        (),
        _order("k ln(T+1) ln(d/k)", _lower_regret),
        _in_mean,
        False,
    ),
    Statement(
        "lower-error",
        "lower",
        "Candes and Davenport 2013",
        "(a) (b) (f)",
        (),
        _order("sqrt(k/T ln(d/k))", _lower_error),
        _in_mean,
        False,
    ),
)
