"""`keyhole demo`: the paper's learners on a synthetic stream, in under a minute."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..streams import Stream


def demo(
    rounds: Annotated[int, typer.Option(min=100, help="Rows of the stream.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the stream and the learners.")] = 0,
) -> None:
    """Play DS-OSLRC and DS-POSLRC on a synthetic stream (d = 20, 4 attributes matter) beside predicting 0.

    Example: keyhole demo --rounds 5000 --seed 1
    """
    import warnings

    import keyhole as kh

    d, k, k0 = 20, 4, 4
    stream = kh.streams.synthetic(d, k, rounds, seed=seed)
    zero = float((stream.y**2).sum() - ((stream.y - stream.X @ stream.w) ** 2).sum())
    learners: dict[str, dict[str, object]] = {
        "ds-oslrc": {},
        "ds-oslrc, 2 t^(-1/3)": {"explore": "2 t^(-1/3)"},
        f"ds-poslrc, {k0} more": {"k0": k0, "solve": 4},
    }
    lines = [("predict 0", zero, 1.0, 0.0, "")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kh.KeyholeWarning)  # the table says it: "0 identified"
        for label, options in learners.items():
            lines.append(_play(label, options, stream, zero, k, seed))
    _print(lines, d, k, rounds)


def _play(
    label: str, options: dict[str, object], stream: "Stream", zero: float, k: int, seed: int
) -> tuple[str, float, float, float, str]:
    """One learner's line: regret, share of predicting 0, attributes bought a row, and what it found."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    import keyhole as kh

    name = label.split(",")[0]
    learner = kh.make(name, d=stream.X.shape[1], k=k, seed=seed, **options)  # type: ignore[arg-type]
    columns = (TextColumn("{task.description:22}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, transient=True) as progress:
        task = progress.add_task(label, total=stream.y.size)
        history = kh.play(learner, stream.X, stream.y, progress=lambda t: progress.update(task, completed=t))
    regret = float(history.regret(stream.w)[-1])
    true = {int(i) for i in stream.w.nonzero()[0]}
    found = f"{len(true & set(learner.support.tolist()))} of {k}"
    return label, regret, regret / zero, float(history.bought.sum()) / stream.y.size, found


def _print(lines: list[tuple[str, float, float, float, str]], d: int, k: int, rounds: int) -> None:
    """The table, and how to read it."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{rounds} rows, {d} attributes of which {k} matter; buying {k} a row", title_justify="left")
    for head in ("", "regret", "of predict 0", "bought/row", "support found"):
        table.add_column(head, justify="left" if not head else "right")
    for label, regret, share, bought, found in lines:
        table.add_row(label, f"{regret:.1f}", f"{100 * share:.0f} %", f"{bought:.1f}", found)
    console = Console()
    console.print(table)
    console.print("regret: squared error beyond that of the true weights, summed over the rows.")
