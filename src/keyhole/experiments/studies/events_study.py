"""How often the events of the proofs hold as gamma decreases, and Lemma 2 in all its phases."""

import re
from collections.abc import Sequence

import numpy as np

from ...figures import Curve, Figure, curves
from ..aggregate import Band
from ..study import Agreement, Finding
from ..trace_job import Part, Trace, scaled_constants
from ..traces import Group, band_at_end, by, written

_ALWAYS = 0.99


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """Return the finding on how often each event of the proofs holds, by the factor c of gamma: with the paper's
    constants, and with s0 scaled down.
    """
    plain = [pair for pair in results if not pair[0].s0]
    rows, shares = [], {}
    for (algorithm,), group in by(plain, "algorithm").items():
        fits, short = _share(group, "fits"), _share(group, "size")
        c = _c(str(algorithm))
        if c is not None:
            shares[c] = (fits, short, band_at_end(group, "regret"))
        name = "empirical" if c is None else f"c = {c:g}"
        cells = [_percent(fits), _percent(short), "-", "-", "-", written(band_at_end(group, "regret"))]
        rows.append([name, "all s", *cells])
    scale = np.array(sorted(shares))
    lines = [
        Curve(name, *(np.array([shares[c][i][j] for c in scale]) for j in range(3)))
        for i, name in enumerate(("w* feasible", "|w_hat|_1 <= |w*|_1"))
    ]
    figures = [curves("Share of the rounds in which the events hold", scale, lines, "c of Scaled(c)", "share")]
    failing = [c for c in scale if min(shares[c][0].middle, shares[c][1].middle) < _ALWAYS]
    holding = [c for c in scale if c > max(failing, default=0.0)]
    best = min(scale, key=lambda c: shares[c][2].middle)
    verdict = (
        f"Both events hold in at least 99 % of the rounds down to c = {min(holding):g}."
        if holding
        else "The two events do not both hold in 99 % of the rounds, not even at c = 1."
    )
    verdict += (
        f" With the paper's gamma (c = 1), w* is feasible in {100 * shares[scale[-1]][0].middle:.0f} % of the rounds. "
        f"The least regret is at c = {best:g}, where w* is feasible in {100 * shares[best][0].middle:.0f} % of them."
    )
    head = [
        *("gamma", "phase", "w* feasible", "w_hat no larger than w*", "gamma_hat >= gamma"),
        *("error within Lemma 2", "largest error / bound", "regret at T"),
    ]
    agrees = {
        f"for the {event}": Agreement.where(shares[scale[-1]][i].middle >= _ALWAYS)
        for i, event in enumerate(("feasibility of w*", "size of w_hat"))
    }
    phases = [pair for pair in results if pair[0].s0]
    if phases:
        said, more, figure = _in_phases(phases)
        verdict, rows = f"{verdict} {said}", [*rows, *more]
        figures.append(figure)
    return Finding(verdict, agrees, head, rows, figures)


def _in_phases(results: "Sequence[tuple[Part, Trace]]") -> tuple[str, list[list[str]], Figure]:
    """Check gamma_hat_s >= gamma_s and the bound of Lemma 2 per phase, with constants scaled to reach all phases."""
    part = results[0][0]
    constants = scaled_constants(part)
    ends = [constants.s0, constants.s1, constants.s2(part.w_min), np.inf]
    names = ["s <= s0", "s0 < s <= s1", "s1 < s <= s2", "s > s2"]
    rows, lines, holds, x = [], [], {}, np.empty(0)
    for (algorithm,), group in by(results, "algorithm").items():
        c = _c(str(algorithm)) or 1.0
        x = np.array(group[0][1]["s"], dtype=np.float64)
        ratio = np.nanmedian([found["bound"] for _, found in group], axis=0)
        lines.append(Curve(f"c = {c:g}", ratio))
        for name, low, high in zip(names, [0.0, *ends[:-1]], ends, strict=True):
            inside = (x > low) & (x <= high)
            if not inside.any():
                continue
            gamma, bound = (
                Band.of([float((np.array(found[key])[inside] <= 1.0).mean()) for _, found in group])
                for key in ("gamma", "bound")
            )
            worst = Band.of([float(np.max(np.array(found["bound"])[inside])) for _, found in group])
            holds[c, name] = (gamma.middle, bound.middle)
            rows.append([f"c = {c:g}", name, "-", "-", _percent(gamma), _percent(bound), written(worst), "-"])
    figure = curves(
        f"Error on the support over Lemma 2's bound, s0 scaled to {part.s0:g}", x, lines, "explorations s", "ratio"
    )
    scales = sorted({c for c, _ in holds})
    safe, always = (
        [c for c in scales if all(share[i] >= _ALWAYS for (other, _), share in holds.items() if other == c)]
        for i in (0, 1)
    )
    said = (
        f"With delta_S scaled so that s0 = {part.s0:g}, s1 = {ends[1]:.0f} and s2 = {ends[2]:.0f} (no design has "
        f"such a delta_S), gamma_hat_s >= gamma_s holds in every phase for {_listed(safe)}; of these, the bound of "
        f"Lemma 2 holds in every phase for {_listed([c for c in always if c in safe])}."
    )
    return said, rows, figure


def _listed(scales: Sequence[float]) -> str:
    return f"c = {', '.join(f'{c:g}' for c in scales)}" if scales else "no c"


def _percent(b: Band) -> str:
    return f"{100 * b.middle:.0f} % ({100 * b.low:.0f} to {100 * b.high:.0f})"


def _share(group: Group, event: str) -> Band:
    """Return, per seed, how often an event held in the recorded rounds after the first tenth, because the first few
    solves say little.
    """
    shares = []
    for _, found in group:
        seen = np.array(found[event])  # type: ignore[literal-required]
        seen = seen[len(seen) // 10 :]
        shares.append(float((seen <= 1 + 1e-9).mean() if event == "size" else seen.mean()))
    return Band.of(shares)


def _c(algorithm: str) -> float | None:
    found = re.search(r"scaled\(([^)]*)\)", algorithm)
    return float(found[1]) if found else 1.0 if "theory" in algorithm else None
