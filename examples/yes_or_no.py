"""Two attributes of twenty decide whether somebody is ill; the probabilities are right."""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.simulation.history import plot_reliability


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 20))
    ill = rng.random(6000) < 1.0 / (1.0 + np.exp(1.5 - 2.0 * X[:, 3] + 1.5 * X[:, 11]))
    learner = kh.make("thrifty", d=20, k=2, seed=0, label="binary")
    history = kh.play(learner, X, ill)
    print(f"buys {learner.support.tolist()}; AUC {history.auc():.3f}, Brier score {history.losses.mean():.3f}")
    for p, share, rows in zip(*history.reliability(5)[:2], history.reliability(5).rows, strict=True):
        print(f"predicted {p:.2f}, observed {share:.2f} in {rows:.0f} rows")
    plot_reliability(history).save(folder / "yes_or_no.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
