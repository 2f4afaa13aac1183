"""HTML from templates: everything from outside is escaped, and what cannot be seen is written out."""

from jinja2 import ChainableUndefined, ChoiceLoader, Environment, PackageLoader
from markupsafe import Markup

from .._internal.escaping import shown

__all__ = ["environment"]


def environment(package: str) -> Environment:
    """The templates of a package (`keyhole.PACKAGE`), and those that all pages share (`parts.html`)."""
    loader = ChoiceLoader([PackageLoader(f"keyhole.{package}"), PackageLoader("keyhole.report")])
    return Environment(
        loader=loader, autoescape=True, undefined=ChainableUndefined, finalize=_harmless, trim_blocks=True
    )


def _harmless(value: object) -> object:
    """Texts with controls and bidirectional marks written out; markup of our own stays as it is."""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value
