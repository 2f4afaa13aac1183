"""`keyhole diagnose` as a user types it, on files with the faults of real ones."""

from pathlib import Path

import numpy as np
import pytest

from keyhole.data.streams import DataError, Schema
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
    assert "13 attributes outside [-1, 1]" in said
    assert "with a random 2 -> choosing matters" in said
    assert "best 2 found: x2, x7 (none are better)" in said
    assert "interchangeable (correlation 0.95 or more): x4, twin" in said
    assert "compatibility constant of the best-2 support" in said


def test_it_says_which_of_the_papers_conditions_hold(visits: Path) -> None:
    lines = run(visits, "--target", "cost", "-k", 2).splitlines()
    said = {line.split(")")[0].strip(" ("): line for line in lines if line.startswith(" (")}
    assert list(said) == ["a", "b", "c", "d", "e", "f", "g", "i"]
    assert "nothing against it" in said["a"]  # linear in two columns, with Gaussian noise, in no order
    assert "nothing against it" in said["f"]
    assert "nothing against it" in said["i"]
    assert "smallest eigenvalue" in said["c"]  # of twins: none
    assert float(said["c"].split()[-1]) < 1e-9
    assert any("the paper's conditions, for these 2 of 13 attributes: delta_S = " in line for line in lines)


def test_rows_in_an_order_are_spoken_against(visits: Path) -> None:
    pd.read_csv(visits).sort_values("x1").to_csv(visits, index=False)
    assert "(i) i.i.d. rows [checkable: refutable]: spoken against" in run(visits, "--target", "cost", "-k", 2)


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
    with pytest.raises(DataError, match="no such file"):
        run(tmp_path / "nothing.csv", "--target", "cost")
    with pytest.raises(ConfigError, match="cannot be written"):
        run(visits, "--target", "cost", "--schema", tmp_path / "no" / "such" / "folder.toml")
    lines = visits.read_text().splitlines()
    lines[2001] = lines[2001].replace(lines[2001].split(",")[3], "n.a.")
    visits.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"visits\.csv: row 2001 .*column 'x2': 'n\.a\.' is not a number"):
        run(visits, "--target", "cost")
