"""One page that needs nothing from outside: no network, no fonts, and next to no script."""

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from jinja2 import ChainableUndefined, ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from .. import __version__
from .._internal.atomic_io import write_atomically
from .._internal.escaping import shown
from .._internal.output_folder import Folder
from ..figures import STYLE, Figure

__all__ = ["Page", "Section", "Table", "Tile", "environment", "publish", "render"]


def environment(package: str) -> Environment:
    """The templates of a package (`keyhole.PACKAGE`), and those that all pages share (`parts.html`)."""
    loader = ChoiceLoader([PackageLoader(f"keyhole.{package}"), PackageLoader("keyhole.report")])
    return Environment(
        loader=loader, autoescape=True, undefined=ChainableUndefined, finalize=_harmless, trim_blocks=True
    )


def _harmless(value: object) -> object:
    """Texts with controls and bidirectional marks written out; markup of our own stays as it is."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# A closed table is opened for the printer where the style sheet alone cannot do it.
_SCRIPT = "addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(d=>d.open=true))"

# Nothing is fetched, and no script runs but this one.
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'; base-uri 'none'"


class Table(NamedTuple):
    """Plain texts; the row `own` is set apart, the columns `words` hold sentences."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    own: int | None = None
    words: tuple[int, ...] = ()
    grey: tuple[int, ...] = ()
    """Rows for reference only."""


class Tile(NamedTuple):
    """One number that must be seen at once."""

    name: str
    value: str
    note: str = ""


class Section(NamedTuple):
    """A part of the page with a heading; what is empty is left away."""

    title: str
    texts: Sequence[str] = ()
    table: Table | None = None
    figures: Sequence[Figure] = ()
    bullets: Sequence[str] = ()
    names: Sequence[str] = ()
    """Short entries, in columns."""
    code: str = ""
    notes: Sequence[str] = ()
    """In small print."""
    beside: bool = False
    """Whether the figures stand beside the text."""
    folded: bool = False
    """Whether it is closed until somebody opens it; on paper it is open."""


class Page(NamedTuple):
    """What a reader meets first is what to do (`advice`, at most two lines), then the numbers behind it."""

    title: str
    advice: str
    sections: Sequence[Section]
    tiles: Sequence[Tile] = ()
    lead: Sequence[str] = ()
    details: str = ""
    """What else the advice says, in normal type."""


def render(page: Page) -> str:
    """The page as one HTML file."""
    template = _templates().get_template("page.html")
    return template.render(page=page, policy=_POLICY, style=_style(), script=_SCRIPT, version=__version__)


def publish(folder: Folder, page: Page) -> None:
    """Write report.html, all or nothing."""
    write_atomically(folder.file("report.html"), render(page).encode())


def how_to_repeat(command: str) -> Section:
    """What to type to have the same again."""
    return Section("How to reproduce it", code=command, notes=[f"With keyhole {__version__}."])


_templates = cache(lambda: environment("report"))


@cache
def _style() -> str:
    sheet = resources.files("keyhole.report") / "templates" / "page.css"
    return STYLE + sheet.read_text(encoding="utf-8")
