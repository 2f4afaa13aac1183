"""The command `keyhole`: one file per command, each imported when it is called."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line. Exit code 0: done; 2: the user's input; 3: interrupted and resumable; 1: anything else."""
    try:
        from .app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(f"the keyhole command needs '{missing.name}'; install it with: pip install 'keyhole[cli]'")
    from ..errors import ConfigError, ProtocolError, StateError

    try:
        app()
    except (ConfigError, ProtocolError, StateError) as fault:
        print(f"keyhole: {fault}", file=sys.stderr)
        sys.exit(2)
