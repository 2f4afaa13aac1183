"""One small, legal set-up per algorithm of the catalogue; a new algorithm is in the battery as soon as it is listed."""

from dataclasses import dataclass, field

import numpy as np

import keyhole as kh

PRICES = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 2.0]

# What an algorithm needs beyond the common set-up; everything else follows from its record.
OPTIONS = {"oracle-support": {"support": [1, 4, 6]}}


@dataclass(frozen=True)
class Case:
    """How to make a learner, and a stream for it."""

    name: str
    d: int = 9
    k: int = 3
    k0: int = 0
    options: dict[str, object] = field(default_factory=dict)

    def __str__(self):
        return self.name if not self.options else f"{self.name}{self.options}"

    def make(self, seed=0):
        return kh.make(self.name, d=self.d, k=self.k, k0=self.k0, seed=seed, **self.options)

    def stream(self, T, seed=0):
        X, y, _ = kh.streams.synthetic(self.d, min(self.k, 3), T, sigma=0.05, seed=seed)
        return X, y


def _case(algorithm):
    k, k0 = 9 if algorithm.buys_all else 3, 4 if algorithm.needs_k0 else 0
    return Case(algorithm.name, k=k, k0=k0, options=OPTIONS.get(algorithm.name, {}))


VARIANTS = [
    Case("ds-oslrc", options={"explore": "2 t^(-1/3)", "reset": "partial", "exploit": "gradient"}),
    Case("ds-oslrc", options={"tuning": "theory", "sampling": "uniform"}),
    Case("ds-oslrc", d=8, k=5),
    Case("ds-poslrc", k0=6, options={"exploit": "newton", "solve": "powers", "reset": "partial"}),
    Case("ds-poslrc", d=8, k=5, k0=3, options={"solve": 7}),
    Case("thrifty", options={"prices": PRICES, "error_cost": 3000.0}),
    Case(
        "thrifty",
        k=9,
        k0=1,
        options={"prices": PRICES, "budget_per_row": 9.0, "total_budget": 300.0, "expected_rows": 100, "half_life": 50},
    ),
    Case("fixed-random", options={"standardize": True}),
    Case("support-bandit", options={"master": "corral", "base": "newton"}),
    Case("support-bandit", options={"master": "batched-exp3", "tuning": "theory"}),
    Case("support-bandit", options={"master": "hedged-ftrl", "base": "gradient", "tuning": "theory", "horizon": 20}),
    Case("support-bandit", options={"master": "hedged-ftrl"}),
]
CASES = [_case(a) for a in kh.list_algorithms()] + VARIANTS
# They learn the scale of raw columns: what is missing is not zero to them.
RAW = {a.name for a in kh.list_algorithms() if a.raw_columns}


def rows(X, y):
    return zip(X, np.asarray(y).tolist(), strict=True)
