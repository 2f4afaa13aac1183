"""Many processes on one store, killed at random: what was acknowledged is in, exactly once."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

import keyhole as kh

from . import sharing
from .conftest import environment

CONTEXT = multiprocessing.get_context("forkserver") if sys.platform != "win32" else None
if CONTEXT is not None:
    CONTEXT.set_forkserver_preload(["tests.journeys.warmed"])


def start(url, n, folder, threads=4):
    process = CONTEXT.Process(target=sharing.work, args=(url, n, str(folder), threads))
    process.start()
    return process


def lines(folder):
    path = folder / "acknowledged"
    return path.read_bytes().count(b"]\n") if path.exists() else 0


def play_with_kills(url, folder, processes, kills, seed):
    """Let processes work, kill one at random again and again, and let the rest end in peace."""
    chance = random.Random(seed)
    with kh.open_store(url) as store:
        sharing.prepare(store)
        running = [start(url, n, folder) for n in range(processes)]
        try:
            for count in range(processes, processes + kills):
                before = lines(folder)
                sharing.wait_until(lambda least=before: lines(folder) > least + 2)  # it goes on between the kills
                time.sleep(chance.uniform(0, 0.05))
                i = chance.randrange(processes)
                os.kill(running[i].pid, signal.SIGKILL)
                running[i].join()
                running[i] = start(url, count, folder)
            (folder / "stop").touch()
            for process in running:
                process.join(600)
            assert [process.exitcode for process in running] == [0] * processes
        finally:
            for process in running:
                process.kill()
        return sharing.proven(store, folder)


def test_killed_processes_lose_nothing(url, tmp_path):
    assert play_with_kills(url, tmp_path, processes=3, kills=5, seed=0) > 12


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_two_hundred_killed_processes_lose_nothing(url, tmp_path, seed):
    assert play_with_kills(url, tmp_path, processes=8, kills=100, seed=seed) > 300


class Server:
    """`keyhole serve` that can be killed and started again on the same port."""

    def __init__(self, url, *words, log=None):
        self.words, self.port = [sys.executable, "-m", "keyhole.cli", "serve", "--store", url, *words], 0
        self.log = log
        self.start()

    def start(self):
        words = [*self.words, "--port", str(self.port)]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=self.log, text=True, env=environment())
        line = self.process.stdout.readline()
        assert "http://127.0.0.1:" in line, line
        self.address = line.split()[2]
        self.port = int(self.address.rsplit(":", 1)[1])

    def kill(self):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        self.process.terminate()
        self.process.communicate(timeout=300)


def serve_with_kills(url, folder, threads, kills, words=()):
    """Clients that try again, while the server is killed under them."""
    with kh.open_store(url) as store:
        sharing.prepare(store)
        server = Server(url, *words)
        stop, done, faults = threading.Event(), [], []

        def patiently(call, *arguments, **more):
            while True:
                try:
                    return call(*arguments, **more)
                except ConnectionError:
                    if stop.is_set() and server.process.poll() is not None:
                        raise

        def loop(n):
            remote, chance = kh.connect(server.address, timeout=120), random.Random(n)
            try:
                learners = [patiently(remote.__getitem__, name) for name in sharing.LEARNERS]
                for i in range(10**9):
                    if stop.is_set():
                        return
                    learner = chance.choice(learners)
                    r = patiently(learner.ask, key=f"{n}-{i}")
                    x, y = sharing.values(learner.name, r), sharing.number(learner.name, r.index, "y")
                    patiently(learner.predict, r, x)
                    patiently(learner.tell, r, None, y)
                    done.append((learner.name, r.index, f"{n}-{i}", y))
            except BaseException as fault:
                faults.append(fault)

        def more_are_done():
            """Labels are acknowledged, by clients that are all there."""
            before = len(done)
            sharing.wait_until(lambda: faults or len(done) > before + 8)
            assert faults == []

        running = [threading.Thread(target=loop, args=(n,)) for n in range(threads)]
        try:
            for thread in running:
                thread.start()
            for _ in range(kills):
                more_are_done()
                server.kill()
                server.start()
            more_are_done()
        finally:
            stop.set()
            for thread in running:
                thread.join(300)
            server.stop()
        assert faults == []
        (folder / "acknowledged").write_text("".join(f"{sharing.json.dumps(line)}\n" for line in done))
        assert all(store[n].totals().n_asked <= store[n].totals().n_labels + threads for n in sharing.LEARNERS)
        return sharing.proven(store, folder)


def test_a_killed_server_loses_nothing_and_asks_nothing_twice(sqlite_url, tmp_path):
    assert serve_with_kills(sqlite_url, tmp_path, threads=3, kills=1) > 16


@pytest.mark.slow
def test_a_server_that_is_killed_ten_times_loses_nothing(url, tmp_path):
    words = () if url.startswith("sqlite") else ("--workers", "3")
    assert serve_with_kills(url, tmp_path, threads=8, kills=10, words=words) > 80
