"""
The compiled core of keyhole. Numpy arrays are the state; the core reads and writes them and keeps nothing.
"""

import numpy as np
from numpy.typing import NDArray

from keyhole._core import thrifty as thrifty

SANITIZED: bool

def count_extremes(x: NDArray[np.float64], largest: float, most: float, least: float) -> tuple[int, int]:
    """(how many |x| > largest, how many > most or below least and not +0)."""

def count_outside(
    x: NDArray[np.float64],
    columns: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    seen: NDArray[np.int64],
    outside: NDArray[np.int64],
    smallest: NDArray[np.float64],
    largest: NDArray[np.float64],
) -> None:
    """Take note of the finite values x of these columns."""

class DantzigStore:
    """Where the rows of H are: views of numpy arrays."""

    def __init__(
        self,
        columns: NDArray[np.float64],
        rows: NDArray[np.float64],
        place: NDArray[np.int64],
        first: NDArray[np.int64],
        link: NDArray[np.int64],
        B: NDArray[np.int64],
        h: NDArray[np.float64],
    ) -> None: ...

class DantzigBasis:
    """A basis of the parametric simplex: views of numpy arrays."""

    def __init__(
        self, idx: NDArray[np.int64], sgn: NDArray[np.float64], pos: NDArray[np.int64], GG: NDArray[np.float64]
    ) -> None: ...

class DantzigWork:
    """The point of a basis and the way it takes: views of numpy arrays."""

    def __init__(
        self, x: NDArray[np.float64], z: NDArray[np.float64], c: NDArray[np.float64], preference: NDArray[np.float64]
    ) -> None: ...
    def set_coefficients(self, x: NDArray[np.float64]) -> None:
        """Take other coefficients; the way is kept."""

    @property
    def missing(self) -> int:
        """The row of H that is absent."""

    @property
    def restarts(self) -> int:
        """Perturbations so far."""

    @property
    def seed(self) -> float:
        """The seed of the perturbations."""

    def event(self, side: int) -> tuple[int, int, float]:
        """(kind, place or index, sign) of the side's next event."""

def follow_path(
    store: DantzigStore,
    basis: DantzigBasis,
    work: DantzigWork,
    m: int,
    b: NDArray[np.float64],
    scale: float,
    out: NDArray[np.float64],
    seed: int,
    updates: int,
) -> tuple[int, int, int, int, float, float, float, float]:
    """
    Follow the parametric path: (verdict, m, pivots, updates, objective, primal, dual, gap).
    """

def add_round(
    H: NDArray[np.float64],
    b: NDArray[np.float64],
    B: NDArray[np.int64],
    h: NDArray[np.float64],
    v: NDArray[np.float64],
    basis: DantzigBasis,
    work: DantzigWork,
    m: int,
    most: int,
    asymmetric: bool,
) -> int:
    """
    H[B, B] += h, b[B] += v, and the inverse follows: the columns changed, or a fault below 0.
    """

def invert(G: NDArray[np.float64], G_inv: NDArray[np.float64], m: int) -> bool:
    """G_inv = G^-1 on the leading m x m blocks; False where G is singular."""

def set_widths(V: NDArray[np.float64], scale: float, gamma: NDArray[np.float64]) -> None:
    """gamma_i = scale sqrt(V_i), with no V_i below a tenth of their mean."""

def scale_widths(gamma: NDArray[np.float64], scale: float, out: NDArray[np.float64]) -> bool:
    """out = scale gamma; whether gamma is a legal width."""

def poslrc_block(
    w_hat: NDArray[np.float64],
    S: NDArray[np.int64],
    permutation: NDArray[np.int64],
    V: NDArray[np.float64],
    scale: float,
    gammas: NDArray[np.float64],
    first: int,
    every: int,
    uniform: bool,
    tally: NDArray[np.int64],
    H: NDArray[np.float64],
    b: NDArray[np.float64],
    store: DantzigStore,
    basis: DantzigBasis,
    work: DantzigWork,
    counts: NDArray[np.int64],
    u: NDArray[np.float64],
    others: NDArray[np.int64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    y_hat: NDArray[np.float64],
    bought: NDArray[np.int64],
    t: int,
    patience: int,
    tolerance: float,
) -> tuple[int, int, bool, tuple[int, int, int, int, float, float, float, float]]:
    """Play rows of DS-POSLRC from t on: (stop, rows played, warm, ending)."""

def newton_epoch(
    w: NDArray[np.float64],
    A_inv: NDArray[np.float64],
    tally: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    rho: float,
    y_hat: NDArray[np.float64],
) -> None:
    """
    Play an epoch of online Newton steps in place; predictions go into y_hat.
    """

def gradient_epoch(
    w: NDArray[np.float64],
    sum_squares: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    y_hat: NDArray[np.float64],
) -> None:
    """
    Play an epoch of online gradient steps in place; predictions go into y_hat.
    """

def quadratic_form(A_inv: NDArray[np.float64], v: NDArray[np.float64], x: NDArray[np.float64]) -> float:
    """
    x' A^-1 x for v = A^-1 x; 0, and v = 0 too, where it is lost in rounding.
    """

def ridge_bank_step(
    A_inv: NDArray[np.float64],
    b: NDArray[np.float64],
    which: NDArray[np.int64],
    X: NDArray[np.float64],
    y: float,
    y_hat: NDArray[np.float64],
) -> None:
    """
    Predict and learn one example for each forecaster named in `which`, in place.
    """

def vaw_epoch(
    A_inv: NDArray[np.float64],
    b: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    y_hat: NDArray[np.float64],
) -> None:
    """Rounds of the Vovk-Azoury-Warmuth forecaster, in place."""

def rda_epoch(
    w: NDArray[np.float64],
    g_bar: NDArray[np.float64],
    tally: NDArray[np.float64],
    errors: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    group: NDArray[np.int64],
    group_size: NDArray[np.int64],
    gamma: float,
    lam: float,
    rho: float,
    practical: bool,
    y_hat: NDArray[np.float64],
) -> None:
    """Rounds of regularised dual averaging, in place."""

def olin_lasso_epoch(
    theta: NDArray[np.float64],
    XX: NDArray[np.float64],
    Xy: NDArray[np.float64],
    G0: NDArray[np.float64],
    tally: NDArray[np.float64],
    n: int,
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    n0: int,
    scale: float,
    y_hat: NDArray[np.float64],
) -> int:
    """
    Rounds of the online linearised LASSO, in place; the rounds learnt from.
    """

def ilamm_epoch(
    beta: NDArray[np.float64],
    XX: NDArray[np.float64],
    Xy: NDArray[np.float64],
    tally: NDArray[np.float64],
    n: int,
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    scale: float,
    share: float,
    mcp: bool,
    y_hat: NDArray[np.float64],
) -> int:
    """Rounds of I-LAMM, in place; the rounds learnt from."""

def lasso(
    G: NDArray[np.float64], c: NDArray[np.float64], lam: float, v: NDArray[np.float64], tolerance: float, sweeps: int
) -> None:
    """v <- argmin v'Gv/2 - c'v + lam |v|_1 by coordinate descent, in place."""

def fit_ilamm(
    G: NDArray[np.float64], b: NDArray[np.float64], lam: float, mcp: bool, tolerance: float, beta: NDArray[np.float64]
) -> None:
    """Folded-concave least squares: contraction, then tightening."""

def tsallis_law(L: NDArray[np.float64], eta: float, p: NDArray[np.float64]) -> None:
    """The 1/2-Tsallis regularised leader."""

def log_barrier_step(
    p: NDArray[np.float64], loss: NDArray[np.float64], eta: NDArray[np.float64], next: NDArray[np.float64]
) -> None:
    """One step of log-barrier mirror descent."""

def hedge_step(
    U: NDArray[np.int64],
    W: NDArray[np.float64],
    L: NDArray[np.float64],
    G: NDArray[np.float64],
    h: NDArray[np.float64],
    z: NDArray[np.float64],
    eta: float,
    adaptive: bool,
    R: float,
) -> None:
    """Losses and gradient steps of all supports, in place."""

def dual_averaging_epoch(
    h: NDArray[np.float64],
    tally: NDArray[np.float64],
    S: NDArray[np.int64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    rate: float,
    adaptive: bool,
    R: float,
    y_hat: NDArray[np.float64],
) -> None:
    """Rounds of dual averaging on S, in place."""

def standardise(
    columns: NDArray[np.float64],
    X: NDArray[np.float64],
    y: NDArray[np.float64],
    Z: NDArray[np.float64],
    labels: NDArray[np.float64],
    centre: NDArray[np.float64],
    width: NDArray[np.float64],
) -> None:
    """Standardise rows by what was seen before them, in place."""

def add_pairwise(
    attributes: NDArray[np.float64],
    first: NDArray[np.float64],
    pairs: NDArray[np.float64],
    label: NDArray[np.float64],
    B: NDArray[np.int64],
    x: NDArray[np.float64],
    y: float,
) -> None:
    """Add a row that saw x on B to the sums."""

def fit_pairwise(
    attributes: NDArray[np.float64],
    first: NDArray[np.float64],
    pairs: NDArray[np.float64],
    label: NDArray[np.float64],
    mu: NDArray[np.float64],
    sd: NDArray[np.float64],
    R: NDArray[np.float64],
    c: NDArray[np.float64],
) -> None:
    """Means, deviations, shrunk correlations and covariances from the sums."""

def prior_slopes(
    sums: NDArray[np.float64], prior: NDArray[np.float64], variance: NDArray[np.float64]
) -> NDArray[np.float64]:
    """
    Least squares with intercept, drawn to the prior as if by two rows more.
    """

def matching_pursuit(R: NDArray[np.float64], c: NDArray[np.float64], k: int, stop: float) -> NDArray[np.int64]:
    """Orthogonal matching pursuit on moments."""

def fill_in(
    R: NDArray[np.float64], c: NDArray[np.float64], B: NDArray[np.int64], z: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float]:
    """(R_BB^-1 z_B, the fitted value, what B explains)."""

def learn_row(
    R: NDArray[np.float64],
    G: NDArray[np.float64],
    b: NDArray[np.float64],
    g: NDArray[np.float64],
    w: NDArray[np.float64],
    B: NDArray[np.int64],
    a: NDArray[np.float64],
    r: float,
    weight: float,
) -> None:
    """One filled-in row joins the normal equations."""

def normal_equations(
    R: NDArray[np.float64],
    bought: NDArray[np.int64],
    Z: NDArray[np.float64],
    r: NDArray[np.float64],
    w_bar: NDArray[np.float64],
    S2: float,
    G: NDArray[np.float64],
    b: NDArray[np.float64],
) -> tuple[float, float]:
    """All rows anew; (weighted noise, sum of the weights)."""

def acquisition_scores(
    G: NDArray[np.float64],
    b: NDArray[np.float64],
    g: NDArray[np.float64],
    w: NDArray[np.float64],
    tau: float,
    normal: NDArray[np.float64],
    score: NDArray[np.float64],
) -> None:
    """How much each attribute is wanted."""

def gibbs_sweep(
    G: NDArray[np.float64],
    b: NDArray[np.float64],
    g: NDArray[np.float64],
    w: NDArray[np.float64],
    seen: NDArray[np.float64],
    tau: float,
    odds: float,
    uniform: NDArray[np.float64],
    normal: NDArray[np.float64],
    mean: NDArray[np.float64],
) -> None:
    """One Gibbs sweep, in place."""

def set_law(w: NDArray[np.float64], q: NDArray[np.float64]) -> None:
    """q = |w| / |w|_1, uniform where w = 0."""

def join_draws(q: NDArray[np.float64], u: float, others: NDArray[np.int64], B: NDArray[np.int64]) -> None:
    """
    B = the first index ~ q by its uniform u, then the others, drawn from all but the first.
    """

def set_pair_probabilities(fixed: int, q_B: NDArray[np.float64], n: int, m: int, P: NDArray[np.float64]) -> None:
    """
    P[i, j] for `fixed` attributes followed by m drawn of n; P holds ones before.
    """

def estimate_moments(
    x: NDArray[np.float64], P: NDArray[np.float64], x_hat: NDArray[np.float64], h: NDArray[np.float64]
) -> None:
    """x_hat and h from the observed x and the pair probabilities P."""

def estimate_round(
    w_hat: NDArray[np.float64],
    B: NDArray[np.int64],
    x: NDArray[np.float64],
    y: float,
    P: NDArray[np.float64],
    v: NDArray[np.float64],
    h: NDArray[np.float64],
    deviation: NDArray[np.float64],
) -> None:
    """v = x_hat y, h, and deviation = v - h w_hat(B)."""

def top_k(
    w: NDArray[np.float64], k: int, inside: NDArray[np.bool_], permutation: NDArray[np.int64], places: NDArray[np.int64]
) -> None:
    """
    The first k of places become the k indices of largest |w|, the largest first.
    """

def dot_observed(w: NDArray[np.float64], B: NDArray[np.int64], x: NDArray[np.float64]) -> float:
    """Sum of w[B_i] x_i over known x_i."""

def dot_on_support(w: NDArray[np.float64], S: NDArray[np.int64], B: NDArray[np.int64], x: NDArray[np.float64]) -> float:
    """Sum of w_a x_i where S_a = B_i, over known x_i; S is ascending."""
