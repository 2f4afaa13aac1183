"""`thrifty` against every rival, on every stream: who loses how much more than a comparator that knows.

python benchmarks/rivals.py [--seeds 6] [--judge | --first SEED] [--streams a,b] [--learners a,b] [--only a,b]

    excess   mean excess loss, its standard error, its quantiles; who beats thrifty by two paired standard errors
    sure     coverage of thrifty's intervals from row 1000 on, and their width over that of the comparator's errors
    alarms   how often a change was noticed where there is none, over a million rows
    tables   thrifty on shuffled real tables, 40 times each: loss over the best five in hindsight
    beside   thrifty beside 0.2.0 on the seeds whose excess reference-0.2.0.json keeps, paired

Seeds are those kept for development; `--judge` takes the others. `explore-then-commit`, `gibbs-thompson`, `ds-oslrc`
and `informed` take minutes a stream: they are left out unless named. `informed` is told the noise and the law of the
weights; it plays where columns are independent. `vaw` buys everything; its columns and labels are
centred, scaled and given a constant in hindsight. The comparator is the oracle: its own excess is 0.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import keyhole as kh
from _informed import informed
from _pooling import lasso, racing
from _practitioner import practitioner
from _streams import DEVELOPMENT_SEEDS, JUDGING_SEEDS, SPEND, STREAMS, Stream, prices
from _swapping import swapping
from thrifty import CONTROLS, TABLES, greedy

Floats = npt.NDArray[np.float64]
Player = Callable[[Stream, Floats, Floats, int], Floats]
"""The predictions for the rows and labels of a stream, with a seed."""
Rival = Callable[[Floats, Floats, int, Floats, float, int], Floats]
"""The predictions for X and y with k, prices, the budget of a row and a seed."""

# What the paper's learner explores with in docs/thrifty.md.
OPTIONS: dict[str, dict[str, object]] = {"ds-oslrc": {"explore": "2 t^(-1/3)"}}
REFERENCE = Path(__file__).with_name("reference-0.2.0.json")
# More than anybody can pay on the stream with prices.
_MOST = 12


def make(stream: Stream, d: int, seed: int, algorithm: str = "thrifty") -> kh.Learner:
    """A learner with the stream's budget; its own seed is another than the stream's."""
    money = {"prices": prices(seed, d).tolist(), "budget_per_row": SPEND} if stream.money else {}
    options = stream.options if algorithm == "thrifty" else OPTIONS.get(algorithm, {})
    return kh.make(algorithm, d=d, k=stream.k or _MOST, seed=1000 + seed, **money, **options)


def from_catalogue(algorithm: str) -> Player:
    """One of keyhole's own; NaN where it knows no money."""

    def play(stream: Stream, X: Floats, y: Floats, seed: int) -> Floats:
        if stream.money and algorithm != "thrifty":
            return np.full(y.size, np.nan)
        return kh.play(make(stream, X.shape[1], seed, algorithm), X, y).predictions

    return play


def with_prices(rival: Rival) -> Player:
    """A rival of this folder that plans with money where there is some."""

    def play(stream: Stream, X: Floats, y: Floats, seed: int) -> Floats:
        d = X.shape[1]
        price, budget = (prices(seed, d), SPEND) if stream.money else (np.zeros(d), np.inf)
        return rival(X, y, stream.k or _MOST, price, budget, 1000 + seed)

    return play


def forgetting(half_life: float) -> Rival:
    """Swapping with rows that count half after so many more."""
    return lambda X, y, k, price, budget, seed: swapping(X, y, k, price, budget, seed, 0.5 ** (1.0 / half_life))


def by_hand_lasso(stream: Stream, X: Floats, y: Floats, seed: int) -> Floats:
    """Everything for n rows, then the lasso's k for good; NaN where there is money."""
    return np.full(y.size, np.nan) if stream.money else practitioner(X, y, stream.k or _MOST)


def vaw(stream: Stream, X: Floats, y: Floats, seed: int) -> Floats:
    """Vovk-Azoury-Warmuth on all columns and a constant."""
    if stream.money:
        return np.full(y.size, np.nan)
    Z = np.column_stack([(X - X.mean(0)) / X.std(0), np.ones(y.size)])
    centre = y.mean()
    return kh.play(kh.make("vaw", d=Z.shape[1], seed=seed), Z, y - centre).predictions + centre


def told(stream: Stream, X: Floats, y: Floats, seed: int) -> Floats:
    """The informed Bayesian; NaN where its model is not that of the stream."""
    if stream.sigma is None or stream.k is None:
        return np.full(y.size, np.nan)
    return informed(X, y, stream.k, stream.sigma, 1.0 / 3.0, 1000 + seed)


PLAYERS: dict[str, Player] = {
    "thrifty": from_catalogue("thrifty"),
    "explore-then-commit": from_catalogue("explore-then-commit"),
    "gibbs-thompson": from_catalogue("gibbs-thompson"),
    "ds-oslrc": from_catalogue("ds-oslrc"),
    "racing": with_prices(racing),
    "swapping": with_prices(swapping),
    "swapping-2000": with_prices(forgetting(2000.0)),
    "swapping-700": with_prices(forgetting(700.0)),
    "lasso": with_prices(lasso),
    "practitioner": by_hand_lasso,
    "vaw": vaw,
    "informed": told,
}
SLOW = ("explore-then-commit", "gibbs-thompson", "ds-oslrc", "informed")
LARGE = ("d500", "long")


def mean_and_error(values: Floats) -> tuple[float, float]:
    """The mean and its standard error; NaN from one value."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else float("nan")


def excess(streams: Sequence[str], players: Sequence[str], seeds: Sequence[int]) -> None:
    """One line per stream and player, then who beats thrifty."""
    heads = "".join(f" {head:>9s}" for head in ("excess", "+-", "10 %", "50 %", "90 %"))
    print(f"{'stream':20s} {'learner':20s}{heads}   beats thrifty by")
    beaten = 0
    for name in streams:
        stream, found = STREAMS[name], {player: np.empty(len(seeds)) for player in players}
        for i, seed in enumerate(seeds):
            X, y, comparator = stream.rows(seed)
            for player in players:
                losses = (PLAYERS[player](stream, X, y, seed) - y) ** 2
                found[player][i] = stream.excess(losses, comparator) if np.isfinite(losses).any() else np.nan
        worse = 0
        for player in players:
            by, error = mean_and_error(found.get("thrifty", found[player]) - found[player])
            beats = player not in ("thrifty", "vaw", "informed") and by > 2.0 * error
            worse += beats
            numbers = (*mean_and_error(found[player]), *np.quantile(found[player], (0.1, 0.5, 0.9)))
            print(
                f"{name:20s} {player:20s} {numbers[0]:9.1f} {numbers[1]:9.1f} {numbers[2]:9.1f} {numbers[3]:9.1f} "
                f"{numbers[4]:9.1f}   {f'{by:.1f} +- {error:.1f}' if beats else ''}",
                flush=True,
            )
        beaten += worse > 0
    print(f"streams on which a rival beats thrifty by two paired standard errors: {beaten} of {len(streams)}")


def by_hand(learner: kh.Learner, X: Floats, y: Floats, level: float, first: int) -> Floats:
    """The widths of the intervals from row `first` on; the rows are played by the protocol."""
    widths = np.empty(y.size - first)
    kh.play(learner, X[:first], y[:first])
    for t in range(first, y.size):
        r = learner.ask()
        values = X[t, r.attributes]
        low, high = learner.interval(r, values, level)
        widths[t - first] = high - low
        learner.tell(r, values, float(y[t]))
    return widths


def sure(streams: Sequence[str], seeds: Sequence[int], first: int = 1000) -> None:
    """Coverage at three levels, the farthest a seed is off, the median width at 0.9 over the comparator's quantile."""
    print(f"\n{'coverage at':20s} {'0.5':>7s} {'0.9':>7s} {'0.95':>7s} {'farthest':>9s} {'width / oracle at 0.9':>22s}")
    for name in streams:
        stream, covered = STREAMS[name], []
        for seed in seeds:
            X, y, comparator = stream.rows(seed)
            levels = kh.play(make(stream, X.shape[1], seed), X, y).levels[first:]
            covered.append([float((levels <= level).mean()) for level in (0.5, 0.9, 0.95)])
        rows = min(y.size, 10_000)  # of the last seed: row by row takes its time
        widths = by_hand(make(stream, X.shape[1], seed), X[:rows], y[:rows], 0.9, first)
        ratio = np.median(widths) / (2.0 * np.quantile(np.sqrt(comparator[first:rows]), 0.9))
        mean = np.mean(covered, axis=0)
        off = np.abs(np.array(covered) - (0.5, 0.9, 0.95)).max()
        print(f"{name:20s} {mean[0]:7.3f} {mean[1]:7.3f} {mean[2]:7.3f} {off:9.3f} {ratio:22.2f}", flush=True)


def alarms(streams: Sequence[str], seeds: Sequence[int], rows: int = 1_000_000) -> None:
    """Changes noticed on streams that do not change, each as long as the others, `rows` in all."""
    still = [name for name in streams if STREAMS[name].still]
    each, count, played = -(-rows // len(still)), 0, 0
    print(f"\nalarms where nothing changes, {each} rows of each of {len(still)} streams")
    for name in still:
        stream = STREAMS[name]
        X, y, _ = stream.rows(seeds[0], each)
        learner = make(stream, X.shape[1], seeds[0])
        kh.play(learner, X, y, keep=False)
        noticed = getattr(learner, "alarms", ())
        count, played = count + len(noticed), played + y.size
        if noticed:
            print(f"  {name}: {', '.join(map(str, noticed))}")
    print(f"  {count} in {played} rows")


def tables(shuffles: int, first: int) -> None:
    """Quantiles over shuffles of thrifty's loss over the greedy best five in hindsight, 5000 rows of each table."""
    print(f"\n{'table (k = 5)':16s} {'median':>8s} {'90 %':>8s} {'90 % / median':>14s} {'max':>8s}")
    for name in (*TABLES, *CONTROLS):
        try:
            data = kh.data.load(name)
        except kh.ConfigError as fault:
            print(f"{name:16s} left out: {fault}")
            continue
        ratios = []
        for seed in range(first, first + shuffles):
            turn = np.random.default_rng(seed).permutation(data.y.size)[:5000]
            X, y = np.ascontiguousarray(data.X[turn]), data.y[turn]
            losses = kh.play(kh.make("thrifty", d=X.shape[1], k=5, seed=seed), X, y).losses
            ratios.append(float(losses[1:].mean()) / greedy(X, y, 5))
        median, high = np.quantile(ratios, (0.5, 0.9))
        print(f"{name:16s} {median:8.4f} {high:8.4f} {high / median:14.3f} {max(ratios):8.3f}", flush=True)


def beside(streams: Sequence[str], count: int) -> None:
    """The excess of thrifty and of 0.2.0 on the first seeds that are stored, and their paired difference."""
    stored = json.loads(REFERENCE.read_text())["streams"]
    print(f"\n{'stream':20s} {'0.2.0':>9s} {'now':>9s} {'difference':>11s} {'+-':>7s}")
    worse = 0
    for name in streams:
        if name not in stored:
            print(f"{name:20s} {'not stored':>9s}")
            continue
        before, now = [], []
        for seed, value in list(stored[name].items())[:count]:
            X, y, comparator = STREAMS[name].rows(int(seed))
            losses = (PLAYERS["thrifty"](STREAMS[name], X, y, int(seed)) - y) ** 2
            before.append(value)
            now.append(STREAMS[name].excess(losses, comparator))
        by, error = mean_and_error(np.array(now) - np.array(before))
        worse += by > 2.0 * error
        note = "  worse" if by > 2.0 * error else "  better" if by < -2.0 * error else ""
        print(f"{name:20s} {np.mean(before):9.1f} {np.mean(now):9.1f} {by:+11.1f} {error:7.1f}{note}", flush=True)
    print(f"streams on which 0.2.0 was better by two paired standard errors: {worse}")


def main() -> None:
    """Print the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--judge", action="store_true", help="the seeds nobody tunes on")
    parser.add_argument("--first", type=int, help="seeds from this one on instead")
    parser.add_argument("--streams", default=",".join(name for name in STREAMS if name not in LARGE))
    parser.add_argument("--learners", default=",".join(name for name in PLAYERS if name not in SLOW))
    parser.add_argument("--only", default="excess,sure,alarms")
    parser.add_argument("--shuffles", type=int, default=40)
    asked = parser.parse_args()
    kept = JUDGING_SEEDS if asked.judge else DEVELOPMENT_SEEDS
    seeds = kept[: asked.seeds] if asked.first is None else range(asked.first, asked.first + asked.seeds)
    streams, parts = asked.streams.split(","), asked.only.split(",")
    if "excess" in parts:
        excess(streams, asked.learners.split(","), seeds)
    if "sure" in parts:
        sure(streams, seeds)
    if "alarms" in parts:
        alarms(streams, seeds)
    if "beside" in parts:
        beside(streams, asked.seeds)
    if "tables" in parts:
        tables(asked.shuffles, seeds[0])


if __name__ == "__main__":
    main()
