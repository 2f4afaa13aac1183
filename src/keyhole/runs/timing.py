"""Speeds and times of day: everything about a run that is not the same twice."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

from ..files import write_atomically

__all__ = ["Timing"]


class Timing:
    """The sessions of a run in `timing.json`: one per process that worked on it, also one that was killed."""

    def __init__(self, path: Path, sessions: list[dict[str, object]], row: int) -> None:
        self.path, self.sessions, self.row = path, sessions, row
        self._clock = time.perf_counter()

    @classmethod
    def begin(cls, path: Path, row: int) -> "Timing":
        """A new session, which begins after `row` rows."""
        sessions = json.loads(path.read_text(encoding="utf-8"))["sessions"] if row and path.exists() else []
        timing = cls(path, [*sessions, {"began": _now(), "first_row": row + 1}], row)
        timing._write()
        return timing

    def end(self, row: int) -> None:
        """The session ends after `row` rows."""
        seconds = time.perf_counter() - self._clock
        speed = (row - self.row) / seconds
        self.sessions[-1] |= {"ended": _now(), "last_row": row, "seconds": seconds, "rows_per_second": speed}
        self._write()

    def _write(self) -> None:
        write_atomically(self.path, (json.dumps({"sessions": self.sessions}, indent=1) + "\n").encode())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
