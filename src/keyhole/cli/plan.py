"""`keyhole plan`: a recommendation of what to buy, from a complete table."""

from pathlib import Path
from typing import Annotated

import typer

from ._text_tables import comma_separated, thousands, typed_command


def plan(
    file: Annotated[str, typer.Argument(help="CSV or Parquet in which everything was bought, or a data set's name.")],
    out: Annotated[Path, typer.Option(help="The folder of the results.")],
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    k: Annotated[
        int | None, typer.Option("-k", "--k", min=1, help="Attributes (or panels) a row may buy at most.")
    ] = None,
    budget_per_row: Annotated[float | None, typer.Option(help="Money that may be spent per row.")] = None,
    error_cost: Annotated[float | None, typer.Option(help="What one unit of squared error costs, in money.")] = None,
    total_budget: Annotated[
        float | None, typer.Option(help="Money for all rows together, with --expected-rows.")
    ] = None,
    expected_rows: Annotated[int | None, typer.Option(help="For how many rows --total-budget must last.")] = None,
    schema: Annotated[Path | None, typer.Option(help="Types, panels and prices, as `diagnose` proposes them.")] = None,
    prices: Annotated[Path | None, typer.Option(help="TOML with a price per attribute or panel.")] = None,
    free: Annotated[list[str] | None, typer.Option(help="Free columns, with commas; may be repeated.")] = None,
    numbers: Annotated[str, typer.Option(help="How its numbers are written, such as '1.234,56'.")] = "",
    encoding: Annotated[str, typer.Option(help="How its text is encoded, such as latin-1.")] = "",
    folds: Annotated[int, typer.Option(min=2, help="Parts of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
) -> None:
    """Plan what to buy: the best basket at each price, with cross-validated errors; with a limit, a trained model.

    Example: keyhole plan visits-2025.csv --target cost --error-cost 0.5 --prices prices.toml --out runs/plan
    """
    from .._internal.escaping import printable
    from .._internal.output_folder import Folder
    from ..experiments import StreamSpec
    from ..experiments import plan as make
    from ..experiments.plan import MODEL
    from ..report import write_plan

    stream = StreamSpec.parse(file, target, schema, False, prices, comma_separated(free), numbers, encoding)
    found = make(
        stream,
        k=k,
        budget_per_row=budget_per_row,
        error_cost=error_cost,
        total_budget=total_budget,
        expected_rows=expected_rows,
        folds=folds,
        seed=seed,
        out=out,
    )
    folder = Folder.claim(out, "plan")
    write_plan(folder, found, typed_command())
    print(f" {thousands(found.rows)} rows with a label; errors by {found.folds}-fold cross-validation")
    print(f" {printable(found.sentence)}")
    print(f" {found.rule}")
    for note in stream.notes:
        print(f" note: {printable(note)}")
    print(f" frontier, what each source adds, order sheet: {out / 'report.html'}")
    if found.limits:
        print(f" model, ready to go live: {out / MODEL}")
    if found.model_note:
        print(f" {printable(found.model_note)}")
