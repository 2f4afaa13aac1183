"""The store beside bare durable commits, and the service beside an endpoint that only commits; one process each.

python benchmarks/store.py [--blocks 30] [--rounds 10] [--d 20] [--k 4] [--folder DIR ...]

ask + predict + tell through the store against three commits of the same bytes by `sqlite3` itself (write-ahead log,
synchronous=FULL), and the same through HTTP against a FastAPI endpoint that only commits. Both sides play blocks of
rounds in turns, first one, then the other, so that a disk or a neighbour that is slow for a while is slow for both; a
ratio is that of two blocks beside each other, and the table has their median and the tenths at both ends. CPU seconds
(of this process, the system's work for it included) do not depend on the disk's mood.

On a folder in memory nothing is durable: its ratio says what the store does beside writing, and has no limit.
Then the cost of a round early and late in a long history.
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
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
import uvicorn
from fastapi import FastAPI, Request

import keyhole as kh
from keyhole.service.app import create_app
from keyhole.service.server import Settings

Round = Callable[[int], None]


def bare(folder: Path) -> sqlite3.Connection:
    """A table for texts, as durable as the store.

    Its log has gone round once before anything is timed, like that of the store: a file that grows is slower to sync.
    """
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    connection.execute("CREATE TABLE IF NOT EXISTS bodies (number INTEGER PRIMARY KEY, body TEXT)")
    for _ in range(1200):
        commit(connection, "x" * 500)
    connection.execute("PRAGMA synchronous=FULL")
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


@dataclass
class Taken:
    """What the blocks of one side took: seconds and CPU seconds per round."""

    blocks: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def play(self, play: Round, first: int, rounds: int) -> None:
        """One block."""
        start, cpu = perf_counter(), process_time()
        for i in range(first, first + rounds):
            play(i)
        self.blocks.append((perf_counter() - start) / rounds)
        self.cpu.append((process_time() - cpu) / rounds)


def alternate(ours: Round, theirs: Round, blocks: int, rounds: int) -> tuple[Taken, Taken]:
    """Blocks in turns, and who is first in turns too; what comes before only warms up."""
    for i in range(-60, 0):
        ours(i), theirs(i)
    sides = (Taken(), Taken())
    for block in range(blocks):
        turn = ((sides[0], ours), (sides[1], theirs))
        for taken, play in turn if block % 2 else turn[::-1]:
            taken.play(play, block * rounds, rounds)
    return sides


def show(name: str, ours: Taken, theirs: Taken, limit: float | None) -> None:
    """One line of the table."""
    ratios = np.array(ours.blocks) / np.array(theirs.blocks)
    low, mid, high = np.quantile(ratios, [0.1, 0.5, 0.9])
    cells = [f"{1e3 * median(side.blocks):8.2f}" for side in (ours, theirs)]
    cells += [f"{mid:8.2f}" + f"({low:.2f}-{high:.2f})".rjust(15)]
    cells += [f"{1e3 * median(side.cpu):8.2f}" for side in (ours, theirs)]
    cells += [f"{median(ours.cpu) / median(theirs.cpu):7.2f}", "" if limit is None else f"   at most {limit:g}"]
    print(f"{name:8}" + "".join(cells))


def compare(folder: Path, asked: argparse.Namespace, durable: bool) -> None:
    """Both ratios, and early against late."""
    d, k, size = asked.d, asked.k, (asked.blocks, asked.rounds)
    app = create_app(Settings(f"sqlite:///{folder}/store.db"))
    icu = app.state.store.create("icu", "thrifty", names=[f"x{i}" for i in range(d)], k=k, prices=[1.0] * d, seed=0)
    play = store_round(icu, 0)
    play(-99)  # imports
    texts, connection = bodies(icu), bare(folder)

    def three(_: int) -> None:
        for text in texts:
            commit(connection, text)

    where = "" if durable else "; in memory, nothing is durable"
    print(f"{folder.parent}: ask + predict + tell, {size[0]} x {size[1]} rounds, d = {d}, k = {k}; ms a round{where}")
    print(f"{'':8}{'ours':>8}{'bare':>8}{'ratio':>8}{'(10-90 %)':>15}{'CPU':>8}{'bare':>8}{'ratio':>7}")
    show("store", *alternate(play, three, *size), 4.0 if durable else None)
    with served(app) as here, served(committing(folder)) as there:
        other = http.client.HTTPConnection(there)

        def three_posts(_: int) -> None:
            for text in texts:
                other.request("POST", "/commit", text)
                other.getresponse().read()

        show("HTTP", *alternate(http_round(here, 1), three_posts, *size), 3.0 if durable else None)
    early, late = growth(folder, d, k)
    print(f"a round after 3000 others: {1e3 * late:.2f} ms CPU, at first {1e3 * early:.2f}: {late / early:.2f}", end="")
    print("   at most 1.5\n")


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

        def many(transaction: object) -> None:
            for i in range(3000):
                r = transaction.ask(f"many-{i}")  # type: ignore[attr-defined]
                x = rng.uniform(-1, 1, len(r.names))
                transaction.predict(r, x)  # type: ignore[attr-defined]
                transaction.tell(r, x, float(x.sum()))  # type: ignore[attr-defined]

        icu.transact(many)
        return early, timed(100)


def main() -> None:
    """Compare in temporary folders, on each disk that is asked about."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in {"blocks": 30, "rounds": 10, "d": 20, "k": 4}.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    words = "where the files go; left out: the system's temporary folder, and one in memory"
    parser.add_argument("--folder", type=Path, nargs="*", help=words)
    asked = parser.parse_args()
    memory = Path("/dev/shm")
    for parent in asked.folder or [Path(tempfile.gettempdir()), *([memory] if memory.is_dir() else [])]:
        with tempfile.TemporaryDirectory(dir=parent) as name:
            compare(Path(name), asked, durable=not parent.is_relative_to(memory))


if __name__ == "__main__":
    main()
