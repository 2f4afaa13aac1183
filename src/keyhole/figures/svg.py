"""A chart as SVG for a page: no script, no font, no outside address; colours by name, values shown on hover."""

import json
import math
import re
import warnings

import altair as alt

from .._internal.escaping import escape, shown
from ..errors import KeyholeWarning
from . import theme
from .svg_renderer import NotDrawn, draw

__all__ = ["STYLE", "standalone", "to_svg"]

# What a page with our figures needs in its style sheet.
STYLE = (
    "svg{max-width:100%;height:auto}"
    f":root{{color-scheme:light dark;{theme.variables()}}}"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{theme.variables(dark=True)}}}}}"
)

_MARK = re.compile(r'<path (aria-label="([^"]*)"[^>]*?)(?:/>|></path>)')
_WITHOUT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="480" height="40" viewBox="0 0 480 40">'
    '<text x="0" y="24" font-size="14" fill="currentColor">not drawn: see the numbers below</text></svg>'
)
_PAINT = re.compile(r'((?:fill|stroke)=")(#[0-9a-fA-F]{6})(")')


def to_svg(chart: alt.TopLevelMixin, title: str) -> str:
    """The chart drawn once; `title` is what a screen reader says. The same chart gives the same text.

    What cannot be drawn is a sentence in its place, and a warning: nobody's results are lost for a picture.
    """
    spec = _harmless(theme.dressed(chart).to_dict(validate=False))
    # Vega reads some names as expressions, in which what was written out becomes what it was: hence once more.
    try:
        drawn = shown(draw(json.dumps(spec)))
    except NotDrawn as fault:
        said = f"the figure '{shown(title)}' could not be drawn ({fault}); its numbers are in the table"
        warnings.warn(said, KeyholeWarning, 2)
        drawn = _WITHOUT
    names = theme.named()
    drawn = _PAINT.sub(lambda m: m[1] + names.get(m[2].lower(), m[2]) + m[3], drawn)
    drawn = _MARK.sub(r"<path \1><title>\2</title></path>", drawn)  # shown where a pointer rests
    return drawn.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def _harmless(spec: object) -> object:
    """The same with what nobody can see written out: controls would not even be XML, nor is what is no number JSON."""
    if isinstance(spec, dict):
        return {key: _harmless(value) for key, value in spec.items()}
    if isinstance(spec, list):
        return [_harmless(value) for value in spec]
    if isinstance(spec, float) and not math.isfinite(spec):
        return None
    return shown(spec) if isinstance(spec, str) else spec


def standalone(svg: str) -> str:
    """The same as a file of its own, which brings its colours along."""
    end = svg.index(">") + 1
    return f"{svg[:end]}<style>{STYLE}</style>{svg[end:]}"
