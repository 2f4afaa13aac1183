"""The store beside bare durable commits, and the service beside an endpoint that only commits; one process each.

python benchmarks/store.py [--rounds 300] [--d 20] [--k 4] [--folder DIR]

Ratios, medians over rounds, the two sides alternating in one run: ask + predict + tell through the store against three
commits of the same bytes by `sqlite3` itself (write-ahead log, synchronous=FULL), and the same through HTTP against a
FastAPI endpoint that only commits. Then the cost of a round early and late in a long history.
"""

import argparse
import http.client
import json
import socket
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import uvicorn
from fastapi import FastAPI, Request

import keyhole as kh
from keyhole.service.app import create_app
from keyhole.service.settings import Settings

Round = Callable[[int], None]


def bare(folder: Path) -> sqlite3.Connection:
    """A table for texts, as durable as the store."""
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, body TEXT)")
    return connection


def commit(connection: sqlite3.Connection, body: str) -> None:
    """One durable commit."""
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO bodies (body) VALUES (?)", (body,))
    connection.execute("COMMIT")


def bodies(icu: object) -> list[str]:
    """What the store wrote for the last round: the same bytes go into the bare commits."""
    return [event.body for event in icu.events(icu.head - 3, 3)]  # type: ignore[attr-defined]


def store_round(icu: object, seed: int) -> Round:
    """ask + predict + tell."""
    rng = np.random.default_rng(seed)

    def play(i: int) -> None:
        r = icu.ask(key=f"{seed}-{i}")  # type: ignore[attr-defined]
        x = rng.uniform(-1, 1, len(r.names))
        icu.predict(r, x)  # type: ignore[attr-defined]
        icu.tell(r, x, float(x.sum()))  # type: ignore[attr-defined]

    return play


def http_round(address: str, seed: int) -> Round:
    """The same three calls over one connection, as little Python as possible on this side."""
    connection = http.client.HTTPConnection(address)
    rng = np.random.default_rng(seed)

    def post(path: str, body: object) -> dict[str, object]:
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        found: dict[str, object] = json.loads(connection.getresponse().read())
        return found

    def play(i: int) -> None:
        r = post("/v1/learners/icu/rounds", {"key": f"{seed}-{i}"})
        x = dict.fromkeys(r["attributes"], float(rng.uniform(-1, 1)))  # type: ignore[call-overload]
        post(f"/v1/rounds/{r['id']}/prediction", {"values": x})
        post(f"/v1/rounds/{r['id']}/label", {"y": sum(x.values())})

    return play


def committing(folder: Path) -> FastAPI:
    """An endpoint that only commits what it is sent."""
    app, connection, lock = FastAPI(), bare(folder), threading.Lock()

    @app.post("/commit")
    async def endpoint(request: Request) -> dict[str, bool]:
        body = (await request.body()).decode()
        with lock:
            commit(connection, body)
        return {"done": True}

    return app


@contextmanager
def served(app: FastAPI) -> Iterator[str]:
    """host:port of a server in a thread of this process."""
    # Said to be TCP in so many words, or asyncio does not switch off the delay of small packets: 40 ms a call.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield "127.0.0.1:" + str(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join()


def alternate(ours: Round, theirs: Round, rounds: int) -> tuple[float, float]:
    """Median seconds of each, in turns; the first few only warm up."""
    taken: tuple[list[float], list[float]] = ([], [])
    for i in range(rounds + 10):
        for side, play in enumerate((ours, theirs)):
            start = perf_counter()
            play(i)
            if i >= 10:
                taken[side].append(perf_counter() - start)
    return median(taken[0]), median(taken[1])


def show(name: str, ours: float, theirs: float, limit: float) -> None:
    """One line of the table."""
    print(f"{name:42}{1e3 * ours:9.2f} ms{1e3 * theirs:9.2f} ms{ours / theirs:8.2f}   (at most {limit:g})")


def compare(folder: Path, rounds: int, d: int, k: int) -> None:
    """Both ratios, and early against late."""
    settings = Settings(f"sqlite:///{folder}/store.db")
    app = create_app(settings)
    icu = app.state.store.create("icu", "thrifty", names=[f"x{i}" for i in range(d)], k=k, prices=[1.0] * d, seed=0)
    play = store_round(icu, 0)
    play(-1)
    texts, connection = bodies(icu), bare(folder)

    def three(_: int) -> None:
        for text in texts:
            commit(connection, text)

    print(f"{rounds} rounds, d = {d}, k = {k}; medians, in turns")
    print(f"{'':42}{'ours':>12}{'bare':>12}{'ratio':>8}")
    show("ask + predict + tell, store", *alternate(play, three, rounds), 4.0)
    with served(app) as here, served(committing(folder)) as there:
        other = http.client.HTTPConnection(there)

        def three_posts(_: int) -> None:
            for text in texts:
                other.request("POST", "/commit", text)
                other.getresponse().read()

        show("ask + predict + tell, HTTP", *alternate(http_round(here, 1), three_posts, rounds), 3.0)
    early, late = growth(folder, d, k)
    show("CPU of a round after 3000 others / at first", late, early, 1.5)


def growth(folder: Path, d: int, k: int) -> tuple[float, float]:
    """CPU seconds of a round at the beginning and after 3000 rounds."""
    with kh.open_store(f"sqlite:///{folder}/long.db") as store:
        icu = store.create("long", "fixed-random", d=d, k=k, seed=0)  # whose own work is the same in every round
        play = store_round(icu, 2)

        def timed(first: int) -> float:
            taken = []
            for i in range(first, first + 100):
                start = process_time()
                play(i)
                taken.append(process_time() - start)
            return median(taken)

        for i in range(20):
            play(-1 - i)
        early = timed(0)
        rng = np.random.default_rng(3)

        def many(desk: object) -> None:
            for i in range(3000):
                _, r = desk.ask(f"many-{i}", None, None)  # type: ignore[attr-defined]
                x = rng.uniform(-1, 1, len(r.names))
                desk.predict(r, x)  # type: ignore[attr-defined]
                desk.tell(r, x, float(x.sum()), None, None)  # type: ignore[attr-defined]

        icu.transact(many)
        return early, timed(100)


def main() -> None:
    """Compare in a temporary folder, on the disk that is asked about."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"rounds": 300, "d": 20, "k": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--folder", type=Path, help="where the files go; left out: the system's temporary folder")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        compare(Path(name), asked.rounds, asked.d, asked.k)


if __name__ == "__main__":
    main()
