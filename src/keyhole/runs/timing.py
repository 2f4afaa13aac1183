"""Speeds and times of day: everything about a run that is not the same twice."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from .._internal.atomic_io import read_json, write_json
from ..errors import StateError

__all__ = ["Timing"]


class Timing:
    """The sessions of a run in `timing.json`: one per process that worked on it, also one that was killed."""

    def __init__(self, path: Path, sessions: list[dict[str, object]], row: int) -> None:
        self.path, self.sessions, self.row = path, sessions, row
        self._clock = time.perf_counter()

    @classmethod
    def begin(cls, path: Path, row: int, say: Callable[[str], None]) -> "Timing":
        """A new session, which begins after `row` rows; `say` is told where those before it cannot be read."""
        sessions: list[dict[str, object]] = []
        if row and path.exists():
            try:
                sessions = list(read_json(path)["sessions"])  # type: ignore[call-overload]
            except (StateError, KeyError, TypeError):
                say(f"{path} was damaged: the times of earlier sessions are lost, and nothing else")
        timing = cls(path, [*sessions, {"began": _now(), "first_row": row + 1}], row)
        timing._write()
        return timing

    def end(self, row: int) -> None:
        """The session ends after `row` rows."""
        seconds = time.perf_counter() - self._clock
        speed = (row - self.row) / max(seconds, 1e-9)
        self.sessions[-1] |= {"ended": _now(), "last_row": row, "seconds": seconds, "rows_per_second": speed}
        self._write()

    def _write(self) -> None:
        write_json(self.path, {"sessions": self.sessions})


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
