"""The command `keyhole`: one file per command, each imported when it is called."""

import errno
import os
import re
import sys
import warnings
from typing import Any, NoReturn, TextIO

__all__ = ["main"]

_ENVIRONMENT = {
    # Sums must not depend on the number of threads, and threads that wait for small matrices waste CPU time.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # The Arrow allocator that uses little memory and reuses it: requesting a page from the system takes as long as
    # playing it. It is only guaranteed to exist on Linux.
    **({"ARROW_DEFAULT_MEMORY_POOL": "jemalloc"} if sys.platform == "linux" else {}),
}


# The extra that provides each module; any other missing module is a bug.
_EXTRAS = {
    **dict.fromkeys(("typer", "rich", "pyarrow", "narwhals", "joblib", "pydantic", "tomlkit", "filelock"), "cli"),
    **dict.fromkeys(("jinja2", "altair", "vl_convert"), "cli"),
    **dict.fromkeys(("fastapi", "uvicorn", "psycopg", "sse_starlette", "prometheus_client"), "serve"),
    **dict.fromkeys(("dask", "distributed"), "dask"),
    "sklearn": "sklearn",
}


# The parser's words, and ours.
_PLAINER = {
    "Input should be a valid integer, unable to parse string as an integer": "it must be a whole number",
    "Input should be a valid number, unable to parse string as a number": "it must be a number",
    "Input should be": "it must be",
    ". Did you mean": "; did you mean",
    "?": "",
}
# Options of `kh.make` that a message names, as they are typed on the command line.
_TYPED = re.compile(r"(?<!['\w\[.])(error_cost|budget_per_row|total_budget|expected_rows)\b(?! ?=)")

_UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
"""Errors of a disk that is full, over quota, read-only or broken."""


def main() -> None:
    """Run the command line. Exit code 0: done; 2: the user's input; 3: interrupted and resumable; 1: anything else."""
    os.environ.update(_ENVIRONMENT)  # before numpy and pyarrow are imported; child processes inherit it
    from ..errors import ConfigError, ProtocolError, StateError, WriteError

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
    except OSError as fault:
        if fault.errno == errno.ENAMETOOLONG:
            _refuse(f"{str(fault.filename)[:60]}...: this name of a file is too long")
        if not isinstance(fault, WriteError) and fault.errno not in _UNWRITABLE:
            raise
        where = f"cannot write {fault.filename}" if fault.filename else "cannot write"
        print(f"keyhole: {where} ({fault.strerror}); make room, then give the same command again", file=sys.stderr)
        sys.exit(3)
    except (ConfigError, ProtocolError, StateError) as fault:
        _refuse(str(fault))
    except KeyboardInterrupt:  # commands that can be continued say how, and do not come here
        print("keyhole: interrupted; give the same command again", file=sys.stderr)
        sys.exit(3)
    except Exception as fault:
        if type(fault).__name__ == "Abort":  # the parser's word for the same
            print("keyhole: interrupted; give the same command again", file=sys.stderr)
            sys.exit(3)
        if not hasattr(fault, "format_message"):
            raise
        if type(fault).__name__ == "NoArgsIsHelpError":
            fault.show()  # type: ignore[attr-defined]
            sys.exit(2)
        _refuse(_mistyped(fault))


def _refuse(sentence: str) -> NoReturn:
    from .._internal.escaping import printable

    sentence = _TYPED.sub(lambda match: f"--{match[1].replace('_', '-')}", sentence)
    plain = printable(sentence).replace("\n", "\\n")  # a name may contain control characters
    print(f"keyhole: {plain}", file=sys.stderr)
    sys.exit(2)


def _mistyped(fault: Any) -> str:
    """Return the parser's complaint as one sentence, because its own output has four lines.

    Typer bundles click or uses an installed one, so the exception is recognised by its attributes.
    """
    said = fault.format_message().rstrip(".")
    from .._internal.renamed_options import renamed_option

    context = getattr(fault, "ctx", None)
    known = {flag for parameter in context.command.params for flag in parameter.opts} if context else set()
    sentence = renamed_option(str(getattr(fault, "option_name", "")))
    if sentence and known.intersection(sentence.split()):
        return sentence
    for theirs, ours in _PLAINER.items():
        said = said.replace(theirs, ours)
    return f"{said[:1].lower()}{said[1:]}; see {context.command_path if context else 'keyhole'} --help"


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning as one line, without its location in the code."""
    from .._internal.escaping import printable

    print(f"warning: {printable(str(message))}", file=file or sys.stderr)
