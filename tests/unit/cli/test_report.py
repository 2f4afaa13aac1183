"""`keyhole report` draws a report again, byte for byte, and says what it cannot draw."""

import json

import pytest

from keyhole._internal.atomic_io import digest_of_file, read_json, write_json
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


@pytest.mark.parametrize("format_", [None, 2, "1", [1]])
def test_a_run_folder_of_another_version_is_refused_in_one_sentence(typed, run, format_):  # noqa: F811
    """Its digests are right, so another version of keyhole may have written it."""
    settings, summary = read_json(run / "run.json"), read_json(run / "summary.json")
    write_json(run / "summary.json", summary | {"format": format_})
    results = settings["results"] | {"summary.json": digest_of_file(run / "summary.json")}
    write_json(run / "run.json", settings | {"results": results})
    for name in ("summary.json", "run.json"):
        for command in (("report", "r"), ("run", "--resume", "r"))[: 1 + (name == "run.json")]:
            code, _, errors = typed(*command)
            assert code == 2
            assert (
                f"{name} has format {format_}, and this version of keyhole reads format 1 only; begin a new" in errors
            )
            assert errors.count("\n") == 1
        write_json(run / "run.json", settings | {"results": results, "format": format_})


def test_the_summary_says_its_format_first(run):
    assert next(iter(json.loads((run / "summary.json").read_text()).items())) == ("format", 1)
