"""Journey 6: each row of its table of bad things, as a person meets it."""

import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

import keyhole as kh
from keyhole._internal import output_folder
from keyhole.core.serialization import to_bytes

from .conftest import stream, write

RUN = ("--target", "y", "-k", "3", "--out", "out")


def summary(path):
    return json.loads((path / "out" / "summary.json").read_text())


def rounds(path):
    return pq.read_table(path / "out" / "rounds.parquet").to_pydict()


def test_a_missing_value_that_was_bought_is_paid_counted_and_warned_of(typed, tmp_path):
    columns = stream(400)
    for i in range(8):
        columns[f"x{i}"][::4] = np.nan
    code, _, errors = typed("run", write(tmp_path / "a.parquet", columns), *RUN)
    assert code == 0
    played = rounds(tmp_path)
    assert played["unobserved"] == [3 if row % 4 == 0 else 0 for row in range(400)]
    assert set(played["price"]) == {3.0}
    assert sum(f["unobserved"] for f in summary(tmp_path)["attributes"].values()) == 300
    assert (
        errors.count("values bought were missing so far") == 1
    )  # 25 % from the start: told once, at the highest share
    said = summary(tmp_path)
    assert any("was paid for" in text for text in said["warnings"])
    assert len(said["warned"]) == len(said["warnings"])
    missing = {fact["name"] for fact in said["warned"] if fact["kind"] == "missing"}
    assert missing == {name for name, facts in said["attributes"].items() if facts["unobserved"]}


def test_a_missing_value_that_was_not_bought_is_nothing(typed, tmp_path):
    columns = stream(300)
    file = write(tmp_path / "a.parquet", columns)
    typed("run", file, *RUN)
    before = rounds(tmp_path)
    for row, bought in enumerate(before["bought"]):
        for i in range(8):
            if f"x{i}" not in bought:
                columns[f"x{i}"][row] = np.nan
    typed("run", write(tmp_path / "b.parquet", columns), *RUN[:-1], "again")
    after = pq.read_table(tmp_path / "again" / "rounds.parquet").to_pydict()
    assert np.isnan(after["loss"].pop(0))
    assert np.isnan(before["loss"].pop(0))  # the first row: nothing was known
    assert after == before


def test_a_value_not_asked_for_or_missing_is_named_and_changes_nothing():
    learner = kh.make("ds-oslrc", names=[f"x{i}" for i in range(8)], k=3, seed=0)
    r = learner.ask()
    asked = dict.fromkeys(r.names, 0.5)
    other = next(n for n in learner.names if n not in r.names)
    before = to_bytes(learner)
    with pytest.raises(kh.ProtocolError, match=f"not requested in this round: '{other}'"):
        learner.tell(r, asked | {other: 1.0}, 0.1)
    with pytest.raises(kh.ProtocolError, match=f"no value for '{r.names[0]}'"):
        learner.tell(r, dict.fromkeys(r.names[1:], 0.5), 0.1)
    assert to_bytes(learner) == before


def test_a_row_without_a_label_is_abandoned_and_counted(typed, tmp_path):
    columns = stream(200)
    columns["y"][[10, 50, 51]] = np.nan
    assert typed("run", write(tmp_path / "a.parquet", columns), *RUN)[0] == 0
    assert summary(tmp_path)["abandoned"] == 3
    assert summary(tmp_path)["labelled"] == 197
    losses = np.array(rounds(tmp_path)["loss"])
    assert np.flatnonzero(np.isnan(losses)).tolist() == [0, 10, 50, 51]  # the first: nothing was known
    assert np.isclose(summary(tmp_path)["mse"], np.nanmean(losses), rtol=1e-12)


def test_an_infinite_label_stops_the_run_at_its_row(typed, tmp_path):
    columns = stream(200)
    columns["y"][120] = np.inf
    code, _, errors = typed("run", write(tmp_path / "a.parquet", columns), *RUN)
    assert code == 2
    assert "a.parquet, row 121" in errors
    assert "label is inf" in errors


def test_a_value_beyond_the_range_is_clipped_counted_and_reported(typed, tmp_path):
    columns = stream(200)
    columns["x3"][:] = 2.5
    columns["x3"][7] = 9.0
    kh.streams.Schema.plain("y", [f"x{i}" for i in range(8)]).write(tmp_path / "plain.toml")
    words = ("--algorithm", "ds-oslrc", "--schema", "plain.toml")
    typed("run", write(tmp_path / "a.parquet", columns), *RUN, *words)
    told = [text for text in summary(tmp_path)["warnings"] if "'x3'" in text and "clipped" in text]
    assert len(told) == 1
    assert {"kind": "clipped", "name": "x3"} in summary(tmp_path)["warned"]
    bought = ["x3" in names for names in rounds(tmp_path)["bought"]]
    assert f"{sum(bought)} of {sum(bought)} values" in told[0]
    assert ("largest seen 9" in told[0]) == bought[7]


def test_a_range_that_nobody_gave_is_learnt_from_the_first_rows_and_said(typed, tmp_path):
    columns = {name: 1000.0 * values + 5000.0 for name, values in stream(3000).items()}
    file = write(tmp_path / "a.parquet", columns)
    code, _, errors = typed("run", file, *RUN, "--algorithm", "fixed-random")
    assert code == 0
    assert "are twice as wide as in the first 1000 rows" in errors
    assert summary(tmp_path)["mse"] < 1.05 * summary(tmp_path)["baselines"]["nothing"]["mse"]
    assert not [text for text in summary(tmp_path)["warnings"] if "clipped" in text]  # nothing lies beyond
    typed("run", file, *RUN[:-1], "raw", "--algorithm", "thrifty")
    ledger = pq.read_table(tmp_path / "raw" / "ledger.parquet").to_pydict()
    assert set(ledger["clipped"]) == {0}  # nothing was clipped: thrifty takes columns as they are


@pytest.mark.parametrize("rows", [50, 5000])
def test_a_label_that_never_changes_is_refused(typed, tmp_path, rows):
    columns = stream(rows) | {"y": np.full(rows, 3.0)}
    columns["y"][5] = np.nan
    file = write(tmp_path / "a.parquet", columns)
    code, _, errors = typed("run", file, *RUN)
    assert code == 2
    assert f"the target 'y' is 3 in all {rows - 1} rows that have it: there is nothing to predict" in errors
    assert not (tmp_path / "out").exists()
    columns["y"][-1] = 4.0
    assert typed("run", write(tmp_path / "b.parquet", columns), *RUN)[0] == 0


def test_money_without_prices_is_refused(typed, tmp_path):
    file = write(tmp_path / "a.parquet", stream(60))
    code, _, errors = typed("run", file, "--target", "y", "--budget-per-row", "3", "--out", "out")
    assert code == 2
    assert "--budget-per-row M needs to know what things cost: give --prices FILE" in errors
    (tmp_path / "prices.toml").write_text("x0 = 2\n")
    words = ("--target", "y", "--budget-per-row", "3", "--prices", "prices.toml", "--out", "out")
    assert typed("run", file, *words)[0] == 0


def test_options_given_with_resume_are_those_of_the_run_or_refused(typed, tmp_path, monkeypatch):
    write(tmp_path / "a.csv", stream(300))
    monkeypatch.setattr("keyhole.cli._progress.Screen.wants_to_stop", lambda self: self.rows > 0)
    assert typed("run", "a.csv", *RUN, "--algorithm", "ds-oslrc[ explore = 0.5]")[0] == 3
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    before = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir() if p.is_file()}
    for words in (
        ("-k", "4"),
        ("--target", "x0"),
        ("--seed", "1"),
        ("--algorithm", "thrifty"),
        ("--budget-per-row", "3"),
        ("--k0", "1"),
        ("--ignore", "x1"),
        ("--schema", "a.toml"),
        ("--prices", "a.toml"),
    ):
        code, _, errors = typed("run", "--resume", "out", *words)
        said = any(f"this run has {had}" in errors for had in (f"{words[0]} ", f"no {words[0]},"))
        assert (code, said) == (2, True), words
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir() if p.is_file()} == before
    same = ("-k", "3", "--target", "y", "--algorithm", "ds-oslrc[explore=0.5]", "--checkpoint-every", "1")
    assert typed("run", "--resume", "out", *same)[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-k", "0"), "between 1 and 8"),
        (("-k", "9"), "between 1 and 8"),
        (("-k", "4", "--k0", "5"), "between 0 and 4"),
        (("-k", "2", "--algorithm", "ds-oslrc"), "support-bandit"),
        (("-k", "6", "--algorithm", "ds-oslrc"), "support-bandit"),
        (("-k", "3", "--k0", "2", "--algorithm", "ds-poslrc"), "k0 >= 3"),
        (("--algorithm", "ds-oslrc"), "-k K with 1 <= K <= 8"),
        (("-k", "3", "--budget-per-row", "4", "--algorithm", "ds-oslrc"), "needs to know what things cost"),
        (("-k", "3", "--algorithm", "ds-osrlc"), "did you mean 'ds-oslrc'"),
    ],
)
def test_a_budget_that_cannot_be_is_refused_with_what_can_be(typed, tmp_path, words, told):
    code, _, errors = typed("run", write(tmp_path / "a.parquet", stream(20)), "--target", "y", "--out", "out", *words)
    assert code == 2
    assert told in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_budget_of_everything_suggests_what_is_made_for_that(typed, tmp_path):
    words = ("--target", "y", "-k", "8", "--algorithm", "fixed-random", "--out", "out")
    code, _, errors = typed("run", write(tmp_path / "a.parquet", stream(70)), *words)
    assert code == 0
    assert "vaw" in errors


def test_two_columns_of_one_name_are_refused_with_both_places(typed, tmp_path):
    (tmp_path / "a.csv").write_text("a,b,a,y\n1,2,3,4\n")
    code, _, errors = typed("run", "a.csv", *RUN)
    assert code == 2
    assert "columns 1 and 3" in errors


def test_a_text_column_stops_a_run_unless_it_is_ignored(typed, tmp_path):
    columns = stream(100) | {"notes": [f"visit {i}" for i in range(100)]}
    file = write(tmp_path / "a.csv", columns)
    code, _, errors = typed("run", file, *RUN)
    assert code == 2
    assert "'notes' holds text" in errors
    assert typed("run", file, *RUN, "--ignore", "notes")[0] == 0


def test_a_constant_column_is_no_error_and_is_reported(typed, tmp_path):
    columns = stream(300) | {"flat": np.full(300, 0.5)}
    assert typed("run", write(tmp_path / "a.parquet", columns), *RUN, "--algorithm", "ds-oslrc[explore=1]")[0] == 0
    assert summary(tmp_path)["constant"] == ["flat"]
    assert summary(tmp_path)["attributes"]["flat"]["weight"] == 0.0


def test_a_word_among_numbers_is_named_and_the_run_goes_on_after_the_fix(typed, tmp_path):
    file = write(tmp_path / "a.csv", stream(9000))
    good = file.read_text()
    lines = good.split("\n")
    lines[8001] = "oops" + lines[8001][lines[8001].index(",") :]
    file.write_text("\n".join(lines))
    code, _, errors = typed("run", "a.csv", *RUN)
    assert code == 2
    assert all(word in errors for word in ("a.csv", "row 8001", "'x0'", "oops"))
    file.write_text(good)
    assert typed("run", "--resume", "out")[0] == 0
    typed("run", "a.csv", *RUN[:-1], "whole")
    for name in ("rounds.parquet", "ledger.parquet", "model.kh"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert json.loads((tmp_path / "out" / "timing.json").read_text())["sessions"][1]["first_row"] == 4097


def test_a_file_that_changed_is_refused_with_what_changed(typed, tmp_path):
    file = write(tmp_path / "a.csv", stream(9000))
    text = file.read_text()
    lines = text.split("\n")
    lines[8001] = "oops" + lines[8001][lines[8001].index(",") :]
    file.write_text("\n".join(lines))
    assert typed("run", "a.csv", *RUN)[0] == 2
    lines = text.split("\n")
    lines[3] = lines[4]  # mended, but a row that was played is another now
    file.write_text("\n".join(lines))
    code, _, errors = typed("run", "--resume", "out")
    assert code == 2
    assert "changed since this run began: its size" in errors


def test_a_folder_that_holds_a_run_is_not_written_over(typed, tmp_path):
    file = write(tmp_path / "a.parquet", stream(100))
    assert typed("run", file, *RUN)[0] == 0
    code, _, errors = typed("run", file, *RUN)
    assert code == 2
    assert "holds a finished run" in errors
    code, out, _ = typed("run", "--resume", "out")
    assert code == 0
    assert "is finished" in out
    assert typed("run", "--resume", "nowhere")[0] == 2


def test_a_folder_that_cannot_be_written_is_found_before_the_first_row(typed, tmp_path):
    file = write(tmp_path / "a.parquet", stream(100))
    (tmp_path / "out").write_text("a file where the folder should be")
    code, _, errors = typed("run", file, *RUN)
    assert code == 2
    assert "out cannot be written" in errors


def test_a_disk_that_is_too_small_is_found_before_the_first_row(typed, tmp_path, monkeypatch):
    file = write(tmp_path / "a.parquet", stream(100))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(output_folder.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    code, _, errors = typed("run", file, *RUN)
    assert code == 2
    assert "0 MB free; make room" in errors
    assert not (tmp_path / "out" / "run.json").exists()


def test_a_model_that_is_damaged_is_refused_and_nothing_is_written(typed, tmp_path):
    file = write(tmp_path / "a.parquet", stream(100))
    typed("run", file, *RUN)
    model = (tmp_path / "out" / "model.kh").read_bytes()
    middle = len(model) // 2
    for name, data in {
        "cut": model[:-10],
        "changed": model[:middle] + bytes([model[middle] ^ 1]) + model[middle + 1 :],
        "foreign": b"not a model",
    }.items():
        (tmp_path / name).write_bytes(data)
        code, _, errors = typed("predict", name, file)
        assert code == 2
        assert f"{name}: this is not a keyhole file" in errors
    assert not (tmp_path / "predictions.csv").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "nowhere.csv", "--target", "y", "-k", "1", "--out", "out"), "no such file"),
        (("run", "head.csv", "--target", "y", "-k", "1", "--out", "out"), "a header but no rows"),
        (("run", "cut.csv", "--target", "y", "-k", "1", "--out", "out"), "a header but no rows"),
        (("run", "latin.csv", "--target", "y", "-k", "1", "--out", "out"), "save it as UTF-8"),
        (("run", "a.csv", "--target", "y", "-k", "3", "--ignore", "y", "--out", "out"), "the target and ignored"),
        (("run", "a.csv", "--target", "y", "-k", "3", "--algorithm", "thrifty[half_life=x]", "--out", "out"),
         "half_life must be a number, not 'x'"),
        (("run", "--resume", "a.csv"), "there is no run in a.csv"),
        (("run", "--resume", "."), "there is no run in ."),
        (("demo", "--out", "a.csv"), "a.csv cannot be written"),
        (("compare", "synthetic:d=x,k=3", "--algorithms", "vaw", "--out", "out"), "d cannot be 'x'; write synthetic:"),
        (("predict", "a.csv", "a.csv"), "not a keyhole file"),
        (("predict", "nowhere.kh", "a.csv"), "give the model.kh of a run"),
        (("diagnose", "latin.csv", "--target", "y"), "save it as UTF-8"),
    ],
)  # fmt: skip
def test_a_slip_of_the_hand_is_one_sentence_and_exit_2(typed, tmp_path, words, told):
    write(tmp_path / "a.csv", stream(50))
    (tmp_path / "head.csv").write_text("a,b,y\n")
    (tmp_path / "cut.csv").write_text("a,b,y")
    (tmp_path / "latin.csv").write_bytes("größe,b,y\n1,2,3\n".encode("latin-1"))
    code, said, errors = typed(*words)
    assert (code, said) == (2, "")
    assert told in errors
    assert errors.startswith("keyhole: ")
    assert errors.count("\n") == 1


def test_a_table_without_any_label_is_said_to_have_taught_nothing(typed, tmp_path):
    write(tmp_path / "a.csv", stream(50) | {"y": [None] * 50})
    code, _, errors = typed("run", "a.csv", "--target", "y", "-k", "3", "--out", "out")
    assert code == 0
    assert "no row had a label" in errors


def test_names_from_outside_are_shown_and_not_obeyed(typed, tmp_path):
    """A terminal would clear its screen, a page would run a script, a reader would read backwards."""
    columns = stream(300)
    evil = {f"\x1b[2J\u202e<script>alert({i})</script>": columns[f"x{i}"] for i in range(8)} | {"y": columns["y"]}
    write(tmp_path / "a.parquet", evil)
    for words in (("run", "a.parquet", *RUN), ("diagnose", "a.parquet", "--target", "y"), ("run", "a.parquet", "--x")):
        _, out, errors = typed(*words)
        assert not {"\x1b", "\u202e"} & set(out + errors)
    assert typed("run", "a.parquet", "--target", "\x1b\n", "-k", "3", "--out", "b")[2].count("\n") == 1
    folder = tmp_path / "out"
    for path in (folder / "report.html", *(folder / "figures").iterdir()):
        text = path.read_text()
        assert not {"\x1b", "\u202e"} & set(text)
        assert "<script>alert" not in text
    policy = (folder / "report.html").read_text().split('Content-Security-Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src 'none'")
