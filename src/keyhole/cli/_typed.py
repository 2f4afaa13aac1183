"""What was typed, and numbers as people read them."""

import shlex
import sys

__all__ = ["thousands", "typed_command"]


def typed_command() -> str:
    """The command as it can be typed again."""
    return shlex.join(["keyhole", *sys.argv[1:]])


def thousands(number: float) -> str:
    """A count with thin groups: 31 207."""
    return f"{number:,.0f}".replace(",", " ")
