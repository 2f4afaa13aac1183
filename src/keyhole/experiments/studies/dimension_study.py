"""The final l1 error as a function of d and of k: fitted exponents."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...figures import Curve, Figure, curves
from ..aggregate import Band
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import at_end, by, enumeration, label, written

# A power of d or k is confirmed if the fitted exponent is within this distance.
_TOLERANCE = 0.2
# The exponents that the paper proves for large s.
_PROVED = {"DS-OSLRC": {"d": 0.5, "k": 0.5}, "DS-POSLRC": {"d": 0.5, "k": 1.0}}
_NAMES = {"ds-oslrc": "DS-OSLRC", "ds-poslrc": "DS-POSLRC", "ito2017-3": "Ito's Algorithm 3"}


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on how the final error grows with d and with k."""
    rows, figures, exponents = [], [], {}
    for letter, other in (("d", "k"), ("k", "d")):
        fixed = _most_varied(results, letter, other)
        chosen = [pair for pair in results if getattr(pair[0], other) == fixed]
        figure, fitted = _along(chosen, letter)
        figures.append(figure)
        for name, band in fitted.items():
            exponents[name, letter] = band
            rows.append([label(name), f"{letter}^{written(band)}", f"{other} = {fixed}"])
    powers: dict[str, dict[str, float]] = {}
    for (name, letter), band in exponents.items():
        short = name.partition("[")[0]
        powers.setdefault(_NAMES.get(short, short), {})[letter] = band.middle
    said = enumeration([f"like {_product(found)} for {name}" for name, found in powers.items()])
    agrees = {
        name: Agreement.where(all(abs(powers[name][letter] - power) < _TOLERANCE for letter, power in proved.items()))
        for name, proved in _PROVED.items()
    }
    rates = enumeration([f"{_product(_PROVED[name])} for {name} ({found})" for name, found in agrees.items()])
    verdict = f"At these s the error scales {said}. The paper proves, for large s, {rates}."
    head = ["algorithm", "the error scales like", "at"]
    return Finding(verdict, {f"for {name}": found for name, found in agrees.items()}, head, rows, figures)


def _product(powers: Mapping[str, float]) -> str:
    return " ".join(f"{letter}^{power:.1f}" for letter, power in powers.items())


def _most_varied(results: "Sequence[tuple[Part, Trace]]", letter: str, other: str) -> object:
    """Return the value of `other` (d or k) for which the results contain the most values of `letter`."""
    values: dict[object, set[object]] = {}
    for part, _ in results:
        values.setdefault(getattr(part, other), set()).add(getattr(part, letter))
    return max(values, key=lambda v: len(values[v]))


def _along(chosen: "Sequence[tuple[Part, Trace]]", letter: str) -> tuple[Figure, dict[str, Band]]:
    lines, fitted, x = [], {}, np.empty(0)
    for (algorithm,), group in by(chosen, "algorithm").items():
        cells = by(group, letter)
        x = np.array(sorted(float(str(key[0])) for key in cells))
        ends = np.array([at_end(cells[(int(v),)], "error") for v in x])
        low, middle, high = np.quantile(ends, [0.1, 0.5, 0.9], axis=1)
        lines.append(Curve(label(algorithm), middle, low, high))
        seeds = [np.polyfit(np.log(x), np.log(np.maximum(column, 1e-12)), 1)[0] for column in ends.T]
        fitted[str(algorithm)] = Band.of([float(s) for s in seeds])
    return curves(f"The error against {letter}", x, lines, letter, "|w_hat - w*|_1 at the end"), fitted
