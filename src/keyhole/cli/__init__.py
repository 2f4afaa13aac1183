"""The command `keyhole`: one file per command, each imported when it is called."""

import os
import sys
import warnings
from typing import Any, NoReturn, TextIO

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


# Which extra brings a module; whatever else is missing is a fault of ours.
_EXTRAS = {
    **dict.fromkeys(("typer", "rich", "pyarrow", "narwhals", "joblib", "pydantic", "tomlkit", "filelock"), "cli"),
    **dict.fromkeys(("jinja2", "altair", "vl_convert"), "cli"),
    **dict.fromkeys(("fastapi", "uvicorn", "psycopg", "sse_starlette", "prometheus_client"), "serve"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    "sklearn": "sklearn",
}


def main() -> None:
    """Run the command line. Exit code 0: done; 2: the user's input; 3: interrupted and resumable; 1: anything else."""
    os.environ.update(_ENVIRONMENT)  # before numpy and pyarrow come in; processes that are started inherit it
    from ..errors import ConfigError, ProtocolError, StateError

    warnings.showwarning = _show
    try:
        from ._commands import app

        sys.exit(app(standalone_mode=False) or 0)
    except ModuleNotFoundError as missing:
        name = (missing.name or "").split(".")[0]
        if name not in _EXTRAS:
            raise
        print(f"keyhole: this needs '{name}'; install it with: pip install 'keyhole[{_EXTRAS[name]}]'", file=sys.stderr)
        sys.exit(1)
    except (ConfigError, ProtocolError, StateError) as fault:
        _refuse(str(fault))
    except Exception as fault:
        if not hasattr(fault, "format_message"):
            raise
        if type(fault).__name__ == "NoArgsIsHelpError":
            fault.show()  # type: ignore[attr-defined]
            sys.exit(2)
        _refuse(_mistyped(fault))


def _refuse(sentence: str) -> NoReturn:
    from .._internal.escaping import shown

    plain = shown(sentence).replace("\n", "\\n")  # a name may hold what a terminal would obey
    print(f"keyhole: {plain}", file=sys.stderr)
    sys.exit(2)


def _mistyped(fault: Any) -> str:
    """What the parser found wrong, as one sentence: its own answer has four lines. Typer brings a click of its own or
    takes the one that is there, so the fault is known by its shape."""
    said = fault.format_message().rstrip(".")
    from .._internal.renamed_options import renamed_option

    if sentence := renamed_option(str(getattr(fault, "option_name", ""))):
        return sentence
    context = getattr(fault, "ctx", None)
    return f"{said[:1].lower()}{said[1:]}; see {context.command_path if context else 'keyhole'} --help"


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """A warning as one line; where in the code it arose is of use to us only."""
    from .._internal.escaping import shown

    print(f"warning: {shown(str(message))}", file=file or sys.stderr)
