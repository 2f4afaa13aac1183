"""The alarms of `thrifty`, in words."""

from dataclasses import dataclass

from .state import Bell, State

__all__ = ["Alarm", "alarms"]


@dataclass(frozen=True)
class Alarm:
    """A change that was noticed: at which label (the first is 1), and what changed."""

    row: int
    what: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.what}"


def alarms(state: State) -> tuple[Alarm, ...]:
    """The alarms that are remembered, oldest first."""
    rang, size = int(state.now.rang), state.bell.size
    return tuple(_worded(state.bell[i % size]) for i in range(max(0, rang - size), rang))


def _worded(entry: Bell) -> Alarm:
    """A level that moved, or labels that follow the predictions otherwise than before."""
    if entry.level != 0.0:
        what = f"the label's level moved by {entry.level:+.3g}"
    else:
        what = f"labels follow the predictions {entry.after:.2g} times, where they did {entry.before:.2g} times"
    return Alarm(int(entry.row), what)
