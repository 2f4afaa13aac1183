"""The command `keyhole`: one file per command, each imported when it is called."""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its libraries, say which install brings them."""
    try:
        from .app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(f"the keyhole command needs '{missing.name}'; install it with: pip install 'keyhole[cli]'")
    app()
