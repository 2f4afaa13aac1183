"""The configuration of a run: the request of a user, its validation, and the settings kept in the run folder."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pydantic.dataclasses
from pydantic import ConfigDict, ValidationError

from .._internal.atomic_io import digest, read_json, write_json
from ..core.learner import Learner, Plain
from ..core.registry.plugins import import_algorithm
from ..core.registry.spec import Budget, Spec
from ..core.serialization import content_of, from_bytes, note_in, to_bytes
from ..data.columns import Attribute, Panel, Range
from ..data.encoded_table import EncodedTable
from ..data.scaling import Scaling
from ..data.schema_completion import first_rows, learn_ranges
from ..data.streams import DataError, Schema, Table, open_table, read_prices, unpriced
from ..errors import ConfigError, ProtocolError, StateError
from .baselines import Limits

__all__ = [
    "FORMAT",
    "RunConfig",
    "RunPlan",
    "Settings",
    "learn_table",
    "prepare",
    "read_model",
    "refuse_other_limits",
    "require_format",
]

FORMAT = 1
"""The version of the files in a run folder; a run of any other version is refused."""


@pydantic.dataclasses.dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Settings:
    """The file, the learner and the status of a run; its schema is stored beside it as `schema.toml`."""

    file: str
    """Absolute path, so that a run can be resumed from any directory."""
    title: str
    """The title of the report."""
    learner: dict[str, Any]
    """The configuration for `make`."""
    scaled: bool
    """Whether the learner sees values scaled into [-1, 1] or raw ones."""
    clip: bool
    """Whether the ranges of the schema were given; otherwise nothing is clipped."""
    options: dict[str, Any]
    """The requested options, by their names on the command line."""
    command: str
    """The command that repeats the run."""
    start: str = ""
    """The digest of start.kh, the learner before the first row, if it has prior knowledge."""
    fingerprint: dict[str, object] = field(default_factory=dict)
    status: str = "running"
    """"running", "stopped" (by a fault in the file) or "finished"."""
    played: str = ""
    """If stopped: a digest of the rows played so far, so that later rows of the file can be corrected."""
    results: dict[str, str] = field(default_factory=dict)
    """If finished: the digests of the results, by file."""
    format: int = FORMAT

    @property
    def seed(self) -> int:
        """The seed of the learner."""
        seed = self.learner["seed"]
        if not isinstance(seed, int):
            raise StateError(f"the run's seed is {str(seed)[:40]!r}, not a whole number; run it again")
        return seed

    @property
    def budget_per_row(self) -> float | None:
        """The money that may be spent per row, if limited."""
        return self._number("budget_per_row")

    @property
    def total_budget(self) -> float | None:
        """The money that may be spent in all rows together, if limited."""
        return self._number("total_budget")

    @property
    def expected_rows(self) -> float | None:
        """The number of rows for which the total budget must last."""
        return self._number("expected_rows")

    @property
    def error_cost(self) -> float | None:
        """The cost of a unit of squared error in one row, if given."""
        return self._number("error_cost")

    @property
    def limits(self) -> Limits:
        """The limits of a row; a total budget counts as its mean per expected row."""
        k, means = self.learner["k"], [self.budget_per_row]
        if self.total_budget is not None and self.expected_rows is not None:
            means.append(self.total_budget / self.expected_rows)
        if not isinstance(k, int):
            raise StateError(f"the run's k is {str(k)[:40]!r}, not a whole number; run it again")
        return Limits(k, min((m for m in means if m is not None), default=np.inf), self.error_cost)

    def how_to_repeat(self, path: Path) -> str:
        """Return how to play the run again into this folder, which may be a copy of the original one."""
        copy = shlex.quote(str(path))
        if not self.command:
            return f"to repeat the run, rename {copy} and play it again"
        words = shlex.split(self.command)
        if "--out" in words:
            i = words.index("--out")
            del words[i : i + 2]
        words = [word for word in words if not word.startswith("--out=")]
        return f"to repeat the run, rename {copy}, then: {shlex.join([*words, '--out', str(path)])}"

    def _number(self, name: str) -> float | None:
        """Return an option of the command or of the learner."""
        options = self.learner["options"]
        said = self.options.get(name) or (options.get(name) if isinstance(options, dict) else None)
        return float(said) if isinstance(said, int | float) else None

    def write(self, path: Path) -> None:
        """Write the settings atomically."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """Read the settings that `write` wrote; anything else is a `ConfigError`."""
        try:
            data = read_json(path)
            require_format(path, data)
            return cls(**data)  # type: ignore[arg-type]  # checked field by field
        except (FileNotFoundError, NotADirectoryError):
            raise ConfigError(f"there is no run in {path.parent}: begin one with keyhole run FILE --out DIR") from None
        except (OSError, StateError, ValidationError) as fault:
            what = f"{path} cannot be used ({_first(fault) if isinstance(fault, ValidationError) else fault})"
            raise ConfigError(f"{what}; restore it from a copy, or begin a new run in another folder") from None


def require_format(path: Path, data: Mapping[str, object]) -> None:
    """Raise a `ConfigError` if a file of a run folder is of another version."""
    if data.get("format") != FORMAT:
        found = (
            f"{path} has format {str(data.get('format'))[:20]}, and this version of keyhole reads format {FORMAT} only"
        )
        raise ConfigError(f"{found}; begin a new run in another folder")


def _first(fault: ValidationError) -> str:
    """Return the first error that pydantic found: "scaled: Input should be a valid boolean"."""
    found = fault.errors(include_url=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"


def learn_table(learner: Learner, path: Path, scaling: Scaling, encoding: str = "") -> None:
    """Teach a learner the rows of a table with the columns of the run's file; a fault is a `DataError`."""
    table = open_table(path, scaling.schema, encoding)
    names, target = scaling.schema.names, scaling.schema.target
    batches = list(table.batches(names, target))
    X = np.concatenate([np.empty((0, len(names))), *(scaling.rows(batch.X) for batch in batches)])
    y = np.concatenate([np.empty(0), *(scaling.labels(batch.y) for batch in batches)])
    try:
        learner.learn(X, y)
    except ProtocolError as fault:
        raise DataError(f"{table.name}, {fault}") from None


def read_model(path: Path, target: str | None) -> tuple[Learner, Scaling]:
    """Return the learner in a model file and its scaling; a foreign or damaged file is a `StateError`."""
    try:
        data = content_of(path)
        learner, note = from_bytes(data), note_in(data)
    except OSError as fault:
        raise ConfigError(f"{path} cannot be read ({fault.strerror}); give the model.kh of a plan or a run") from None
    except StateError as fault:
        raise StateError(f"{path}: {fault}") from None
    if note:
        scaling = Scaling.from_note(note)
    elif target is None:
        raise ConfigError(f"{path} does not state which column it predicts: give --target NAME")
    else:
        scaling = Scaling(_schema_of(learner, target), scaled=False, clip=False)
    if target not in (None, scaling.schema.target):
        raise ConfigError(f"{path} predicts '{scaling.schema.target}', not '{target}'; omit --target")
    return learner, scaling


def _schema_of(learner: Learner, target: str) -> Schema:
    """Return the schema of a learner that was saved from Python: plain numbers, its sources and its prices."""
    catalog, panels, single = learner.catalog, [], {}
    for source, members, price in zip(catalog.sources, catalog.members, catalog.prices.tolist(), strict=True):
        cost = price if catalog.priced else None
        columns = tuple(learner.names[i] for i in members)
        if columns == (source,):
            single[source] = cost
        else:
            panels.append(Panel(source, columns, cost))
    free = {learner.names[i] for i in catalog.free}
    attributes = tuple(Attribute(name, price=single.get(name), free=name in free) for name in learner.names)
    return Schema(Range(target), attributes, panels=tuple(panels))


def refuse_other_limits(learner: Learner, path: Path, given: "dict[str, Plain]") -> None:
    """Raise a `ConfigError` if a given option differs from that of the model."""
    options = learner.config.get("options")
    has: dict[str, Plain] = {**(options if isinstance(options, dict) else {}), "k": learner.k, "k0": learner.k0}
    for name, value in given.items():
        if value is not None and value != has.get(name):
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            own = f"has its own {name}, {has[name]}" if has.get(name) is not None else f"has no {name}"
            raise ConfigError(f"{path} {own}; omit {flag} {value}, or plan a new model")


@dataclass(frozen=True)
class RunConfig:
    """The request of a user."""

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
    """Columns that are known before anything is ordered, in addition to those of the schema."""
    numbers: str = ""
    """The number format, such as '1.234,56'; default: that of the schema, or plain."""
    encoding: str = ""
    """The text encoding of the file; default: that of the schema, or UTF-8."""
    na: Sequence[str] = ()
    """Words that mean "missing" in every column."""
    seed: int = 0
    command: str = ""
    title: str = ""
    clip: bool = True
    """Whether the ranges of a given schema apply to a learner that needs no ranges."""
    past: Path | None = None
    """A table of past rows, from which the learner learns before the first row."""
    model: Path | None = None
    """A trained model to continue; its algorithm, limits and schema are used."""

    def plain(self) -> dict[str, Plain]:
        """Return the options as JSON values by command line names, so that a resumed run can repeat them."""
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
    """A run that is ready to begin: its settings, its schema, and the opened and checked file."""

    settings: Settings
    schema: Schema
    table: EncodedTable
    notes: list[str]
    """Messages for the user before the run begins."""
    learner: Learner
    """The learner before the first row; the first run that begins with this plan plays it."""
    rounds: int
    """The number of rounds that the learner had played before."""
    start: bytes = b""
    """The learner before the first row as a model file, if it has prior knowledge."""

    @property
    def unplayed(self) -> Learner | None:
        """The learner, unless a run has played it already."""
        return self.learner if self.learner.t == self.rounds else None


def prepare(request: RunConfig) -> RunPlan:
    """Return the plan of a run; a `ConfigError` names what is invalid."""
    if request.model is not None:
        return _with_model(request, request.model)
    given = Schema.read(request.schema) if isinstance(request.schema, Path) else request.schema
    file = open_table(request.file, encoding=request.encoding or (given.encoding if given else ""))
    if request.target is not None and request.target in request.ignored:
        raise ConfigError(f"'{request.target}' is both the target and ignored; remove one of the two")
    spec = Spec.parse(request.algorithm)
    import_algorithm(spec.name)
    raw = spec.record.raw_columns
    schema = _schema(request, given, file)
    table = EncodedTable(file, schema)
    table.require([*schema.names, schema.target], declared=given is not None)
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
    """Return the plan of a run that continues a trained model, with the model's own options."""
    learner, scaling = read_model(model, request.target)
    typed = {"schema": request.schema, "prices": request.prices, "free": request.free, "ignore": request.ignored}
    for name, value in typed.items():
        if value:
            raise ConfigError(f"{model} has its own schema and prices; omit --{name}")
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
    """Return the plan with this learner, after it has learnt from past rows."""
    if columns := scaling.schema.price_columns:
        if not learner.catalog.priced:
            raise ConfigError(
                f"'{learner.name}' takes no prices, and the schema has prices that differ between rows; use "
                "--algorithm thrifty, or state price instead of price_column in the schema"
            )
        next(table.batches(columns), None)  # a wrong price in the first rows is named before the run begins
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
    return RunPlan(settings, scaling.schema, table, notes, learner, learner.t, start)


def _schema(request: RunConfig, given: Schema | None, file: Table) -> Schema:
    """Return the given schema, or one of all numeric columns without ranges; prices are filled in."""
    if given is not None:
        schema = given.without(request.ignored)
        if request.target not in (None, schema.target):
            raise ConfigError(f"the schema is for the target '{schema.target}', not '{request.target}'")
    elif request.target is None:
        raise ConfigError("say which column is to be predicted: --target NAME (or a schema that says so)")
    else:
        usable = file.usable(request.target, request.ignored, written=bool(request.numbers))
        schema = Schema.unknown(request.target, usable, request.ignored)
    schema = schema.written(request.numbers, request.encoding).with_missing(request.na)
    schema = schema.with_free(request.free) if request.free else schema
    schema = schema if request.prices is None else schema.with_prices(read_prices(request.prices))
    return schema.complete(file)
