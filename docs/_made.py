"""What the build makes itself: figures from small runs, references from the code.

So no page shows a number nobody can make again, and no reference speaks of what is not there.
"""

import html
import inspect
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from _drawn import draw_all
from _formulas import mathml
from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

HERE = Path(__file__).parent

READ = {
    "verified": "read in the paper, and checked against it",
    "reconstructed": "reconstructed: its steps are ours, its rate is theirs",
}

# The public names, in the order of the page.
PUBLIC = {
    "Learners": ["make", "list_algorithms", "load", "play", "Learner", "Round", "History"],
    "Errors": ["ConfigError", "ProtocolError", "StateError", "KeyholeWarning"],
    "What can be ordered": ["core.sources.SourceCatalog"],
    "Sampling": [f"sampling.{n}" for n in ("distribution", "draw", "inclusion", "pair_inclusion")],
    "The Dantzig selector": [
        "dantzig.solve",
        "dantzig.Sequence",
        "dantzig.gamma_max",
        "DantzigSelector",
        "DantzigSelectorCV",
    ],
    "Theory": ["theory.Constants", "theory.bound", "theory.compatibility", "theory.best_sparse", "theory.best_basket"],
    "Streams and data": ["streams.synthetic", "data.load"],
    "Money": ["experiments.frontier"],
    "Live": ["open_store", "connect"],
    "Other people's interfaces": ["integrations.sklearn.BudgetedRegressor", "integrations.river.BudgetedRegressor"],
}


def python() -> None:
    """reference/python.md: signatures and docstrings as they are in the code."""
    parts = ["# Python\n\nThe names below are the public ones; everything else may change.\n"]
    for title, names in PUBLIC.items():
        parts += [f"## {title}\n", *(_described(name) for name in names)]
    _write("reference/python.md", "\n".join(parts))


def _described(dotted: str) -> str:
    import keyhole as kh

    module, _, last = dotted.rpartition(".")
    with suppress(ModuleNotFoundError):  # a module that `kh` does not import by itself
        import_module(f"keyhole.{module}" if module else "keyhole")
    thing: object = reduce(getattr, dotted.split("."), kh)
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
    from keyhole.cli._commands import app as command

    names = [c.name or c.callback.__name__ for c in command.registered_commands if c.callback]
    names += [g.name for g in command.registered_groups if g.name]
    parts = [f"## keyhole {name}\n\n{_block(_help(name))}" for name in names]
    _write("reference/commands.md", "# Commands\n\n" + "\n".join(parts))


def _help(name: str) -> str:
    plain = {**os.environ, "TERM": "dumb", "COLUMNS": "100", "NO_COLOR": "1"}
    call = [sys.executable, "-m", "keyhole.cli", name, "--help"]
    return subprocess.run(call, capture_output=True, text=True, env=plain, check=True).stdout.strip()


def _takes(text: str) -> str:
    return "only k: no k0, sources or prices" if text == "-" else text


def algorithms() -> None:
    """algorithms/NAME.md: one page for each, from its record, its docstring and its code."""
    import keyhole as kh
    from keyhole.core.registry.catalogue import class_of

    for a in kh.list_algorithms():
        cls = class_of(a.name)
        facts = [
            ("setting", a.setting),
            ("takes", _takes(a.takes)),
            ("assumptions", a.assumptions),
            ("bound", mathml(a.bound)),
        ]
        facts += [("cost", mathml(a.cost))]
        facts += [("reference", a.reference), ("read or reconstructed", READ[a.status])]
        parts = [f"# {a.name}\n\n{_table(['', ''], facts)}\n\n## The algorithm\n", _prose(inspect.getdoc(cls) or "")]
        parts += [f"## The same in code\n\n`{cls.__module__}`, the three steps of a round.\n"]
        parts += [_block(_method(cls, name), "python") for name in ("_ask", "_predict", "_tell")]
        if a.options:
            rows = [(f"`{o.name}`", repr(o.default), o.meaning) for o in a.options]
            parts.append(f"## Options\n\n{_table(['option', 'default', ''], rows)}\n")
        _write(f"algorithms/{a.name}.md", "\n".join(parts))
    names = "\n".join(a.name for a in kh.list_algorithms())
    rows = [(f"[{a.name}]({a.name}.md)", a.setting, a.takes, a.status) for a in kh.list_algorithms()]
    table = _table(["name", "setting", "takes", "status"], rows)
    _write("algorithms/index.md", f"# Every algorithm\n\n{table}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n")


def _prose(docstring: str) -> str:
    """A docstring as a page: paragraphs as text, pseudo-code and examples as they are; options have their own table."""
    parts = []
    for part in re.split(r"\n\n+(?! )", docstring):
        if part.startswith("Parameters\n---"):
            continue
        if part.startswith(">>>"):
            parts.append(_block(part, "python"))
        elif re.search(r"^    ", part, re.MULTILINE):
            first = part.splitlines()[0]
            if first.startswith(" "):
                parts.append(_block(textwrap.dedent(part), "default"))
            else:
                text, _, code = part.partition("\n    ")
                parts += [html.escape(text, quote=False) + "\n", _block(textwrap.dedent("    " + code), "default")]
        else:
            parts.append(html.escape(part, quote=False) + "\n")
    return "\n".join(parts)


def _method(cls: type, name: str) -> str:
    """The source of a method, wherever in the family it is written; "" where it is compiled or shared by all."""
    from keyhole.core.learner import Learner

    owner = next(c for c in cls.__mro__ if name in vars(c))
    if owner is Learner:
        return ""
    return textwrap.dedent(inspect.getsource(vars(owner)[name]))


def http() -> None:
    """reference/http.md: every call of the service, from the same document as its /openapi.json."""
    from keyhole.service.app import create_app
    from keyhole.service.server import Settings

    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings(f"sqlite:///{folder}/store.db"))
        document = app.openapi()
        app.state.store.close()
    about = "Refusals are problem documents (RFC 9457) with one sentence in `detail`, and change nothing."
    parts = [f"# HTTP\n\n{document['info']['description']} {about}\n"]
    for path, methods in document["paths"].items():
        for method, call in methods.items():
            parts.append(f"## {method.upper()} {path}\n\n{call.get('description') or call.get('summary', '')}\n")
            rows = [(f"`{p['name']}`", p["in"], _shape(p["schema"])) for p in call.get("parameters", [])]
            for kind, body in call.get("requestBody", {}).get("content", {}).items():
                rows.append(("body", kind, _shape(body.get("schema", {}))))
            parts.append(_table(["name", "where", "shape"], rows) + "\n" if rows else "")
    parts.append("## Shapes\n")
    for name, shape in document["components"]["schemas"].items():
        fields = [(f"`{n}`", _shape(p), p.get("description", "")) for n, p in shape.get("properties", {}).items()]
        parts.append(f"### {name}\n\n{shape.get('description', '')}\n\n{_table(['field', 'shape', ''], fields)}\n")
    _write("reference/http.md", "\n".join(parts))


def _shape(schema: dict[str, Any]) -> str:
    """A shape of JSON in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " or ".join(_shape(one) for one in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_shape(schema['items'])}"
    more = schema.get("additionalProperties")
    return f"name to {_shape(more)}" if isinstance(more, dict) else str(schema.get("type", "anything"))


def llms(app: Sphinx, fault: Exception | None) -> None:
    """llms.txt at the root of the site: what this is, and where to read what, for machines that read."""
    if fault is not None or app.builder.name != "html":
        return
    begin = (HERE.parent / "README.md").read_text(encoding="utf-8")
    code = begin.split("```python\n")[1].split("```")[0]
    titles = {name: node.astext() for name, node in app.env.titles.items()}
    pages = "\n".join(f"- [{titles[name]}]({name}.html)" for name in sorted(titles))
    about = (
        "Online sparse linear regression when every attribute costs something: buy k of d attributes, predict, learn."
    )
    text = f"# keyhole {app.config.version}\n\n> {about}\n\n```python\n{code}```\n\n## Pages\n\n{pages}\n"
    (Path(app.outdir) / "llms.txt").write_text(text, encoding="utf-8")


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    if str(value).startswith("<math>"):
        return str(value)
    return str(value).replace("|", "&#124;").replace("\n", " ").replace("<", "&lt;").replace("*", "&#42;")


def _block(text: str, language: str = "text") -> str:
    return f"````{language}\n{text}\n````\n" if text else ""


def _write(name: str, text: str) -> None:
    """Only where it differs, so that a second build has nothing to do."""
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def make_all(app: Sphinx) -> None:
    for make in (draw_all, python, commands, algorithms, http):
        make()


def _inline_formula(writer: Any, node: Any) -> None:
    """A formula in TeX as MathML, which browsers set without a script."""
    writer.body.append(tex2mathml(node.astext()))
    raise SkipNode


def _displayed_formula(writer: Any, node: Any) -> None:
    writer.body.append(f'<div class="math">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline_formula, None), (_displayed_formula, None))
    app.connect("builder-inited", make_all)
    app.connect("build-finished", llms)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
