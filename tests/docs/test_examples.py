"""Every example runs, prints something, and draws its figure."""

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda p: p.stem)
def test_an_example_tells_its_story(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
    assert (tmp_path / f"{script.stem}.svg").read_text().startswith("<svg")
    assert len(script.read_text().splitlines()) < 60


def test_the_notebook_runs():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()
    shown = [o for cell in book.cells for o in cell.get("outputs", [])]
    assert any("text/html" in o.get("data", {}) for o in shown)
    assert not [o for o in shown if o.output_type == "error"]
