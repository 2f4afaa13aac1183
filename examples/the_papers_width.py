"""Why the paper's estimate stays at zero, and when it would wake: gamma against gamma_max."""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import Curve, curves


def main(folder: Path) -> None:
    c = kh.theory.Constants(d=20, k=4, sigma=0.1, delta_s=0.5, delta=0.01)
    X, y, _ = kh.streams.synthetic(d=20, k=4, T=20_000, seed=5)
    gamma_max = float(np.abs(X.T @ y / len(y)).max())
    s = np.geomspace(10, 1e12, 40)
    gamma = np.array([c.gamma(float(v)) for v in s])
    first = s[np.argmax(gamma < gamma_max)] if (gamma < gamma_max).any() else np.inf
    print(f"gamma_max on this stream: {gamma_max:.3f}; the paper's gamma at s = 141 explorations: {c.gamma(141.0):.1f}")
    print(f"gamma falls below it after about {first:.0e} explorations")
    levels = [("gamma_max", gamma_max)]
    curves("The paper's gamma", s, [Curve("gamma", gamma)], "explorations", "gamma", levels).save(
        folder / "the_papers_width.svg"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
