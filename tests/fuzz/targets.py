"""What is attacked: each target takes one case (see `drawing`) and looks at what comes of it.

A target returns a word for its tally ("refused", "accepted", ...). Anything but our own errors, a changed state after
an error, or a result that differs from what must come out is an exception of its own: a find.
"""

import base64
import csv
import gzip
import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import keyhole as kh
from keyhole.core.serialization import from_bytes, to_bytes

from ..unit.estimation.dantzig import test_scaled
from .drawing import SPECIAL
from .learners import model

__all__ = ["TARGETS", "quietly"]

Case = Mapping[str, Any]
MISSING = ("", "NA", "nan")
TRUTHS = {"1": 1.0, "true": 1.0, "True": 1.0, "TRUE": 1.0, "0": 0.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}


@contextmanager
def quietly() -> Iterator[None]:
    """Warnings are no finds."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def models(case: Case) -> str:
    """Forged model files: refused, or a learner that works."""
    try:
        learner = from_bytes(base64.b64decode(case["bytes"]))
    except kh.StateError:
        return "refused"
    X, y, _ = kh.streams.synthetic(learner.d, 1, 12, seed=1)
    history = kh.play(learner, X, y)
    if not (np.isfinite(history.predictions).all() and np.isfinite(learner.weights).all()):
        raise AssertionError("an accepted file predicts NaN")
    return "accepted"


def rounds(case: Case) -> str:
    """Rounds as JSON: a `ProtocolError`, and the learner is as it was."""

    def use(learner: Any) -> None:
        r = kh.Round.from_json(case["text"])
        learner.tell(r, [0.1] * len(r.names), 0.3)

    return _unchanged_if_refused(case["learner"], use)


def values(case: Case) -> str:
    """Values, labels and availabilities of any kind: the same."""
    given = _meant(case["given"])

    def use(learner: Any) -> None:
        r = learner.open_rounds[0]
        if case["call"] == "available":
            learner.ask(available=given)
        elif case["call"] == "predict":
            learner.predict(r, given)
        elif case["call"] == "values":
            learner.tell(r, given, 0.5)
        else:
            learner.tell(r, [0.0] * len(r.names), given)

    return _unchanged_if_refused(case["learner"], use)


def _unchanged_if_refused(name: str, use: Callable[[Any], None]) -> str:
    learner = from_bytes(model(name))
    before = to_bytes(learner)
    try:
        use(learner)
    except kh.ProtocolError:
        if to_bytes(learner) != before:
            raise AssertionError("an error changed the state") from None
        return "refused"
    return "accepted"


def options(case: Case) -> str:
    """Arguments of `make`: a learner, or a `ConfigError`."""
    try:
        kh.make(case["name"], **{name: _meant(given) for name, given in case["given"].items()})
    except kh.ConfigError:
        return "refused"
    return "accepted"


def _meant(given: Any) -> Any:
    return SPECIAL[given["special"]] if isinstance(given, dict) and "special" in given else given


def files(case: Case) -> str:
    """Data files of any kind: the rows that are in it, or one sentence."""
    from keyhole.data.streams import open_table

    data = base64.b64decode(case["bytes"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{case['suffix']}"
        path.write_bytes(data)
        try:
            table = open_table(path)
            names = [*table.usable("y"), "y"]
            found = [batch.X for batch in table.batches(names)]
        except kh.ConfigError as fault:
            if "\n" in str(fault) or "\x1b" in str(fault):
                raise AssertionError(f"not one clean sentence: {fault!r}") from None
            return "refused"
    read = np.concatenate(found) if found else np.empty((0, len(names)))
    np.testing.assert_array_equal(read, by_hand(data, case["suffix"], names))
    return "accepted"


def by_hand(data: bytes, suffix: str, names: list[str]) -> Any:
    """The same numbers, read by Python's own tools."""
    if suffix == ".csv.gz":
        data = gzip.decompress(data)
    elif suffix == ".zip":
        data = zipfile.ZipFile(io.BytesIO(data)).read("data.csv")
    head, *rows = [row for row in csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")) if row]
    columns = [_numbers([row[head.index(name)] for row in rows]) for name in names]
    return np.array(columns).T.reshape(len(rows), len(names))


def _numbers(cells: list[str]) -> list[float]:
    """A column that says nothing but true, false, 1 and 0 is one of yes and no; any other must be one of numbers."""
    meaning = TRUTHS.__getitem__ if all(cell in TRUTHS for cell in cells if cell not in MISSING) else float
    return [float("nan") if cell in MISSING else meaning(cell) for cell in cells]


def schemas(case: Case) -> str:
    """Schemas: one sentence, or a schema that is written and read back the same."""
    from keyhole.data.streams import Schema

    try:
        schema = Schema.from_toml(case["text"])
    except kh.ConfigError as fault:
        if "\n" in str(fault):
            raise AssertionError(f"not one sentence: {fault!r}") from None
        return "refused"
    if not schema.is_complete:
        return "accepted"  # categories whose values a table has yet to say
    again = Schema.from_toml(schema.to_toml())
    if (again.names, again.sources, again.free) != (schema.names, schema.sources, schema.free):
        raise AssertionError("a schema does not survive being written")
    return "accepted"


def engine(case: Case) -> str:
    """Badly scaled problems of the Dantzig selector against HiGHS."""
    word = test_scaled.verdict_of(*(np.array(case[name]) for name in ("H", "b", "gamma")))
    if word not in ("right", "failed"):
        raise AssertionError(word)
    return word


def tables(case: Case) -> str:
    """Tables and options of any kind: predictions are numbers, and the state survives a file to the bit."""
    try:
        learner = kh.make("thrifty", seed=0, **case["given"])
    except kh.ConfigError:
        return "refused"
    X, y = np.array(case["X"], dtype=float), np.array(case["y"])
    n, half = case["past"], (case["past"] + y.size) // 2
    learner.learn(X[:n], y[:n])
    kh.play(learner, X[n:half], y[n:half])
    again = from_bytes(to_bytes(learner))
    losses, same = (kh.play(one, X[half:], y[half:]).losses for one in (learner, again))
    if not np.isfinite(losses).all():
        raise AssertionError("a prediction is not a number")
    if losses.tobytes() != same.tobytes() or to_bytes(learner) != to_bytes(again):
        raise AssertionError("a learner that was saved goes on differently")
    return "accepted"


TARGETS: dict[str, Callable[[Case], str]] = {
    f.__name__: f for f in (files, rounds, values, models, schemas, options, engine, tables)
}
