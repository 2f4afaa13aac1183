"""The weights turn round in the middle of the stream: who notices?"""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import Curve, curves


def main(folder: Path) -> None:
    X, y, _ = kh.streams.synthetic(d=20, k=4, T=8000, seed=3)
    y[4000:] *= -1
    ends = np.arange(200, 8001, 200)
    lines = []
    for name, options in {"thrifty": {}, "thrifty, half_life 1000": {"half_life": 1000}, "fixed-random": {}}.items():
        learner = kh.make(name.split(",")[0], d=20, k=4, seed=0, **options)
        losses = kh.play(learner, X, y).losses
        means = np.array([losses[e - 200 : e].mean() for e in ends]) / y.var()
        lines.append(Curve(name, means))
        print(f"{name:25} before {losses[3000:4000].mean() / y.var():.3f}   after {losses[7000:].mean() / y.var():.3f}")
    curves("Loss as a share of the variance", ends.astype(float), lines, "row", "loss / variance").save(
        folder / "the_world_changes.svg"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
