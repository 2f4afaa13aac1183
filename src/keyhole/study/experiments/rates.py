"""The l1 error against s: fitted slopes with bands, beside those that the papers prove."""

from collections.abc import Sequence

from ...figures import Curve, curves
from ..finding import Agreement, Finding
from ..reading import band_at_end, by, curve_of, slope, written
from ..tracing import Part, Trace

# Slopes are fitted over the last decade of s.
_DECADE = 10.0
_TOLERANCE = 0.1


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Whether the slopes are the proved ones."""
    groups = by(results, "algorithm")
    rows, lines, slopes, x = [], [], {}, None
    for (algorithm,), group in groups.items():
        name = str(algorithm)
        last = group[0][1]["s"][-1]
        fitted = slopes[name] = slope(group, "error", "s", last / _DECADE, last)
        proved = -0.25 if name.startswith("ito") else -0.5
        rows.append([name, written(fitted), f"{proved:g}", written(band_at_end(group, "error")), str(len(group))])
        c = curve_of(group, "error", "s")
        x = c.x
        lines.append(Curve(name, c.y, c.low, c.high))
    figure = curves("The l1 error after s explorations", x, lines, "explorations s", "|w_hat - w*|_1")  # type: ignore[arg-type]
    scaled = next(b for name, b in slopes.items() if name.startswith("ds-poslrc[tuning=scaled"))
    tuned = next(b for name, b in slopes.items() if name.startswith("ds-poslrc[tuning=empirical"))
    ito = next(b for name, b in slopes.items() if name.startswith("ito"))
    agrees = abs(scaled.middle + 0.5) <= _TOLERANCE
    verdict = (
        f"With the paper's gamma, scaled, DS-POSLRC's error falls with slope {scaled.middle:.2f} "
        f"({'as' if agrees else 'not as'} the proved -1/2); self-tuned it falls with {written(tuned, 2)}, "
        f"{_compared(tuned.middle, scaled.middle)}, and the error of Ito's Algorithm 3 with {ito.middle:.2f} "
        "(proved: -1/4)."
    )
    head = ["algorithm", "slope over the last decade of s", "proved", "error at the end", "seeds"]
    return Finding(verdict, Agreement.where(agrees), head, rows, [figure])


def _compared(slope: float, other: float) -> str:
    return "faster" if slope < other - 0.05 else "more slowly" if slope > other + 0.05 else "about as fast"
