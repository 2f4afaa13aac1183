"""Journey 3, continued: the theorist measures the paper's claims with `keyhole study`, at sizes of a moment."""

import pytest

from keyhole._internal.output_folder import Folder
from keyhole.experiments import study


@pytest.fixture
def small(monkeypatch):
    """Grids as they are, but for 40 (quick) or 60 rounds (full) and two seeds."""
    plain = study.expand

    def expand(grid):
        return plain(grid | {"rounds": 40 if grid["rounds"] < 50_000 else 60, "seeds": 2})

    monkeypatch.setattr(study, "expand", expand)


def parts(tmp_path):
    return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "mine" / "parts").iterdir()}


def test_a_study_is_a_table_a_figure_and_a_sentence_and_is_not_played_twice(small, typed, tmp_path):
    words = ("study", "edges", "--quick", "--out", "mine", "--chapter", "measured.md")
    code, text, _ = typed(*words)
    assert code == 0
    assert "regret, k = 9" in text
    verdict = (tmp_path / "mine" / "edges" / "verdict.txt").read_text().strip()
    assert verdict.startswith("The bandit over supports has")
    assert verdict in text
    for made in ("edges/figure.svg", "edges/table.md", "report.html"):
        assert (tmp_path / "mine" / made).stat().st_size > 100
    chapter = (tmp_path / "measured.md").read_text()
    assert "    keyhole study edges --quick --chapter measured.md\n" in chapter
    assert "*d = 10, k = 1/2/8/9, sigma = 0.1, T = 40, 2 seeds; `keyhole study edges` (quick size).*" in chapter
    before = parts(tmp_path)
    code, _, told = typed(*words)
    assert (code, "measured.md" in told) == (2, True)
    assert typed(*words, "--force")[0] == 0
    assert parts(tmp_path) == before


def test_quick_takes_what_is_finished_in_full(small, typed, tmp_path):
    assert typed("study", "edges", "--out", "mine")[0] == 0
    before = parts(tmp_path)
    _, text, _ = typed("study", "edges", "--quick", "--out", "mine", "--chapter", "measured.md")
    assert "after 60 rounds" in text
    assert "(full size)" in (tmp_path / "measured.md").read_text()
    assert parts(tmp_path) == before


def test_studies_are_listed_and_a_wrong_word_is_one_sentence(typed, tmp_path):
    code, text, _ = typed("study", "list")
    assert code == 0
    assert [line.split()[0] for line in text.splitlines()] == list(study.names())
    for words, said in (
        (("edgy",), "there is no experiment 'edgy'; there are: bandit"),
        (("edges", "--executor", "spark"), "there is no executor 'spark'"),
    ):
        code, out, told = typed("study", *words)
        assert (code, out, told.count("\n")) == (2, "", 1)
        assert said in told
    assert not (tmp_path / "study").exists()


def test_a_study_has_one_writer_and_leaves_nothing_of_one_that_was_killed(small, typed, tmp_path):
    words = ("study", "edges", "--quick", "--out", "mine")
    folder = Folder.claim(tmp_path / "mine", "study")
    left = folder.subfolder("parts") / ".keyhole-0123456789abcdef.part"
    left.write_text("half a part")
    with folder.lock():
        code, _, told = typed(*words)
        assert (code, told.count("\n")) == (2, 1)
        assert "mine is being written by" in told
        left.write_text("half a part")
    assert typed(*words)[0] == 0
    assert not left.exists()
