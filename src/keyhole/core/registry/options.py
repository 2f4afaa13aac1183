"""The options of every algorithm: name, type, default, meaning. What the constructors take, as data to be read.

A default of None stands for "what `tuning` says" (or, for data such as prices, for none at all).
"""

from .algorithm import Option

__all__ = ["OPTIONS"]


def _number(name: str, default: float | None, meaning: str) -> Option:
    return Option(name, "number", default, meaning)


def _whole(name: str, default: int | None, meaning: str) -> Option:
    return Option(name, "whole number", default, meaning)


def _choice(name: str, default: str, meaning: str, *others: str) -> Option:
    return Option(name, "choice", default, meaning, (default, *others))


def _explore(default: str | None) -> Option:
    return Option("explore", "schedule", default, "when to explore: squares, a rate such as 2 t^(-1/3), or a share")


_TUNING = _choice("tuning", "practical", "the constants: chosen by our benchmarks, or those of the analysis", "theory")
_WIDTH = _choice("tuning", "empirical", "gamma: self-tuned, the paper's, or the paper's times c", "theory", "scaled(c)")
_SIGMA = _number("sigma", 0.1, "the noise level that the theory's constants assume")
_DELTA_S = _number("delta_s", 1.0, "the compatibility constant that the theory's constants assume")
_DELTA = _number("delta", 0.01, "the failure probability that the theory's constants assume")
_RADIUS = _number("radius", 1.0, "the radius of the ball that the weights are kept in")
_RIDGE = _number("ridge", 1.0, "what the matrix of a forecaster starts from")
_BOUND = _number("label_bound", 1.0, "the bound on |y| behind the theory's scale")
_SAMPLING = _choice("sampling", "paper", "how attributes are drawn: by the estimate, or all alike", "uniform")
_RESET = _choice(
    "reset", "paper", "a new support starts from scratch, or keeps what is known of those who stay", "partial"
)
_ENGINE = _choice("engine", "simplex", "what solves the linear programs: ours, or the reference", "highs")
_PRICES = Option("prices", "prices", None, "a price per attribute (or source): a list, or names to prices")
_MARKET = (
    Option("sources", "sources", None, "what can be ordered: names to the attributes each brings"),
    Option("free", "list", None, "attributes that are there for free"),
    _PRICES,
)
_NEWTON = (
    _TUNING,
    _number("eps", None, "what the Newton matrix starts from, per attribute"),
    _SIGMA,
    _DELTA,
    Option("standardize", "yes or no", False, "learn mean and scale of raw columns as they come"),
)
_ATTRIBUTES = (
    _TUNING,
    _number("step", None, "the factor of the theory's step size"),
    _number("average", None, "weights of the average grow like s to this power"),
    _RADIUS,
    _explore("2 t^(-1/3)"),
    _choice("exploit", "newton", "predict by Newton steps on the support, or with the averaged weights", "weights"),
)
_ITO = (
    _TUNING,
    _number("lam_explore", None, "the factor of the explorer's regularisation"),
    _number("lam_exploit", None, "the factor of the exploiter's regularisation"),
    _RADIUS,
    _explore(None),
)
_MURATA = (
    _whole("sparsity", None, "how many weights the iterate keeps: below k"),
    _TUNING,
    _number("step", 1.0, "the step size, in units of the smoothness where that is learnt"),
    _number("batch", 20.0, "how often the first sweep visits an attribute"),
    _number("growth", 2.0, "what a sweep grows by"),
)

OPTIONS: dict[str, tuple[Option, ...]] = {
    "thrifty": (
        *_MARKET,
        _number("budget_per_row", None, "the money a row may cost at most"),
        _number(
            "error_cost",
            None,
            "what a unit of squared error in one row is worth in money: only what earns it is bought",
        ),
        _number("total_budget", None, "the money that all rows together may cost"),
        _whole("expected_rows", None, "how many rows `total_budget` has to last for"),
        _number("half_life", None, "rows after which a row counts half; none: never"),
    ),
    "ds-oslrc": (
        *(_WIDTH, _SIGMA, _DELTA_S, _DELTA, _explore("squares"), _SAMPLING),
        _choice("exploit", "newton", "Newton steps on the support (the paper), or gradient steps", "gradient"),
        *(_RESET, _ENGINE),
    ),
    "ds-poslrc": (
        *(_WIDTH, _SIGMA, _DELTA_S, _DELTA),
        _choice("solve", "every", "when to solve: every round, every m-th (a number), or at powers of two", "powers"),
        _choice("exploit", "dantzig", "predict with the estimate (the paper), or by Newton steps", "newton"),
        *(_SAMPLING, _RESET, _ENGINE),
    ),
    **dict.fromkeys(("aer", "aerr", "aelr"), _ATTRIBUTES),
    "olin-lasso": (
        _TUNING,
        _number("c", None, "the width of the l1 term, times the errors' root mean square unless by theory"),
        _whole("n0", None, "rows of the first batch"),
    ),
    "rda": (
        Option("groups", "list", None, "lists of attributes that come and go together"),
        _TUNING,
        _number("gamma", None, "how slowly the weights move"),
        _number("lam", None, "the l1 (or group) penalty"),
        _number("rho", None, "the part of the penalty that fades"),
    ),
    "i-lamm": (
        _choice("penalty", "scad", "the folded concave penalty", "mcp"),
        _choice("tuning", "practical", "the width: ours, the rate, or the authors' default", "theory", "authors"),
        _number("c", None, "the width, times the errors' root mean square if practical"),
        _number("share", None, "the width is at least this share of the largest correlation"),
    ),
    "vaw": (_TUNING, _number("a", None, "the ridge"), *_MARKET),
    "fixed-random": (*_NEWTON, *_MARKET),
    "oracle-support": (
        Option("support", "list", None, "the true attributes, by name or number; required"),
        *_NEWTON,
        *_MARKET,
    ),
    "ito2017-1": (_TUNING, _number("lam_scale", None, "the factor of the regularisation"), _RADIUS),
    "ito2017-2": _ITO,
    "ito2017-3": (*_ITO, _number("l1", None, "the factor of the explorer's l1 term")),
    "kale2017-dantzig": (
        _TUNING,
        _number("C", None, "the factor of the width"),
        *(_SIGMA, _DELTA),
        _choice("sampling", "uniform", "exactly k0, independent coins, or k0 beside the support", "bernoulli", "union"),
        _number("growth", 2.0, "a solve at t is followed by one at growth t"),
    ),
    "foster2016": (
        _TUNING,
        _number("hedge_scale", 1.0, "a factor of the hedge's rate"),
        _number("step_scale", 1.0, "a factor of the descent's rate"),
        *(_RADIUS, _BOUND),
    ),
    "support-bandit": (
        _choice("master", "tsallis", "which arm to play", "hedged-ftrl", "corral", "batched-exp3"),
        _choice("base", "vaw", "how an arm predicts", "newton", "gradient"),
        _TUNING,
        _number("eta", None, "the factor of the master's rate"),
        *(_RIDGE, _BOUND),
        _whole(
            "horizon", 1024, "the length CORRAL and hedged-ftrl start with; doubled whenever the stream outlives it"
        ),
    ),
    "kale2017-greedy": (
        _TUNING,
        _number("eta_scale", None, "the factor of the chain's rate"),
        _number("batch", None, "the factor of the batches' length"),
        *(_RIDGE, _BOUND),
    ),
    "gibbs-thompson": (
        _number("share", None, "the prior share of attributes with an effect: k/d by default"),
        _number("growth", 1.1, "how many times more rows there must be for a refit"),
    ),
    "explore-then-commit": (_number("looks", 4.0, "how long the first exploration is: looks ln d at each attribute"),),
    "murata2018-explore": _MURATA,
    "murata2018-hybrid": (*_MURATA, _number("ratio", None, "exploitation per exploration")),
}
