"""The l1 error as a function of s: fitted slopes with bands, compared with the proved ones."""

from collections.abc import Mapping, Sequence

from ...figures import Curve, curves
from ..aggregate import Band
from ..study import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import band_at_end, by, curve_of, enumeration, label, slope, written

# Slopes are fitted over the last decade of s and over the one before.
_DECADE = 10.0
_TOLERANCE = 0.1
# A band that misses the proved slope by at most this counts as reaching it.
_NEAR = 0.05
_OSLR = "ds-oslrc[tuning=scaled"
_SCALED, _EMPIRICAL, _ITO = "ds-poslrc[tuning=scaled", "ds-poslrc[tuning=empirical]", "ito"
# The slopes that the papers prove, as numbers and as written.
_HALF, _QUARTER = (-0.5, "-1/2"), (-0.25, "-1/4")


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
        claimed = f"{(_QUARTER if name.startswith(_ITO) else _HALF)[0]:g}"
        fitted = [written(late[name]), written(early[name])]
        l2 = [written(slope(group, "error_l2", "s", last / _DECADE, last)), written(band_at_end(group, "error_l2"))]
        rows.append([shown, *fitted, claimed, written(band_at_end(group, "error")), *l2, str(len(group))])
        c = curve_of(group, "error", "s")
        x = c.x
        lines.append(Curve(shown, c.y, c.low, c.high))
    figure = curves("The l1 error after s explorations", x, lines, "explorations s", "|w_hat - w*|_1")  # type: ignore[arg-type]
    oslr, poslr, ito = (next(name for name in late if name.startswith(start)) for start in (_OSLR, _SCALED, _ITO))
    sentences = [
        _with_the_papers_gamma({"DS-OSLRC": late[oslr], "DS-POSLRC": late[poslr]}),
        _transition(late[oslr], early[oslr]),
        f"With our tuning (`empirical`), DS-POSLRC's error falls with slope {late[_EMPIRICAL].middle:.2f}, "
        f"{_compared(late[_EMPIRICAL].middle, late[poslr].middle)}, after {early[_EMPIRICAL].middle:.2f} in the decade "
        "before.",
        _explanation(early, late),
        f"The error of Ito's Algorithm 3 falls with slope {late[ito].middle:.2f}, {_called(late[ito], *_QUARTER)}.",
    ]
    head = [
        *("algorithm", "slope, last decade of s", "the decade before", "proved", "error at the end"),
        *("slope in l2", "l2 error at the end", "seeds"),
    ]
    agrees = {
        "for DS-OSLRC": Agreement.where(_as_proved(late[oslr], _HALF[0])),
        "for DS-POSLRC": Agreement.where(_as_proved(late[poslr], _HALF[0])),
        "for Ito's Algorithm 3": Agreement.where(_as_proved(late[ito], _QUARTER[0])),
    }
    return Finding(" ".join(filter(None, sentences)), agrees, head, rows, [figure])


def _as_proved(band: Band, proved: float) -> bool | None:
    """Return whether a slope is the proved one (contained in its band, and near its median); None if the seeds do not
    decide.
    """
    near, holds = abs(band.middle - proved) <= _TOLERANCE, band.low <= proved <= band.high
    if holds:
        return True if near else None
    return abs(band.low - proved) <= _NEAR and abs(band.high - proved) <= _NEAR


def _called(band: Band, proved: float, name: str) -> str:
    found = _as_proved(band, proved)
    if found is None:
        return f"and the seeds do not decide whether this is the proved {name}"
    return f"as the proved {name}" if found else f"{_flatter(band, proved)} than the proved {name}"


def _flatter(band: Band, proved: float) -> str:
    return "flatter" if band.middle > proved else "steeper"


def _with_the_papers_gamma(slopes: Mapping[str, Band]) -> str:
    start = "With a scaled-down version of the paper's gamma"
    if all(_as_proved(band, _HALF[0]) for band in slopes.values()):
        each = enumeration([f"{name}'s with slope {band.middle:.2f}" for name, band in slopes.items()])
        return f"{start}, both errors fall at the proved rate of {_HALF[1]}: {each}."
    each = "; ".join(
        f"{name}'s error falls with slope {band.middle:.2f}, {_called(band, *_HALF)}" for name, band in slopes.items()
    )
    return f"{start}: {each}."


def _transition(now: Band, before: Band) -> str:
    """Say how DS-OSLRC's slope was before, if it is not the proved one.

    gamma_s has a 1/s and a 1/sqrt(s) term: during the transition the slope is not that of a single power.
    """
    if _as_proved(now, _HALF[0]):
        return ""
    said = f"In the decade before, DS-OSLRC's slope was {before.middle:.2f}"
    steep = before.middle < _HALF[0] - _TOLERANCE
    return f"{said}: the part of gamma_s in 1/s was still fading." if steep else f"{said}."


def _compared(slope: float, other: float) -> str:
    return "faster" if slope < other - 0.05 else "more slowly" if slope > other + 0.05 else "about as fast"


def _explanation(early: Mapping[str, Band], late: Mapping[str, Band]) -> str:
    """Explain a slope that changes: the empirical gamma is sqrt(V)/s.

    V starts with the errors of w_hat, which vanish, so that gamma falls like 1/s; the noise in V persists, so that
    gamma then falls like 1/sqrt(s). The explanation is given only if both are seen: earlier, and with less noise.
    """
    quiet = next((name for name in late if name.startswith(f"{_EMPIRICAL}, sigma")), None)
    now, before = late[_EMPIRICAL].middle, early[_EMPIRICAL].middle
    if quiet is None or min(now - before, now - late[quiet].middle) < _TOLERANCE:
        return ""
    return (
        "Its gamma falls like 1/s until the noise outweighs the initial error of w_hat: with less noise "
        f"({quiet.partition(', ')[2]}) the slope is still {late[quiet].middle:.2f}."
    )
