"""`kh.make` as an editor reads it: each algorithm with its options. Made by scripts/build_making.py."""

from collections.abc import Mapping, Sequence
from typing import Literal, overload

from ..._internal.dataframes import Names
from ...algorithms.thrifty import Thrifty
from ...estimation.dantzig_width import Scaled
from ...estimation.exploration_schedule import Rate, Squares
from ..learner import Learner

@overload
def make(
    name: Literal["thrifty"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    prices: Mapping[str, float] | Sequence[float] | None = None,
    budget_per_row: float | None = None,
    half_life: float | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
    free: Sequence[object] | None = None,
    error_cost: float | None = None,
    total_budget: float | None = None,
    expected_rows: int | None = None,
) -> Thrifty: ...
@overload
def make(
    name: Literal["ds-oslrc"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["empirical", "theory"] | Scaled | str = "empirical",
    sigma: float = 0.1,
    delta_s: float = 1.0,
    delta: float = 0.01,
    explore: Literal["squares"] | str | float | Squares | Rate = "squares",
    sampling: Literal["paper", "uniform"] = "paper",
    exploit: Literal["newton", "gradient"] = "newton",
    reset: Literal["paper", "partial"] = "paper",
    engine: Literal["simplex", "highs"] = "simplex",
) -> Learner: ...
@overload
def make(
    name: Literal["ds-poslrc"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["empirical", "theory"] | Scaled | str = "empirical",
    sigma: float = 0.1,
    delta_s: float = 1.0,
    delta: float = 0.01,
    solve: Literal["every", "powers"] | int = "every",
    exploit: Literal["dantzig", "newton"] = "dantzig",
    sampling: Literal["paper", "uniform"] = "paper",
    reset: Literal["paper", "partial"] = "paper",
    engine: Literal["simplex", "highs"] = "simplex",
) -> Learner: ...
@overload
def make(
    name: Literal["gibbs-thompson"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    share: float | None = None,
    growth: float = 1.1,
) -> Learner: ...
@overload
def make(
    name: Literal["explore-then-commit"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    explorations: float = 4.0,
) -> Learner: ...
@overload
def make(
    name: Literal["aer"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    step: float | None = None,
    average: float | None = None,
    radius: float = 1.0,
    explore: Literal["squares"] | str | float | Squares | Rate = "2 t^(-1/3)",
    exploit: Literal["newton", "weights"] = "newton",
) -> Learner: ...
@overload
def make(
    name: Literal["aerr"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    step: float | None = None,
    average: float | None = None,
    radius: float = 1.0,
    explore: Literal["squares"] | str | float | Squares | Rate = "2 t^(-1/3)",
    exploit: Literal["newton", "weights"] = "newton",
) -> Learner: ...
@overload
def make(
    name: Literal["aelr"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    step: float | None = None,
    average: float | None = None,
    radius: float = 1.0,
    explore: Literal["squares"] | str | float | Squares | Rate = "2 t^(-1/3)",
    exploit: Literal["newton", "weights"] = "newton",
) -> Learner: ...
@overload
def make(
    name: Literal["olin-lasso"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    c: float | None = None,
    n0: int | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["rda"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    groups: Sequence[object] | None = None,
    tuning: Literal["practical", "theory"] = "practical",
    gamma: float | None = None,
    lam: float | None = None,
    rho: float | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["i-lamm"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    penalty: Literal["scad", "mcp"] = "scad",
    tuning: Literal["practical", "theory", "authors"] = "practical",
    c: float | None = None,
    share: float | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["vaw"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    a: float | None = None,
    sources: Mapping[str, Sequence[str]] | None = None,
    free: Sequence[object] | None = None,
    prices: Mapping[str, float] | Sequence[float] | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["fixed-random"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    eps: float | None = None,
    sigma: float = 0.1,
    delta: float = 0.01,
    standardize: bool = False,
    sources: Mapping[str, Sequence[str]] | None = None,
    free: Sequence[object] | None = None,
    prices: Mapping[str, float] | Sequence[float] | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["oracle-support"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    support: Sequence[object] | None = None,
    tuning: Literal["practical", "theory"] = "practical",
    eps: float | None = None,
    sigma: float = 0.1,
    delta: float = 0.01,
    standardize: bool = False,
    sources: Mapping[str, Sequence[str]] | None = None,
    free: Sequence[object] | None = None,
    prices: Mapping[str, float] | Sequence[float] | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["ito2017-1"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    lam_scale: float | None = None,
    radius: float = 1.0,
) -> Learner: ...
@overload
def make(
    name: Literal["ito2017-2"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    lam_explore: float | None = None,
    lam_exploit: float | None = None,
    radius: float = 1.0,
    explore: Literal["squares"] | str | float | Squares | Rate | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["ito2017-3"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    lam_explore: float | None = None,
    lam_exploit: float | None = None,
    radius: float = 1.0,
    explore: Literal["squares"] | str | float | Squares | Rate | None = None,
    l1: float | None = None,
) -> Learner: ...
@overload
def make(
    name: Literal["kale2017-dantzig"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    C: float | None = None,
    sigma: float = 0.1,
    delta: float = 0.01,
    sampling: Literal["uniform", "bernoulli", "union"] = "uniform",
    growth: float = 2.0,
) -> Learner: ...
@overload
def make(
    name: Literal["foster2016"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    hedge_scale: float = 1.0,
    step_scale: float = 1.0,
    radius: float = 1.0,
    label_bound: float = 1.0,
) -> Learner: ...
@overload
def make(
    name: Literal["support-bandit"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    master: Literal["tsallis", "hedged-ftrl", "corral", "batched-exp3"] = "tsallis",
    base: Literal["vaw", "newton", "gradient"] = "vaw",
    tuning: Literal["practical", "theory"] = "practical",
    eta: float | None = None,
    ridge: float = 1.0,
    label_bound: float = 1.0,
    horizon: int = 1024,
) -> Learner: ...
@overload
def make(
    name: Literal["kale2017-greedy"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    tuning: Literal["practical", "theory"] = "practical",
    eta_scale: float | None = None,
    batch: float | None = None,
    ridge: float = 1.0,
    label_bound: float = 1.0,
) -> Learner: ...
@overload
def make(
    name: Literal["murata2018-explore"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    sparsity: int | None = None,
    tuning: Literal["practical", "theory"] = "practical",
    step: float = 1.0,
    batch: float = 20.0,
    growth: float = 2.0,
) -> Learner: ...
@overload
def make(
    name: Literal["murata2018-hybrid"],
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    sparsity: int | None = None,
    tuning: Literal["practical", "theory"] = "practical",
    step: float = 1.0,
    batch: float = 20.0,
    growth: float = 2.0,
    ratio: float | None = None,
) -> Learner: ...
@overload
def make(
    name: str,
    *,
    d: int | None = None,
    names: Names | None = None,
    k: int | None = None,
    k0: int = 0,
    seed: int | None = None,
    label: Literal["number", "binary"] = "number",
    **options: object,
) -> Learner: ...
