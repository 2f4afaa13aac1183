"""Attack keyhole with seeded nonsense for some minutes: `make fuzz`, or

    python scripts/fuzz.py [--minutes 10] [--only files,rounds] [--state build/fuzz.json]

Every target has a process of its own that lives as long as it survives; they take turns. The next run goes on behind
the last number. A find (an exception that is not ours, a changed state, a wrong result, a crash, more than 10 s) is
printed, and its input is written to build/finds/: `python scripts/fuzz.py --again build/finds/files-1234.json` tries it
again, and moved to tests/fuzz/corpus/ it is tried by `make test` for ever.

Exit 1 where there was a find, or where a target had fewer than 2 000 attempts in ten minutes; another length scales
that number.
"""

import argparse
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
FINDS = ROOT / "build" / "finds"

# Attempts of each target in a run of a minute.
LEAST = 200.0
# Seconds of one turn; of work that one attempt may take; of silence after which a process is ended (a loaded machine
# works little in them, and a kernel that hangs hears no signal); and of its first attempts, which import everything.
TURN, PATIENCE, SILENCE, STARTING = 10.0, 10.0, 120.0, 120.0


def drawn(target: str, number: int) -> dict[str, Any]:
    """The case of this number."""
    from tests.fuzz.drawing import DRAWN

    case: dict[str, Any] = DRAWN[target](np.random.default_rng([9, number]))
    return case


def _hang(number: int, frame: object) -> None:
    raise TimeoutError(f"more than {PATIENCE:g} s of work")


def attempt(target: str, case: dict[str, Any]) -> str:
    """The word of one case, or "FOUND ...": work is watched by the processor's clock."""
    from tests.fuzz.targets import TARGETS, quietly

    printed: list[str] = []
    sys.unraisablehook = lambda seen: printed.append(str(seen.exc_value))  # a traceback that nobody can catch
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        with quietly():
            word = TARGETS[target](case)
    except BaseException as fault:
        return f"FOUND {type(fault).__name__}: {str(fault)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return f"FOUND printed: {printed[0]}" if printed else word


def live(target: str, wire: Connection) -> None:
    """A target's process: gets a number to begin with, plays one turn, and says each number before it is tried."""
    from tests.fuzz.targets import TARGETS, quietly

    for number in range(-1, -9, -1):  # attempts that do not count: to import is no hang
        with suppress(Exception), quietly():
            TARGETS[target](drawn(target, 10**9 - number))
    signal.signal(signal.SIGPROF, _hang)
    wire.send("ready")
    while True:
        number, end = wire.recv(), time.monotonic() + TURN
        while time.monotonic() < end:
            wire.send(number)
            wire.send(attempt(target, drawn(target, number)))
            number += 1
        wire.send("over")


class Target:
    """A target's process, its tally, and where it stands."""

    def __init__(self, name: str, first: int) -> None:
        self.name, self.number, self.tally = name, first, Counter[str]()
        self.finds: list[str] = []
        self._process: Any = None

    def _started(self) -> None:
        context = get_context("spawn")
        self._wire, theirs = context.Pipe()
        self._process = context.Process(target=live, args=(self.name, theirs), daemon=True)
        self._process.start()
        theirs.close()
        if not self._wire.poll(STARTING) or self._wire.recv() != "ready":
            raise RuntimeError(f"{self.name}: its first attempts did not end")

    def turn(self) -> None:
        """Some seconds of attempts; a process that dies or falls silent is a find, and another one goes on."""
        if self._process is None:
            self._started()
        self._wire.send(self.number)
        while True:
            try:
                word = self._wire.recv() if self._wire.poll(SILENCE) else "HANG"
            except EOFError:
                word = "CRASH"
            if word == "over":
                return
            if isinstance(word, int):
                self.number = word
                continue
            self._booked(word)
            if word in ("HANG", "CRASH"):
                self.end()
                self.number += 1
                return

    def _booked(self, word: str) -> None:
        self.tally[word.split()[0]] += 1
        if word.split()[0] in ("FOUND", "HANG", "CRASH"):
            FINDS.mkdir(parents=True, exist_ok=True)
            path = FINDS / f"{self.name}-{self.number}.json"
            path.write_text(json.dumps({"target": self.name, "case": drawn(self.name, self.number)}) + "\n")
            self.finds.append(f"{path.relative_to(ROOT)} {word}")

    def end(self) -> None:
        """End its process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def attack(names: list[str], minutes: float, state: Path, say: Callable[[str], None]) -> list[str]:
    """All targets in turn until the time is over; the finds, and a sentence for each target with too few attempts."""
    begun = json.loads(state.read_text()) if state.exists() else {}
    targets = [Target(name, begun.get(name, 0)) for name in names]
    state.parent.mkdir(parents=True, exist_ok=True)
    end, i = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < end or i < len(targets):
        target = targets[i % len(targets)]
        target.turn()
        begun[target.name], i = target.number + 1, i + 1
        state.write_text(json.dumps(begun))
        say(f"{max(0.0, end - time.monotonic()) / 60:5.1f} min left, {sum(len(t.finds) for t in targets)} finds")
    for target in targets:
        target.end()
        words = ", ".join(f"{n} {word}" for word, n in sorted(target.tally.items()))
        print(f"{target.name:9} {sum(target.tally.values()):7}   {words}")
    finds = [find for target in targets for find in target.finds]
    return finds + too_few({target.name: sum(target.tally.values()) for target in targets}, minutes)


def too_few(attempts: dict[str, int], minutes: float) -> list[str]:
    """A sentence for each target that was tried too rarely: then the absence of finds says little."""
    least = LEAST * minutes
    return [f"{name} had {n} attempts, fewer than {least:.0f}" for name, n in attempts.items() if n < least]


def main() -> int:
    from tests.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description="Attack keyhole with seeded nonsense.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", default=",".join(TARGETS))
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "fuzz.json")
    parser.add_argument("--again", type=Path, help="the file of a find")
    given = parser.parse_args()
    if given.again:
        find = json.loads(given.again.read_text())
        print(TARGETS[find["target"]](find["case"]))
        return 0
    say = lambda text: print(f"\r{text}", end="", file=sys.stderr, flush=True)  # noqa: E731
    faults = attack(given.only.split(","), given.minutes, given.state, say)
    print("", *faults, sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
