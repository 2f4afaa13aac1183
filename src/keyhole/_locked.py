"""One call at a time: what is public of a class holds the object's lock while it runs."""

import functools
from collections.abc import Callable
from contextlib import AbstractContextManager
from inspect import isfunction
from threading import RLock
from typing import Any, ParamSpec, TypeVar

__all__ = ["Locked"]

P = ParamSpec("P")
T = TypeVar("T")


class Locked:
    """Every public method and property of a subclass, and of its subclasses, runs under one reentrant lock.

    Compiled kernels run without Python's own lock: two threads inside one object would write over each other. Whoever
    needs several calls in a row, none between them, takes the lock itself: `with learner.held(): ...`.
    """

    def __new__(cls, *args: object, **kwargs: object) -> "Locked":
        """The lock is there before anything of the object is."""
        self = super().__new__(cls)
        self._lock = RLock()  # type: ignore[attr-defined]
        return self

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, member in list(vars(cls).items()):
            if isinstance(member, property) and not name.startswith("_") and member.fget:
                setattr(cls, name, property(_holding(member.fget)))
            elif isfunction(member) and not name.startswith("_") and name != "held":
                setattr(cls, name, _holding(member))

    def held(self) -> AbstractContextManager[object]:
        """A context in which no other thread's call gets in."""
        lock: AbstractContextManager[object] = self._lock  # type: ignore[attr-defined]
        return lock


def _holding(method: "Callable[P, T]") -> "Callable[P, T]":
    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> T:
        with args[0]._lock:
            return method(*args, **kwargs)

    return call
