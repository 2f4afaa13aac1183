"""The command line's traps: what was typed is done, or refused in one sentence."""

import json
import os
import subprocess
import sys
import tomllib

import pytest

import keyhole as kh

from ...journeys.conftest import COMMAND, environment, stream, typed, write  # noqa: F401


@pytest.fixture
def comma(tmp_path):
    rows = [f"{i % 7},5;1.{i % 5}00,25;{2 * (i % 7)},5" for i in range(120)]
    (tmp_path / "comma.csv").write_text("\n".join(["a;b;y", *rows, ""]))
    return "comma.csv"


def test_a_decimal_comma_is_an_option(typed, comma, tmp_path):  # noqa: F811
    words = ("run", comma, "--target", "y", "-k", "1")
    code, _, err = typed(*words, "--out", "no")
    assert code == 2
    assert "1.234,56" in err
    assert not (tmp_path / "no").exists()
    code, out, _ = typed(*words, "--numbers", "1.234,56", "--out", "r")
    assert code == 0
    assert "bought most: a" in out
    code, _, err = typed(*words, "--numbers", "one", "--out", "no")
    assert code == 2
    assert "numbers must be one of" in err
    assert typed("run", "--resume", "r", "--numbers", "1.234,56")[0] == 0
    code, _, err = typed("run", "--resume", "r", "--numbers", "1,234.56")
    assert code == 2
    assert "this run has --numbers 1.234,56, not 1,234.56" in err


def test_a_decimal_comma_leaves_a_yes_or_no_label_alone(typed, tmp_path):  # noqa: F811
    rows = [f"{i % 7},5;1.{i % 5}00,25;{'ill' if i % 7 > 3 else 'well'}" for i in range(120)]
    (tmp_path / "c.csv").write_text("\n".join(["a;b;y", *rows, ""]))
    label = '[label]\nname = "y"\ntype = "yes/no"\npositive = "ill"\n'
    (tmp_path / "s.toml").write_text(f"{label}[attributes]\na = {{}}\nb = {{}}\n")
    numbers = ("--numbers", "1.234,56")
    code, out, err = typed("run", "c.csv", "--schema", "s.toml", *numbers, "-k", "1", "--out", "r")
    assert code == 0, err
    assert "bought most: a" in out
    assert typed("predict", "r/model.kh", "c.csv", *numbers)[0] == 0


def test_an_option_that_the_run_never_had_is_told_so(typed, comma):  # noqa: F811
    assert typed("run", comma, "--target", "y", "-k", "1", "--numbers", "1.234,56", "--out", "r")[0] == 0
    code, _, err = typed("run", "--resume", "r", "--budget-per-row", "3")
    assert code == 2
    assert "this run has no --budget-per-row, not 3.0" in err
    assert err.count("\n") == 1


def test_free_columns_add_up(typed, tmp_path):  # noqa: F811
    """`--free a --free b` kept only the last."""
    write(tmp_path / "v.csv", stream(60))
    (tmp_path / "p.toml").write_text('"*" = 1\n')
    words = ("v.csv", "--target", "y", "-k", "1", "--prices", "p.toml", "--free", "x1", "--free", "x2, x3")
    free = ["x1", "x2", "x3"]
    assert typed("run", *words, "--out", "r")[0] == 0
    run = json.loads((tmp_path / "r" / "run.json").read_text())
    assert run["options"]["free"] == "x1,x2,x3"
    code, out, _ = typed("run", "--resume", "r", "--free", "x1,x2", "--free", "x3")
    assert (code, "is finished" in out) == (0, True)
    code, _, err = typed("run", "--resume", "r", "--free", "x1")
    assert (code, "this run has --free x1,x2,x3, not x1" in err) == (2, True)
    assert typed("plan", *words, "--out", "p")[0] == 0
    assert json.loads((tmp_path / "p" / "plan.json").read_text())["free"] == free
    small = ("--seeds", "1", "--rounds", "60")
    assert typed("frontier", *words, "--levels", "2", *small, "--out", "f")[0] == 0
    assert json.loads((tmp_path / "f" / "frontier.json").read_text())["free"] == free
    _, out, _ = typed("compare", *words, "--algorithms", "vaw", *small, "--out", "c")
    vaw = next(line for line in out.splitlines() if line.startswith("vaw"))
    assert vaw.split()[-2] == "5.00"  # of eight attributes


def test_an_encoding_is_an_option(typed, tmp_path):  # noqa: F811
    rows = "".join(f"{i % 7},{i % 5},{i % 7}\n" for i in range(120))
    (tmp_path / "old.csv").write_bytes(f"größe,b,y\n{rows}".encode("latin-1"))
    words = ("run", "old.csv", "--target", "y", "-k", "1", "--out", "r")
    code, _, err = typed(*words)
    assert code == 2
    assert "not UTF-8" in err
    code, out, _ = typed(*words, "--encoding", "latin-1")
    assert code == 0
    assert "größe" in out


def test_tables_fit_on_eighty_columns(typed, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setenv("COLUMNS", "80")
    write(tmp_path / "v.csv", {name: 1e3 * column for name, column in stream(200).items()})
    (tmp_path / "p.toml").write_text("".join(f"x{i} = {i + 1}\n" for i in range(7)))
    money = ("-k", "3", "--prices", "p.toml", "--free", "x7")
    code, out, _ = typed("run", "v.csv", "--target", "y", *money, "--out", "r")
    assert code == 0
    assert max(map(len, out[: out.index("bought most:")].splitlines()[1:])) <= 80
    names = "fixed-random,thrifty[error_cost=0.001],vaw"
    words = ("compare", "v.csv", "--target", "y", "--algorithms", names, "--seeds", "2", *money)
    code, out, _ = typed(*words, "--out", "c", "--sort", "time")
    assert code == 0
    table = out[: out.index("note:")].splitlines()
    assert max(map(len, table)) <= 80
    assert any(line.startswith("thrifty[error_cost=0.001]") for line in table)
    vaw = next(i for i, line in enumerate(table) if line.startswith("vaw (reference)"))
    assert vaw > next(i for i, line in enumerate(table) if line.startswith("thrifty["))  # references come last
    assert float(table[vaw].split()[-1]) == 28.0  # of x0 to x6: x7 is free


def test_time_per_row_is_without_what_a_process_does_once():
    """No module is imported while the clock of a job runs, also in a new process."""
    code = (
        "import sys, time\n"
        "from keyhole.experiments.job import Job, run_job\n"
        "from keyhole.experiments.stream_spec import StreamSpec\n"
        "job = Job(StreamSpec.parse('synthetic:d=6,k=2'), 'fixed-random', 0, 300, 2, 0)\n"
        "clock, seen = time.perf_counter, []\n"
        "time.perf_counter = lambda: seen.append(set(sys.modules)) or clock()\n"
        "run_job(job)\n"
        "began, ended = seen\n"
        "print(sorted(ended - began))\n"
    )
    said = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


def german(path, rows=60):
    """A file as a German office writes it: 1.234,56, Latin-1; column b has no decimals, so it could be either."""
    X, y, _ = kh.streams.synthetic(2, 1, rows, seed=5)
    lines = ["größe,b,kosten"]
    for (a, b), label in zip(X, y, strict=True):
        lines.append(f'"{_german(1000 * a)}",{2 + (b > 0)}.{100 + int(400 * abs(b))},"{_german(1000 * label)}"')
    path.write_bytes("\n".join(lines).encode("latin-1"))


def _german(value):
    return f"{value:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


def test_every_command_is_told_how_a_file_is_written(typed, tmp_path):  # noqa: F811
    german(tmp_path / "v.csv")
    way = ("--target", "kosten", "--numbers", "1.234,56", "--encoding", "latin-1")
    code, out, _ = typed("diagnose", "v.csv", *way)
    assert code == 0
    assert "proposed for 'größe': numbers written as 1.234,56" in out
    schema = tomllib.loads((tmp_path / "v.schema.toml").read_text(encoding="utf-8"))
    assert schema["attributes"]["b"]["low"] >= 2000  # not 2.1: it was said how numbers are written
    words = ("--algorithms", "fixed-random", "--seeds", "1", "-k", "1")
    code, out, err = typed("compare", "v.csv", *way, *words, "--out", "c")
    assert code == 0, err
    code, _, err = typed("run", "v.csv", *way, "-k", "1", "--algorithm", "fixed-random", "--out", "r")
    assert code == 0, err
    code, _, err = typed("compare", "v.csv", "--target", "kosten", *words, "--out", "d")
    assert code == 2
    assert "give its encoding" in err


def test_every_unknown_algorithm_is_named_at_once(typed, tmp_path):  # noqa: F811
    asked = "'thrifty',nope,fixed-radnom"
    code, _, said = typed("compare", "synthetic:d=8,k=2", "--algorithms", asked, "-k", "2", "--out", tmp_path / "c")
    assert code == 2
    assert "no algorithm 'nope'" in said
    assert "no algorithm 'fixed-radnom'; did you mean 'fixed-random'?" in said
    assert "'thrifty'" not in said.split("there are:")[0]
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "v.csv", "-k", "three"), "'-k' / '--k': it must be a whole number; see"),
        (("run", "v.csv", "--error-cost", "much"), "'--error-cost': it must be a number; see"),
        (("frontier", "v.csv", "--levels", "0"), "'--levels': it must be greater than or equal to 2; see"),
        (("rnu",), "no such command 'rnu'; did you mean 'run'; see"),
        (("plan", "nhanes-panel"), "there is no file and no data set 'nhanes-panel'; did you mean 'nhanes-panels'?"),
        (("run", "v.csv", "--target", "y", "--prices", "p.toml", "--error-cost", "-1"), "--error-cost must be > 0"),
    ],
    ids=str,
)
def test_what_is_mistyped_is_said_in_plain_words(typed, tmp_path, words, message):  # noqa: F811
    write(tmp_path / "v.csv", stream(60))
    (tmp_path / "p.toml").write_text("".join(f"x{i} = 1\n" for i in range(8)))
    code, _, err = typed(*words, *(() if words == ("rnu",) else ("--out", "o")))
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


LONG = "a" * 5000


@pytest.mark.parametrize(
    "words",
    [
        ("store", "check", f"sqlite:///{LONG}"),
        ("run", f"{LONG}.csv", "--target", "y", "-k", "1", "--out", "out"),
        ("run", "--resume", LONG),
        ("report", LONG),
        ("predict", LONG, "a.csv"),
        ("serve", "--model", LONG),
    ],
    ids=lambda words: words[0],
)
def test_a_name_that_no_file_can_have_is_refused_in_one_sentence(typed, words):  # noqa: F811
    code, _, errors = typed(*words)
    assert (code, errors.count("\n")) == (2, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="no such devices")
def test_what_is_no_model_is_not_read_into_memory(typed, tmp_path):  # noqa: F811
    """A device that never ends, and a large file of another kind."""
    with open(tmp_path / "large.kh", "wb") as large:
        large.truncate(1 << 40)
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", "large.kh", "pipe"):
        for words in (("predict", path, "a.csv"), ("run", "a.csv", "--model", path, "--out", "out")):
            code, _, errors = typed(*words)
            assert (code, errors.count("\n")) == (2, 1), words
        with pytest.raises(kh.StateError, match="not a keyhole file"):
            kh.load(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no such devices")
def test_a_schema_that_does_not_end_is_refused(typed, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr("keyhole.data.schema_toml._MOST_LETTERS", 1_000_000)
    write(tmp_path / "a.csv", stream(60, d=4))
    for option in ("--schema", "--prices"):
        code, _, errors = typed("run", "a.csv", "--target", "y", "-k", "1", option, "/dev/zero", "--out", "out")
        assert (code, errors.count("\n")) == (2, 1)
        assert "larger than 1 MB" in errors


def test_a_host_that_cannot_be_is_refused(typed, tmp_path):  # noqa: F811
    for host in ("\u00e9\u00e9..", "a" * 300, "no such host"):
        code, _, errors = typed("serve", "--store", "sqlite:///a.db", "--host", host, "--no-auth")
        assert (code, errors.count("\n")) == (2, 1), errors
