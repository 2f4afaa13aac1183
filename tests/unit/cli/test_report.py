"""`keyhole report` draws a report again, byte for byte, and says what it cannot draw."""

import pytest

from tests.journeys.conftest import stream, typed, write  # noqa: F401


@pytest.fixture
def run(typed, tmp_path):  # noqa: F811
    write(tmp_path / "v.csv", stream(300))
    assert typed("run", "v.csv", "--target", "y", "-k", "3", "--out", "r")[0] == 0
    return tmp_path / "r"


def test_the_report_is_drawn_again(typed, run):  # noqa: F811
    before = (run / "report.html").read_bytes()
    (run / "report.html").unlink()
    code, said, _ = typed("report", "r")
    assert code == 0
    assert "warning" not in said
    assert (run / "report.html").read_bytes() == before


def test_without_the_file_there_is_no_hindsight(typed, run, tmp_path):  # noqa: F811
    (tmp_path / "v.csv").rename(tmp_path / "w.csv")
    code, said, _ = typed("report", "r")
    assert code == 0
    assert "nothing in hindsight is drawn" in said
    assert (run / "report.html").exists()


def test_what_is_no_finished_run_is_refused(typed, tmp_path):  # noqa: F811
    code, _, errors = typed("report", "nowhere")
    assert code == 2
    assert "there is no run in nowhere" in errors
