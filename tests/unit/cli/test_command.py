"""The command itself: its version, what it says where a package is missing, and warnings as one line."""

import sys
import warnings

import pytest

import keyhole as kh
import keyhole.cli._commands  # what it imports may warn of its own libraries, here and not in a test
from keyhole._internal.output_folder import Folder
from keyhole.cli import main
from keyhole.errors import ConfigError, KeyholeWarning


def typed(monkeypatch, capsys, *words):
    monkeypatch.setattr(sys, "argv", ["keyhole", *words])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # put back afterwards
    code = 0
    try:
        main()
    except SystemExit as left:
        code = left.code or 0
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_version_is_told(monkeypatch, capsys):
    assert typed(monkeypatch, capsys, "--version") == (0, f"keyhole {kh.__version__}\n", "")


@pytest.mark.parametrize(("module", "extra"), [("typer", "cli"), ("pydantic.main", "cli"), ("uvicorn", "serve")])
def test_a_missing_package_is_told_with_the_extra_that_brings_it(monkeypatch, capsys, module, extra):
    def absent(**how):
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr("keyhole.cli._commands.app", absent)
    code, _, errors = typed(monkeypatch, capsys, "algorithms")
    assert code == 1
    assert f"needs '{module.split('.')[0]}'; install it with: pip install 'keyhole[{extra}]'" in errors


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("run v.csv --target y -k two --out r", "'-k'"),
        ("compare v.csv --algorithms vaw --out c --seeds 0", "'--seeds'"),
        ("predict", "model"),
        ("diagnose v.csv", "missing option '--target'"),
        ("store check --store s", "--store"),
        ("store nope", "'nope'"),
        ("demo \x1b[2j", "\\x1b[2j"),
        ("nope", "'nope'"),
        ("--nope", "--nope"),
    ],
)
def test_what_was_mistyped_is_one_sentence_and_where_to_look(monkeypatch, capsys, words, told):
    code, out, errors = typed(monkeypatch, capsys, *words.split())
    assert (code, out) == (2, "")
    assert errors.startswith("keyhole: ")
    assert errors.endswith(" --help\n")
    assert errors.count("\n") == 1
    assert told in errors.lower()
    assert "\x1b" not in errors


def test_without_a_word_there_is_help(monkeypatch, capsys):
    _, out, errors = typed(monkeypatch, capsys)
    assert "diagnose" in out + errors
    assert "Traceback" not in errors
    assert "keyhole: " not in errors


def test_a_warning_is_one_line(monkeypatch, capsys):
    def warn(**how):
        warnings.warn("look here", KeyholeWarning, stacklevel=1)

    monkeypatch.setattr("keyhole.cli._commands.app", warn)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert typed(monkeypatch, capsys)[2] == "warning: look here\n"


def test_the_selector_without_its_extra_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    monkeypatch.delitem(sys.modules, "keyhole.integrations.dantzig_selector", raising=False)
    monkeypatch.delitem(vars(kh), "DantzigSelector", raising=False)
    with pytest.raises(ConfigError, match=r"DantzigSelector needs scikit-learn.*pip install 'keyhole\[sklearn\]'"):
        _ = kh.DantzigSelector


def test_a_renamed_option_is_named_only_where_the_command_has_it(monkeypatch, capsys):
    words = ("a.csv", "--target", "y", "--out", "o")
    assert "--spend is now called --budget-per-row" in typed(monkeypatch, capsys, "run", *words, "--spend", "3")[2]
    said = typed(monkeypatch, capsys, "frontier", *words, "--spend", "3")[2]
    assert "--spend" in said
    assert "--budget-per-row" not in said
    said = typed(monkeypatch, capsys, "compare", *words, "--rows", "3")[2]
    assert "--expected-rows" not in said


def test_an_interrupt_before_anything_is_begun_is_told(monkeypatch, capsys):
    def interrupted(**how):
        raise KeyboardInterrupt

    monkeypatch.setattr("keyhole.cli._commands.app", interrupted)
    code, _, errors = typed(monkeypatch, capsys, "run", "a.csv")
    assert (code, errors) == (3, "keyhole: interrupted; give the same command again\n")


def test_the_report_of_a_plan_is_named(monkeypatch, capsys, tmp_path):
    Folder.claim(tmp_path / "plan", "plan")
    code, _, errors = typed(monkeypatch, capsys, "report", str(tmp_path / "plan"))
    assert code == 2
    assert "holds a plan, whose report is" in errors


def test_an_import_of_nothing_leaves_no_store_behind(monkeypatch, capsys, tmp_path):
    code, _, errors = typed(monkeypatch, capsys, "store", "import", f"sqlite:///{tmp_path}/n.db", str(tmp_path / "no"))
    assert code == 2
    assert "Errno" not in errors
    assert not list(tmp_path.iterdir())
