"""Four of twenty attributes matter. Who finds them, and how fast?"""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import Curve, curves


def main(folder: Path) -> None:
    X, y, w = kh.streams.synthetic(d=20, k=4, T=5000, seed=1)
    ends = np.arange(49, 5000, 50)
    lines = []
    for name, options in {
        "thrifty": {},
        "ds-oslrc": {"explore": "2 t^(-1/3)"},
        "fixed-random": {},
        "oracle-support": {"support": np.flatnonzero(w)},
    }.items():
        learner = kh.make(name, d=20, k=4, seed=0, **options)
        history = kh.play(learner, X, y)
        found = len(set(learner.support) & set(np.flatnonzero(w)))
        print(f"{name:15} regret {history.regret(w)[-1]:8.1f}   true attributes in the support: {found} of 4")
        lines.append(Curve(name, np.maximum(history.regret(w)[ends], 0.05)))
    curves("Regret while searching", ends + 1.0, lines, "row", "regret").save(folder / "find_the_few.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
