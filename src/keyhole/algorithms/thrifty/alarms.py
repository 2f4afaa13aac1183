"""The alarms of `thrifty`, in words."""

from ...core.round import Alarm
from .state import Records
from .watch import Bell, Watch

__all__ = ["alarms"]


def alarms(bell: Records, now: Watch) -> tuple[Alarm, ...]:
    """The alarms that are remembered, oldest first."""
    rang, size = int(now.rang), bell.size
    return tuple(_worded(bell[i % size]) for i in range(max(0, rang - size), rang))


def _worded(entry: Bell) -> Alarm:
    """What held once and holds again, a level that moved, or labels that follow the predictions otherwise."""
    if entry.back > 0:
        what = f"what held until row {entry.back} holds again"
    elif entry.level != 0.0:
        what = f"the label's level moved by {entry.level:+.3g}"
    elif entry.before == entry.after:
        what = "the weights of single attributes changed"
    else:
        what = f"labels follow the predictions {entry.after:.2g} times, where they did {entry.before:.2g} times"
    return Alarm(int(entry.row), what)
