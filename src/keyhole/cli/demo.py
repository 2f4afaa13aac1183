"""`keyhole demo`: real people, real orders and real prices, in a minute."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

_SET = "nhanes-panels"


def demo(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(help="The run folder; an earlier demo is replaced.")] = Path("runs/demo"),
    error_cost: Annotated[float, typer.Option(help="What one unit of squared error costs, in dollars.")] = 2.0,
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Things that may be ordered per person, at most.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's learners on a synthetic stream instead.")] = False,
) -> None:
    """Decide what to order for 3 912 people (NHANES 2017-18): what money buys, then a run at an error cost.

    Example: keyhole demo --error-cost 0.5
    """
    from ..errors import ConfigError

    if paper:
        from ._paper_demo import paper_demo

        for name, flag in {"out": "--out", "error_cost": "--error-cost", "k": "-k"}.items():
            source = ctx.get_parameter_source(name)
            if source is not None and source.name != "DEFAULT":
                raise ConfigError(f"--paper prints one table of fixed runs; omit {flag}")
        paper_demo(seed)
        return

    from importlib import resources

    from .. import data
    from .._internal.output_folder import Folder
    from ..experiments import frontier
    from ..runs import RunConfig, prepare
    from ._text_tables import thousands
    from .compare import _bar as bar
    from .frontier import print_frontier
    from .run import play

    if not error_cost > 0:
        raise ConfigError(f"--error-cost must be above 0; it is {error_cost:g}")
    Folder.claim(out, "demo")  # refuse the folder now rather than after a minute
    people = data.load(_SET)
    n, d = people.X.shape
    title, free = "NHANES 2017-18", " and ".join(people.free)
    limit = "" if k is None else f" -k {k}"
    command = f"keyhole demo --error-cost {error_cost:g}{limit} --seed {seed}"
    paid = f"{d - len(people.free)} come from {len(people.sources)} sources (things to order)"
    print(f" {title}: {thousands(n)} people, {d} attributes. {paid}; {free} are free.")
    print(f" The label is {people.target}, in {people.unit}. A squared error of one costs {error_cost:g} USD.")
    print("\n 1. What money buys: runs at six error costs")
    with bar(6) as progress:
        found = frontier(_SET, levels=6, seeds=1, k=k, progress=progress)
    print_frontier(found)
    print(f"\n 2. One run at the error cost of {error_cost:g} USD")
    file = Path(str(resources.files("keyhole.data") / f"{_SET}.parquet"))
    asked = RunConfig(file, people.target, k, error_cost=error_cost, schema=people.schema, clip=False, title=title)
    plan = prepare(replace(asked, seed=seed, command=command))
    play(plan, out, 5.0, kind="demo", frontier=found)
