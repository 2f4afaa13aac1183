"""One page that needs nothing from outside: no network, no fonts, and next to no script."""

import base64
import hashlib
from collections.abc import Sequence

from .._text import escape
from .svg import COLOURS

__all__ = ["bullets", "code", "figure", "page", "section", "standalone", "table"]

# Okabe and Ito's colours, which colour-blind readers can tell apart; lighter ones on dark ground.
_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#5b5b5b")
_DARK = ("#56b4e9", "#ff9a4d", "#3fcf9f", "#e7a4c9", "#f0e442", "#b5b5b5")
_DASHES = ("none", "7 3", "2 3", "9 3 2 3", "4 4", "1 5")


def _variables(colours: Sequence[str], ink: str, paper: str, faint: str, soft: str) -> str:
    series = "".join(f"--c{i}:{colour};" for i, colour in enumerate(colours))
    return f"{series}--ink:{ink};--paper:{paper};--faint:{faint};--soft:{soft};"


_LIGHT_VARIABLES = _variables(_LIGHT, "#1c2126", "#ffffff", "#d9dde1", "#f4f6f8")
_DARK_VARIABLES = _variables(_DARK, "#e8eaed", "#15181b", "#3a4046", "#1f2428")

_FIGURES = (
    "svg{font:13px system-ui,sans-serif;width:100%;height:auto;max-width:600px;display:block}svg text{fill:var(--ink)}"
    ".grid{stroke:var(--faint)}.axis{stroke:var(--ink)}.cell{fill:var(--c0)}.curve{fill:none;stroke-width:2.2}"
    ".band{opacity:.18}.level{stroke:var(--ink);stroke-dasharray:2 4;opacity:.7}svg .note{font-size:11px;opacity:.85}"
) + "".join(
    f".curve.c{i}{{stroke:var(--c{i});stroke-dasharray:{_DASHES[i]}}}.band.c{i}{{fill:var(--c{i})}}"
    for i in range(COLOURS)
)

_PAGE = """
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:76rem;background:var(--paper);color:var(--ink)}
body{font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.5rem;margin:.3rem 0}
h2{font-size:1.15rem;margin:1.6rem 0 .4rem}
p{max-width:46rem}
pre{font:.9em ui-monospace,monospace;background:var(--soft);padding:.7rem;white-space:pre-wrap;overflow-wrap:anywhere}
.figures{display:grid;gap:1.2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr))}
figure{margin:0;min-width:0}
figcaption{font-weight:600;margin-bottom:.3rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}
th,td{padding:.22rem .7rem .22rem 0;text-align:right;vertical-align:bottom;border-bottom:1px solid var(--faint)}
td{white-space:nowrap}
th:first-child,td:first-child{text-align:left;white-space:normal}
tr.own td{font-weight:700}
.legend{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.88rem;padding:0;margin:.2rem 0;list-style:none}
.legend svg{width:28px;display:inline-block;vertical-align:middle;margin-right:.35rem}
summary{cursor:pointer;font-size:.9rem}
details table{font-size:.82rem}
@media (max-width:500px){
table{font-size:.8rem}
th,td{padding-right:.35rem}
td:first-child{overflow-wrap:anywhere;min-width:6rem}
}
@media print{
body{font-size:11pt;max-width:none}
svg,tr{break-inside:avoid}
h2,figcaption{break-after:avoid}
figure{margin-bottom:.6cm}
.figures{display:block}
svg{max-width:11cm}
.scroll{overflow:visible}
details::details-content{content-visibility:visible;display:block}
details table{font-size:6.5pt}
details th,details td{padding:.05rem .25rem .05rem 0}
summary{display:none}
}
"""

# A closed table is opened for the printer where the style sheet alone cannot do it.
_SCRIPT = "addEventListener('beforeprint',()=>document.querySelectorAll('details').forEach(d=>d.open=true))"


# Nothing is fetched, and no script runs but this one.
_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{_HASH}'; base-uri 'none'"


def _style(rules: str) -> str:
    dark = f"@media screen and (prefers-color-scheme:dark){{:root{{{_DARK_VARIABLES}}}}}"
    return f"<style>:root{{color-scheme:light dark;{_LIGHT_VARIABLES}}}{dark}{rules}</style>"


def page(title: str, lead: str, body: Sequence[str]) -> str:
    """The whole page; `title` and `lead` are plain text, the body's parts are HTML."""
    head = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{escape(title)}</title>\n{_style(_PAGE + _FIGURES)}\n</head>\n<body>\n"
    )
    top = f"<h1>{escape(title)}</h1>\n<p>{escape(lead)}</p>\n"
    return head + top + "\n".join(body) + f"\n<script>{_SCRIPT}</script>\n</body>\n</html>\n"


def section(title: str, *parts: str) -> str:
    """A part of the page with a heading."""
    return f"<section>\n<h2>{escape(title)}</h2>\n" + "\n".join(parts) + "\n</section>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], own: int | None = None) -> str:
    """A table of plain texts; the row `own` is set apart."""
    top = "".join(f'<th scope="col">{escape(cell).replace("/", "/<wbr>")}</th>' for cell in head)
    lines = []
    for i, row in enumerate(rows):
        cells = "".join(f"<td>{escape(cell)}</td>" for cell in row)
        lines.append(f'<tr class="own">{cells}</tr>' if i == own else f"<tr>{cells}</tr>")
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def figure(title: str, svg: str, numbers: str, legend: Sequence[str] = ()) -> str:
    """A figure with the names of its curves and, folded away, the table of its numbers."""
    items = "".join(f"<li>{_swatch(i)}{escape(name)}</li>" for i, name in enumerate(legend))
    named = f'<ul class="legend">{items}</ul>' if items else ""
    folded = f"<details><summary>the numbers</summary>{numbers}</details>"
    return f"<figure><figcaption>{escape(title)}</figcaption>{svg}{named}{folded}</figure>"


def figures(parts: Sequence[str]) -> str:
    """Figures beside each other where there is room."""
    return f'<div class="figures">{"".join(parts)}</div>'


def bullets(texts: Sequence[str], otherwise: str) -> str:
    """A list of sentences, or one sentence where there is none."""
    if not texts:
        return f"<p>{escape(otherwise)}</p>"
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"


def code(text: str) -> str:
    """Something to type."""
    return f"<pre>{escape(text)}</pre>"


def standalone(svg: str) -> str:
    """A figure as a file of its own."""
    return svg.replace("</title>", f"</title>{_style(_FIGURES)}", 1)


def _swatch(i: int) -> str:
    line = f'<line class="curve c{i % COLOURS}" x1="0" x2="28" y1="5" y2="5"/>'
    return f'<svg viewBox="0 0 28 10" aria-hidden="true">{line}</svg>'
