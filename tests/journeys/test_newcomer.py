"""Journey 1: the demo, and the first words of help."""

import json
import re
import subprocess
import sys
from collections import Counter
from html import escape

import numpy as np
import pyarrow.parquet as pq
import pytest

from keyhole import data

from .conftest import environment


def test_the_demo_shows_what_money_buys_and_a_run_beside_its_comparisons(keyhole, tmp_path):
    out = keyhole("demo").stdout
    assert "3 912 people, 101 attributes. 99 come from 18 sources (things to order); age and female are free." in out
    assert "a row costs (USD)" in out  # the frontier
    assert "The next better basket is" in out
    lines = {line.split("  ")[0].strip(): line.split()[-4:] for line in out.splitlines()}
    assert lines["buy nothing (free columns only)"][2:] == ["0", "0.00"]
    assert lines["buy everything"][2:] == ["18", "174.00"]
    own, best = lines["thrifty, error cost 2"], lines["best 3 in hindsight"]
    assert best[2:] == ["3", "4.00"]
    assert float(own[3]) < 0.1 * 174
    assert best[0] == "-"  # nobody can play what is known only at the end
    assert float(best[1]) <= float(own[1])
    assert float(own[0]) < float(lines["buy everything"][0])
    assert any(name.startswith("random") for name in lines)  # savings never stand alone
    assert "bought most: " in out
    verdict = json.loads((tmp_path / "runs" / "demo" / "summary.json").read_text())["verdict"]
    assert "".join(f"\n {line}" for line in re.split(r"(?<=\.) (?=[A-Z])", verdict)) + "\n" in out
    assert verdict.startswith("Buy ")
    _advice_is_of_what_is_bought(tmp_path / "runs" / "demo")
    # No basket leaves less than the best one at its price.
    levels = re.findall(r"^ +\d+\.\d\d +([\d.]+) +([\d.]+)\*? ", out, re.MULTILINE)
    assert len(levels) >= 4
    assert all(float(best) <= float(error) for error, best in levels)
    page = (tmp_path / "runs" / "demo" / "report.html").read_text()
    headline = verdict[: verdict.index(". ") + 1]
    assert f'class="advice">{escape(headline)}<' in page  # the same sentence first
    assert "://" not in re.sub(r"http://www.w3.org/[0-9a-z/]+", "", page)  # nothing from outside
    assert page.index("What money buys") < page.index("Typical error over time")
    _again(keyhole, tmp_path / "runs" / "demo", page)


def _advice_is_of_what_is_bought(folder):
    """The basket of the last tenth of the rows, its price and its error, from the records and the data alone."""
    summary = json.loads((folder / "summary.json").read_text())
    rounds = pq.read_table(folder / "rounds.parquet").to_pydict()
    source = {name: facts["source"] for name, facts in summary["attributes"].items()}
    late = [frozenset(source[name] for name in bought) for bought in rounds["bought"][-391:]]
    (common, times), *_ = Counter(late).most_common()
    assert times > 391 / 2
    assert set(summary["basket"]) == common
    advised = re.match(r"Buy (.+?): ([\d.]+) USD a row, typical error ([\d.]+) points in hindsight", summary["verdict"])
    names = re.split(", | and ", advised[1])
    assert set(names) <= common
    assert float(advised[2]) == sum(summary["sources"][name]["price"] for name in names)
    people = data.load("nhanes-panels", fill=False)
    columns = [people.names.index(name) for name in source if source[name] in names or name in people.free]
    X, y, n = people.X[:, columns], people.y, people.y.size
    V = np.column_stack([np.ones(n), np.where(np.isnan(X), np.nanmean(X, axis=0), X)])
    mse = np.mean((y - V @ np.linalg.lstsq(V, y, rcond=None)[0]) ** 2)
    error = np.sqrt(mse * (n + V.shape[1]) / (n - V.shape[1]))
    assert float(advised[3]) == pytest.approx(error, abs=0.006)


def _again(keyhole, out, page):
    """A demo replaces its own files and no others."""
    mine = ("notes.txt", "figures/mine.svg", "journal/diary.txt")
    (out / "journal").mkdir()
    for name in mine:
        (out / name).write_text("precious")
    (out / "rounds.parquet").unlink()
    keyhole("demo", "--error-cost", "0.5")
    assert {(out / name).read_text() for name in mine} == {"precious"}
    assert (out / "rounds.parquet").exists()
    assert (out / "report.html").read_text() != page


@pytest.mark.parametrize("command", ["demo", "run", "predict", "frontier", "compare", "diagnose", "algorithms"])
def test_each_command_has_help_with_an_example(typed, command):
    code, out, _ = typed(command, "--help")
    assert code == 0
    assert f"Example: keyhole {command}" in " ".join(out.split())


def test_without_its_libraries_the_command_says_how_to_install_them():
    code = "import sys; sys.modules['typer'] = None; from keyhole.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("pip install 'keyhole[cli]'")
