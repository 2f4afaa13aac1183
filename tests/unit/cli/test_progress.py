"""Progress bars are for terminals: elsewhere a command's stderr holds its words, and no line more."""

import pytest
from rich.progress import Progress

from keyhole.cli import _paper_demo
from keyhole.cli._progress import Bar

from ...journeys.conftest import typed  # noqa: F401


def test_no_terminal_no_character(capsys, monkeypatch):
    monkeypatch.setattr(Progress, "stop", lambda bar: bar.console.print())  # as Rich 13 does it
    with Bar() as bar:
        bar.update(bar.add_task("", total=3), completed=2)
    assert capsys.readouterr() == ("", "")


def test_the_demo_of_the_paper_prints_its_table_and_nothing_else(typed, monkeypatch):  # noqa: F811
    monkeypatch.setattr(_paper_demo, "ROWS", 300)
    code, out, errors = typed("demo", "--paper")
    assert (code, errors) == (0, "")
    assert "ds-poslrc, 4 more" in out
    assert "ds-oslrc, theory" in out


@pytest.mark.parametrize(("words", "flag"), [("--out x", "--out"), ("--error-cost 3", "--error-cost"), ("-k 2", "-k")])
def test_the_demo_of_the_paper_refuses_options_it_does_not_use(typed, words, flag):  # noqa: F811
    code, out, errors = typed("demo", "--paper", *words.split())
    assert (code, out) == (2, "")
    assert f"omit {flag}" in errors
