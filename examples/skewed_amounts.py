"""A skewed amount explains far more after a transform; diagnose proposes it, and the schema keeps it."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import keyhole as kh
from keyhole.data.column_profile import Profile
from keyhole.data.streams import open_table
from keyhole.figures import scatter


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    amount = np.exp(1.5 * rng.normal(size=3000))
    y = np.log1p(amount) + 0.3 * rng.normal(size=3000)
    with TemporaryDirectory() as place:
        file = Path(place) / "amounts.parquet"
        pq.write_table(pa.table({"amount": amount, "noise": rng.normal(size=3000), "y": y}), file)
        schema = Profile(open_table(file), "y").schema()
        print("proposed:", {a.name: a.transform for a in schema.attributes})
        errors = []
        for table in (open_table(file), open_table(file, schema)):
            batches = list(table.batches(["amount", "noise"], "y"))
            X = np.concatenate([batch.X for batch in batches])
            history = kh.play(kh.make("thrifty", names=["amount", "noise"], k=1, seed=0), X, y)
            errors.append(float(np.sqrt(history.losses[100:].mean())))
    print(f"typical error {errors[0]:.2f} as it is, {errors[1]:.2f} transformed (noise 0.30)")
    figure = scatter("A skewed amount", np.array([0.0, 1.0]), np.array(errors), "transformed", "typical error",
                     ["as it is", "log1p"], joined=True)  # fmt: skip
    figure.save(folder / "skewed_amounts.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
