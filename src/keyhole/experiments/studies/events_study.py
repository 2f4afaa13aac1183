"""How often the events hold on which the proofs rest, for ever smaller gamma."""

import re
from collections.abc import Sequence

import numpy as np

from ...figures import Curve, curves
from ..aggregate import Band
from ..finding import Agreement, Finding
from ..trace_job import Part, Trace
from ..traces import Group, band_at_end, by, written

_ALWAYS = 0.99


def judge(results: "Sequence[tuple[Part, Trace]]") -> Finding:
    """The share of looks at which each event holds, by c."""
    rows, shares = [], {}
    for (algorithm,), group in by(results, "algorithm").items():
        fits, short = _share(group, "fits"), _share(group, "size")
        c = _c(str(algorithm))
        if c is not None:
            shares[c] = (fits, short, band_at_end(group, "regret"))
        name = "self-tuned" if c is None else f"c = {c:g}"
        rows.append(
            [
                name,
                *(f"{100 * b.middle:.0f} % ({100 * b.low:.0f} to {100 * b.high:.0f})" for b in (fits, short)),
                written(band_at_end(group, "regret")),
            ]
        )
    scale = np.array(sorted(shares))
    lines = [
        Curve(name, *(np.array([shares[c][i][j] for c in scale]) for j in range(3)))
        for i, name in enumerate(("gamma_s large enough", "|w_hat|_1 <= |w*|_1"))
    ]
    figure = curves("Share of the rounds in which the events hold", scale, lines, "c of Scaled(c)", "share")
    holding = [c for c in scale if shares[c][0].middle >= _ALWAYS and shares[c][1].middle >= _ALWAYS]
    best = min(scale, key=lambda c: shares[c][2].middle)
    verdict = (
        f"Both events hold in at least 99 % of the rounds down to c = {min(holding):g}"
        if holding
        else "At no c do both events hold in 99 % of the rounds"
    )
    verdict += (
        f"; at c = 1 gamma_s is large enough in {100 * shares[scale[-1]][0].middle:.0f} %. The least regret is at "
        f"c = {best:g}, where gamma_s is large enough in {100 * shares[best][0].middle:.0f} % of them."
    )
    head = ["gamma", "gamma_s large enough", "w_hat no larger than w*", "regret at T"]
    agrees = Agreement.where(shares[scale[-1]][0].middle >= _ALWAYS)
    return Finding(verdict, agrees, head, rows, [figure])


def _share(group: Group, event: str) -> Band:
    """Per seed, of the looks after the first tenth: a first solve or two say little."""
    shares = []
    for _, found in group:
        seen = np.array(found[event])  # type: ignore[literal-required]
        seen = seen[len(seen) // 10 :]
        shares.append(float((seen <= 1 + 1e-9).mean() if event == "size" else seen.mean()))
    return Band.of(shares)


def _c(algorithm: str) -> float | None:
    found = re.search(r"scaled\(([^)]*)\)", algorithm)
    return float(found[1]) if found else 1.0 if "theory" in algorithm else None
