"""The frontier of a stream: play what is missing, then put it together."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..._internal.atomic_io import read_json, remove_leftovers, write_json
from ..._internal.formatting import Units
from ..._internal.output_folder import Folder
from ...data.streams import Schema
from ...errors import ConfigError, StateError
from ...simulation.probability_scores import pooled
from ..executors import Executor
from ..job_cache import Progress, path_in, work_off
from ..stream_spec import StreamSpec
from .baskets_in_hindsight import Past, levels_of
from .frontier_job import Play, Played, play_level
from .frontier_result import FILE, Frontier, Level
from .knee import advice, on_frontier, stop_at

__all__ = ["frontier"]

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
    """What each amount of money buys on a data set or file: `thrifty` at several error costs, beside hindsight.

    `levels` error costs are chosen from the data, or are those given. Rows are shuffled by seed. In a folder `out` the
    finished parts are kept: the same call goes on where it stopped; the result is its `frontier.json`.

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
    # Each seed plays other rows of a shuffled file: hindsight is of all of them.
    rows = replace(stream, shuffle=False).rows(0, _ALL if stream.shuffle else rounds)
    if not rows.schema.priced:
        raise ConfigError(_UNPRICED)
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
    """Every play with its outcome; those in the folder are not played again, damaged ones are."""
    place = folder.subfolder("jobs")
    remove_leftovers(place)
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
    """The whole baskets of the seeds, means over their runs, and the best basket for the same price."""
    mse = [o["mse"] for o in outcomes]
    price = float(np.mean([o["price"] for o in outcomes]))
    shares = {s: float(np.mean([o["bought"].get(s, 0.0) for o in outcomes])) for s in past.catalog.sources}
    most = dict(sorted(((s, share) for s, share in shares.items() if share), key=lambda item: -item[1]))
    ended = Counter(tuple(past.helpful(past.places(o["basket"]))) for o in outcomes)
    choices = [past.choice(basket, seeds) for basket, seeds in ended.items()]
    baskets = tuple(sorted(choices, key=lambda b: (-b.seeds, b.cost(error_cost), b.sources)))
    best = past.best(baskets[0].price, k)
    scores = [o["probabilities"] for o in outcomes if o["probabilities"] is not None]
    probabilities = pooled(scores) if scores else None
    return Level(error_cost, price, float(np.mean(mse)), min(mse), max(mse), most, baskets, best, probabilities)


def _together(
    stream: StreamSpec, schema: Schema, past: Past, made: Sequence[Level], seeds: int, k: int | None
) -> Frontier:
    """The levels by the price of their baskets, the baskets of hindsight, and the sentence."""
    levels, left_out = on_frontier(made, past.lowers)
    stop = stop_at(levels)
    headline, details = advice(levels, stop, seeds, Units(schema.unit, schema.currency))
    return Frontier(
        stream=Path(stream.name).name if stream.schema is not None else stream.name,
        target=schema.target,
        rows=past.n,
        seeds=seeds,
        sources=dict(zip(past.catalog.sources, past.catalog.prices.tolist(), strict=True)),
        free=schema.free,
        levels=levels,
        left_out=left_out,
        hindsight=past.curve([level.basket.price for level in levels], k),
        stop=stop,
        headline=headline,
        details=details,
        currency=schema.currency,
        unit=schema.unit,
        first_row="left out" if schema.label.stated_center is None else "counts",
    )
