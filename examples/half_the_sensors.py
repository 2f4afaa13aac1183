"""Sensors fail and come back: what cannot be had is not asked for, what does not arrive is NaN."""

import sys
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.figures import bars


def main(folder: Path) -> None:
    X, y, w = kh.streams.synthetic(d=12, k=3, T=3000, seed=4)
    names = [f"sensor{j}" for j in range(12)]
    rng = np.random.default_rng(0)
    learner = kh.make("thrifty", names=names, k=3, seed=0)
    asked, dead, losses = np.zeros(12), rng.random(12) < 0.25, []
    for t, x in enumerate(X):
        if t % 500 == 0:
            dead = rng.random(12) < 0.25  # half a day in the dark
        r = learner.ask(available=~dead)
        values = np.where(rng.random(r.attributes.size) < 0.1, np.nan, x[r.attributes])  # a tenth is lost on the way
        losses.append((learner.predict(r, values) - y[t]) ** 2)
        learner.tell(r, values, y[t])
        asked[r.attributes] += 1
    print(f"loss, last 1000 rows: {np.mean(losses[-1000:]) / y.var():.3f} of the variance")
    print("true:", [names[j] for j in np.flatnonzero(w)], " asked most:", [names[j] for j in np.argsort(-asked)[:3]])
    order = np.argsort(-asked)
    bars("How often each sensor was read", [names[j] for j in order], asked[order], "readings").save(
        folder / "half_the_sensors.svg"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
