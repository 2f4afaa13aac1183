"""Fresh processes in each of which eight threads make their first call at once: how many fail.

python benchmarks/first_ask.py [--processes 1000] [--threads 8]

Each thread makes a learner of its own and plays two rounds by the protocol; the threads wait for one another before
they start, and nothing of keyhole has been imported but its name.
"""

import argparse
import subprocess
import sys
from collections import Counter

THREADS = """
import sys, threading
import keyhole as kh
n = int(sys.argv[1])
names = ["thrifty", "ds-oslrc", "ds-poslrc", "vaw", "ito2017-2", "gibbs-thompson", "support-bandit", "aer"]
gate, failed = threading.Barrier(n), []

def first(i):
    try:
        gate.wait()
        name = names[(i + int(sys.argv[2])) % len(names)]
        learner = kh.make(name, d=9, k=9 if name == "vaw" else 3, k0=3 if name == "ds-poslrc" else 0, seed=i)
        for t in range(2):
            r = learner.ask()
            x, more = [0.1] * len(r.attributes), learner.ask_more(r)
            learner.predict(r, x)
            learner.tell(r, x, 0.5, more, [0.2] * len(more))
    except BaseException as fault:
        failed.append(repr(fault))

threads = [threading.Thread(target=first, args=(i,)) for i in range(n)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(*failed, sep="\\n", end="")
sys.exit(bool(failed))
"""


def main() -> None:
    """Print how many processes failed, and how."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processes", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=8)
    asked = parser.parse_args()
    faults = Counter[str]()
    for i in range(asked.processes):
        call = [sys.executable, "-c", THREADS, str(asked.threads), str(i)]
        done = subprocess.run(call, capture_output=True, text=True)
        if done.returncode:
            faults[(done.stdout or done.stderr)[-300:]] += 1
    print(f"{asked.processes} processes, {asked.threads} threads each: {faults.total()} failures")
    for fault, count in faults.most_common(5):
        print(f"  {count} x {fault}")


if __name__ == "__main__":
    main()
