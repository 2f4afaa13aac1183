"""What every process of `sharing` needs, imported and used once: they are forked from it."""

import keyhole as kh
import keyhole.store.store

from .sharing import LEARNERS, NAMES

for _algorithm in set(LEARNERS.values()):
    _learner = kh.make(_algorithm, names=NAMES, k=3, seed=0)
    kh.play(
        _learner, [[0.1 * (t % i) for i in range(1, 9)] for t in range(50)], [t % 3 for t in range(50)], compiled=False
    )
