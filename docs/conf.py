"""The documentation: Sphinx with MyST and furo; `make docs`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).parent))

from keyhole import __version__

project = "keyhole"
author = "The keyhole developers"
copyright = "The keyhole developers; BSD-3-Clause"
version = release = __version__

extensions = ["myst_parser", "_made"]
myst_enable_extensions = ["deflist", "colon_fence", "dollarmath"]
html_math_renderer = "mathml"
myst_heading_anchors = 3
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]

html_theme = "furo"
html_title = f"keyhole {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# Nothing from outside: the pages work without a network, and formulas are MathML.
html_theme_options = {"source_edit_link": ""}
