"""What a run starts from besides nothing: a table of past rows, or a model that is trained already."""

from pathlib import Path

import numpy as np

from ..core.learner import Learner, Plain
from ..core.serialization import from_bytes, note_in
from ..data.columns import Attribute, Panel, Range
from ..data.learner_scaling import Scaling
from ..data.streams import DataError, Schema, open_table
from ..errors import ConfigError, ProtocolError, StateError

__all__ = ["learn_table", "read_model", "refuse_other_limits"]


def learn_table(learner: Learner, path: Path, scaling: Scaling, encoding: str = "") -> None:
    """Teach a learner the rows of a table, which has the columns of the run's own file; a fault is a `DataError`."""
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
    """The learner in a model file, and how it sees a table; a foreign or damaged file is a `StateError`."""
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise ConfigError(f"{path} cannot be read ({fault.strerror}); give the model.kh of a plan or a run") from None
    try:
        learner, note = from_bytes(data), note_in(data)
    except StateError as fault:
        raise StateError(f"{path}: {fault}") from None
    if note:
        scaling = Scaling.from_note(note)
    elif target is None:
        raise ConfigError(f"{path} does not say which column it predicts: give --target NAME")
    else:
        scaling = Scaling(_schema_of(learner, target), scaled=False, clip=False)
    if target not in (None, scaling.schema.target):
        raise ConfigError(f"{path} predicts '{scaling.schema.target}', not '{target}'; leave --target away")
    return learner, scaling


def _schema_of(learner: Learner, target: str) -> Schema:
    """The columns of a learner that was saved from Python: plain numbers, its sources and its prices."""
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
    """A `ConfigError` where an option was typed that differs from the model's own."""
    options = learner.config.get("options")
    has: dict[str, Plain] = {**(options if isinstance(options, dict) else {}), "k": learner.k, "k0": learner.k0}
    for name, value in given.items():
        if value is not None and value != has.get(name):
            flag = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            own = f"{flag} {has[name]}" if has.get(name) is not None else f"no {flag}"
            raise ConfigError(f"{path} has {own}, not {value}; leave the option away, or make another model")
