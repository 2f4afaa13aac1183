"""Every example of the documentation runs, and every link between its pages leads somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WRITTEN = [p for p in sorted((ROOT / "docs").rglob("*.md")) if p.parent.name not in ("reference", "algorithms")]
PAGES = [*WRITTEN, ROOT / "README.md"]
EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
SAVED = re.compile(r"[Ss]ave this as `(\w+\.py)`:\n\n\Z")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)")


def name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", [p for p in PAGES if EXAMPLE.search(p.read_text(encoding="utf-8"))], ids=name)
def test_the_examples_of_a_page_run_one_after_another(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    space = {"__name__": "example"}
    text = page.read_text(encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    for match in EXAMPLE.finditer(text):
        saved = SAVED.search(text[: match.start()])
        if saved:
            (tmp_path / saved[1]).write_text(match[1], encoding="utf-8")
            continue
        line = text[: match.start()].count("\n") + 1
        exec(compile("\n" * line + match[1], str(page), "exec"), space)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        made = link.startswith(("algorithms/", "reference/"))  # by the build, whose own links are tested with the site
        assert made or (page.parent / link).exists(), link


def test_every_page_is_in_the_table_of_contents():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in WRITTEN:
        stem = str(page.relative_to(ROOT / "docs").with_suffix(""))
        assert stem == "index" or re.search(rf"^{re.escape(stem)}$", index, re.M), stem


def test_nothing_comes_from_outside():
    for page in WRITTEN:
        assert not re.search(r"!\[[^]]*\]\(https?:|<(?:script|img|link)\b", page.read_text(encoding="utf-8")), page
