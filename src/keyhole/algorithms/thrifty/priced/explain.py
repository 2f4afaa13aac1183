"""What is known about a source, in words and in money."""

from dataclasses import dataclass

from .memory import Memory

__all__ = ["SourceExplanation", "explain"]


@dataclass(frozen=True)
class SourceExplanation:
    """What is known about one source, and why it is or is not bought."""

    name: str
    attributes: tuple[str, ...]
    weights: tuple[float, ...]
    """Of its attributes, per unit; zero outside the support."""
    weight: float
    """The largest of them."""
    bought: int
    price: float
    adds: float
    """By how much it lowers the squared error of a row, beside the rest of the support: in it, what would be lost."""
    adds_money: float
    """The same in money, by `worth` or the rate that the support shows."""
    fair_price: float
    """Below this price it is bought, as far as is known."""
    probability: float
    """That it explains anything beside the support."""
    in_support: bool
    reason: str


def explain(
    memory: Memory, s: int, name: str, attributes: tuple[str, ...], weights: tuple[float, ...]
) -> SourceExplanation:
    """The record of source s."""
    me, now = memory.source[s], memory.now[0]
    unit2 = float(now["y_unit"]) ** 2
    rate = float(now["look_rate"]) / unit2 if unit2 > 0.0 else 0.0
    adds = float(me["adds"]) * unit2
    inside, fair = bool(me["place"] >= 0), rate * adds
    reason = _inside(memory, s, fair) if inside else _outside(memory, s, fair)
    largest = max(weights, key=abs)
    return SourceExplanation(
        *(name, attributes, weights, largest, int(me["asked"]), float(me["price"]), adds, fair, fair),
        *(float(me["real"]), inside, reason),
    )


def _inside(memory: Memory, s: int, fair: float) -> str:
    me = memory.source[s]
    if me["price"] == 0.0:
        return f"bought: it explains something with probability {me['real']:.2f}"
    return f"bought: it adds {fair:.3g} a row and costs {me['price']:.3g}; it is dropped above {fair:.3g}"


def _outside(memory: Memory, s: int, fair: float) -> str:
    """Why a source is not bought."""
    me, now = memory.source[s], memory.now[0]
    looks = "; it is looked at to be known better" if me["value"] > 0.0 and me["wanted"] > 0 else ""
    if now["told"] < now["refit_at"] and now["y_var"] <= 1e-200:
        return "not looked at: the labels show no variance yet"
    if me["idle"]:
        return "not bought again: " + ("never observed" if me["n"] == 0.0 else "constant, or known from what is bought")
    if me["asked"] == 0:
        left = now["look_rate"] * now["s2"]
        why = f": it costs {me['price']:.3g}, and all that is left to explain is worth {left:.3g}; looked at below that"
        return f"never bought{why if me['price'] > left else ''}{looks}"
    if me["n"] <= me["size"] + 3:
        return f"observed {me['n']:.0f} times: too few to judge{looks}"
    if fair > me["price"] and me["price"] > 0.0:
        return f"it would add {fair:.3g} for {me['price']:.3g}, but others leave it no place or money{looks}"
    return f"it would add {fair:.3g} a row and costs {me['price']:.3g}: bought below {fair:.3g}{looks}"
