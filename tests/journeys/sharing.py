"""Processes that ask, predict and tell on the same learners, and write down what was acknowledged."""

import json
import os
import random
import threading
import time
import traceback
from hashlib import sha256
from pathlib import Path

NAMES = [f"test{i}" for i in range(8)]
LEARNERS = {"icu": "fixed-random", "ward": "ds-oslrc", "clinic": "thrifty"}


def number(*parts):
    """A number in [-1, 1] that everybody computes alike."""
    return int.from_bytes(sha256(repr(parts).encode()).digest()[:6], "big") / 2**47 - 1


def values(name, r):
    return {attribute: number(name, r.index, attribute) for attribute in r.names}


def prepare(store):
    for seed, (name, algorithm) in enumerate(LEARNERS.items()):
        store.create(name, algorithm, names=NAMES, k=3, seed=seed)


def one_round(learner, key, acknowledge, chance):
    """Ask, and mostly predict and tell; sometimes leave it to somebody else, or take somebody else's."""
    r = learner.ask(key=key)
    if chance.random() < 0.9:
        learner.predict(r, values(learner.name, r))
    if chance.random() < 0.1:
        learner.abandon(r)
    if chance.random() < 0.8:
        y = number(learner.name, r.index, "y")
        learner.tell(r, values(learner.name, r), y)
        acknowledge(learner.name, r.index, key, y)


def work(url, number_of_process, folder, threads):
    """One process: until it is killed, or the file `stop` is there."""
    import keyhole as kh

    done = os.open(f"{folder}/acknowledged", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    store = kh.open_store(url)

    def acknowledge(*what):
        os.write(done, f"\n{json.dumps(what)}\n".encode())  # on a line of its own, also after one that was torn

    def loop(thread):
        chance = random.Random(f"{number_of_process}-{thread}")
        try:
            for i in range(10**9):
                if os.path.exists(f"{folder}/stop"):
                    return
                learner = store[chance.choice(list(LEARNERS))]
                try:
                    one_round(learner, f"{number_of_process}-{thread}-{i}", acknowledge, chance)
                except kh.ProtocolError as fault:
                    if "already has a" not in str(fault):  # somebody else was quicker
                        raise
        except Exception:
            with open(f"{folder}/faults", "a") as file:
                file.write(traceback.format_exc())

    running = [threading.Thread(target=loop, args=(n,)) for n in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()


def proven(store, folder):
    """Everything acknowledged is in, exactly once; a replay comes to the same bytes. Gives how many."""
    from keyhole.store.verify import check

    faults = Path(folder) / "faults"
    assert not faults.exists(), faults.read_text()
    verdicts = list(check(store.database))
    assert [v.faults for v in verdicts] == [[]] * len(LEARNERS)
    told = {name: {(e.index, e.key, e.label) for e in store[name].rounds("labelled")} for name in LEARNERS}
    acknowledged = [line for line in (Path(folder) / "acknowledged").read_text().splitlines() if line]
    whole = [json.loads(line) for line in acknowledged if line.endswith("]")]
    assert len(whole) >= len(acknowledged) - 3  # a kill may tear what was being noted in this very moment
    for name, *what in whole:
        assert tuple(what) in told[name]
    for name in LEARNERS:
        tells = [event.round for event in store[name].events(0, 10**9) if event.kind == "tell"]
        assert len(tells) == len(set(tells)) == len(told[name])
    return len(whole)


def wait_until(true, seconds=300.0):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)
