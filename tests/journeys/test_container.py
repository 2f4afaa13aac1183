"""The Containerfile's steps as a script, for machines without a builder; and the recipes of backup and restore."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

import keyhole as kh
from keyhole.store.verify import check

from ..unit.store.play import create, play, row, seen
from .conftest import COMMAND, environment
from .test_sharing import Server

ROOT = Path(__file__).parents[2]
FILE = (ROOT / "Containerfile").read_text(encoding="utf-8")


def steps(word):
    return [line.removeprefix(word).strip() for line in FILE.splitlines() if line.startswith(word + " ")]


def test_the_container_is_unprivileged_and_watched():
    assert any("[serve]" in step for step in steps("RUN"))
    assert steps("USER") == ["keyhole"]
    assert "healthz" in steps("HEALTHCHECK")[0]


def test_what_the_container_runs_asks_for_a_token_and_then_answers(tmp_path):
    entry, words = json.loads(steps("ENTRYPOINT")[0]), json.loads(steps("CMD")[0])
    assert entry == ["keyhole"]
    assert words[:2] == ["serve", "--store"]
    words = [word.replace("sqlite:////data", f"sqlite:///{tmp_path}") for word in words]
    refused = subprocess.run([*COMMAND, *words], env=environment(), capture_output=True, text=True, timeout=600)
    assert refused.returncode == 2
    assert "keyhole token create" in refused.stderr
    store = words[2]
    subprocess.run([*COMMAND, "token", "create", "--store", store], env=environment(), check=True, capture_output=True)
    # Tests listen on the loopback address only; --auth is what the other address would bring.
    server = Server(store, "--auth")
    try:
        assert urllib.request.urlopen(f"{server.address}/healthz").status == 200
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{server.address}/v1/learners")
    finally:
        server.stop()


@pytest.mark.slow
def test_the_steps_of_the_container_work_from_nothing(tmp_path):
    """As a builder would: a wheel of this folder, a new environment with it, serve."""
    if shutil.which("git") is None:
        pytest.skip("no git to copy the sources with")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    path = f"{tmp_path / 'env' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | {"PATH": path}
    for step in steps("RUN"):
        if "useradd" not in step and "apt-get" not in step:
            here = step.replace("/src", str(ROOT)).replace("/wheels", f"{tmp_path}/wheels")
            subprocess.run(["bash", "-ec", here], env=clean, check=True, cwd=tmp_path)
    words = ["keyhole", "serve", "--store", f"sqlite:///{tmp_path}/store.db", "--port", "0"]
    process = subprocess.Popen(words, env=clean, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().split()[2]
        assert urllib.request.urlopen(f"{address}/healthz").status == 200
        icu = kh.connect(address).create("icu", "thrifty", d=6, k=2, seed=0)
        assert icu.ask().index == 1
    finally:
        process.terminate()
        process.communicate()


def test_a_backup_while_it_is_used_is_sound_and_goes_on(tmp_path):
    recipe = re.search(r"python -c \"(import sqlite3.*)\"", (ROOT / "docs/recipes/operate.md").read_text())[1]
    with kh.open_store(f"sqlite:///{tmp_path}/ward.db") as store:
        icu = create(store)
        stop = threading.Event()

        def use():
            i = 0
            while not stop.is_set():
                play(icu, i, i + 1)
                i += 1

        thread = threading.Thread(target=use)
        thread.start()
        while icu.totals().n_labels < 5:
            time.sleep(0.01)
        subprocess.run([sys.executable, "-c", recipe], cwd=tmp_path, check=True)
        stop.set()
        thread.join()
        told = icu.totals().n_labels
    # the disaster, and the restore as the recipe says
    with sqlite3.connect(tmp_path / "backup.db") as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for rest in ("ward.db-wal", "ward.db-shm"):
        (tmp_path / rest).unlink(missing_ok=True)
    (tmp_path / "backup.db").replace(tmp_path / "ward.db")
    with kh.open_store(f"sqlite:///{tmp_path}/ward.db") as store:
        assert [v.faults for v in check(store.database)] == [[]]
        icu = store["icu"]
        assert 5 <= icu.totals().n_labels <= told
        for i in range(told):  # everybody tells again what they still have
            r = icu.ask(key=f"patient-{i}")
            icu.tell(r, seen(r, i), row(i)[1])
        assert icu.totals().n_labels == told
        assert [v.faults for v in check(store.database)] == [[]]
