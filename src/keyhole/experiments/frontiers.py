"""The frontier of a stream: `thrifty` at several error costs, compared with the best baskets in hindsight."""

import hashlib
import json
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from .. import __version__
from .._internal.atomic_io import read_json, write_json
from .._internal.formatting import Units
from .._internal.output_folder import Folder
from ..core.registry.spec import Budget, Spec, error_cost_of_transformed
from ..core.sources import SourceCatalog
from ..data.streams import Schema
from ..errors import ConfigError, StateError
from ..estimation.moment_regression import Moments
from ..runs.baselines import StreamMoments
from ..simulation import play, scored, with_center
from ..simulation.scoring import ProbabilityScores, pooled, score
from ..theory.comparators import best_basket_of
from .executors import Executor, Progress, path_in, work_off
from .frontier_result import FILE, Choice, Frontier, Level, Point, advice, on_frontier, stop_at
from .stream_spec import Rows, StreamSpec

__all__ = ["Past", "Play", "Played", "frontier", "levels_of", "play_level"]

# The most searches for baskets between those at given prices, and the most nodes of a search.
_SEARCHES = 16
_NODES = 400
# The probability that a source is thought to help although none does.
_BY_CHANCE = 0.05


@dataclass(frozen=True, eq=False)
class Past:
    """The moments of all labelled rows of a table, and the catalog of its sources."""

    moments: Moments
    catalog: SourceCatalog

    @classmethod
    def of(cls, rows: Rows) -> "Past":
        """Compute the moments of the labelled rows."""
        n = int(np.isfinite(rows.y).sum())
        if n < 10:
            raise ConfigError(f"{n} rows have a label, which is too few for a frontier")
        return cls(StreamMoments.of_rows(rows.X, rows.y).moments, rows.schema.catalog)

    @property
    def n(self) -> int:
        """The number of labelled rows."""
        return round(self.moments.n)

    def best(self, budget_per_row: float, k: int | None = None) -> Point:
        """Return the best basket of at most this price per row."""
        budget_per_row = max(budget_per_row, 0.0)
        m = self.moments
        found = best_basket_of(m.C, m.c, m.variance, self.catalog, budget_per_row=budget_per_row, k=k, nodes=_NODES)
        names = tuple(self.catalog.sources[s] for s in found.chosen)
        return Point(found.price, self.mse(found.chosen.tolist()), names, found.optimal, found.gap)

    def best_for(self, error_cost: float, k: int | None = None, budget_per_row: float = np.inf) -> Point:
        """Return the basket of least total cost at this error cost, within the other limits."""
        m, most = self.moments, min(budget_per_row, float(self.catalog.prices.sum()))
        found = best_basket_of(
            m.C, m.c, m.variance, self.catalog, error_cost=error_cost, budget_per_row=most, k=k, nodes=_NODES
        )
        names = tuple(self.catalog.sources[s] for s in found.chosen)
        return Point(found.price, self.mse(found.chosen.tolist()), names, found.optimal, found.gap)

    def choice(self, basket: Sequence[int], seeds: int) -> Choice:
        """Return a basket that `seeds` seeds ended with, with its own price and error."""
        names = tuple(self.catalog.sources[s] for s in basket)
        return Choice(names, float(self.catalog.prices[list(basket)].sum()), self.mse(basket), seeds)

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the indices of sources in the catalog, sorted."""
        return sorted(self.catalog.sources.index(name) for name in names)

    def mse(self, basket: Sequence[int]) -> float:
        """Return the final prediction error of a basket in hindsight, as in the report of a run."""
        return self.moments.final_prediction_error(self.catalog.attributes(list(basket)))

    def left(self, basket: Sequence[int]) -> float:
        """Return the residual variance of least squares on a basket, on the rows to which it was fitted."""
        return self.moments.mse(self.catalog.attributes(list(basket)))

    @cached_property
    def left_by_everything(self) -> float:
        """The residual variance of least squares on all attributes."""
        return self.left(range(len(self.catalog.sources)))

    def chance(self, attributes: int, s2: float) -> float:
        """Return the mse reduction that irrelevant attributes may reach by chance.

        s2 / n times the quantile of chi-square(attributes) that none of the sources, all irrelevant, exceeds with
        probability 0.95 or more: the best of many is larger by chance than any one of them.
        """
        from scipy.special import chdtri  # the quantile of chi-square: importing scipy.stats takes four times as long

        return float(chdtri(attributes, _BY_CHANCE / max(len(self.catalog.sources), 1)) * s2 / self.n)

    def lowers(self, dearer: Point | Choice, than: Point | Choice) -> bool:
        """Return whether a basket has a smaller error than another: smaller by more than chance, and in the first four
        digits.
        """
        new = self.places([name for name in dearer.sources if name not in than.sources])
        attributes = sum(self.catalog.members[s].size for s in new)
        seen = float(f"{dearer.typical_error:.4g}") < float(f"{than.typical_error:.4g}")
        left = [self.left(self.places(basket.sources)) for basket in (than, dearer)]
        return seen and left[0] - left[1] > self.chance(max(attributes, 1), left[1])

    def curve(self, prices: Sequence[float] = (), k: int | None = None) -> tuple[Point, ...]:
        """Return the best baskets in hindsight by price, from nothing to everything that helps, each with a smaller
        error than the one before.

        The search begins with the best basket at each of `prices`, at price 0, and at the price of everything. Then,
        for each two neighbours, it searches at the error cost at which both have the same total cost: it finds a better
        basket between them, or there is none at any error cost. The widest gaps are searched first.
        """
        everything = float(self.catalog.prices.sum())
        points = [self.best(0.0, k)]
        for point in self._supported([self.best(price, k) for price in sorted({0.0, *prices, everything})], k):
            point = self._without_useless(point, k)
            if self.lowers(point, points[-1]):
                # Without a proof of optimality, a cheaper basket may be found after a more expensive one.
                points = [*(p for p in points if p.price < point.price), point]
        return tuple(points)

    def _supported(self, points: Sequence[Point], k: int | None) -> list[Point]:
        """Return the points, and baskets between them of least total cost at some error cost, sorted by price."""
        left = {point.sources: (point.price, self.left(self.places(point.sources)), point) for point in points}
        searched: set[tuple[tuple[str, ...], tuple[str, ...]]] = set()
        for _ in range(_SEARCHES):
            line = sorted(left.values(), key=lambda one: (one[0], -one[1]))
            gaps = [
                ((b[0] - a[0]) * (a[1] - b[1]), a, b)
                for a, b in pairwise(line)
                if b[0] > a[0] and a[1] > b[1] and (a[2].sources, b[2].sources) not in searched
            ]
            if not gaps:
                break
            _, a, b = max(gaps, key=lambda gap: gap[0])
            searched.add((a[2].sources, b[2].sources))
            found = self.best_for((b[0] - a[0]) / (a[1] - b[1]), k)
            left[found.sources] = (found.price, self.left(self.places(found.sources)), found)
        return [point for _, _, point in sorted(left.values(), key=lambda one: (one[0], -one[1]))]

    def _without_useless(self, point: Point, k: int | None) -> Point:
        """Remove the sources of a basket that do not lower its error; if a better basket exists at the reduced price,
        return that one instead.
        """
        kept = self.helpful(self.places(point.sources))
        if len(kept) == len(point.sources):
            return point
        rest = self.choice(kept, 0)
        again = self.best(rest.price, k)
        if len(self.helpful(self.places(again.sources))) == len(again.sources):
            return again
        return Point(rest.price, rest.mse, rest.sources, False, max(rest.mse - again.mse, 0.0) + again.gap)

    def helpful(self, basket: Sequence[int]) -> list[int]:
        """Return a basket without the priced sources that lower its error by no more than chance, by backward
        elimination.
        """
        S = self.moments.varying(self.catalog.attributes(list(basket)))
        R, r = self.moments.correlations(S)
        inverse = np.linalg.inv(R)
        w = inverse @ r
        places = {s: np.flatnonzero(self.catalog.of[S] == s) for s in basket if self.catalog.prices[s] > 0}
        while places:
            # Without the attributes J of a source, the residual variance grows by w_J' (R^-1)_JJ^-1 w_J.
            lost = {s: np.linalg.solve(inverse[np.ix_(J, J)], w[J]) for s, J in places.items()}
            s2 = max(self.moments.variance - float(r @ w), 1e-300)
            ratio = {s: float(w[J] @ lost[s]) / self.chance(max(J.size, 1), s2) for s, J in places.items()}
            least = min(ratio, key=ratio.__getitem__)
            if ratio[least] > 1:
                break
            J = places.pop(least)
            w = w - inverse[:, J] @ lost[least]
            inverse = inverse - inverse[:, J] @ np.linalg.solve(inverse[np.ix_(J, J)], inverse[J])
        return [s for s in basket if s in places or self.catalog.prices[s] == 0]


def levels_of(past: Past, levels: int) -> list[float]:
    """Return error costs, evenly spaced in ratio, from one that buys nothing to one that buys everything that helps.

    A source alone is bought from error_cost = price / gain on; beside all the others, the gain is what it adds to them.
    A source helps if its gain exceeds `Past.chance` of its attributes.
    """
    catalog, s2, nothing = past.catalog, past.left_by_everything, past.left([])
    first, last = np.inf, 0.0
    everything = list(range(len(catalog.sources)))
    for s, (price, brings) in enumerate(zip(catalog.prices, catalog.members, strict=True)):
        alone = nothing - past.left([s])
        beside = past.left([o for o in everything if o != s]) - s2
        chance = past.chance(brings.size, s2)
        if price > 0 and alone > chance:
            first, last = min(first, price / alone), max(last, price / alone)
        if price > 0 and beside > chance:
            last = max(last, price / beside)
    if not np.isfinite(first):  # nothing helps: show that from both sides
        first = float(catalog.prices[catalog.prices > 0].min()) / max(nothing, 1e-300)
        last = first * 100
    low, high = first / 2.0, max(last * 1.5, first * 4.0)
    return [float(f"{error_cost:.3g}") for error_cost in np.geomspace(low, high, levels)]


@dataclass(frozen=True)
class Play:
    """The parameters that determine one run of `thrifty` at one error cost."""

    stream: StreamSpec
    error_cost: float
    seed: int
    rounds: int
    k: int | None = None

    @property
    def key(self) -> str:
        """The name of the job's file: equal for equal jobs of the same version."""
        text = json.dumps({"version": __version__, "frontier": 4, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:24]


class Played(TypedDict):
    """The stored outcome of a `Play`."""

    mse: float
    price: float
    bought: dict[str, float]
    """The share of the rows in which each source was bought; sources never bought are omitted."""
    basket: list[str]
    """The sources in the support at the end."""
    probabilities: ProbabilityScores | None
    """For yes/no labels; `mse` is then the Brier score."""


def play_level(job: Play) -> Played:
    """Run the job and return its outcome; `scored` decides which rows count in the error, as on all pages."""
    rows = job.stream.rows(job.seed, job.rounds)
    seed = int(np.random.SeedSequence([job.seed, 1]).generate_state(1)[0])  # independent of the stream's generator
    learner = Spec.parse("thrifty").learner(rows.schema, Budget(job.k, error_cost=job.error_cost), seed)
    history = play(learner, rows.X, rows.y, keep=False)
    catalog, T = learner.catalog, max(rows.y.size, 1)
    counts: dict[str, Any] = {
        s: int(history.bought[m[0]]) for s, m in zip(catalog.sources, catalog.members, strict=True)
    }
    center = rows.schema.label.stated_center
    counted, predictions = scored(rows.y, center), with_center(history.predictions, rows.y, center)
    return Played(
        mse=float(((predictions - rows.y)[counted] ** 2).mean()),
        price=float(history.price.mean()),
        bought={s: n / T for s, n in counts.items() if n},
        basket=list(catalog.ordered(learner.support)),
        probabilities=score(rows.y[counted], predictions[counted]) if learner.binary else None,
    )


_ALL = 1_000_000
_UNPRICED = (
    "a frontier needs to know what things cost: give --prices FILE, or price = 12.0 under [sources.x] or "
    "[attributes.x] in the schema"
)


def frontier(
    stream: StreamSpec | str,
    *,
    out: "str | Path | None" = None,
    target: str | None = None,
    schema: "str | Path | None" = None,
    levels: int | Sequence[float] = 8,
    seeds: int = 3,
    rounds: int = _ALL,
    k: int | None = None,
    executor: Executor | str = "joblib",
    jobs: int = 1,
    progress: Progress = lambda done, of: None,
) -> Frontier:
    """Compute the cost-error frontier of a data set or file: `thrifty` at several error costs, and hindsight.

    `levels` is a number of error costs, chosen from the data, or the error costs themselves. Rows are shuffled by seed.
    The folder `out` keeps finished parts, so that the same call continues after an interruption; the result is its
    `frontier.json`.

    >>> import keyhole as kh
    >>> found = kh.experiments.frontier("nhanes-panels", levels=[0.01, 0.5], seeds=1, rounds=400)
    >>> [level.error_cost for level in found.levels], found.hindsight[0].price, found.free
    ([0.01, 0.5], 0.0, ('age', 'female'))
    """
    if out is None:
        asked = {k: v for k, v in locals().items() if k not in ("stream", "out")}
        with tempfile.TemporaryDirectory() as place:
            return frontier(stream, out=place, **asked)
    if isinstance(stream, str):
        stream = StreamSpec.parse(stream, target, None if schema is None else Path(schema), shuffle=True)
    work = Executor.parse(executor, jobs) if isinstance(executor, str) else executor
    # Each seed plays other rows of a shuffled file, so hindsight uses all of them.
    rows = replace(stream, shuffle=False).rows(0, _ALL if stream.shuffle else rounds)
    if not rows.schema.priced:
        raise ConfigError(_UNPRICED)
    if rows.schema.transforms_label:
        raise ConfigError(error_cost_of_transformed())
    past = Past.of(rows)
    error_costs = levels_of(past, levels) if isinstance(levels, int) else [float(error_cost) for error_cost in levels]
    plays = [Play(stream, error_cost, seed, rounds, k) for error_cost in error_costs for seed in range(seeds)]
    folder = Folder.claim(Path(out), "frontier")
    with folder.lock():
        found = _played(folder, plays, work, progress)
        made = [
            _level(error_cost, [found[p] for p in plays if p.error_cost == error_cost], past, k)
            for error_cost in error_costs
        ]
        result = _together(stream, rows.schema, past, made, seeds, k)
        result.write(folder.file(FILE))
    return result


def _played(folder: Folder, plays: Sequence[Play], executor: Executor, progress: Progress) -> dict[Play, Played]:
    """Return the outcome of every job; stored outcomes are reused, damaged ones are computed again."""
    folder.subfolder("jobs")
    there: dict[Play, Played] = {}
    for job in plays:
        try:
            stored: dict[str, Any] = read_json(path_in(folder.path, job.key))
            there[job] = stored["outcome"]
        except (OSError, StateError, KeyError):
            continue

    def keep(job: Play, outcome: Played) -> None:
        write_json(path_in(folder.path, job.key), {"job": asdict(job), "outcome": outcome})

    work_off(plays, there, play_level, keep, executor, progress)
    return there


def _level(error_cost: float, outcomes: Sequence[Played], past: Past, k: int | None) -> Level:
    """Return the level of one error cost: the final baskets of the seeds, means over their runs, and the best basket in
    hindsight for the same price.
    """
    mse = [o["mse"] for o in outcomes]
    price = float(np.mean([o["price"] for o in outcomes]))
    shares = {s: float(np.mean([o["bought"].get(s, 0.0) for o in outcomes])) for s in past.catalog.sources}
    most = dict(sorted(((s, share) for s, share in shares.items() if share), key=lambda item: -item[1]))
    ended = Counter(tuple(past.helpful(past.places(o["basket"]))) for o in outcomes)
    choices = [past.choice(basket, seeds) for basket, seeds in ended.items()]
    baskets = tuple(sorted(choices, key=lambda b: (-b.seeds, b.cost(error_cost), b.sources)))
    best = past.best(baskets[0].price, k)
    if baskets[0].mse < best.mse:  # the search minimises training error; a smaller basket may predict better
        best = Point(baskets[0].price, baskets[0].mse, baskets[0].sources, False, 0.0)
    scores = [o["probabilities"] for o in outcomes if o["probabilities"] is not None]
    probabilities = pooled(scores) if scores else None
    return Level(error_cost, price, float(np.mean(mse)), min(mse), max(mse), most, baskets, best, probabilities)


def _together(
    stream: StreamSpec, schema: Schema, past: Past, made: Sequence[Level], seeds: int, k: int | None
) -> Frontier:
    """Return the frontier: the sorted levels, the best baskets in hindsight, and the advice."""
    levels, left_out = on_frontier(made, past.lowers)
    stop = stop_at(levels)
    hindsight = past.curve([level.basket.price for level in levels], k)
    headline, details = advice(levels, stop, seeds, Units(schema.unit, schema.currency), hindsight)
    return Frontier(
        stream=Path(stream.name).name if stream.schema is not None else stream.name,
        target=schema.target,
        rows=past.n,
        seeds=seeds,
        sources=dict(zip(past.catalog.sources, past.catalog.prices.tolist(), strict=True)),
        free=schema.free,
        levels=levels,
        left_out=left_out,
        hindsight=hindsight,
        stop=stop,
        headline=headline,
        details=details,
        currency=schema.currency,
        unit=schema.unit,
        first_row="left out" if schema.label.stated_center is None else "counts",
    )
