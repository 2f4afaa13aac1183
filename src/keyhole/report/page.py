"""Self-contained HTML pages: no network, no fonts, and almost no script."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from jinja2 import ChainableUndefined, ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from .. import __version__
from .._internal.atomic_io import write_atomically
from .._internal.escaping import printable
from .._internal.formatting import digits
from .._internal.output_folder import Folder
from ..figures import STYLE, Curve, Figure, curves
from ..simulation.scoring import ProbabilityScores

__all__ = [
    "Page",
    "Section",
    "Table",
    "Tile",
    "environment",
    "probability_cells",
    "probability_section",
    "publish",
    "render",
]


def environment(package: str) -> Environment:
    """Return the template environment of a package (`keyhole.PACKAGE`), with the shared templates (`parts.html`)."""
    loader = ChoiceLoader([PackageLoader(f"keyhole.{package}"), PackageLoader("keyhole.report")])
    return Environment(
        loader=loader, autoescape=True, undefined=ChainableUndefined, finalize=_harmless, trim_blocks=True
    )


def _harmless(value: object) -> object:
    """Escape control characters and bidirectional marks in text; our own markup is unchanged."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


# Opens collapsed tables for printing where the style sheet alone cannot do it.
_SCRIPT = "addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(d=>d.open=true))"

# Content policy: nothing is fetched, and only this script may run.
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'; base-uri 'none'"


class Table(NamedTuple):
    """A table of plain texts; the row `own` is highlighted, the columns `words` hold sentences."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    own: int | None = None
    words: tuple[int, ...] = ()
    grey: tuple[int, ...] = ()
    """Rows shown for reference only."""


class Tile(NamedTuple):
    """A prominent single number."""

    name: str
    value: str
    note: str = ""


class Section(NamedTuple):
    """A part of the page with a heading; empty fields are omitted."""

    title: str
    texts: Sequence[str] = ()
    table: Table | None = None
    figures: Sequence[Figure] = ()
    bullets: Sequence[str] = ()
    names: Sequence[str] = ()
    """Short entries, set in columns."""
    code: str = ""
    notes: Sequence[str] = ()
    """Notes in small print."""
    beside: bool = False
    """Whether the figures are placed beside the text."""
    folded: bool = False
    """Whether the section is initially collapsed; in print it is expanded."""


class Page(NamedTuple):
    """A report page: first the advice (at most two lines), then the numbers behind it."""

    title: str
    advice: str
    sections: Sequence[Section]
    tiles: Sequence[Tile] = ()
    lead: Sequence[str] = ()
    details: str = ""
    """The rest of the advice, in normal type."""


def render(page: Page) -> str:
    """Return the page as one HTML file."""
    template = _templates().get_template("page.html")
    return template.render(page=page, policy=_POLICY, style=_style(), script=_SCRIPT, version=__version__)


def publish(folder: Folder, page: Page) -> None:
    """Write report.html atomically."""
    write_atomically(folder.file("report.html"), render(page).encode())


def how_to_repeat(command: str) -> Section:
    """Return the section with the command that reproduces the results."""
    return Section("How to reproduce it", code=command, notes=[f"With keyhole {__version__}."])


_templates = cache(lambda: environment("report"))


@cache
def _style() -> str:
    sheet = resources.files("keyhole.report") / "templates" / "page.css"
    return STYLE + sheet.read_text(encoding="utf-8")


_CALIBRATED = (
    "Calibrated probabilities lie on the diagonal: of the rows with a predicted probability of about 0.3, 30 % have "
    "the label 1. The band is two standard errors either side."
)


def reliability_figure(found: Mapping[str, Sequence[float]]) -> Figure:
    """Return a chart of the observed share of ones against the predicted probability."""
    p, share = np.array(found["predicted"]), np.array(found["observed"])
    error = 2.0 * np.array(found["standard_error"])
    lines = [Curve("observed", share, share - error, share + error), Curve("calibrated", p)]
    return curves("Reliability", p, lines, "predicted probability", "observed share of ones", cumulative=True)


def probability_cells(found: ProbabilityScores | None) -> list[str]:
    """Return AUC, Brier score and log loss as table cells."""
    return ["-"] * 3 if found is None else [digits(found["auc"]), digits(found["brier"]), digits(found["log_loss"])]


def probability_section(found: ProbabilityScores | None, title: str = "Probabilities") -> list[Section]:
    """Return the section as a list, empty if the labels are not yes or no."""
    if not found:
        return []
    words = [
        f"AUC {digits(found['auc'])}, Brier score {digits(found['brier'])}, log loss {digits(found['log_loss'])}, "
        "each of predictions that were made without knowing their label."
    ]
    return [Section(title, texts=words, figures=[reliability_figure(found["reliability"])], notes=[_CALIBRATED])]
