"""`keyhole demo --paper`: the paper's learners on a synthetic stream, where the truth is known."""

import warnings
from typing import NamedTuple

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..core.registry.catalogue import make
from ..data.streams import Stream
from ..data.synthetic_streams import synthetic
from ..errors import KeyholeWarning
from ..simulation import play
from ._progress import Bar

D, K, K0, ROWS = 20, 4, 4, 10_000
_LEARNERS: dict[str, dict[str, object]] = {
    "ds-oslrc": {},
    "ds-oslrc, 2 t^(-1/3)": {"explore": "2 t^(-1/3)"},
    "ds-oslrc, theory": {"tuning": "theory"},
    f"ds-poslrc, {K0} more": {"k0": K0},
}


class _Line(NamedTuple):
    label: str
    regret: float
    bought: float
    found: str


def paper_demo(seed: int) -> None:
    """Play DS-OSLRC and DS-POSLRC, and print their regret beside that of predicting 0."""
    stream = synthetic(D, K, ROWS, seed=seed)
    zero = float((stream.y**2).sum() - ((stream.y - stream.X @ stream.w) ** 2).sum())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KeyholeWarning)  # the table shows the same
        lines = [_Line("predict 0", zero, 0.0, ""), *(_play(label, stream, seed) for label in _LEARNERS)]
    table = Table(title=f"{ROWS} rows, {D} attributes of which {K} matter; buying {K} a row", title_justify="left")
    for head in ("", "regret", "of predict 0", "bought/row", "support found"):
        table.add_column(head, justify="right" if head else "left")
    for label, regret, bought, found in lines:
        table.add_row(label, f"{regret:.1f}", f"{100 * regret / zero:.0f} %", f"{bought:.1f}", found)
    console = Console()
    console.print(table)
    console.print("regret: squared error beyond that of the true weights, summed over the rows.")


def _play(label: str, stream: Stream, seed: int) -> _Line:
    """Return the table row of one learner."""
    name, options = label.split(",")[0], _LEARNERS[label]
    learner = make(name, d=D, k=K, seed=seed, **options)  # type: ignore[arg-type]  # `make` checks the options
    columns = (TextColumn("{task.description:22}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, transient=True) as progress:
        task = progress.add_task(label, total=ROWS)
        history = play(learner, stream.X, stream.y, progress=lambda t: progress.update(task, completed=t))
    true = {int(i) for i in stream.w.nonzero()[0]}
    found = f"{len(true & set(learner.support.tolist()))} of {K}"
    return _Line(label, float(history.regret(stream.w)[-1]), float(history.bought.sum()) / ROWS, found)
