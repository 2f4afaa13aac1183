"""From what a person asked for to a run that can begin: every mistake is found here, before the first row."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..core.learner import Plain
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Budget, Spec
from ..data.encoded_table import EncodedTable
from ..data.range_estimation import first_rows, learn_ranges
from ..data.streams import Schema, Table, open_table, read_prices, unpriced
from ..errors import ConfigError
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
    seed: int = 0
    command: str = ""
    title: str = ""
    clip: bool = True
    """Whether the ranges of a schema that is given bind a learner that needs none."""

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
            "seed": self.seed,
        }


class RunPlan(NamedTuple):
    """A run that can begin: its settings, its schema, and the file it plays, opened and looked at once."""

    settings: Settings
    schema: Schema
    table: EncodedTable
    notes: list[str]
    """What a person should know before it begins."""


def prepare(request: RunConfig) -> RunPlan:
    """The plan of a run; a `ConfigError` names what cannot be."""
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
    settings = Settings(
        file=str(request.file.resolve()),
        title=request.title or request.file.name,
        learner=learner.config,
        scaled=not raw,
        clip=not raw or (request.schema is not None and request.clip),
        options=request.plain(),
        command=request.command,
    )
    return RunPlan(settings, schema, table, notes)


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
    schema = schema.written(request.numbers, request.encoding)
    schema = schema.with_free(request.free) if request.free else schema
    return schema if request.prices is None else schema.with_prices(read_prices(request.prices))
