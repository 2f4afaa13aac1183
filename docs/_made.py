"""What the build makes itself: figures from small runs, references from the code.

So no page shows a number nobody can make again, and no reference speaks of what is not there.
"""

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

HERE = Path(__file__).parent

# The public names, in the order of the page.
PUBLIC = {
    "Learners": ["make", "algorithms", "load", "play", "Learner", "Round", "History"],
    "Errors": ["ConfigError", "ProtocolError", "StateError", "KeyholeWarning"],
    "What can be ordered": ["market.Market"],
    "Sampling": [f"sampling.{n}" for n in ("distribution", "draw", "inclusion", "pair_inclusion")],
    "The Dantzig selector": ["dantzig.solve", "dantzig.Sequence", "dantzig.gamma_max", "DantzigSelector"],
    "Theory": ["theory.Constants", "theory.bound", "theory.compatibility", "theory.best_sparse", "theory.best_basket"],
    "Streams": ["streams.synthetic"],
    "Live": ["open_store", "connect"],
    "Other people's interfaces": ["compat.sklearn.BudgetedRegressor", "compat.river.BudgetedRegressor"],
}


def figures() -> None:
    """The pictures of the pages, drawn into _static/made (not committed)."""
    import numpy as np

    import keyhole as kh
    from keyhole import figures as draw

    made = HERE / "_static" / "made"
    made.mkdir(parents=True, exist_ok=True)
    X, y, w = kh.streams.synthetic(d=20, k=4, T=4000, seed=1)
    runs = {name: kh.play(kh.make(name, d=20, k=4, seed=0), X, y) for name in ("thrifty", "ds-oslrc", "fixed-random")}
    ends = np.arange(99, 4000, 100)
    lines = [draw.Curve(name, np.maximum(history.regret(w)[ends], 0.1)) for name, history in runs.items()]
    draw.curves("Regret, 4 of 20 bought a row", ends + 1.0, lines, "row", "regret").save(made / "first.svg")


def python() -> None:
    """reference/python.md: signatures and docstrings as they are in the code."""
    parts = ["# Python\n\nThe names below are the public ones; everything else may change.\n"]
    for title, names in PUBLIC.items():
        parts += [f"## {title}\n", *(_described(name) for name in names)]
    _write("reference/python.md", "\n".join(parts))


def _described(dotted: str) -> str:
    import keyhole as kh

    thing: object = kh
    module, _, last = dotted.rpartition(".")
    thing = getattr(__import__(f"keyhole.{module}", fromlist=[last]) if module else kh, last)
    text = [f"### kh.{dotted}\n", _block(f"{last}{_signature(thing)}", "python"), _block(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        text += [_block(entry) for entry in _members(thing)]
    return "\n".join(text)


def _signature(thing: object) -> str:
    try:
        return str(inspect.signature(thing))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return "(...)"


def _members(cls: type) -> Iterator[str]:
    """Public methods and properties of the class itself, each with its first lines."""
    for name, member in vars(cls).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property | classmethod)):
            continue
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        call = f".{name}" if isinstance(member, property) else f".{name}{_signature(function)}"
        yield f"{call}\n\n    " + (inspect.getdoc(function) or "").replace("\n", "\n    ")


def commands() -> None:
    """reference/commands.md: what `keyhole COMMAND --help` prints."""
    from keyhole.cli.app import app as command

    names = [c.name or c.callback.__name__ for c in command.registered_commands if c.callback]
    names += [g.name for g in command.registered_groups if g.name]
    parts = [f"## keyhole {name}\n\n{_block(_help(name))}" for name in names]
    _write("reference/commands.md", "# Commands\n\n" + "\n".join(parts))


def _help(name: str) -> str:
    plain = {**os.environ, "TERM": "dumb", "COLUMNS": "100", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "keyhole.cli", name, "--help"]
    return subprocess.run(call, capture_output=True, text=True, env=plain, check=True).stdout.strip()


def algorithms() -> None:
    """algorithms/NAME.md: one page for each, from its record, its docstring and its code."""
    import keyhole as kh
    from keyhole.catalogue import class_of

    for a in kh.algorithms():
        cls = class_of(a.name)
        facts = [("setting", a.setting), ("assumptions", a.assumptions), ("bound", a.bound), ("cost", a.cost)]
        facts += [("reference", a.reference), ("status", a.status)]
        rows = "\n".join(f"| {what} | {str(how).replace('|', '&#124;')} |" for what, how in facts)
        code = inspect.getsource(cls)
        parts = [f"# {a.name}\n\n| | |\n|---|---|\n{rows}\n", _block(inspect.getdoc(cls) or "")]
        parts += ["## The code\n", _block(code.replace(f'"""{cls.__doc__}"""', '"""..."""'), "python")]
        _write(f"algorithms/{a.name}.md", "\n".join(parts))
    names = "\n".join(a.name for a in kh.algorithms())
    _write("algorithms/index.md", f"# Every algorithm\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n")


def _block(text: str, language: str = "text") -> str:
    return f"````{language}\n{text}\n````\n" if text else ""


def _write(name: str, text: str) -> None:
    """Only where it differs, so that a second build has nothing to do."""
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def make_all(app: Sphinx) -> None:
    for make in (figures, python, commands, algorithms):
        make()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", make_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
