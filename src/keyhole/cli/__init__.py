"""The command `keyhole`: one file per command, each imported when it is called."""

import os
import sys

__all__ = ["main"]

_ENVIRONMENT = {
    # Sums must not depend on how many threads share them, and threads that wait for small matrices waste a machine.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # Of Arrow's allocators the one that holds little and keeps it: getting a page from the system takes as long as
    # playing it. Only Linux has it for sure.
    **({"ARROW_DEFAULT_MEMORY_POOL": "jemalloc"} if sys.platform == "linux" else {}),
}


def main() -> None:
    """Run the command line. Exit code 0: done; 2: the user's input; 3: interrupted and resumable; 1: anything else."""
    os.environ.update(_ENVIRONMENT)  # before numpy and pyarrow come in; processes that are started inherit it
    try:
        from .app import app
    except ModuleNotFoundError as missing:
        if missing.name not in ("typer", "rich"):
            raise
        sys.exit(f"the keyhole command needs '{missing.name}'; install it with: pip install 'keyhole[cli]'")
    from .._text import shown
    from ..errors import ConfigError, ProtocolError, StateError

    try:
        app()
    except (ConfigError, ProtocolError, StateError) as fault:
        sentence = shown(str(fault)).replace("\n", "\\n")  # a name may hold what a terminal would obey
        print(f"keyhole: {sentence}", file=sys.stderr)
        sys.exit(2)
