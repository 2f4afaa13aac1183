"""The drawing library gives up and takes its process along: a run has its results and its report all the same."""

import json
import os

from .conftest import stream, write


def test_a_run_ends_without_its_pictures_and_says_so(keyhole, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "vl_convert.py").write_text("import os\n\n\ndef vegalite_to_svg(spec):\n    os.abort()\n")
    monkeypatch.setenv("PYTHONPATH", f"{broken}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    file = write(tmp_path / "a.parquet", stream(200))
    words = ("run", file.name, "--target", "y", "-k", "3", "--algorithm", "fixed-random", "--out", "out")
    done = keyhole(*words)
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "finished"
    assert "the figure 'What money buys' could" in done.stderr
    assert "could not be drawn (the drawing library gave up); its numbers are in the table" in done.stderr
    assert "Traceback" not in done.stderr
    page = (tmp_path / "out" / "report.html").read_text()
    assert "not drawn: see the numbers below" in page
    assert page.count("the numbers</summary>") >= 4
