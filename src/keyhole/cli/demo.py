"""`keyhole demo`: real people, real prices, in a minute."""

from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="The run folder; an earlier demo is replaced.")] = Path("runs/demo"),
    budget: Annotated[int, typer.Option(min=1, help="Attributes that may be bought per person.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's learners on a synthetic stream instead.")] = False,
) -> None:
    """Predict the blood pressure of 6 302 people from a few of 95 measurements, each with its price (NHANES 2017-18).

    Example: keyhole demo --budget 3
    """
    from importlib import resources

    if paper:
        from ._paper import paper_demo

        paper_demo(seed)
        return

    from .. import data
    from ..runs import Request, prepare
    from ._typed import thousands
    from .run import play

    people = data.load("nhanes")
    n, d = people.X.shape
    file = Path(str(resources.files("keyhole.data") / "nhanes.parquet"))
    title, command = "NHANES 2017-18", f"keyhole demo --budget {budget} --seed {seed}"
    asked = Request(
        file, people.target, budget, schema=people.schema, seed=seed, command=command, title=title, clip=False
    )
    plan = prepare(asked)
    print(f" {title}: {thousands(n)} people, {d} attributes, label {people.target}; buying {budget} per person")
    play(plan, out, 5.0, kind="demo")
