"""`keyhole diagnose` as a user types it, on files with the faults of real ones."""

import shlex
from pathlib import Path

import numpy as np
import pytest

from keyhole.data.streams import DataError, Schema, open_table
from keyhole.errors import ConfigError

typer = pytest.importorskip("typer")
pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

from typer.testing import CliRunner  # noqa: E402

from keyhole.cli.diagnose import diagnose  # noqa: E402

N = 3000


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(3, 5, (N, 12))
    table = pd.DataFrame(X, columns=[f"x{i}" for i in range(12)])
    table["cost"] = 3 * X[:, 2] - 4 * X[:, 7] + rng.normal(size=N)
    table.loc[rng.random(N) < 0.124, "x5"] = np.nan
    table["twin"] = 2 * table["x4"]
    table.insert(0, "visit_id", range(N))
    path = tmp_path / "visits.csv"
    table.assign(notes="text", flag=1).to_csv(path, index=False)
    return path


def run(*words: object) -> str:
    """What it prints; what is raised passes through (the command turns it into exit code 2)."""
    app = typer.Typer()
    app.command()(diagnose)
    result = CliRunner().invoke(app, [str(word) for word in words])
    if isinstance(result.exception, ValueError):
        raise result.exception
    assert result.exit_code == 0, result.output
    return str(result.output)


def test_it_says_what_can_be_used_and_whether_choosing_matters(visits: Path) -> None:
    said = run(visits, "--target", "cost", "-k", 2)
    assert "3 000 rows, 17 columns -> 13 usable attributes" in said
    for dropped in ("visit_id (numbers the rows)", "notes (constant)", "flag (constant)"):
        assert dropped in said
    assert "'x5' 12." in said
    assert "the best 2 found (x2, x7) explain" in said
    assert "2 attributes chosen at random explain" in said
    assert "(median of 300 draws): choosing matters." in said
    assert "interchangeable (correlation 0.95 or more): x4 and twin" in said
    assert "No drift" in said
    assert "compatibility" not in said  # theory is for those who ask


def test_what_it_says_of_the_signal_is_what_least_squares_finds(visits: Path) -> None:
    said = run(visits, "--target", "cost", "-k", 2)
    table = pd.read_csv(visits)
    X = table[[f"x{i}" for i in range(12)]].fillna(table[[f"x{i}" for i in range(12)]].mean()).to_numpy()
    y = table["cost"].to_numpy()
    V = np.column_stack([np.ones(N), X[:, [2, 7]]])
    share = 1 - np.var(y - V @ np.linalg.lstsq(V, y, rcond=None)[0]) / np.var(y)
    assert f"the best 2 found (x2, x7) explain {100 * share:.0f} %" in said


def test_its_last_line_is_a_command_that_runs(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from keyhole.cli._commands import app

    monkeypatch.chdir(visits.parent)
    last = run(visits, "--target", "cost", "-k", 2).splitlines()[-1]
    assert last.startswith(" next: keyhole run ")
    result = CliRunner().invoke(app, shlex.split(last.removeprefix(" next: keyhole ")))
    assert result.exit_code == 0, result.output
    assert (visits.parent / "runs" / "visits" / "report.html").exists()


def test_bad_cells_are_counted_by_column_and_value(visits: Path, tmp_path: Path) -> None:
    lines = visits.read_text().splitlines()
    for words, count, column in (("hemolyzed", 12, 3), ("<0.3", 8, 4), ("> 60", 2, 4), ("n.a.", 1, 2)):
        for i in range(count):
            cells = lines[1 + 97 * i + column].split(",")
            cells[column] = words
            lines[1 + 97 * i + column] = ",".join(cells)
    visits.write_text("\n".join(lines) + "\n")
    said = run(visits, "--target", "cost")
    assert "'x2': 12 cells are not numbers: \"hemolyzed\" 12" in said
    assert 'missing = ["hemolyzed"]' in said
    x3 = next(line for line in said.splitlines() if line.startswith(" 'x3'"))
    assert "> 60" in x3
    assert 'below = {"<0.3" = 0.15}, above = {"> 60" = 60}' in said
    assert "'x1': 1 cell is not a number" in said
    schema = Schema.read(tmp_path / "visits.schema.toml")
    x = {a.name: a for a in schema.attributes}
    assert (x["x2"].missing, dict(x["x3"].below), dict(x["x3"].above)) == (
        ("hemolyzed",),
        {"<0.3": 0.15},
        {"> 60": 60.0},
    )
    table = open_table(visits, schema)
    X = np.concatenate([batch.X for batch in table.batches(["x2", "x3"], "cost")])
    assert np.isnan(X[:, 0]).sum() == 12
    assert (X[:, 1] == 60.0).sum() == 2
    assert (X[:, 1] == 0.15).sum() == 8 - 2  # two were written over
    plain = run(visits, "--target", "cost", "--na", "hemolyzed", "--force")
    assert "'x2': " not in plain


def test_a_word_that_comes_late_in_a_long_file_is_counted_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60_000, 3)).round(6), columns=list("abc")).assign(y=rng.normal(size=60_000))
    table["b"] = table["b"].astype(str)
    table.loc[59_000:59_002, "b"] = "broken"
    table.to_csv(tmp_path / "t.csv", index=False)
    assert (tmp_path / "t.csv").stat().st_size > 1 << 21  # more than what is looked at first
    assert "'b': 3 cells are not numbers: \"broken\" 3" in run(tmp_path / "t.csv", "--target", "y")


def test_panels_are_proposed_by_gaps_and_by_names(visits: Path, tmp_path: Path) -> None:
    table = pd.read_csv(visits)
    gone = np.random.default_rng(1).random(N) < 0.1
    for name in ("x0", "x9"):
        table.loc[gone, name] = np.nan
    table["lipid_ldl"], table["lipid_hdl"] = table["x1"] ** 2, table["x2"] ** 2
    table.to_csv(visits, index=False)
    said = run(visits, "--target", "cost")
    assert f"perhaps one order: x0 and x9 (missing in the same {gone.sum()} rows)" in said
    assert "perhaps one order: lipid_ldl and lipid_hdl (names begin with 'lipid')" in said
    text = (tmp_path / "visits.schema.toml").read_text()
    assert '# [sources."lipid"]' in text
    assert "# [money]" in text
    assert not Schema.from_toml(text).panels
    opened = text.replace("# [sources", "[sources").replace("# price", "price").replace("# columns", "columns")
    assert [p.columns for p in Schema.from_toml(opened).panels] == [("x0", "x9"), ("lipid_ldl", "lipid_hdl")]


def test_a_drift_is_named_by_its_column(visits: Path) -> None:
    table = pd.read_csv(visits)
    table["x6"] += np.linspace(0, 5, N)
    table.to_csv(visits, index=False)
    assert "Drift: the mean of 'x6' differs between the first and the second half" in run(visits, "--target", "cost")


def test_it_says_which_of_the_papers_conditions_hold(visits: Path) -> None:
    lines = run(visits, "--target", "cost", "-k", 2, "--theory").splitlines()
    said = {line.split(")")[0].strip(" ("): line for line in lines if line.startswith(" (")}
    assert list(said) == ["a", "b", "c", "d", "e", "f", "g", "i"]
    assert "no evidence against it" in said["a"]  # linear in two columns, with Gaussian noise, in no order
    assert "no evidence against it" in said["f"]
    assert "no evidence against it" in said["i"]
    assert "smallest eigenvalue" in said["c"]  # of twins: none
    assert float(said["c"].split()[-1]) < 1e-9
    assert any("the paper's conditions, for these 2 of 13 attributes: delta_S = " in line for line in lines)


def test_rows_in_an_order_are_spoken_against(visits: Path) -> None:
    pd.read_csv(visits).sort_values("x1").to_csv(visits, index=False)
    assert "(i) i.i.d. rows [checkable: refutable]: evidence against it" in run(
        visits, "--target", "cost", "-k", 2, "--theory"
    )


def test_the_schema_is_written_beside_the_file_and_can_be_used(visits: Path, tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("x2 = 7\n")
    run(visits, "--target", "cost", "--prices", tmp_path / "prices.toml", "--ignore", "x9")
    schema = Schema.read(tmp_path / "visits.schema.toml")
    assert set(schema.ignored) == {"visit_id", "notes", "flag", "x9"}
    assert dict(zip(schema.names, schema.prices, strict=True))["x2"] == 7.0
    rows = pd.read_csv(visits)[list(schema.names)].to_numpy()
    assert np.nanmax(np.abs(schema.scale(rows))) == 1.0


def test_another_schema_in_its_place_is_kept(visits: Path, tmp_path: Path) -> None:
    place = tmp_path / "visits.schema.toml"
    place.write_text("# edited by hand\n")
    for _ in range(2):
        said = run(visits, "--target", "cost")
        assert "visits.schema.toml was there already and is kept" in said
        assert place.read_text() == "# edited by hand\n"
    assert "ranges written to" in run(visits, "--target", "cost", "--force")
    assert "x2" in Schema.read(place).names


@pytest.mark.parametrize(("name", "expected"), [("a.b.csv.gz", "a.b.schema.toml"), ("v.parquet", "v.schema.toml")])
def test_the_schema_is_called_after_the_file(name: str, expected: str, visits: Path, tmp_path: Path) -> None:
    table = pd.read_csv(visits)
    table.to_csv(tmp_path / name, index=False) if "csv" in name else table.to_parquet(tmp_path / name)
    run(tmp_path / name, "--target", "cost")
    assert (tmp_path / expected).exists()


def test_faults_of_the_user_are_one_sentence(visits: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column 'costs'; did you mean 'cost'"):
        run(visits, "--target", "costs")
    with pytest.raises(ConfigError, match="no such file"):
        run(tmp_path / "nothing.csv", "--target", "cost")
    with pytest.raises(ConfigError, match="cannot be written"):
        run(visits, "--target", "cost", "--schema", tmp_path / "no" / "such" / "folder.toml")
