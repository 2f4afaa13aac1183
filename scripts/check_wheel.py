"""Play 100 rows with the installed keyhole; run by `make dist` in an empty environment, without a compiler."""

import numpy as np

import keyhole as kh

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, (100, 8))
y = X[:, 0] - 0.5 * X[:, 3]
for name in ("thrifty", "ds-oslrc", "ds-poslrc"):
    history = kh.play(kh.make(name, d=8, k=3, k0=3, seed=0), X, y)
    assert np.isfinite(history.predictions).all()
print(f"keyhole {kh.__version__} from {kh.__file__} plays")
