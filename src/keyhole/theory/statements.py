"""What is proved, one `Statement` each: the paper's lemmas, theorems and remark, and the bounds that its tables quote.

An order O(f) without a constant is stated as f (`exact=False`): compare its growth, not its size.
"""

import math
from collections.abc import Callable
from functools import lru_cache

from .bounds import events
from .checks import check_w_min
from .constants import Constants
from .setting import Evaluation, Setting, Statement
from .size import product

__all__ = ["STATEMENTS"]


def _order(name: str, f: Callable[[Setting], float]) -> Callable[[Setting], Evaluation]:
    return lambda p: Evaluation({name: f(p)}, {}, 0.0, "holds for every T")


def _theorem(constants: str) -> Callable[[Setting], Evaluation]:
    def evaluate(p: Setting) -> Evaluation:
        t = getattr(p, constants).regret_terms(p.T, p.w_min)
        return Evaluation(t.parts, t.hidden, t.T_needed, t.why)

    return evaluate


def _error(constants: str, s_of: Callable[[float], float], power: int) -> Callable[[Setting], Evaluation]:
    """The lemma after s explorations; like the theorems it is stated for T > (s1 + 1)^2."""

    def evaluate(p: Setting) -> Evaluation:
        c: Constants = getattr(p, constants)
        s = max(1.0, s_of(p.T))
        needed = product((c.s1 + 1, 1 if power == 1 and p.corrected else 2))
        phase = "s <= s0" if s <= c.s0 else "s0 < s <= s1" if s <= c.s1 else "s > s1"
        return Evaluation(c.error_terms(s), {}, needed, f"after s = {s:.3g} explorations ({phase}); T > {needed:.3g}")

    return evaluate


def _rival(p: Setting) -> Evaluation:
    """2 k sigma^2 + 4 k sigma^2 ln(d/delta): what the best k-sparse vector in hindsight gains on w*."""
    front = 2 * product((p.k, 1), (p.of("sigma"), 2))
    L1 = math.log(p.d) - math.log(p.delta)
    return Evaluation({"fit": front, "search": 2 * front * L1}, {}, 0.0, "add it for the regret against the best k")


def _ito(number: int) -> Callable[[Setting], Evaluation]:
    """8 sqrt(kT), and for Algorithm 2 8192^2 d^8/(sigma_d^8 k^7 h^7), for 3 128^2 36^8 d^8/(delta_S^8 k^3 h^7).

    Corrected: the sums of the paper's section 4, from which its tables round, with d^4 (d-1)^4 for d^8 and (k-1)^4 for
    k^4, all k weights of size h.
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
    """k^2 d^3/k0^3 ln(T) ln(dT/delta); the appendix prints k0^2 (E34)."""
    return product((p.k, 2), (p.d / p.of("k0"), 3)) * math.log(max(p.T, 1.0)) * _log_dT(p)


def _kale_error(p: Setting) -> float:
    L1 = math.log(p.d) - math.log(p.delta)
    return product((p.d / p.of("k0"), 1.5), (p.k, 1), (p.T, -0.5), (L1, 0.5))


@lru_cache(maxsize=16)
def _count(d: int, k: int) -> tuple[float, int]:
    """N = C(d, k), the number of supports, as m 4^e."""
    N = math.comb(d, k)
    e = max(0, N.bit_length() - 60) // 2
    return float(N >> 2 * e), e


def _supports(p: Setting) -> float:
    """sqrt(NT), which is beyond a double where each of some 2000 choices doubles N."""
    if min(p.k, p.d - p.k) > 2048:
        return math.inf
    m, e = _count(p.d, p.k)
    try:
        return math.ldexp(product((m, 0.5), (p.T, 0.5)), e)
    except OverflowError:
        return math.inf


def _lower_regret(p: Setting) -> float:
    return p.k * math.log1p(p.T) * math.log(p.d / p.k)


_PAPER, _MEAN, _ONCE = "Li et al. 2025", lambda p: 0.0, lambda p: 1.0
_ITO = "Ito et al. 2017"
_LETTERS = ("sigma", "delta_s")

STATEMENTS = (
    Statement(
        "ds-oslrc",
        "regret",
        f"{_PAPER}, Theorem 1",
        "(a) (b) (d) (f)",
        (*_LETTERS, "w_min"),
        _theorem("oslr"),
        lambda p: p.T + math.sqrt(p.T) * events(p.oslr) + 1,
    ),
    Statement(
        "ds-oslrc-error",
        "error",
        f"{_PAPER}, Lemma 2",
        "(a) (b) (d) (f)",
        _LETTERS,
        _error("oslr", lambda T: float(math.isqrt(int(T))), 2),
        lambda p: math.sqrt(p.T) * events(p.oslr),
    ),
    Statement(
        "ito2017-2", "regret", f"{_ITO}, Algorithm 2", "(a) (b) (c) (g) (i)", ("sigma_d", "w_min"), _ito(2), _MEAN
    ),
    Statement(
        "ito2017-3", "regret", f"{_ITO}, Algorithm 3", "(a) (b) (d) (g) (i)", ("delta_s", "w_min"), _ito(3), _MEAN
    ),
    Statement("support-bandit", "regret", f"{_PAPER}, section 2", "-", (), _order("sqrt(NT)", _supports), _MEAN, False),
    Statement(
        "ds-poslrc",
        "regret",
        f"{_PAPER}, Theorem 2",
        "(a) (b) (d) (f)",
        (*_LETTERS, "k0"),
        _theorem("poslr"),
        lambda p: p.T * events(p.poslr) + 1,
    ),
    Statement(
        "ds-poslrc-error",
        "error",
        f"{_PAPER}, Lemma 3",
        "(a) (b) (d) (f)",
        (*_LETTERS, "k0"),
        _error("poslr", lambda T: T, 1),
        lambda p: p.T * events(p.poslr),
    ),
    Statement(
        "ito2017-1",
        "regret",
        f"{_ITO}, Algorithm 1",
        "(a) (b) (c) (g) (i)",
        ("sigma_d", "k0"),
        _order("d sqrt(T)/(sigma_d^2 k0)", lambda p: product((p.d / p.of("k0"), 1), (p.T, 0.5), (p.of("sigma_d"), -2))),
        _MEAN,
        False,
    ),
    Statement(
        "kale2017-dantzig",
        "regret",
        "Kale et al. 2017, Algorithm 1",
        "(a) (b) (e) (f)",
        ("k0",),
        _order("k^2 d^3/k0^3 ln(T) ln(dT/delta)", _kale),
        _ONCE,
        False,
    ),
    Statement(
        "kale2017-error",
        "error",
        "Kale et al. 2017",
        "(a) (b) (e) (f)",
        ("k0",),
        _order("(d/k0)^1.5 k sqrt(ln(d/delta)/s)", _kale_error),
        _ONCE,
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
        _MEAN,
        False,
    ),
    Statement("best-sparse", "rival", f"{_PAPER}, Remark 1", "(a) (b) (f)", ("sigma",), _rival, _ONCE),
    Statement(
        "lower-regret",
        "lower",
        f"{_PAPER}, section 4.3",
        "(a) (b) (f)",
        (),
        _order("k ln(T+1) ln(d/k)", _lower_regret),
        _MEAN,
        False,
    ),
    Statement(
        "lower-error",
        "lower",
        "Candes and Davenport 2013",
        "(a) (b) (f)",
        (),
        _order("sqrt(k/T ln(d/k))", lambda p: product((p.k, 0.5), (p.T, -0.5), (math.log(p.d / p.k), 0.5))),
        _MEAN,
        False,
    ),
)
