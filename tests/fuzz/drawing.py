"""What the targets are attacked with: each function draws one case from a generator, as plain data that JSON can keep.

A case is the input itself and not a seed, so a find stays the same find when the drawing changes.
"""

import base64
import gzip
import io
import json
import zipfile

import numpy as np

import keyhole as kh
from keyhole.core.registry.catalogue import options_of
from keyhole.core.serialization import from_bytes

from ..battery.forging import ODD, forged, pick
from ..unit.estimation.dantzig import test_scaled
from .learners import LEARNERS, model

__all__ = ["DRAWN", "SPECIAL"]

CELLS = ["1", "-2.5", "", "NA", "nan", "inf", "1e400", "1,5", '"1,000.5"', "yes", "red", "2024-02-30", "9" * 400, "'"]
CELLS += ['"a\nb"', "\u202eevil", "\x1b[31m", "0x10", "1_000", "é", "9007199254740993", " 7 ", "-0.0", "true"]
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
free = true
"""
WRONG = ["", "[", "x = 1", "low = nan", 'type = "category"', "known = 3", "columns = []", "price = -1", "[[label]]"]
WRONG += [f"price = {'9' * 400}", "a" + ".b" * 3000 + " = 1", 'name = "\\u202e"', "[attributes.a]", "price = 1e999"]

# What JSON has no word for, by the text that stands for it in a case. Names are added, never changed or taken away.
SPECIAL = {
    "object()": object(),
    "b'x'": b"x",
    "np.zeros(9, bool)": np.zeros(9, bool),
    "1j": 1j,
    "range(3)": range(3),
    "(1,)": (1,),
    "np.float64(2)": np.float64(2),
}


def _special(*names: str) -> list[object]:
    return [{"special": name} for name in names]


VALUES = [*ODD, "abc", [float("inf")], [[1.0]], {"x0": 1.0}]
VALUES += _special("object()", "b'x'", "np.zeros(9, bool)", "1j", "range(3)")
OPTIONS = [*ODD, -3, 0.3, "theory", [1.0, 2.0], {"x0": 1.0}, ["x0"], "2 t^(-1/3)"]
OPTIONS += _special("object()", "(1,)", "b'x'", "np.float64(2)")


def models(rng: np.random.Generator) -> dict[str, object]:
    """A forged model file."""
    return {"bytes": _text(forged(model(pick(rng, LEARNERS)), rng))}


def rounds(rng: np.random.Generator) -> dict[str, object]:
    """A round as JSON, changed anywhere."""
    name = pick(rng, LEARNERS)
    data = json.loads(from_bytes(model(name)).open_rounds[0].to_json())
    data[pick(rng, list(data))] = pick(rng, [*ODD, [0, 0], [-1], [10**9], "explore"])
    return {"learner": name, "text": json.dumps(data) if rng.random() < 0.8 else "[" * int(rng.integers(1, 5000))}


def values(rng: np.random.Generator) -> dict[str, object]:
    """Values, labels and availabilities of any kind."""
    call = pick(rng, ["available", "predict", "values", "label"])
    return {"learner": pick(rng, LEARNERS), "call": call, "given": pick(rng, VALUES)}


def options(rng: np.random.Generator) -> dict[str, object]:
    """Arguments of `make` of any kind."""
    name = pick(rng, [a.name for a in kh.list_algorithms()])
    given: dict[str, object] = {"d": 6, "k": 6 if name in ("vaw", "rda", "i-lamm", "olin-lasso") else 3, "seed": 0}
    for _ in range(int(rng.integers(1, 4))):
        given[pick(rng, ["d", "k", "k0", "seed", *options_of(name)])] = pick(rng, OPTIONS)
    if isinstance(given["d"], int) and given["d"] > 10**5:
        given["d"] = 6  # an honest request for that much memory is no fault
    return {"name": name, "given": given}


def schemas(rng: np.random.Generator) -> dict[str, object]:
    """A schema with something changed."""
    lines = SCHEMA.splitlines()
    for _ in range(int(rng.integers(1, 4))):
        lines[int(rng.integers(len(lines)))] = pick(rng, WRONG)
    return {"text": "\n".join(lines)}


def engine(rng: np.random.Generator) -> dict[str, object]:
    """A badly scaled problem of the Dantzig selector."""
    H, b, gamma = test_scaled.problem(int(rng.integers(10**6)))
    return {"H": H.tolist(), "b": b.tolist(), "gamma": gamma.tolist()}


def tables(rng: np.random.Generator) -> dict[str, object]:
    """A table with columns as real ones have them, and what `thrifty` may buy of it.

    Columns: normal, 0-1, rounded, a multiple or a sum of others, rare, heavy-tailed, the categories of one answer.
    """
    d, T = int(rng.integers(3, 20)), int(rng.integers(20, 150))
    X = rng.standard_normal((T, d))
    answer, kinds = rng.integers(0, d, T), rng.integers(0, 8, d)
    for j, kind in enumerate(kinds.tolist()):
        other = X[:, int(rng.integers(j))] if j else X[:, 0]
        column = [X[:, j], X[:, j] > rng.normal(), X[:, j].round(), other * pick(rng, [1.0, -1.0, 1e3, 1e-6])]
        column += [X[:, 0] + other, rng.random(T) < 0.03, rng.standard_t(1.2, T), answer == j]
        X[:, j] = column[kind]
    w = rng.standard_normal(d) * (rng.random(d) < 0.4) * pick(rng, [1e-5, 1.0, 1e4])
    y = X @ w + pick(rng, [0.0, 0.1, 10.0]) * rng.standard_normal(T) + pick(rng, [0.0, 1e6])
    y[: int(rng.integers(0, 12))] = y[0]
    X = np.where(rng.random(X.shape) < pick(rng, [0.0, 0.0, 0.1, 0.6]), np.nan, X)
    names = [f"x{j}" for j in range(d)]
    free = names[: int(rng.integers(0, 3))] if rng.random() < 0.4 else []
    sources, rest = {}, names[len(free) :]
    while rng.random() < 0.8 and len(rest) > 1:
        q = int(rng.integers(1, 9))
        sources[f"p{len(sources)}"], rest = rest[:q], rest[q:]
    prices = {name: pick(rng, [0.5, 1.0, 3.0, 9.0]) for name in [*sources, *rest]}
    limits = [{"k": int(rng.integers(1, 6))}, {"k": 2, "prices": prices}, {"prices": prices, "budget_per_row": 9.0}]
    limits += [{"prices": prices, "error_cost": float(10.0 ** rng.uniform(-2, 3))}]
    limits += [{"prices": prices, "total_budget": 2.0 * T, "expected_rows": T}]
    given = {"names": names, "free": free, "sources": sources, **pick(rng, limits)}
    past = pick(rng, [0, 0, 1, 10, 19])
    cells = [[None if np.isnan(x) else float(f"{x:.3g}") for x in row] for row in X.tolist()]
    return {"X": cells, "y": [float(f"{label:.9g}") for label in y.tolist()], "past": past, "given": given}


def files(rng: np.random.Generator) -> dict[str, object]:
    """A data file of any kind."""
    head = [pick(rng, ["a", "b", "c", "", "y", "\u202ex", "a b", '"q""q"']) for _ in range(3)]
    names = ",".join([*head, "y"]) if rng.random() < 0.3 else ",".join(["a", "b", "c", "y"])
    odd = rng.random() < 0.5
    lines = [
        ",".join(pick(rng, CELLS) if odd and rng.random() < 0.2 else str(round(float(v), 3)) for v in some)
        for some in rng.normal(size=(int(rng.integers(0, 60)), 4))
    ]
    text = pick(rng, ["\n", "\n", "\r\n", "\r"]).join([names, *lines])
    data = text.encode(pick(rng, ["utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]), errors="replace")
    suffix = pick(rng, [".csv.gz", ".zip", ".parquet", ".csv", ".csv"])
    data = _packed(data, suffix)
    if rng.random() < 0.3 and len(data) > 2:
        cut = int(rng.integers(1, len(data)))
        data = data[:cut] if rng.random() < 0.5 else data[:cut] + bytes([int(rng.integers(256))]) + data[cut + 1 :]
    return {"suffix": suffix, "bytes": _text(data)}


def _packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".csv.gz":
        return gzip.compress(data)
    if suffix != ".zip":
        return data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.csv", data)
    return buffer.getvalue()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


DRAWN = {f.__name__: f for f in (files, rounds, values, models, schemas, options, engine, tables)}
