"""From what a person asked for to a run that can begin: every mistake is found here, before the first row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from .._internal.atomic_io import digest
from ..core.learner import Learner, Plain
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Budget, Spec
from ..core.serialization import to_bytes
from ..data.encoded_table import EncodedTable
from ..data.learner_scaling import Scaling
from ..data.range_estimation import first_rows, learn_ranges
from ..data.streams import Schema, Table, open_table, read_prices, unpriced
from ..errors import ConfigError
from .past_rows import learn_table, read_model, refuse_other_limits
from .run_settings import Settings

__all__ = ["RunConfig", "RunPlan", "prepare"]


@dataclass(frozen=True)
class RunConfig:
    """What a person asks for."""

    file: Path
    target: str | None
    k: int | None = None
    budget_per_row: float | None = None
    k0: int = 0
    error_cost: float | None = None
    total_budget: float | None = None
    expected_rows: float | None = None
    algorithm: str = "thrifty"
    schema: Path | Schema | None = None
    prices: Path | None = None
    ignored: Sequence[str] = ()
    free: Sequence[str] = ()
    """Columns that are there before anything is ordered, besides those that the schema says."""
    numbers: str = ""
    """How numbers are written, such as '1.234,56'; as the schema says where it is left out, or plainly."""
    encoding: str = ""
    """How the file's text is encoded; as the schema says where it is left out, or UTF-8."""
    na: Sequence[str] = ()
    """Words that mean "missing" in every column."""
    seed: int = 0
    command: str = ""
    title: str = ""
    clip: bool = True
    """Whether the ranges of a schema that is given bind a learner that needs none."""
    past: Path | None = None
    """A table of past rows, which the learner learns from before the first row."""
    model: Path | None = None
    """A trained model to go on with; it brings its algorithm, its limits and its schema."""

    def plain(self) -> dict[str, Plain]:
        """The options as JSON can hold them, by their names on the command line: a resumed run may repeat them."""
        schema = str(self.schema.resolve()) if isinstance(self.schema, Path) else None
        return {
            "target": self.target,
            "k": self.k,
            "budget_per_row": self.budget_per_row,
            "k0": self.k0,
            "error_cost": self.error_cost,
            "total_budget": self.total_budget,
            "expected_rows": self.expected_rows,
            "algorithm": str(Spec.parse(self.algorithm)),
            "schema": schema,
            "prices": None if self.prices is None else str(self.prices.resolve()),
            "ignore": list(self.ignored),
            "free": ",".join(self.free) or None,
            "numbers": self.numbers,
            "encoding": self.encoding,
            "na": list(self.na),
            "seed": self.seed,
            "past": None if self.past is None else str(self.past.resolve()),
            "model": None if self.model is None else str(self.model.resolve()),
        }


class RunPlan(NamedTuple):
    """A run that can begin: its settings, its schema, and the file it plays, opened and looked at once."""

    settings: Settings
    schema: Schema
    table: EncodedTable
    notes: list[str]
    """What a person should know before it begins."""
    start: bytes = b""
    """The learner before the first row, as a model file, where it knows something already."""


def prepare(request: RunConfig) -> RunPlan:
    """The plan of a run; a `ConfigError` names what cannot be."""
    if request.model is not None:
        return _with_model(request, request.model)
    given = Schema.read(request.schema) if isinstance(request.schema, Path) else request.schema
    file = open_table(request.file, encoding=request.encoding or (given.encoding if given else ""))
    if request.target is not None and request.target in request.ignored:
        raise ConfigError(f"'{request.target}' is the target and ignored; leave away one of the two")
    spec = Spec.parse(request.algorithm)
    import_algorithm(spec.name)
    raw = spec.record.raw_columns
    schema = _schema(request, given, file)
    table = EncodedTable(file, schema)
    table.require([*schema.names, schema.target])
    first = first_rows(table, schema)
    notes: list[str] = []
    if not raw:
        schema, notes = learn_ranges(schema, first)
    notes += unpriced(schema)
    budget = Budget(
        request.k, request.k0, request.budget_per_row, request.error_cost, request.total_budget, request.expected_rows
    )
    learner = spec.learner(schema, budget, request.seed)
    scaling = Scaling(schema, not raw, not raw or (request.schema is not None and request.clip))
    return _plan(request, learner, scaling, table, notes)


def _with_model(request: RunConfig, model: Path) -> RunPlan:
    """A run that goes on with a trained model, whose own options it has."""
    learner, scaling = read_model(model, request.target)
    typed = {"schema": request.schema, "prices": request.prices, "free": request.free, "ignore": request.ignored}
    for name, value in typed.items():
        if value:
            raise ConfigError(f"{model} has its own schema and prices; leave --{name} away")
    money = ("budget_per_row", "error_cost", "total_budget", "expected_rows")
    given: dict[str, Plain] = {name: getattr(request, name) for name in ("k", *money)}
    refuse_other_limits(learner, model, given | {"k0": request.k0 or None})
    encoding = request.encoding or scaling.schema.encoding
    scaling = replace(scaling, schema=scaling.schema.written(request.numbers, request.encoding))
    table = EncodedTable(open_table(request.file, encoding=encoding), scaling.schema)
    table.require([*scaling.schema.names, scaling.schema.target])
    first_rows(table, scaling.schema)
    return _plan(request, learner, scaling, table, [])


def _plan(request: RunConfig, learner: Learner, scaling: Scaling, table: EncodedTable, notes: list[str]) -> RunPlan:
    """The plan with this learner, once it has learnt what is past."""
    if request.past is not None:
        learn_table(learner, request.past, scaling, scaling.schema.encoding)
    start = to_bytes(learner) if request.past is not None or request.model is not None else b""
    if learner.n_past_rows:
        unlabelled = learner.n_unlabelled_past_rows
        skipped = f"; {unlabelled} without a label were skipped" if unlabelled else ""
        notes = [*notes, f"past rows: {learner.n_past_rows}, free{skipped}"]
    settings = Settings(
        file=str(request.file.resolve()),
        title=request.title or request.file.name,
        learner=learner.config,
        scaled=scaling.scaled,
        clip=scaling.clip,
        options=request.plain(),
        command=request.command,
        start=digest(start) if start else "",
    )
    return RunPlan(settings, scaling.schema, table, notes, start)


def _schema(request: RunConfig, given: Schema | None, file: Table) -> Schema:
    """The schema that was given, or one of all columns of numbers without ranges; with the prices put in."""
    if given is not None:
        schema = given.without(request.ignored).complete(file)
        if request.target not in (None, schema.target):
            raise ConfigError(f"the schema is for the target '{schema.target}', not '{request.target}'")
    elif request.target is None:
        raise ConfigError("say which column is to be predicted: --target NAME (or a schema that says so)")
    else:
        usable = file.usable(request.target, request.ignored, written=bool(request.numbers))
        schema = Schema.unknown(request.target, usable, request.ignored)
    schema = schema.written(request.numbers, request.encoding).with_missing(request.na)
    schema = schema.with_free(request.free) if request.free else schema
    return schema if request.prices is None else schema.with_prices(read_prices(request.prices))
