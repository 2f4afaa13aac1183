"""Soak a server: clients that ask, predict, tell and open pages for a while, then what became of it.

    python scripts/soak.py [--minutes 60] [--clients 8] [--rate 8] [--store sqlite:///soak.db]

`make soak` runs it for an hour. Clients arrive at random: `--rate` rounds (of three calls) a second on average, all
together, so that the machine has time left and an ask is measured, not a queue.

Prints a table with a line per quarter: rounds, the median and the 99th percentile of an ask, and the memory of the
server process. Exit 1 where an acknowledged label is missing, or where the store is not sound. In a run of ten minutes
or more also where the memory of the last quarter exceeds that of the second by more than 5 %, or where p99 of an ask is
more than ten times its median; a shorter run is no measurement.
"""

import argparse
import http.client
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

import keyhole as kh  # noqa: E402
from keyhole.store.verify import check  # noqa: E402

NAMES = [f"test{i}" for i in range(12)]
LEARNERS = {"icu": "thrifty", "ward": "ds-oslrc", "clinic": "fixed-random"}
PAGES = ("/", "/learners/{}", "/learners/{}/figures", "/v1/learners/{}/rounds?limit=50", "/metrics", "/healthz")
QUARTERS = 4
# Seconds from which on memory and the time of an ask are judged.
MEASURED = 600.0


@dataclass
class Log:
    """What clients saw."""

    asks: list[tuple[float, float]] = field(default_factory=list)
    """(when, seconds) of each ask."""
    calls: list[float] = field(default_factory=list)
    told: list[tuple[str, str, float]] = field(default_factory=list)
    """Learner, key and label that were acknowledged."""
    faults: list[str] = field(default_factory=list)


def client(number: int, port: int, rate: float, start: float, end: float, log: Log) -> None:
    """One client: rounds at random moments, sometimes abandoned before the label, and sometimes a page."""
    chance = random.Random(number)
    remote = kh.connect(f"http://127.0.0.1:{port}")
    try:
        learners = {name: remote[name] for name in LEARNERS}
        i = 0
        while i == 0 or time.monotonic() < end:  # also where the machine was too busy to begin in time
            i += 1
            time.sleep(min(chance.expovariate(rate), max(0.0, end - time.monotonic())))
            name = chance.choice(list(LEARNERS))
            key = f"{number}-{i}"
            begun = time.monotonic()
            r = learners[name].ask(key=key)
            log.asks.append((begun - start, time.monotonic() - begun))
            values = {attribute: chance.uniform(-1, 1) for attribute in r.names}
            learners[name].predict(r, values)
            if chance.random() < 0.05:  # and its label comes all the same: a learner keeps every round without one
                learners[name].abandon(r)
            y = sum(values.values()) / len(NAMES)
            learners[name].tell(r, None, y)
            log.told.append((name, key, y))
            if chance.random() < 0.05:
                page(port, chance.choice(PAGES).format(name))
            log.calls.append(time.monotonic() - start)
    except Exception as fault:
        log.faults.append(f"client {number}: {type(fault).__name__}: {fault}")


def page(port: int, path: str) -> None:
    """A page, as a browser fetches it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != 200:
        raise RuntimeError(f"{path}: {answer.status}")


def memory(pid: int) -> float:
    """MB of resident memory of a process."""
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def watch(pid: int, start: float, end: float, found: list[tuple[float, float]]) -> None:
    """The memory of the server, again and again."""
    while time.monotonic() < end:
        found.append((time.monotonic() - start, memory(pid)))
        time.sleep(min(5.0, (end - start) / 200))


def soak(url: str, seconds: float, clients: int, rate: float) -> int:
    """Run it, print the table, and say whether it holds."""
    with kh.open_store(url) as store:
        for seed, (name, algorithm) in enumerate(LEARNERS.items()):
            store.create(name, algorithm, names=NAMES, k=4, seed=seed)
    words = [sys.executable, "-m", "keyhole.cli", "serve", "--store", url, "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment) as server:
        line = server.stdout.readline() if server.stdout else ""
        port = int(line.split()[2].rsplit(":", 1)[1])
        log, levels = Log(), list[tuple[float, float]]()
        start = time.monotonic()
        end = start + seconds
        each = rate / clients
        threads = [threading.Thread(target=client, args=(n, port, each, start, end, log)) for n in range(clients)]
        threads.append(threading.Thread(target=watch, args=(server.pid, start, end, levels)))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        server.terminate()
    return report(url, seconds, log, levels)


def report(url: str, seconds: float, log: Log, levels: list[tuple[float, float]]) -> int:
    """The table and the verdict."""
    print(f"{'quarter':8}{'rounds':>8}{'ask, median ms':>16}{'p99 ms':>9}{'memory MB':>11}")
    memories, faults = [], list(log.faults)
    for quarter in range(QUARTERS):
        low, high = seconds * quarter / QUARTERS, seconds * (quarter + 1) / QUARTERS
        asks = [1e3 * taken for when, taken in log.asks if low <= when < high] or [float("nan")]
        rounds = sum(low <= when < high for when in log.calls)
        memories.append(float(np.median([level for when, level in levels if low <= when < high] or [float("nan")])))
        median, p99 = np.quantile(asks, [0.5, 0.99])
        print(f"{quarter + 1:<8}{rounds:8}{median:16.2f}{p99:9.2f}{memories[-1]:11.1f}")
    asks = [taken for _, taken in log.asks]
    median, p99 = np.quantile(asks, [0.5, 0.99])
    measured = seconds >= MEASURED
    if measured and memories[3] > 1.05 * memories[1]:
        faults.append(f"the memory grew from {memories[1]:.1f} to {memories[3]:.1f} MB")
    if measured and p99 > 10 * median:
        faults.append(f"p99 of an ask is {1e3 * p99:.1f} ms, its median {1e3 * median:.1f} ms")
    with kh.open_store(url) as store:
        told = {name: {e.key: e.label for e in store[name].rounds("labelled")} for name in LEARNERS}
        lost = sum(told[name].get(key) != y for name, key, y in log.told)
        if lost:
            faults.append(f"{lost} acknowledged labels are missing")
        damage = [f"{verdict.name}: {fault}" for verdict in check(store.database) for fault in verdict.faults]
    state = "damaged" if damage else "sound"
    print(f"{len(log.told)} labels acknowledged, {lost} lost; the store is {state}")
    print(*faults, *damage, sep="\n")
    return int(bool(faults or damage))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--rate", type=float, default=8.0, help="rounds a second, of all clients together")
    parser.add_argument("--store", help="left out: a new SQLite file in a temporary folder")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return soak(given.store or f"sqlite:///{folder}/soak.db", 60 * given.minutes, given.clients, given.rate)


if __name__ == "__main__":
    sys.exit(main())
