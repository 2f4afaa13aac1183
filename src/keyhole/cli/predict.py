"""`keyhole predict`: predictions of a trained, frozen model."""

from pathlib import Path
from typing import Annotated

import typer

from ._early_checks import require_file, require_model


def predict(
    model: Annotated[Path, typer.Argument(help="model.kh of a run, or what learner.save() wrote.")],
    file: Annotated[Path, typer.Argument(help="CSV or Parquet with (at least) the columns the model uses.")],
    out: Annotated[Path, typer.Option(help="Where the predictions go: .csv or .parquet.")] = Path("predictions.csv"),
    id: Annotated[str | None, typer.Option(help="A column to copy, to tell the rows by.")] = None,
    level: Annotated[float, typer.Option(min=0.5, max=0.999, help="Of the interval low..high.")] = 0.9,
    numbers: Annotated[str, typer.Option(help="How its numbers are written, such as '1.234,56'.")] = "",
    encoding: Annotated[str, typer.Option(help="How its text is encoded, such as latin-1.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Predict every row of a file with a trained model, without learning; reads only the columns of its support.

    Example: keyhole predict runs/visits/model.kh new.csv --id patient --out scores.csv
    """
    require_model(model)
    require_file(file)

    from .._internal.escaping import printable
    from .._internal.formatting import thousands
    from .._internal.output_folder import claim_file
    from ..data.streams import open_table
    from ..runs.predict import Frozen, refuse_extension

    frozen = Frozen.read(model)
    table = open_table(file, frozen.scaling.schema.written(numbers, encoding))
    place = claim_file(out, force=force, reads=(model, file))
    refuse_extension(out)
    done = frozen.write(table, place, over=force, column=id, level=level)
    bought = ", ".join(dict.fromkeys(frozen.scaling.schema.column_of[name] for name in frozen.names)) or "nothing"
    print(printable(f" {thousands(done.rows)} predictions in {out}; read {bought}"))
    if columns := frozen.scaling.schema.price_columns:
        print(printable(f" price is the usual price of what the model buys; not read: {', '.join(columns)}"))
    if done.missing:
        print(f" warning: {thousands(done.missing)} values were missing; they took no part in their row's prediction")
    for sentence in done.outside:
        print(printable(f" warning: {sentence}"))
    for sentence in getattr(table, "strangers", list)():
        print(printable(f" warning: {sentence}"))
