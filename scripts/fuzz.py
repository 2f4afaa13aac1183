"""Attack keyhole with seeded nonsense for some minutes: `make fuzz`, or

    python scripts/fuzz.py [--minutes 10] [--only files,rounds] [--state build/fuzz.json]

Every attempt is a target and a number, so a find can be made again: `python scripts/fuzz.py --again files:1234`. The
next run goes on behind the last number. A find (an exception that is not ours, a changed state, a wrong result, a
crash, more than 10 s) is printed; add it to tests/fuzz/corpus.json, and `make test` tries it for ever. Exit 1 where
there was one.
"""

import argparse
import json
import signal
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import cache
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

# Attempts at a time; seconds of work, and seconds in all (a loaded machine works little in them), that one may take.
BATCH, PATIENCE, WAITING = 40, 10, 120


def _hang(number: int, frame: object) -> None:
    raise TimeoutError(f"more than {PATIENCE if number == signal.SIGPROF else WAITING} s")


@contextmanager
def _watched() -> Iterator[None]:
    """A `TimeoutError` where it takes too long, by the processor's time or by the clock."""
    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGALRM, _hang)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    signal.alarm(WAITING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


@cache
def _compiled(target: str) -> None:
    """A few attempts that do not count: what they compile is no hang."""
    from tests.fuzz.targets import LEARNERS, TARGETS, model

    for name in LEARNERS if target in ("models", "rounds", "values") else ():
        model(name)
    for seed in range(8):
        with suppress(Exception):
            TARGETS[target](np.random.default_rng([8, seed]))


def attempts(target: str, first: int, n: int) -> tuple[Counter[str], list[str]]:
    """Numbers first to first + n of a target: the tally and the finds."""
    from tests.fuzz.targets import TARGETS

    tally: Counter[str] = Counter()
    finds = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        _compiled(target)
    sys.unraisablehook = lambda printed: unseen.append(str(printed.exc_value))  # a traceback that nobody can catch
    for seed in range(first, first + n):
        unseen: list[str] = []
        try:
            with _watched(), warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                word = TARGETS[target](np.random.default_rng([9, seed]))
            if unseen:
                raise AssertionError(f"printed: {unseen[0]}")
            tally[word] += 1
        except BaseException as fault:
            tally["FOUND"] += 1
            finds.append(f"{target}:{seed} {type(fault).__name__}: {str(fault)[:200]}")
    return tally, finds


def attack(targets: list[str], minutes: float, state: Path) -> list[str]:
    """All targets in turn until the time is over; a crash of the process is a find too."""
    begun = json.loads(state.read_text()) if state.exists() else {}
    tallies = {name: Counter[str]() for name in targets}
    end, finds = time.monotonic() + 60 * minutes, []
    pool = ProcessPoolExecutor(1, get_context("spawn"))
    while time.monotonic() < end:
        for name in targets:
            first = begun.get(name, 0)
            try:
                tally, found = pool.submit(attempts, name, first, BATCH).result()
            except BrokenProcessPool:
                tally, found = Counter({"CRASH": 1}), [f"{name}:{first}..{first + BATCH} the process died"]
                pool = ProcessPoolExecutor(1, get_context("spawn"))
            tallies[name].update(tally)
            finds += found
            begun[name] = first + BATCH
            state.parent.mkdir(parents=True, exist_ok=True)
            state.write_text(json.dumps(begun))
        left = max(0.0, end - time.monotonic())
        print(f"\r{left / 60:5.1f} min left, {len(finds)} finds", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    pool.shutdown(wait=False, cancel_futures=True)
    for name, tally in tallies.items():
        print(f"{name:9} {sum(tally.values()):7}   {', '.join(f'{n} {word}' for word, n in sorted(tally.items()))}")
    return finds


def main() -> int:
    from tests.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(description="Attack keyhole with seeded nonsense.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--only", default=",".join(TARGETS))
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "fuzz.json")
    parser.add_argument("--again", help="TARGET:NUMBER of a find")
    given = parser.parse_args()
    if given.again:
        name, number = given.again.split(":")
        print(TARGETS[name](np.random.default_rng([9, int(number)])))
        return 0
    finds = attack(given.only.split(","), given.minutes, given.state)
    print(*finds, sep="\n")
    return int(bool(finds))


if __name__ == "__main__":
    sys.exit(main())
