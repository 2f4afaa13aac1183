"""Write a store of this schema for the tests that open old ones: tests/fixtures/stores/schema-N.db."""

from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.store.tables import SCHEMA

FOLDER = Path(__file__).parents[1] / "tests" / "fixtures" / "stores"
NAMES = ["age", "bmi", "hba1c", "ldl", "sodium", "pulse", "height"]


def main() -> None:
    """Three learners, rounds of every status, a snapshot."""
    path = FOLDER / f"schema-{SCHEMA}.db"
    path.unlink(missing_ok=True)
    with kh.open_store(f"sqlite:///{path}") as store:
        rng = np.random.default_rng(0)
        for name, algorithm in (("ward", "ds-oslrc"), ("icu", "fixed-random"), ("clinic", "vaw")):
            k = 7 if algorithm == "vaw" else 3
            learner = store.create(name, algorithm, names=NAMES, k=k, seed=1, note={"unit": "mmol/l"})
            for i in range(12):
                r = learner.ask(key=f"patient-{i}", available=NAMES[:5] if i == 3 else None)
                values = dict(zip(r.names, rng.uniform(-1, 1, len(r.names)).round(3).tolist(), strict=True))
                learner.predict(r, values)
                if i < 9:
                    learner.tell(r, values, round(rng.uniform(-1, 1), 3))
            learner.abandon(learner.ask(key="gone"))
            with store.database.writing() as connection:
                learner._live.catch_up(connection)
                learner._live.snapshot(connection)
        with store.database.engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


if __name__ == "__main__":
    main()
