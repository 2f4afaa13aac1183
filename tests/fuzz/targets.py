"""What is attacked: each target makes something wrong from a seed and looks at what comes of it.

A target returns a word for its tally ("refused", "accepted", ...). Anything but our own errors, a changed state after
an error, or a result that differs from what must come out is an exception of its own: a find.
"""

import functools
import gzip
import io
import json
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np

import keyhole as kh
from keyhole.catalogue import options_of
from keyhole.loading import from_bytes
from keyhole.saving import to_bytes

from ..battery.forging import ODD, forged, pick
from ..unit.dantzig import test_scaled

__all__ = ["LEARNERS", "TARGETS", "model"]

LEARNERS = ("thrifty", "ds-oslrc", "fixed-random", "ito2017-2", "vaw")
CELLS = [
    "1",
    "-2.5",
    "",
    "NA",
    "nan",
    "inf",
    "1e400",
    "1,5",
    '"1,000.5"',
    "yes",
    "red",
    "2024-02-30",
    "9" * 400,
    "'",
    '"a\nb"',
]
CELLS += ["\u202eevil", "\x1b[31m", "0x10", "1_000", "é", "9007199254740993", " 7 ", "-0.0", "true"]
SCHEMA = """[label]
name = "y"
unit = "mmHg"
[money]
currency = "EUR"
[sources.lipids]
price = 12.0
columns = ["a", "b"]
[attributes.c]
low = -1.0
high = 1.0
price = 2.0
[attributes.d]
known = true
"""


@functools.cache
def model(name: str) -> bytes:
    """The bytes of a learner that has learnt a little and has rounds open."""
    k = 9 if name == "vaw" else 4
    learner = kh.make(name, d=9, k=k, seed=1)
    X, y, _ = kh.streams.synthetic(9, 2, 60, seed=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kh.play(learner, X, y)
    for _ in range(3):
        learner.ask()
    return to_bytes(learner)


def models(rng: np.random.Generator) -> str:
    """Forged model files: refused, or a learner that works."""
    data = forged(model(pick(rng, LEARNERS)), rng)
    try:
        learner = from_bytes(data)
    except kh.StateError:
        return "refused"
    X, y, _ = kh.streams.synthetic(learner.d, 1, 12, seed=1)
    history = kh.play(learner, X, y)
    if not (np.isfinite(history.predictions).all() and np.isfinite(learner.weights).all()):
        raise AssertionError("an accepted file predicts NaN")
    return "accepted"


def rounds(rng: np.random.Generator) -> str:
    """Rounds as JSON, changed anywhere: a `ProtocolError`, and the learner is as it was."""
    learner = from_bytes(model(pick(rng, LEARNERS)))
    before = to_bytes(learner)
    data = json.loads(learner.open_rounds[0].to_json())
    key = pick(rng, list(data))
    data[key] = pick(rng, [*ODD, [0, 0], [-1], [10**9], "explore"])
    text = json.dumps(data) if rng.random() < 0.8 else "[" * int(rng.integers(1, 5000))
    try:
        r = kh.Round.from_json(text)
        learner.tell(r, [0.1] * len(r.names), 0.3)
    except kh.ProtocolError:
        if to_bytes(learner) != before:
            raise AssertionError("an error changed the state") from None
        return "refused"
    return "accepted"


def values(rng: np.random.Generator) -> str:
    """Values, labels and availabilities of any kind."""
    learner = from_bytes(model(pick(rng, LEARNERS)))
    before, r = to_bytes(learner), learner.open_rounds[0]
    call = int(rng.integers(4))
    odd = [
        *ODD,
        "abc",
        np.nan,
        [np.inf],
        [[1.0]],
        {"x0": 1.0},
        object(),
        10**400,
        b"x",
        np.zeros(9, bool),
        1j,
        range(3),
    ]
    given = pick(rng, odd)
    try:
        if call == 0:
            learner.ask(available=given)
        elif call == 1:
            learner.predict(r, given)
        elif call == 2:
            learner.tell(r, given, 0.5)
        else:
            learner.tell(r, [0.0] * len(r.names), given)
    except kh.ProtocolError:
        if to_bytes(learner) != before:
            raise AssertionError("an error changed the state") from None
        return "refused"
    return "accepted"


def options(rng: np.random.Generator) -> str:
    """Arguments of `make` of any kind: a learner, or a `ConfigError`."""
    name = pick(rng, [a.name for a in kh.algorithms()])
    odd = [
        *ODD,
        -3,
        0.3,
        "theory",
        np.nan,
        [1.0, 2.0],
        {"x0": 1.0},
        ["x0"],
        "2 t^(-1/3)",
        object(),
        (1,),
        b"k",
        np.float64(2),
    ]
    given = {"d": 6, "k": 6 if name in ("vaw", "rda", "i-lamm", "olin-lasso") else 3, "seed": 0}
    for _ in range(int(rng.integers(1, 4))):
        given[pick(rng, ["d", "k", "k0", "seed", *options_of(name)])] = pick(rng, odd)
    if isinstance(given["d"], int) and not isinstance(given["d"], bool) and given["d"] > 10**5:
        given["d"] = 6  # an honest request for that much memory is no fault
    try:
        kh.make(name, **given)
    except kh.ConfigError:
        return "refused"
    return "accepted"


def files(rng: np.random.Generator) -> str:
    """Data files of any kind: rows, or one sentence."""
    from keyhole.streams import open_table

    data, suffix = _table(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"data{suffix}"
        path.write_bytes(data)
        try:
            table = open_table(path)
            names = table.usable("y")
            for batch in table.batches(names, "y"):
                if batch.X.shape[1] != len(names):
                    raise AssertionError("a row lost a column")
        except kh.ConfigError as fault:
            if "\n" in str(fault) or "\x1b" in str(fault):
                raise AssertionError(f"not one clean sentence: {fault!r}") from None
            return "refused"
    return "accepted"


def _table(rng: np.random.Generator) -> tuple[bytes, str]:
    head = [pick(rng, ["a", "b", "c", "", "y", "\u202ex", "a b", '"q""q"']) for _ in range(3)]
    names = ",".join([*head, "y"]) if rng.random() < 0.8 else ",".join(["a", "b", "c", "y"])
    odd = rng.random() < 0.5
    lines = [
        ",".join(
            pick(rng, CELLS) if odd and rng.random() < 0.2 else str(round(float(v), 3)) for v in rng.normal(size=4)
        )
        for _ in range(int(rng.integers(0, 60)))
    ]
    text = pick(rng, ["\n", "\r\n", "\r"]).join([names, *lines])
    data = text.encode(pick(rng, ["utf-8", "utf-8-sig", "utf-16", "latin-1"]), errors="replace")
    way = int(rng.integers(5))
    if way == 0:
        data = gzip.compress(data)
    elif way == 1:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("data.csv", data)
        data = buffer.getvalue()
    if rng.random() < 0.3 and len(data) > 2:
        cut = int(rng.integers(1, len(data)))
        data = data[:cut] if rng.random() < 0.5 else data[:cut] + bytes([int(rng.integers(256))]) + data[cut + 1 :]
    return data, {0: ".csv.gz", 1: ".zip", 2: ".parquet", 3: ".csv", 4: ".csv"}[way]


def schemas(rng: np.random.Generator) -> str:
    """Schemas with something changed: one sentence, or a schema that is written and read back the same."""
    from keyhole.streams import Schema

    lines = SCHEMA.splitlines()
    for _ in range(int(rng.integers(1, 4))):
        i = int(rng.integers(len(lines)))
        wrong = [
            "",
            "[",
            "x = 1",
            "low = nan",
            'type = "category"',
            "known = 3",
            "columns = []",
            "price = -1",
            "[[label]]",
        ]
        wrong += [
            f"price = {'9' * 400}",
            "a" + ".b" * 3000 + " = 1",
            'name = "\\u202e"',
            "[attributes.a]",
            "price = 1e999",
        ]
        lines[i] = pick(rng, wrong)
    try:
        schema = Schema.from_toml("\n".join(lines))
    except kh.ConfigError as fault:
        if "\n" in str(fault):
            raise AssertionError(f"not one sentence: {fault!r}") from None
        return "refused"
    if not schema.is_complete:
        return "accepted"  # categories whose values a table has yet to say
    again = Schema.from_toml(schema.to_toml())
    if (again.names, again.sources, again.known) != (schema.names, schema.sources, schema.known):
        raise AssertionError("a schema does not survive being written")
    return "accepted"


def engine(rng: np.random.Generator) -> str:
    """Badly scaled problems of the Dantzig selector against HiGHS."""
    word = test_scaled.verdict(int(rng.integers(10**6)))
    if word not in ("right", "failed"):
        raise AssertionError(word)
    return word


TARGETS = {f.__name__: f for f in (files, rounds, values, models, schemas, options, engine)}
