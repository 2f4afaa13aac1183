"""The l1 error as a function of s: fitted slopes with bands, compared with the proved ones."""

from collections.abc import Sequence

from ...figures import Curve, curves
from ..aggregate import Band
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import band_at_end, by, curve_of, label, slope, written

# Slopes are fitted over the last decade of s and over the one before.
_DECADE = 10.0
_TOLERANCE = 0.1
# A band that misses -1/2 by at most this counts as reaching it.
_NEAR = 0.05
_OSLR = "ds-oslrc[tuning=scaled"
_SCALED, _TUNED, _ITO = "ds-poslrc[tuning=scaled", "ds-poslrc[tuning=empirical]", "ito"


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on the slopes of the l1 error in s, beside the proved ones."""
    rows, lines, late, early, x = [], [], {}, {}, None
    usual = results[0][0].sigma
    for (algorithm, sigma), group in by(results, "algorithm", "sigma").items():
        name = str(algorithm) if sigma == usual else f"{algorithm}, sigma = {sigma:g}"
        shown = label(algorithm) if sigma == usual else f"{label(algorithm)}, sigma = {sigma:g}"
        last = group[0][1]["s"][-1]
        late[name] = slope(group, "error", "s", last / _DECADE, last)
        early[name] = slope(group, "error", "s", last / _DECADE**2, last / _DECADE)
        claimed = "-0.25" if name.startswith(_ITO) else "-0.5"
        fitted = [written(late[name]), written(early[name])]
        l2 = [written(slope(group, "error_l2", "s", last / _DECADE, last)), written(band_at_end(group, "error_l2"))]
        rows.append([shown, *fitted, claimed, written(band_at_end(group, "error")), *l2, str(len(group))])
        c = curve_of(group, "error", "s")
        x = c.x
        lines.append(Curve(shown, c.y, c.low, c.high))
    figure = curves("The l1 error after s explorations", x, lines, "explorations s", "|w_hat - w*|_1")  # type: ignore[arg-type]
    oslr, scaled, ito = (
        next(b for name, b in late.items() if name.startswith(start)) for start in (_OSLR, _SCALED, _ITO)
    )
    proved = [_as_proved(band) for band in (oslr, scaled)]
    before = next(b for name, b in early.items() if name.startswith(_OSLR))
    quiet = next((name for name in late if name.startswith(f"{_TUNED}, sigma")), None)
    verdict = (
        f"With the paper's gamma, scaled, DS-OSLRC's error falls with slope {written(oslr, 2)} "
        f"({_called(proved[0])} -1/2{_or_why(proved[0], oslr, before)}), and DS-POSLRC's with {written(scaled, 2)} "
        f"({_called(proved[1])} -1/2); self-tuned that falls with {written(late[_TUNED], 2)}, "
        f"{_compared(late[_TUNED].middle, scaled.middle)}{_why(early[_TUNED], late[_TUNED], quiet, late)}; and the "
        f"error of Ito's Algorithm 3 with {ito.middle:.2f} (proved: -1/4)."
    )
    head = [
        *("algorithm", "slope, last decade of s", "the decade before", "proved", "error at the end"),
        *("slope in l2", "l2 error at the end", "seeds"),
    ]
    return Finding(verdict, _agreement(proved), head, rows, [figure])


def _as_proved(band: Band) -> bool | None:
    """Return whether a slope is -1/2 (contained in its band, and near its median); None if the seeds do not decide."""
    near, holds = abs(band.middle + 0.5) <= _TOLERANCE, band.low <= -0.5 <= band.high
    if holds:
        return True if near else None
    return abs(band.low + 0.5) <= _NEAR and abs(band.high + 0.5) <= _NEAR


def _agreement(proved: Sequence[bool | None]) -> Agreement:
    """Return the verdict: seen if both algorithms agree with the proof, not seen if one surely does not, otherwise
    undecided.
    """
    if all(proved):
        return Agreement.SEEN
    return Agreement.NOT_SEEN if False in proved else Agreement.UNDECIDED


def _called(proved: bool | None) -> str:
    return {True: "as the proved", False: "not the proved", None: "undecided compared with the proved"}[proved]


def _or_why(proved: bool | None, now: Band, before: Band) -> str:
    if proved:
        return ""
    how = "flatter" if now.middle > -0.5 else "steeper"
    said = f": it is {how}, after {written(before, 2)} in the decade before"
    # gamma_s has a 1/s and a 1/sqrt(s) term: during the transition the slope is not that of a single power.
    return f"{said}, in which the part of gamma_s in 1/s fades" if before.middle < -0.5 - _TOLERANCE else said


def _compared(slope: float, other: float) -> str:
    return "faster" if slope < other - 0.05 else "more slowly" if slope > other + 0.05 else "about as fast"


def _why(before: Band, now: Band, quiet: str | None, late: dict[str, Band]) -> str:
    """Explain a slope that changes: the self-tuned gamma is sqrt(V)/s.

    V starts with the errors of w_hat, which vanish, so that gamma falls like 1/s; the noise in V persists, so that
    gamma then falls like 1/sqrt(s). The explanation is given only if both are seen: earlier, and with less noise.
    """
    said = f" (the decade before with {written(before, 2)})"
    if quiet is None or min(now.middle - before.middle, now.middle - late[quiet].middle) < _TOLERANCE:
        return said
    less = f"{quiet.partition(', ')[2]} with {written(late[quiet], 2)} still"
    return f"{said}: its gamma falls like 1/s until the noise outweighs what w_hat missed at first, {less}"
