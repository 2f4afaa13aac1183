"""How fast the Dantzig engine is: `python benchmarks/dantzig.py [--quick]` prints every goal and whether it is met.

Ours and each peer are called alternately on the same problems in one process, so that a slow moment of the machine
hits both; what is printed are medians of CPU time and their ratios. A peer that is not installed is reported missing.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

os.environ.setdefault("OMP_NUM_THREADS", "1")
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "src")]


from dantzig_peers import PEERS  # noqa: E402
from keyhole._internal.typing import Floats, Ints  # noqa: E402
from keyhole.estimation.dantzig import Sequence  # noqa: E402

# (d, k): rounds before the first measurement, and problems given to each peer.
SETTINGS = {(20, 5): (200, 60), (100, 5): (600, 30), (100, 10): (600, 30), (500, 10): (1500, 6), (1000, 20): (2000, 3)}

GOALS = {
    ("linprog", 20): 50,
    ("linprog", 100): 50,
    ("linprog", 500): 300,
    ("linprog", 1000): 1000,
    ("highspy", 20): 5,
    ("highspy", 100): 15,
    ("highspy", 500): 40,
}


def rounds(d: int, k: int, seed: int = 0) -> Iterator[tuple[Ints, Floats, Floats]]:
    """Importance-weighted rounds of a stream with 10 relevant attributes: what an exploring learner feeds a solver."""
    rng = np.random.default_rng(seed)
    w = np.zeros(d)
    w[rng.choice(d, 10, replace=False)] = rng.choice([-0.1, 0.1], 10)
    P = np.full((k, k), k * (k - 1) / (d * (d - 1)))
    np.fill_diagonal(P, k / d)
    while True:
        B, x = rng.choice(d, k, replace=False), rng.uniform(-1, 1, d)
        y = x @ w + 0.1 * rng.normal()
        yield B, np.outer(x[B], x[B]) / P, x[B] * y / (k / d)


def cpu(call: object, *args: object) -> tuple[float, object]:
    """CPU seconds of a call, and what it returned."""
    start = time.process_time()
    result = call(*args)  # type: ignore[operator]
    return time.process_time() - start, result


class Width:
    """gamma as a share of gamma_max, steered so that about 2 k attributes are in the basis."""

    def __init__(self, k: int) -> None:
        self.k, self.share = k, 0.5

    def __call__(self, seq: Sequence) -> float:
        self.share = min(0.95, self.share * (1.01 if seq.simplex.m > 2 * self.k else 0.99))
        return self.share * seq.gamma_max


def duel(peer: type, d: int, k: int) -> dict[str, float]:
    """Ours against one peer: medians of CPU time, the worst certificate and the largest difference of objectives."""
    warm_up, problems = SETTINGS[d, k]
    stream, width, seq, other = rounds(d, k), Width(k), Sequence(d), peer(d)
    for _ in range(warm_up):
        one = next(stream)
        seq.update(*one)
        other.update(*one)
        seq.solve(width(seq))
    times, differ, certificate, pivots = [], 0.0, 0.0, []
    for _ in range(problems):
        one = next(stream)
        t0, _ = cpu(seq.update, *one)
        t2, _ = cpu(other.update, *one)
        gamma = width(seq)
        t1, sol = cpu(seq.solve, gamma)
        t3, objective = cpu(other.solve, gamma * seq.s)
        # A peer that keeps a model is charged for its edits, and so are we against it; else it is solve against solve.
        times.append((t0 + t1, t2 + t3) if peer.edits else (t1, t3))
        pivots.append(sol.pivots)
        differ = max(differ, abs(objective - sol.objective) / sol.objective)
        certificate = max(certificate, sol.primal_residual, sol.dual_residual, sol.gap)
    ours, theirs = np.median(np.array(times), axis=0)
    return {"ours": ours, "theirs": theirs, "differ": differ, "certificate": certificate, "pivots": np.mean(pivots)}


def report_duels(largest: int) -> None:
    print(f"{'d':>5} {'k':>3} {'peer':32} {'theirs':>11} {'ours':>9} {'ratio':>7} {'goal':>6}      differ  certificate")
    for d, k in SETTINGS:
        best: dict[str, dict[str, float]] = {}
        for peer in PEERS:
            if d > largest or (d > 100 and peer.name.startswith(("cvxpy", "pyprimal"))):
                continue
            try:
                found = duel(peer, d, k)
            except ImportError:
                print(f"{d:5} {k:3} {peer.name:32} missing")
                continue
            print(line(d, k, peer.name, found))
            family = peer.name.split(",")[0]
            if family not in best or found["theirs"] / found["ours"] < best[family]["theirs"] / best[family]["ours"]:
                best[family] = found
        for family, goal in ((f, g) for (f, at), g in GOALS.items() if at == d and f in best):
            print(line(d, k, f"{family}: the better", best[family], goal))


def line(d: int, k: int, name: str, found: dict[str, float], goal: float = 0.0) -> str:
    ratio = found["theirs"] / found["ours"]
    verdict = f"{goal:6.0f} {'met' if ratio >= goal else 'NOT'}" if goal else " " * 10
    return (
        f"{d:5} {k:3} {name:32} {found['theirs'] * 1e6:8.0f} us {found['ours'] * 1e6:6.1f} us {ratio:7.0f} {verdict}"
        f"   {found['differ']:.0e}  {found['certificate']:.0e}"
    )


def floor(seq: Sequence) -> float:
    """CPU seconds of the two products without which there is no certificate, H[:, A] w and H[R, :]'l, by BLAS on rows
    that were gathered beforehand."""
    engine = seq.simplex
    rows = [np.ascontiguousarray(seq.H[engine.idx[side, : engine.m]]) for side in range(2)]
    x, out = np.ones(engine.m), np.empty(seq.d)
    start = time.process_time()
    for _ in range(20):
        np.dot(x, rows[0], out=out)
        np.dot(x, rows[1], out=out)
    return (time.process_time() - start) / 20


def report_floor(largest: int) -> None:
    print("\nA solve in units of its certificate's two products; goals at d >= 500: 3 without a pivot; 5 (1 + pivots)")
    print(f"{'d':>5} {'k':>3} {'products':>11} {'no pivot':>9} {'mean':>9} {'pivots':>7} {'mean / (1 + pivots)':>20}")
    for d, k in (at for at in SETTINGS if at[0] <= largest):
        stream, width, seq = rounds(d, k), Width(k), Sequence(d)
        times, pivots, units = [], [], []
        for i in range(SETTINGS[d, k][0] + 300):
            seq.update(*next(stream))
            t, sol = cpu(seq.solve, width(seq))
            if i >= SETTINGS[d, k][0]:
                times.append(t)
                pivots.append(sol.pivots)
                units.append(floor(seq))
        t, n, unit = np.array(times), np.array(pivots), float(np.median(units))
        still = f"{np.median(t[n == 0]) / unit:7.1f} x" if (n == 0).any() else f"{'-':>9}"
        mean = t.mean() / unit
        print(f"{d:5} {k:3} {unit * 1e6:8.1f} us {still} {mean:7.1f} x {n.mean():7.2f} {mean / (1 + n.mean()):18.1f} x")


def peak_memory() -> float:
    """The most memory this process has had, in MB. (What getrusage says includes the process that started it.)"""
    status = Path("/proc/self/status")
    if status.exists():
        return float(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def large(d: int = 100_000, k: int = 20, s: int = 10_000, measured: int = 300) -> None:
    """A learner's rounds at d = 1e5: half of the attributes bought are among 40 favourites, as exploration has it."""
    rng = np.random.default_rng(0)
    seq, w, favourites, times, pivots = Sequence(d), np.zeros(d), rng.choice(d, 40, replace=False), [], []
    w[favourites[:10]] = 0.1
    width = Width(k)
    for i in range(s):
        B = np.unique(np.concatenate([rng.choice(favourites, k // 2, replace=False), rng.integers(0, d, k // 2)]))[:k]
        x, often = rng.uniform(-1, 1, B.size), np.isin(B, favourites)
        p = np.where(often, k / 80, k / (2 * d))
        P = np.outer(p, p)
        np.fill_diagonal(P, p)
        y = x @ w[B] + 0.1 * rng.normal()
        t0, _ = cpu(seq.update, B, np.outer(x, x) / P, x * y / p)
        if i % 100 == 0 or i >= s - measured:
            t1, sol = cpu(seq.solve, width(seq))
            times.append(t0 + t1)
            pivots.append(sol.pivots)
    t = np.array(times[-measured:]) * 1e3
    memory = peak_memory()
    print(f"\nd = {d}, k = {k}, s = {s}, m = {seq.simplex.m}, {np.mean(pivots[-measured:]):.2f} pivots a solve")
    print(f"a round: median {np.median(t):.2f} ms, mean {t.mean():.2f}, 99 % {np.quantile(t, 0.99):.2f} (goal 5 ms)")
    print(f"memory of the whole process: {memory:.0f} MB (goal 500 MB)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="d up to 100 only, no large d")
    parser.add_argument("--large", action="store_true", help="only the large d, in this process")
    options = parser.parse_args()
    if options.large:
        large()
        return
    largest = 100 if options.quick else 1000
    report_duels(largest)
    report_floor(largest)
    if not options.quick:
        subprocess.run([sys.executable, __file__, "--large"], check=True)


if __name__ == "__main__":
    main()
