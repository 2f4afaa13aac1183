"""Arrow columns into numbers: categories, yes/no, dates, and numbers as people write them."""

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as is_

from .._internal.typing import Floats
from .columns import FORMATS, Attribute, Label

__all__ = [
    "Wrong",
    "as_days",
    "as_numbers",
    "as_words",
    "encode",
    "fits",
    "hint",
    "is_plain",
    "is_plain_number",
    "is_some_number",
    "kind",
    "matrix",
    "quietly",
    "regroup",
    "truth",
]


def kind(dtype: pa.DataType) -> str:
    """What `Column.kind` calls an Arrow type; a column of nothing but nulls counts as numbers, all missing."""
    if is_.is_integer(dtype) or is_.is_floating(dtype) or is_.is_decimal(dtype) or is_.is_boolean(dtype):
        return "number"
    if is_.is_null(dtype):
        return "number"
    if is_.is_dictionary(dtype):
        return "text"
    if is_.is_temporal(dtype):
        return "time"
    return "text" if is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype) else "other"


def regroup(chunks: Iterator[pa.RecordBatch], size: int) -> Iterator[list[pa.RecordBatch]]:
    """The same rows in pieces that have exactly `size` together (the last ones may have fewer); nothing is copied."""
    held: list[pa.RecordBatch] = []
    count = 0
    for chunk in chunks:
        while chunk.num_rows:
            held.append(chunk.slice(0, size - count))
            chunk = chunk.slice(held[-1].num_rows)
            count += held[-1].num_rows
            if count == size:
                yield held
                held, count = [], 0
    if held:
        yield held


def matrix(pieces: Sequence[pa.RecordBatch], names: Sequence[str]) -> Floats:
    """The named columns of at least one row as an array (n, len(names)), NaN where missing."""
    dense = [_dense(rows, names) for rows in pieces]
    return dense[0] if len(dense) == 1 else np.concatenate(dense)


def _dense(rows: pa.RecordBatch, names: Sequence[str]) -> Floats:
    if not names:
        return np.empty((rows.num_rows, 0))
    # By place: looking a column up by its name takes a time that grows with their number.
    place = {name: i for i, name in enumerate(rows.schema.names)}
    arrays = [_numbers(rows.column(place[name])) for name in names]
    numbers = pa.RecordBatch.from_arrays(arrays, names=list(names))
    # One call without Python in it: meanwhile another thread can play.
    dense: Floats = numbers.to_tensor(null_to_nan=True, row_major=True).to_numpy()
    return dense


def _numbers(column: pa.Array) -> pa.Array:
    return column if is_.is_float64(column.type) else column.cast(pa.float64(), safe=False)


@contextmanager
def quietly() -> Iterator[None]:
    """pyarrow prints a traceback where a row that it hands over is not UTF-8; nobody can catch it."""
    sys.unraisablehook, hook = lambda _: None, sys.unraisablehook
    try:
        yield
    finally:
        sys.unraisablehook = hook


_TRUE, _FALSE = ("yes", "true", "1"), ("no", "false", "0")
_DAY = 86_400_000_000
"""Microseconds."""
_PLAIN = r"^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$"
_DOTTED = r"^(\d{1,2})\.(\d{1,2})\.(\d{4})"


class Wrong(Exception):
    """The cell at this place of an array cannot be read."""

    def __init__(self, place: int, value: str, should: str) -> None:
        super().__init__(value)
        self.place, self.value, self.should = place, value, should


def is_plain(column: Attribute | Label) -> bool:
    """Whether a column is read as the numbers it holds."""
    written = column.numbers or column.missing or column.below or column.above
    return not written and getattr(column, "type", "number") == "number"


def encode(cells: pa.Array, column: Attribute | Label) -> Floats:
    """The attributes (n, m) that n cells of a column become; an empty cell is missing in all of them.

    A word that the column declares as missing is missing, one that stands for a number becomes that number.
    """
    replaced = column.replaced
    if not (column.missing or replaced) or not _is_text(cells):
        return _encode(cells, column)
    words = as_words(cells)
    special = pc.index_in(words, pa.array(list(replaced), pa.string()))
    gone = pc.is_in(words, pa.array([*column.missing, *replaced], pa.string()))
    found = _encode(pc.if_else(gone, None, words), column)
    if replaced:
        found = found.copy()
        codes = special.drop_null().to_numpy(zero_copy_only=False)
        found[np.asarray(special.is_valid())] = np.array([*replaced.values()])[codes][:, None]
    return found


def _encode(cells: pa.Array, column: Attribute | Label) -> Floats:
    kind = getattr(column, "type", "number")
    if kind == "category":
        return _indicators(as_words(cells), getattr(column, "values", None) or ())
    if kind == "yes/no" and getattr(column, "positive", ""):
        return _floats(_two_words(as_words(cells), column.positive, column.negative))[:, None]  # type: ignore[union-attr]
    if kind == "yes/no":
        return _floats(truth(as_words(cells)))[:, None]
    if kind == "date":
        origin = getattr(column, "origin", None) or date(1970, 1, 1)
        return (as_days(cells) - (origin - date(1970, 1, 1)).days)[:, None]
    return as_numbers(cells, column.numbers)[:, None]


def as_words(cells: pa.Array) -> pa.Array:
    """Cells as text without spaces around it; empty ones missing. 1.0 is '1', true is 'true'."""
    if is_.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    words = pc.utf8_trim_whitespace(cells.cast(pa.string()))
    return pc.if_else(pc.equal(words, ""), None, words)


def _indicators(words: pa.Array, values: Sequence[str]) -> Floats:
    """(n, m): 1 where the word is the value, else 0: a word that is no value is 0 in all, a missing one NaN in all."""
    code = pc.index_in(words, pa.array(values, pa.string()))
    places = code.fill_null(len(values)).to_numpy(zero_copy_only=False)
    found: Floats = np.eye(len(values) + 1, len(values))[places]
    found[np.asarray(words.is_null())] = np.nan
    return found


def truth(words: pa.Array) -> pa.Array:
    """Words as true or false; anything but yes/no, true/false, 1/0 (in any case) is `Wrong`."""
    small = pc.utf8_lower(words)
    yes, no = (pc.is_in(small, pa.array(choice)) for choice in (_TRUE, _FALSE))
    _refuse(pc.or_(pc.or_(yes, no), words.is_null()), words, "yes or no (or true, false, 1, 0)")
    return pc.if_else(words.is_null(), None, yes)


def _two_words(words: pa.Array, positive: str, negative: str) -> pa.Array:
    """True for the one word, false for the other; anything else is `Wrong`."""
    yes, no = pc.equal(words, positive), pc.equal(words, negative)
    _refuse(pc.fill_null(pc.or_(yes, no), True), words, f"{positive} or {negative}")
    return yes


def as_days(cells: pa.Array) -> Floats:
    """Dates, with or without a time of day, as days since 1970; written 2024-01-31 (12:30) or 31.01.2024."""
    if is_.is_temporal(cells.type) and not is_.is_time(cells.type):
        return _days(cells)
    words = as_words(cells)
    iso = pc.replace_substring_regex(words, _DOTTED, r"\3-\2-\1")
    iso = pc.replace_substring_regex(iso, r"-(\d)(-|$)", r"-0\1\2")
    iso = pc.replace_substring_regex(iso, r"-(\d)$", r"-0\1")
    try:
        return _days(iso.cast(pa.timestamp("us")))
    except pa.ArrowInvalid:
        place = next(i for i, word in enumerate(iso.to_pylist()) if word is not None and not _is_date(word))
        raise Wrong(place, str(words[place]), "a date such as 2024-01-31 or 31.01.2024") from None


def _days(times: pa.Array) -> Floats:
    micro = times.cast(pa.timestamp("us", getattr(times.type, "tz", None)), safe=False).cast(pa.int64())
    return _floats(micro.cast(pa.float64(), safe=False)) / _DAY


def _is_date(word: str) -> bool:
    try:
        pa.array([word]).cast(pa.timestamp("us"))
    except pa.ArrowInvalid:
        return False
    return True


def as_numbers(cells: pa.Array, form: str) -> Floats:
    """Numbers written in a form of `FORMATS`, or plainly (""); plain ones are read too where the form allows them."""
    if not _is_text(cells):
        return _floats(cells.cast(pa.float64(), safe=False))
    words = as_words(cells)
    if not form:
        _refuse(is_plain_number(words), words, "a number")
        return _floats(words.cast(pa.float64()))
    _refuse(pc.match_substring_regex(words, _pattern(form)), words, f"a number written as {form}")
    group, point = form[1], form[-3]
    plain = pc.replace_substring_regex(words, r"[\s\x{00A0}\x{202F}]" if group == " " else re.escape(group), "")
    return _floats(pc.replace_substring(plain, point, ".").cast(pa.float64()))


def _is_text(cells: pa.Array) -> bool:
    kind = cells.type
    return bool(is_.is_string(kind) or is_.is_large_string(kind) or is_.is_dictionary(kind))


def is_plain_number(words: pa.Array) -> pa.Array:
    """Whether each word is a number as programs write it; NaN and infinity are."""
    return pc.match_substring_regex(words, _PLAIN, ignore_case=True)


def is_some_number(words: pa.Array) -> pa.Array:
    """Whether each word is a number in any of the forms."""
    found = is_plain_number(words)
    for form in FORMATS:
        found = pc.or_(found, pc.match_substring_regex(words, _pattern(form)))
    return found


@cache
def _pattern(form: str) -> str:
    """Digits, in groups of three or all together, then decimals."""
    group = r"[ \x{00A0}\x{202F}]" if form[1] == " " else re.escape(form[1])
    whole = rf"(\d{{1,3}}({group}\d{{3}})+|\d+)"
    return rf"^[+-]?({whole}({re.escape(form[-3])}\d*)?|{re.escape(form[-3])}\d+)([eE][+-]?\d+)?$"


def fits(words: pa.Array) -> set[str]:
    """The forms in which every one of the words is a number."""
    return {form for form in FORMATS if pc.all(pc.match_substring_regex(words, _pattern(form))).as_py() is not False}


def hint(value: str) -> str:
    """What to declare where a cell is a number after all: the form, or ""."""
    found = fits(pa.array([value.strip()]))
    return next((form for form in FORMATS if form in found), "")


def _refuse(fine: pa.Array, words: pa.Array, should: str) -> None:
    """`Wrong` at the first word that is there and not fine."""
    place = pc.index(fine, False).as_py()
    if place >= 0:
        raise Wrong(place, str(words[place]), should)


def _floats(numbers: pa.Array) -> Floats:
    found: Floats = numbers.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    return found
