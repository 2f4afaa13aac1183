"""Model files of keyhole 0.1: there the state was a dozen arrays with numbered columns."""

from typing import TypeAlias

import numpy as np

from ..._internal.typing import Floats, Ints
from ...core.state import Value
from .state import Attribute, Label, Member, Now, Pair, Records, Row, Shown, record

__all__ = ["upgraded"]

# What the columns held, in their order.
_AT = "ref unit raw_n raw_x raw_xx asked observed scored r c se gain loan_value price n x xx xy y rows failed"
_IDX = "place displaced queue order mark"
_PAIR = "n x_j x_a x_ja"
_MASS = "y weight"
_VEC = "w x_bar sd cond imputed"
_TOP = "y_bar explained"
_NUM = "g n y yy y_mean y_var s2 error2 y_low y_high fy ff alpha cusum y_ref y_unit loans decay spend resets"
_CNT = "m told refit_at epoch queued turn k k0 moves score_at"

# What rows said was summed up otherwise: everybody is scored anew with the next label, from the stored rows.
_AT_ONCE = {"refit_at": np.zeros(1), "score_at": np.zeros(1), "heard": np.full(1, -1)}

Columns: TypeAlias = "dict[str, Floats | Ints]"


def upgraded(flat: dict[str, Value]) -> dict[str, Value]:
    """The state of a learner as 0.1 wrote it, in the records of today; that of a later version as it is."""
    if "store.at" not in flat:
        return flat
    old = {key.removeprefix("store."): np.asarray(value) for key, value in flat.items() if key.startswith("store.")}
    idx = _named(_IDX, old["idx"], 0)
    new: dict[str, Value] = {
        "attr": _records(Attribute, _named(_AT, old["at"], 1) | idx),
        "order": idx["order"].copy(),
        "queue": idx["queue"].copy(),
        "pair": _records(Pair, _named(_PAIR, old["pair"], 2)),
        "row": _records(Row, _named(_MASS, old["mass"], 1)),
        "shown": _records(Shown, {"j": old["who"], "x": old["what"]}),
        "now": _records(Now, _named(_NUM, old["num"][None], 1) | _named(_CNT, old["cnt"][None], 1) | _AT_ONCE),
        "member": _records(Member, _named(_VEC, old["vec"], 1) | {"j": old["M"]}),
        "gram": old["gram"],
        "V": old["inv"][:, 0].copy(),
        "P": old["inv"][:, 1].copy(),
        "label": _records(Label, _named(_TOP, old["top"], 1)),
    }
    rest = {key: value for key, value in flat.items() if not key.startswith("store.")}
    return rest | {f"memory.{key}": value for key, value in new.items()}


def _named(names: str, array: "Floats | Ints", axis: int) -> Columns:
    """The columns along an axis by their names."""
    return dict(zip(names.split(), np.moveaxis(array, axis, 0), strict=True))


def _records(kind: type, columns: Columns) -> Records:
    """Columns side by side as records; a column that no record has today is left out."""
    made: Records = np.zeros(next(iter(columns.values())).shape, record(kind))
    for name in made.dtype.names or ():
        if name in columns:
            made[name] = columns[name]
    return made
