"""The learners whose files, rounds and values are attacked."""

import functools
import warnings

import keyhole as kh
from keyhole.core.serialization import to_bytes

__all__ = ["LEARNERS", "model"]

LEARNERS = ("thrifty", "ds-oslrc", "fixed-random", "ito2017-2", "vaw")


@functools.cache
def model(name: str) -> bytes:
    """The bytes of a learner that has learnt a little and has rounds open."""
    k = 9 if name == "vaw" else 4
    learner = kh.make(name, d=9, k=k, seed=1)
    X, y, _ = kh.streams.synthetic(9, 2, 60, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kh.play(learner, X, y)
    for _ in range(3):
        learner.ask()
    return to_bytes(learner)
