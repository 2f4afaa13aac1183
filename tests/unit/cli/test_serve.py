"""`keyhole serve`, `store` and `token` as they are typed."""

import subprocess
import sys
import urllib.request

import pytest

import keyhole as kh

from ...journeys.conftest import COMMAND, environment, typed  # noqa: F401
from ...journeys.test_sharing import Server
from ..store.play import create, play


@pytest.fixture
def ward(sqlite_url):
    with kh.open_store(sqlite_url) as store:
        play(create(store), 0, 3)
        store["icu"].ask(key="open")
    return sqlite_url


def test_check_says_what_it_found(typed, ward):  # noqa: F811
    code, out, _ = typed("store", "check", ward)
    assert code == 0
    assert "icu: 10 events: as recorded" in out
    with kh.open_store(ward) as store, store.database.writing() as connection:
        connection.run("UPDATE keyhole_events SET at = 0 WHERE number = 4")
    code, out, err = typed("store", "check", ward)
    assert code == 2
    assert "event 4 was changed" in out
    assert err == "keyhole: 1 learner(s) do not match their recorded events; restore the store from a backup\n"


def test_nothing_is_looked_after_that_is_not_there(typed, tmp_path):  # noqa: F811
    for words in (("check",), ("export", "--out", "out")):
        code, _, err = typed("store", words[0], f"sqlite:///{tmp_path}/none.db", *words[1:])
        assert code == 2
        assert "there is no store" in err
    assert list(tmp_path.iterdir()) == []


def test_export_and_import(typed, ward, tmp_path):  # noqa: F811
    assert typed("store", "export", ward, "--out", "out")[:2] == (0, " 10 events in out\n")
    code, out, _ = typed("store", "import", f"sqlite:///{tmp_path}/copy.db", "out")
    assert (code, out) == (0, " 10 events came in\n")
    assert typed("store", "check", f"sqlite:///{tmp_path}/copy.db")[0] == 0


def test_tokens(typed, ward):  # noqa: F811
    code, token, _ = typed("token", "create", "--store", ward, "--learner", "icu", "--may", "ask, read")
    assert code == 0
    assert token.startswith("kh_")
    listed = typed("token", "list", "--store", ward)[1]
    assert "icu  ask,read" in listed
    assert token.strip() not in listed
    assert typed("token", "revoke", "--store", ward, token.split("_")[1])[0] == 0
    assert typed("token", "list", "--store", ward)[1] == ""
    for words in (("--may", "fly"), ("--learner", "nobody"), ("--learner", "icu", "--may", "create")):
        assert typed("token", "create", "--store", ward, *words)[0] == 2


def test_serve_refuses_what_would_be_open_to_everybody(typed, ward):  # noqa: F811
    code, _, err = typed("serve", "--store", ward, "--host", "0.0.0.0")
    assert code == 2
    assert "the store has no token; make one with: keyhole token create" in err
    assert err.count("\n") == 1
    assert typed("serve", "--store", ward, "--auth")[0] == 2
    assert typed("serve", "--store", ward, "--demo")[0] == 2
    assert typed("serve", "--store", "ward.db")[0] == 2


def test_who_has_a_token_or_says_so_may_be_reached_from_elsewhere(typed, ward, monkeypatch):  # noqa: F811
    settings = []
    monkeypatch.setattr("keyhole.service.server.run", lambda *words: settings.append(words[0]))
    assert typed("serve", "--store", ward, "--host", "0.0.0.0", "--no-auth")[0] == 0
    assert typed("token", "create", "--store", ward)[0] == 0
    assert typed("serve", "--store", ward, "--host", "0.0.0.0")[0] == 0
    assert typed("serve", "--store", ward)[0] == 0
    assert [(s.auth, s.local) for s in settings] == [(False, False), (True, False), (False, True)]


def test_a_taken_port_is_said_in_one_sentence(typed, ward):  # noqa: F811
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = typed("serve", "--store", ward, "--port", taken.getsockname()[1])
    assert code == 2
    assert "choose another --port" in err


def test_it_says_where_it_is_and_ends_when_told(ward):
    server = Server(ward)
    try:
        with urllib.request.urlopen(f"{server.address}/") as page:
            assert "icu" in page.read().decode()
    finally:
        server.stop()
    assert server.process.returncode in (0, -15)


def test_it_is_up_soon(ward):
    """Counted, because seconds depend on the machine: 1584 modules when this was written."""
    code = (
        "import sys; from keyhole.service.app import create_app; from keyhole.service.server import Settings\n"
        "create_app(Settings(sys.argv[1])); print(len(sys.modules), *sys.modules)"
    )
    line = [sys.executable, "-c", code, ward]
    n, *modules = subprocess.run(line, env=environment(), capture_output=True, text=True, check=True).stdout.split()
    assert not {"pandas", "polars", "sklearn", "vl_convert", "dask", "matplotlib"} & set(modules)
    assert int(n) < 2000


def test_the_line_says_what_there_is(ward):
    words = [*COMMAND, "serve", "--store", ward, "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        line = process.stdout.readline()
        process.terminate()
    assert line.startswith(f" keyhole {kh.__version__}: http://127.0.0.1:")
    assert line.endswith("   1 learner, 1 open round\n")


def test_the_demo_has_something_to_look_at(sqlite_url):
    from keyhole.service.demo_store import fill
    from keyhole.store.verify import check

    said = []
    fill(sqlite_url, said.append, rows=25)
    fill(sqlite_url, said.append, rows=25)
    assert len(said) == 1
    with kh.open_store(sqlite_url) as store:
        icu = store["nhanes-panels"]
        totals = icu.totals()
        assert (totals.n_asked, totals.n_labels, totals.n_open) == (25, 20, 5)
        assert totals.spent > 0
        assert set(icu.config["options"]) == {"sources", "free", "prices", "error_cost"}  # as `keyhole demo` plays it
        assert icu.note == {"label": "trunk_fat", "unit": "%", "currency": "USD"}
        assert all(v.good for v in check(store.database))
    assert "serve --demo" in (sys.modules["tests.journeys.conftest"].Path(__file__).parents[3] / "Makefile").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="no such kill")
def test_workers_do_not_outlive_a_killed_supervisor(ward):
    """They would hold its port for ever, and its output open."""
    server = Server(ward, "--workers", "2")
    with urllib.request.urlopen(f"{server.address}/healthz") as answer:
        assert answer.status == 200
    server.process.kill()
    server.process.communicate(timeout=600)  # ends once nobody holds the pipe
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(f"{server.address}/healthz", timeout=300)


def test_the_help_says_where_the_store_is_without_one(typed):  # noqa: F811
    code, out, _ = typed("serve", "--help")
    assert code == 0
    assert "keyhole.db in the current folder" in " ".join(out.replace("│", " ").split())


def test_a_file_that_is_no_model_is_named(typed, tmp_path):  # noqa: F811
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    code, _, err = typed("serve", "--store", f"sqlite:///{tmp_path}/s.db", "--model", "a.csv")
    assert (code, err.count("\n")) == (2, 1)
    assert err.startswith("keyhole: a.csv: this is not a keyhole file")
