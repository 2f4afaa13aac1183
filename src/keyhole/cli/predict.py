"""`keyhole predict`: frozen use of a trained model."""

from pathlib import Path
from typing import Annotated

import typer


def predict(
    model: Annotated[Path, typer.Argument(help="model.kh of a run, or what learner.save() wrote.")],
    file: Annotated[Path, typer.Argument(help="CSV or Parquet with (at least) the columns the model uses.")],
    out: Annotated[Path, typer.Option(help="Where the predictions go: .csv or .parquet.")] = Path("predictions.csv"),
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Predict every row of a file with a model as it is; reads the columns of its support and nothing else.

    Example: keyhole predict runs/visits/model.kh new.csv --out scores.csv
    """
    from ..outputs import claim_file
    from ..runs.predicting import Frozen
    from ..streams import open_table

    frozen = Frozen.read(model)
    table = open_table(file, frozen.scaling.schema)
    rows, missing = frozen.write(table, claim_file(out, force=force, reads=(model, file)), over=force)
    bought = ", ".join(frozen.names) or "nothing"
    print(f" {rows} predictions in {out}; read {bought}")
    if missing:
        print(f" warning: {missing} values were missing; they took no part in their row's prediction")
