"""Labels come late, out of order, some never: rounds wait as text in somebody's database."""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import Curve, steps


def main(folder: Path) -> None:
    X, y, _ = kh.streams.synthetic(d=15, k=3, T=2000, seed=2)
    rng = np.random.default_rng(0)
    learner = kh.make("thrifty", d=15, k=3, seed=0)
    database: list[tuple[int, str, dict[str, float], int]] = []  # when the label comes, round, values, row
    waiting, losses = [], []
    for t, x in enumerate(X):
        r = learner.ask()
        values = dict(zip(r.names, x[r.attributes], strict=True))
        losses.append((learner.predict(r, values) - y[t]) ** 2)
        if rng.random() < 0.05:
            learner.abandon(r)  # this one never comes back
        else:
            database.append((t + int(rng.exponential(100)), r.to_json(), values, t))
        for due in [entry for entry in database if entry[0] <= t]:
            database.remove(due)
            learner.tell(kh.Round.from_json(due[1]), due[2], y[due[3]])
        waiting.append(len(learner.open_rounds))
    print(f"mean loss {np.mean(losses):.4f}, last 500 rows {np.mean(losses[-500:]):.4f}, variance of y {y.var():.4f}")
    print(f"at most {max(waiting)} rounds waited at once")
    line = Curve("open rounds", np.array(waiting, float)[::20])
    steps("Rounds that wait for their label", np.arange(1.0, 2001.0)[::20], [line], "row", "open").save(
        folder / "labels_weeks_later.svg"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
