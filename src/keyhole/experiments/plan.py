"""Planning from a complete table: the best basket at each price, with cross-validated errors.

For each price the best basket is searched on all rows. Its error is cross-validated: in every fold the basket is
selected and fitted again on the other folds, so that neither the selection nor the weights depend on the rows on
which they are evaluated.
"""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from pathlib import Path

import numpy as np

from .._internal.atomic_io import digest, digest_of_file, read_json, remove, write_atomically, write_json
from .._internal.formatting import Units, digits, join_names
from .._internal.output_folder import Folder
from .._internal.typing import Floats, Ints
from ..core.learner import Learner
from ..core.registry.spec import Budget, Spec, unpriced
from ..core.serialization import to_bytes
from ..core.sources import SourceCatalog
from ..data.scaling import Scaling
from ..errors import ConfigError, StateError
from ..estimation.moment_regression import Moments
from ..simulation import scoring as scores
from .frontier_result import KNEE, Point, bend
from .frontiers import Past
from .stream_spec import Rows, StreamSpec

__all__ = ["FILE", "MODEL", "Plan", "PlannedBasket", "plan"]

FILE, MODEL = "plan.json", "model.kh"
_ALL = 1_000_000_000
_FORMAT = 1
# Linear predictions of a yes/no label are clipped to at least this distance from 0 and 1.
_LEAST = 0.005


@dataclass(frozen=True)
class PlannedBasket:
    """A basket, its price, and its error on rows that were used neither to select nor to fit it."""

    sources: tuple[str, ...]
    price: float
    mse: float
    """The mean squared error, cross-validated."""
    standard_error: float
    """The standard error of `mse`."""
    optimal: bool
    """Whether it is proved that no basket of at most this price fits all rows better."""
    gap: float
    """An upper bound on how much smaller the squared error of another basket could be, on all rows."""
    probabilities: scores.ProbabilityScores | None = None
    """For yes/no labels: scores of the cross-validated probabilities; `mse` is then the Brier score."""

    @property
    def typical_error(self) -> float:
        """The root of the mean squared error."""
        return sqrt(max(self.mse, 0.0))


@dataclass(frozen=True)
class Contribution:
    """The contribution of a source to the recommended basket."""

    source: str
    price: float
    adds: float
    """The increase of the typical error without it, cross-validated with the rest of the basket fixed."""


@dataclass(frozen=True)
class Plan:
    """The recommended basket, and the best basket at each price."""

    table: str
    target: str
    rows: int
    """The number of labelled rows; others are not used."""
    folds: int
    priced: bool
    """Whether the table has prices; otherwise a price is the number of sources bought."""
    prices: dict[str, float]
    free: tuple[str, ...]
    """The columns that are there before anything is ordered."""
    baskets: tuple[PlannedBasket, ...]
    """Sorted by price; the first buys nothing."""
    everything: PlannedBasket
    recommended: int
    """The index in `baskets` of the recommendation."""
    contributions: tuple[Contribution, ...]
    sentence: str
    limits: dict[str, float]
    """The given ones of k, budget_per_row, error_cost, total_budget and expected_rows."""
    currency: str = ""
    unit: str = ""
    model_note: str = ""
    """How the purchases of the model differ from the recommended basket, as a sentence; "" if they do not."""

    @property
    def basket(self) -> PlannedBasket:
        """The recommended basket."""
        return self.baskets[self.recommended]

    @property
    def rule(self) -> str:
        """The rule by which the basket is recommended, as a sentence."""
        if not self.limits:
            return KNEE
        limited = self.limits.keys() - {"error_cost"}
        within = ", among the baskets within the limits" if limited else ""
        if "error_cost" in self.limits:
            return f"The recommended basket has the smallest error cost x squared error + price of a row{within}."
        return f"The recommended basket has the smallest error{within}."

    def to_frame(self) -> object:
        """Return a data frame with one row per basket."""
        from .._internal.dataframes import to_frame

        return to_frame(
            {
                "sources": [", ".join(basket.sources) for basket in self.baskets],
                "price": [basket.price for basket in self.baskets],
                "typical_error": [basket.typical_error for basket in self.baskets],
                "optimal": [basket.optimal for basket in self.baskets],
            }
        )


def plan(
    table: "StreamSpec | str | Path",
    *,
    target: str | None = None,
    schema: "str | Path | None" = None,
    prices: "str | Path | None" = None,
    free: Sequence[str] = (),
    k: int | None = None,
    budget_per_row: float | None = None,
    error_cost: float | None = None,
    total_budget: float | None = None,
    expected_rows: int | None = None,
    folds: int = 5,
    seed: int = 0,
    algorithm: str = "thrifty",
    out: "str | Path | None" = None,
) -> Plan:
    """Plan what to buy from a table in which everything was bought: the best basket at each price.

    Parameters
    ----------
    table
        A CSV or Parquet file, the name of a data set, or a `StreamSpec`.
    target, schema, prices, free
        The label column, and types, prices and free columns as for `keyhole run`.
    k, budget_per_row, error_cost, total_budget, expected_rows
        Limits of a row. If any is given, the recommendation respects it, and the folder `out` receives a model that
        has learnt from the table and can be used at once.
    folds
        The number of folds of the cross-validation.
    seed
        The seed of the folds and of the model.
    algorithm
        The learner in the model file; it must be able to learn from past rows.
    out
        The folder for plan.json and, if there is a limit, model.kh. Those of an earlier plan in it are replaced.

    Returns
    -------
    Plan
        The baskets, the recommendation, and the sentence that states it.

    >>> import keyhole as kh
    >>> found = kh.experiments.plan("nhanes-panels", error_cost=0.5)
    >>> found.basket.price < found.everything.price, found.baskets[0].sources
    (True, ())
    """
    if out is None:
        asked = {name: value for name, value in locals().items() if name not in ("table", "out")}
        with tempfile.TemporaryDirectory() as place:
            return plan(table, out=Path(place) / "plan", **asked)
    stream = table if isinstance(table, StreamSpec) else _stream(table, target, schema, prices, free)
    limits = _limits(k, budget_per_row, error_cost, total_budget, expected_rows)
    whole = stream.rows(0, _ALL)
    rows = _labelled(whole, Path(stream.name).name)
    money = {name: value for name, value in limits.items() if name != "k"}
    if money and not rows.schema.priced:
        raise ConfigError(unpriced(money))
    if not 2 <= folds <= rows.y.size // 5:
        raise ConfigError(f"folds must be between 2 and {rows.y.size // 5}, a fifth of the {rows.y.size} rows")
    model = _model(whole, limits, seed, algorithm) if limits else None
    found = _planned(stream, rows, limits, folds, seed)
    data = None
    if model is not None:
        found = replace(found, model_note=_model_note(model, found, rows.schema.catalog))
        note = Scaling(rows.schema, scaled=not _raw(algorithm), clip=not _raw(algorithm)).to_note()
        data = to_bytes(model, note)
    folder = Folder.claim(Path(out), "plan")
    with folder.lock():
        _remove_model(folder)
        recorded = {"model_digest": None if data is None else digest(data)}
        write_json(folder.file(FILE), {"format": _FORMAT, **asdict(found), **recorded})
        if data is not None:
            write_atomically(folder.file(MODEL), data)
    return found


def _remove_model(folder: Folder) -> None:
    """Remove the model of an earlier plan in this folder, which the new plan does not describe.

    Other files of a plan can be made again by its command. A model may have learnt since, so only the bytes that the
    earlier plan wrote are removed.
    """
    if not os.path.lexists(folder.path / MODEL):
        return
    place = folder.file(MODEL)
    try:
        wrote = read_json(folder.path / FILE).get("model_digest")
    except (OSError, StateError):
        wrote = None
    if not place.is_file() or digest_of_file(place) != wrote:
        raise ConfigError(f"{place} is not as the earlier plan wrote it, and would be lost; move it, then continue")
    remove(place)


def _stream(
    table: "str | Path",
    target: str | None,
    schema: "str | Path | None",
    prices: "str | Path | None",
    free: Sequence[str],
) -> StreamSpec:
    as_path = [None if given is None else Path(given) for given in (schema, prices)]
    return StreamSpec.parse(str(table), target, as_path[0], False, as_path[1], free)


def _limits(
    k: int | None,
    budget_per_row: float | None,
    error_cost: float | None,
    total_budget: float | None,
    expected_rows: int | None,
) -> dict[str, float]:
    if (total_budget is None) != (expected_rows is None):
        raise ConfigError("give total_budget and expected_rows together: the money, and the rows it must last for")
    given = {
        "k": k,
        "budget_per_row": budget_per_row,
        "error_cost": error_cost,
        "total_budget": total_budget,
        "expected_rows": expected_rows,
    }
    limits = {name: value for name, value in given.items() if value is not None}
    for name, value in limits.items():
        if not 0 < value < np.inf:
            raise ConfigError(f"{name} must be a finite number > 0; it is {value}")
    return limits


def _labelled(rows: Rows, name: str) -> Rows:
    """Return the labelled rows; an infinite number is a `ConfigError` with its position."""
    columns = (*rows.schema.names, rows.schema.target)
    bad = np.argwhere(np.isinf(np.column_stack([rows.X, rows.y])))
    if bad.size:
        i, j = map(int, bad[0])
        raise ConfigError(
            f"{name}: row {i + 1}, column '{columns[j]}' is infinite; correct it, or leave the cell empty"
        )
    there = ~np.isnan(rows.y)
    if there.sum() < 20:
        raise ConfigError(f"{name} has {int(there.sum())} rows with a label; a plan needs at least 20")
    return rows._replace(X=rows.X[there], y=rows.y[there])


def _raw(algorithm: str) -> bool:
    return Spec.parse(algorithm).record.raw_columns


def _model(rows: Rows, limits: dict[str, float], seed: int, algorithm: str) -> Learner:
    """Return a learner with these limits that has learnt from the table."""
    k = limits.get("k")
    budget = Budget(
        None if k is None else int(k),
        0,
        limits.get("budget_per_row"),
        limits.get("error_cost"),
        limits.get("total_budget"),
        limits.get("expected_rows"),
    )
    learner = Spec.parse(algorithm).learner(rows.schema, budget, seed)
    scaling = Scaling(rows.schema, scaled=not _raw(algorithm), clip=not _raw(algorithm))
    learner.learn(scaling.rows(rows.X), scaling.labels(rows.y))
    return learner


def _model_note(model: Learner, found: Plan, catalog: SourceCatalog) -> str:
    """Return how the purchases of the model differ from the recommended basket, as a sentence; "" if they do not.

    The basket is the best in hindsight. The model selects by its own rule, and unless an error cost weighs its
    purchases, it spends what the limits leave on exploration.
    """
    units = Units(found.unit, found.currency, found.priced)
    support = set(map(int, model.support))
    used = [s for s, members in enumerate(catalog.members) if support.intersection(map(int, members))]
    names = tuple(catalog.sources[s] for s in used)
    k = int(found.limits.get("k", len(catalog.sources)))
    most = min(_budget(found.limits), float(np.sort(catalog.prices)[::-1][:k].sum()))
    price = float(catalog.prices[used].sum())
    explores = "error_cost" not in found.limits and most > price * (1.0 + 1e-9)
    mean = " on average" if "total_budget" in found.limits else ""
    more = f"buys up to {_cost(most, units)} a row{mean}, because it explores with what its limits leave"
    if set(names) == set(found.basket.sources):
        return f"The model starts with the same basket but {more}." if explores else ""
    start = f"{join_names(names, 20) or 'nothing'} ({_cost(price, units)} a row)"
    differs = f"The model selects by its own rule and starts with {start}"
    return f"{differs}; it {more}." if explores else f"{differs}."


def _planned(stream: StreamSpec, rows: Rows, limits: dict[str, float], folds: int, seed: int) -> Plan:
    judge = CrossValidation(rows, folds, seed)
    points, k = _candidates(judge.whole, limits)
    baskets = _improving([judge.basket(point, k) for point in points])
    everything = judge.fixed(range(len(judge.whole.catalog.sources)))
    recommended = _recommend(baskets, limits)
    schema = rows.schema
    units = Units(schema.unit, schema.currency, schema.priced)
    return Plan(
        table=Path(stream.name).name if stream.schema is not None else stream.name,
        target=schema.target,
        rows=int(rows.y.size),
        folds=folds,
        priced=schema.priced,
        prices=dict(zip(schema.catalog.sources, schema.catalog.prices.tolist(), strict=True)),
        free=tuple(a.name for a in schema.attributes if a.free),
        baskets=baskets,
        everything=everything,
        recommended=recommended,
        contributions=_contributions(judge, baskets[recommended]),
        sentence=_sentence(baskets, recommended, everything, units),
        limits=limits,
        currency=schema.currency,
        unit=schema.unit,
    )


def _candidates(whole: Past, limits: dict[str, float]) -> tuple[list[Point], int | None]:
    """Return the best baskets on all rows, by price, including those that the limits require."""
    k = int(limits["k"]) if "k" in limits else None
    budget = _budget(limits)
    points = {point.sources: point for point in whole.curve([] if budget == np.inf else [budget], k)}
    if budget < np.inf or k is not None:
        point = whole.best(min(budget, float(whole.catalog.prices.sum())), k)
        points.setdefault(point.sources, point)
    if "error_cost" in limits:
        point = whole.best_for(limits["error_cost"], k, budget)
        points.setdefault(point.sources, point)
    return sorted(points.values(), key=lambda point: (point.price, -point.mse)), k


def _improving(baskets: Sequence[PlannedBasket]) -> tuple[PlannedBasket, ...]:
    """Drop the baskets that cost more than another without a smaller error."""
    kept: list[PlannedBasket] = []
    for basket in baskets:
        if not kept or basket.mse < kept[-1].mse:
            kept.append(basket)
    return tuple(kept)


def _budget(limits: dict[str, float]) -> float:
    """Return the budget of a row: the smallest of the limits, where a total budget is divided evenly among the rows."""
    budget = limits.get("budget_per_row", np.inf)
    if "total_budget" in limits:
        budget = min(budget, limits["total_budget"] / limits["expected_rows"])
    return budget


def _recommend(baskets: Sequence[PlannedBasket], limits: dict[str, float]) -> int:
    """Return the index of the basket of least cost or least error within the limits; without limits, the knee of the
    frontier.
    """
    if not limits:
        return bend(baskets)
    budget, error_cost = _budget(limits), limits.get("error_cost")
    within = [i for i, basket in enumerate(baskets) if basket.price <= budget * (1.0 + 1e-9)]
    if error_cost is not None:
        return min(within, key=lambda i: (error_cost * baskets[i].mse + baskets[i].price, baskets[i].price))
    return min(within, key=lambda i: (baskets[i].mse, baskets[i].price))


def _contributions(judge: "CrossValidation", basket: PlannedBasket) -> tuple[Contribution, ...]:
    whole = judge.whole
    places = whole.places(basket.sources)
    with_all = judge.fixed(places).typical_error
    found = [
        Contribution(
            whole.catalog.sources[s],
            float(whole.catalog.prices[s]),
            judge.fixed([o for o in places if o != s]).typical_error - with_all,
        )
        for s in places
    ]
    return tuple(sorted(found, key=lambda one: -one.adds))


def _sentence(baskets: Sequence[PlannedBasket], at: int, everything: PlannedBasket, units: Units) -> str:
    """Return the recommendation in words: sources, price and error, compared with everything and nothing."""
    here, nothing = baskets[at], baskets[0]

    def cost(basket: PlannedBasket) -> str:
        return _cost(basket.price, units)

    def error(basket: PlannedBasket, named: bool = False) -> str:
        if basket.probabilities is None:
            return f"{'typical error ' if named else ''}{units.error(basket.typical_error)}"
        return f"Brier score {digits(basket.mse)}, AUC {digits(basket.probabilities['auc'])}"

    beside = f"(everything: {cost(everything)}, {error(everything)}; nothing: {error(nothing)})"
    if not here.sources:
        return f"order nothing: {error(here, named=True)} {beside}"
    return f"order {join_names(here.sources)}: {cost(here)} a row, {error(here, named=True)} {beside}"


def _cost(price: float, units: Units) -> str:
    """Return a price in words; without prices it is the number of attributes."""
    return units.money(price) if units.priced else f"{price:.0f} attribute{'' if price == 1 else 's'}"


class CrossValidation:
    """The rows in folds, and for each fold the moments of all other rows."""

    def __init__(self, rows: Rows, folds: int, seed: int) -> None:
        self.rows = rows
        # Baskets are chosen for the label as the model learns it; errors are in the units of the label itself.
        rows = rows._replace(y=rows.schema.transform_label(rows.y))
        self._learnt = rows.y
        self.whole = Past.of(rows)
        n = rows.y.size
        part = np.random.default_rng([seed, n]).permutation(np.arange(n) % folds)
        self._tests: list[Ints] = [np.flatnonzero(part == fold) for fold in range(folds)]
        self._trains = [np.flatnonzero(part != fold) for fold in range(folds)]
        self._pasts = [Past.of(rows._replace(X=rows.X[train], y=rows.y[train])) for train in self._trains]

    def basket(self, point: Point, k: int | None) -> PlannedBasket:
        """Return a basket with the cross-validated error of its price: in each fold the best basket of that price is
        selected anew.
        """
        limit = None if k is None else min(k, max(len(point.sources), 1))
        chosen = [past.places(past.best(point.price, limit).sources) for past in self._pasts]
        return self._judged(point.sources, point.price, chosen, point.optimal, point.gap)

    def fixed(self, places: "Sequence[int] | range") -> PlannedBasket:
        """Return a given basket with its cross-validated error: its weights are fitted without the rows on which it is
        evaluated.
        """
        catalog = self.whole.catalog
        names = tuple(catalog.sources[s] for s in places)
        price = float(catalog.prices[list(places)].sum())
        return self._judged(names, price, [list(places)] * len(self._tests), False, 0.0)

    def _judged(
        self, sources: tuple[str, ...], price: float, chosen: "Sequence[Sequence[int]]", optimal: bool, gap: float
    ) -> PlannedBasket:
        y, z = self.rows.y, np.empty(self.rows.y.size)
        for test, train, basket in zip(self._tests, self._trains, chosen, strict=True):
            S = self.whole.catalog.attributes(list(basket))
            z[test] = _predictions(self.rows.X[:, S], self._learnt, train, test)
        predictions = self.rows.schema.untransform_label(z)
        binary = self.rows.schema.binary
        if binary:
            predictions = np.clip(predictions, _LEAST, 1.0 - _LEAST)
        errors = (predictions - y) ** 2
        return PlannedBasket(
            sources=sources,
            price=price,
            mse=float(errors.mean()),
            standard_error=float(errors.std() / np.sqrt(errors.size)),
            optimal=optimal,
            gap=gap,
            probabilities=self._scores(predictions) if binary else None,
        )

    def _scores(self, p: Floats) -> scores.ProbabilityScores:
        """Return the scores of the probabilities p; the AUC is the mean over folds, because probabilities of different
        folds are not comparable in rank.
        """
        y, found = self.rows.y, scores.score(self.rows.y, p)
        each = [scores.auc(y[test], p[test]) for test in self._tests]
        known = [auc for auc in each if auc == auc]
        found["auc"] = float(np.mean(known)) if known else float("nan")
        return found


def _predictions(X: Floats, y: Floats, train: Ints, test: Ints) -> Floats:
    """Predict by least squares with an intercept and |S| pseudo-rows at zero; missing cells get the training mean."""
    known = np.isfinite(X[train])
    mean = np.where(known, X[train], 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    centred = np.where(np.isfinite(X), X - mean, 0.0)
    level = y[train].mean()
    V = np.column_stack([np.ones(train.size), centred[train], y[train] - level])
    moments = Moments.of(V.T @ V)
    intercept, beta = moments.ridge(np.arange(X.shape[1])[None, :])
    found: Floats = level + intercept[0] + centred[test] @ beta[0]
    return found
