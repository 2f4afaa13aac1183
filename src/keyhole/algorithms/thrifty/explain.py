"""The estimates of `thrifty` for every source, as numbers and as text."""

from dataclasses import dataclass

import numpy as np

from ..._internal.formatting import thousands
from ..._internal.typing import Floats
from ...core.sources import SourceCatalog
from .engine_state import EngineState

__all__ = ["Explanation", "explain"]


@dataclass(frozen=True)
class Explanation:
    """The estimates for one source, and the reason why it is or is not bought."""

    name: str
    attributes: tuple[str, ...]
    weights: tuple[float, ...]
    """The weights of its attributes per unit; zero outside the support."""
    weight: float
    """The largest of the weights."""
    uncertainty: float
    """The standard error of that weight; infinite outside the support."""
    bought: int
    price: float
    adds: float
    """The reduction of the squared error per row, given the other members; for a member, the increase if removed."""
    fair_price: float
    """The value of `adds` in money: by `error_cost`, by the shadow price of `total_budget`, or else at the rate
    at which the most expensive member of the support costs exactly what it adds. NaN if no rate is known."""
    probability: float
    """The probability that it is worth a place."""
    in_support: bool
    reason: str


def explain(state: EngineState, catalog: SourceCatalog, weights: Floats) -> list[Explanation]:
    """Return one record per source, in column order."""
    n, scalars = len(catalog.sources), state.scalars[0]
    adds = np.array([_adds(state, catalog, s) for s in range(n)])
    rate = _rate(state, catalog, adds)
    chances = state.engine.probabilities()
    per_y = float(scalars["y_unit"])
    out = []
    for s, name in enumerate(catalog.sources):
        me, brings = state.source[s], catalog.members[s]
        w = weights[brings]
        largest = int(np.abs(w).argmax())
        error = np.inf
        if me["member"]:
            j = brings[largest]
            a, unit = state.attr["column"][j], float(state.attr["unit"][j])
            error = np.sqrt(scalars["s2"] * state.V[0, a, a]) * per_y / unit if unit > 0.0 else 0.0
        out.append(
            Explanation(
                name=name,
                attributes=tuple(catalog.names[j] for j in brings),
                weights=tuple(w.tolist()),
                weight=float(w[largest]),
                uncertainty=float(error),
                bought=int(me["n_bought"]),
                price=float(catalog.prices[s]),
                adds=float(adds[s]),
                fair_price=float(rate * adds[s]),
                probability=1.0 if me["member"] else float(chances[s]),
                in_support=bool(me["member"]),
                reason=_reason(
                    state, s, catalog.priced, float(catalog.prices[s]), float(adds[s]), float(rate * adds[s])
                ),
            )
        )
    return out


def _adds(state: EngineState, catalog: SourceCatalog, s: int) -> float:
    me, unit2 = state.source[s], float(state.scalars["y_unit"][0]) ** 2
    if not me["member"]:  # se^2 / c of r^2 / c is expected by chance
        return float(me["gain"]) * max(0.0, 1.0 - 1.0 / max(float(me["evidence"]), 1e-9)) * unit2
    at = state.attr["column"][catalog.members[s]]
    w = state.column["w"][0, at]
    return float(w @ np.linalg.lstsq(state.P[0][np.ix_(at, at)], w, rcond=None)[0]) * unit2


def _rate(state: EngineState, catalog: SourceCatalog, adds: Floats) -> float:
    """Return the money per unit of squared error."""
    scalars, settings = state.scalars[0], state.settings[0]
    unit2 = float(scalars["y_unit"]) ** 2
    if np.isfinite(settings["error_cost"]) and not np.isfinite(settings["total_budget"]):
        return float(settings["error_cost"])
    if np.isfinite(scalars["rate"]) and unit2 > 0.0:
        return float(scalars["rate"]) / unit2
    bought = state.source["member"][: adds.size].astype(bool) & (adds > 0.0) & (catalog.prices > 0.0)
    return float((catalog.prices[bought] / adds[bought]).max(initial=-np.inf)) if bought.any() else np.nan


def _reason(state: EngineState, s: int, priced: bool, price: float, adds: float, fair: float) -> str:
    me, scalars = state.source[s], state.scalars[0]
    attr = state.attr[state.source_attributes[me["first"] : me["first"] + me["size"]]]
    weighed = priced and price > 0.0 and np.isfinite(fair)
    settings = state.settings[0]
    by_price = price > 0.0 and np.isfinite(settings["error_cost"]) and not np.isfinite(settings["total_budget"])
    if me["member"]:
        stays = f"unless its evidence falls below {me['leave_threshold']:.1f}"
        if by_price:
            stays = "while it is expected to be worth its price"
        money = f"; it is worth {fair:.3g} a row and costs {price:.3g}" if weighed and not me["redundant"] else ""
        return f"in the support: it stays {stays}{money}"
    looks = (
        "; explored in the place of a member" if me["displaced_member"] >= 0 and me["exploration_value"] > 0.0 else ""
    )
    if me["n_bought"] == 0 and me["n_observed"] == 0:
        left = float(scalars["rate"] * scalars["s2"]) if np.isfinite(scalars["rate"]) else np.inf
        if scalars["n_labels"] > 1 and price > left:
            return f"never bought: it costs {price:.3g}, and all that is left to explain is worth {left:.3g}"
        return "never bought"
    if me["n_observed"] == 0:
        return "bought, never observed" + ": not bought again" * bool(me["redundant"])
    if (attr["unit"] == 0.0).all():
        return "constant so far" + ": not bought again" * bool(me["redundant"])
    if me["redundant"]:
        return "known from the support: not bought again"
    if me["evidence"] <= 0.0:
        return f"observed {me['n_observed']} times: too few to judge{looks}"
    seen = "" if me["n_bought"] else "never bought, but seen in past rows: "
    if adds <= 0.0:
        return f"{seen}no benefit seen in {thousands(me['n_observed'])} rows{looks}"
    text = f"{seen}would lower the squared error by {adds:.3g}"
    text += f", worth {fair:.3g} a row, at a price of {price:.3g}" if weighed else ""
    if by_price:
        return f"{text}{looks}"
    text += f"; its evidence, {me['evidence']:.1f},"
    if me["evidence"] > me["join_threshold"]:
        return f"{text} is significant, but the support without it is better{looks}"
    return f"{text} is below {me['join_threshold']:.1f}, from which it joins the support{looks}"
