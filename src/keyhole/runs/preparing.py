"""From what a person asked for to the settings of a run: every mistake is found here, before the first row."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..catalogue import algorithms, make, options_of
from ..errors import ConfigError
from ..protocol import Learner
from ..streams import Schema, Table, fingerprint, open_table, read_prices
from .settings import Settings
from .spec import Spec
from .view import wants_raw

__all__ = ["Request", "default_algorithm", "prepare"]


@dataclass(frozen=True)
class Request:
    """What a person asks for."""

    file: Path
    target: str | None
    budget: int | None = None
    spend: float | None = None
    extra: int = 0
    algorithm: str | None = None
    schema: Path | Schema | None = None
    prices: Path | None = None
    ignored: Sequence[str] = ()
    seed: int = 0
    command: str = ""
    title: str = ""
    clip: bool = True
    """Whether the ranges of a schema that is given bind a learner that needs none."""


def default_algorithm() -> str:
    """The learner we want people to use."""
    return next((a.name for a in algorithms() if a.name == "thrifty"), "ds-oslrc")


def prepare(request: Request) -> Settings:
    """The settings of a run; a `ConfigError` names what cannot be."""
    given = Schema.read(request.schema) if isinstance(request.schema, Path) else request.schema
    table = open_table(request.file, encoding=given.encoding if given else "")
    if request.target is not None and request.target in request.ignored:
        raise ConfigError(f"'{request.target}' is the target and ignored; leave away one of the two")
    schema = _schema(request, given, table)
    learner = _learner(request, schema)
    raw = wants_raw(learner)
    return Settings(
        file=str(request.file.resolve()),
        title=request.title or request.file.name,
        learner=learner.config,
        schema=schema.to_toml(),
        scaled=not raw,
        clip=not raw or (request.schema is not None and request.clip),
        spend=request.spend,
        fingerprint=fingerprint(request.file, schema.encoding).to_dict(),
        command=request.command,
    )


def _schema(request: Request, given: Schema | None, table: Table) -> Schema:
    """The schema that was given, or a plain one of all columns of numbers; with the prices put in."""
    if given is not None:
        schema = given.without(request.ignored).settle(table)
        if request.target not in (None, schema.target):
            raise ConfigError(f"the schema is for the target '{schema.target}', not '{request.target}'")
        open_table(request.file, schema).require([*schema.names, schema.target])
    elif request.target is None:
        raise ConfigError("say which column is to be predicted: --target NAME (or a schema that says so)")
    else:
        names = table.usable(request.target, request.ignored)
        schema = Schema.plain(request.target, names, request.ignored)
    return schema if request.prices is None else schema.with_prices(read_prices(request.prices))


def _learner(request: Request, schema: Schema) -> Learner:
    """The learner, made once to see whether it can be."""
    spec = Spec.parse(request.algorithm or default_algorithm())
    d = len(schema.names)
    options = dict(spec.options)
    k = options.pop("k", request.budget)
    k0 = options.pop("k0", request.extra)
    known = options_of(spec.name)
    if request.spend is not None and "spend" not in known:
        raise ConfigError(f"'{spec.name}' does not plan with money; give --budget K, or use --algorithm thrifty")
    if "prices" in known and (request.spend is not None or (schema.prices != 1.0).any()):
        options |= {"prices": schema.prices.tolist()}
    if request.spend is not None:
        options |= {"spend": request.spend}
        k = d if k is None else k
    k = _budget(spec.name, k, k0, d)
    return make(spec.name, names=schema.names, k=k, k0=k0, seed=request.seed, **options)  # type: ignore[arg-type]


def _budget(name: str, k: object, k0: object, d: int) -> int:
    """How many attributes may be bought a row, if that is possible."""
    buys_all = {a.name for a in algorithms() if a.setting == "d of d"}
    if k is None and name in buys_all:
        return d
    if k is None:
        raise ConfigError(f"say how many attributes may be bought a row: --budget K with 1 <= K <= {d}, or --spend M")
    if not isinstance(k, int) or not isinstance(k0, int):
        raise ConfigError(f"a budget is a whole number, not {k!r} and {k0!r}")
    if not 1 <= k <= d:
        raise ConfigError(f"--budget must be between 1 and {d}, the number of attributes; it is {k}")
    if not 0 <= k0 <= d - k:
        raise ConfigError(f"--extra must be between 0 and {d - k} (of {d} attributes --budget takes {k}); it is {k0}")
    return k
