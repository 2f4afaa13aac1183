"""Conversion of Arrow columns to numbers: categories, yes/no, dates, and locale-formatted numbers."""

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
    """Return the `Column.kind` of an Arrow type; a column of nulls only counts as numbers, all missing."""
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
    """Yield the same rows in groups of exactly `size` rows (the last group may be shorter), without copying."""
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
    """Return the named columns as an array (n, len(names)), NaN where missing; there must be at least one row."""
    dense = [_dense(rows, names) for rows in pieces]
    return dense[0] if len(dense) == 1 else np.concatenate(dense)


def _dense(rows: pa.RecordBatch, names: Sequence[str]) -> Floats:
    if not names:
        return np.empty((rows.num_rows, 0))
    # Index columns by position: a lookup by name takes time linear in the number of columns.
    place = {name: i for i, name in enumerate(rows.schema.names)}
    arrays = [_numbers(rows.column(place[name])) for name in names]
    numbers = pa.RecordBatch.from_arrays(arrays, names=list(names))
    # A single call that releases the GIL, so that another thread can run the learner meanwhile.
    dense: Floats = numbers.to_tensor(null_to_nan=True, row_major=True).to_numpy()
    return dense


def _numbers(column: pa.Array) -> pa.Array:
    return column if is_.is_float64(column.type) else column.cast(pa.float64(), safe=False)


@contextmanager
def quietly() -> Iterator[None]:
    """Silence a traceback that pyarrow prints, and that cannot be caught, if a row passed to Python is not UTF-8."""
    sys.unraisablehook, hook = lambda _: None, sys.unraisablehook
    try:
        yield
    finally:
        sys.unraisablehook = hook


_TRUE, _FALSE = ("yes", "true", "1"), ("no", "false", "0")
_DAY = 86_400_000_000
"""Microseconds per day."""
_PLAIN = r"^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|nan)$"
_DOTTED = r"^(\d{1,2})\.(\d{1,2})\.(\d{4})"


class Wrong(Exception):
    """Raised when the cell at a position of an array cannot be read."""

    def __init__(self, place: int, value: str, should: str) -> None:
        super().__init__(value)
        self.place, self.value, self.should = place, value, should


def is_plain(column: Attribute | Label) -> bool:
    """Return whether a column is read as plain numbers, without any declared conversion."""
    written = column.numbers or column.missing or column.below or column.above
    return not written and getattr(column, "type", "number") == "number"


def encode(cells: pa.Array, column: Attribute | Label) -> Floats:
    """Return the numbers (n, m) that n cells of a column become, m per cell; an empty cell is missing in all of them.

    A word that the column declares as missing is missing; a word that stands for a number becomes that number.
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
    """Return cells as trimmed text, with empty cells missing. 1.0 becomes '1', true becomes 'true'."""
    if is_.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    words = pc.utf8_trim_whitespace(cells.cast(pa.string()))
    return pc.if_else(pc.equal(words, ""), None, words)


def _indicators(words: pa.Array, values: Sequence[str]) -> Floats:
    """Return one-hot rows (n, m): an unknown word is 0 in all columns, a missing one is NaN in all."""
    code = pc.index_in(words, pa.array(values, pa.string()))
    places = code.fill_null(len(values)).to_numpy(zero_copy_only=False)
    found: Floats = np.eye(len(values) + 1, len(values))[places]
    found[np.asarray(words.is_null())] = np.nan
    return found


def truth(words: pa.Array) -> pa.Array:
    """Convert words to booleans; anything but yes/no, true/false, 1/0 (in any case) raises `Wrong`."""
    small = pc.utf8_lower(words)
    yes, no = (pc.is_in(small, pa.array(choice)) for choice in (_TRUE, _FALSE))
    _refuse(pc.or_(pc.or_(yes, no), words.is_null()), words, "yes or no (or true, false, 1, 0)")
    return pc.if_else(words.is_null(), None, yes)


def _two_words(words: pa.Array, positive: str, negative: str) -> pa.Array:
    """Map one word to true and the other to false; anything else raises `Wrong`."""
    yes, no = pc.equal(words, positive), pc.equal(words, negative)
    _refuse(pc.fill_null(pc.or_(yes, no), True), words, f"{positive} or {negative}")
    return yes


def as_days(cells: pa.Array) -> Floats:
    """Convert dates, with or without a time of day, to days since 1970; 2024-01-31 (12:30) and 31.01.2024 are read."""
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
    """Convert numbers in a form of `FORMATS`, or plain ones (""); a form also accepts the plain numbers that fit it."""
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
    """Return whether each word is a plain number as programs write it, including NaN and infinity."""
    return pc.match_substring_regex(words, _PLAIN, ignore_case=True)


def is_some_number(words: pa.Array) -> pa.Array:
    """Return whether each word is a number in any of the forms."""
    found = is_plain_number(words)
    for form in FORMATS:
        found = pc.or_(found, pc.match_substring_regex(words, _pattern(form)))
    return found


@cache
def _pattern(form: str) -> str:
    """Return the pattern of a form: digits, in groups of three or without groups, then decimals."""
    group = r"[ \x{00A0}\x{202F}]" if form[1] == " " else re.escape(form[1])
    whole = rf"(\d{{1,3}}({group}\d{{3}})+|\d+)"
    return rf"^[+-]?({whole}({re.escape(form[-3])}\d*)?|{re.escape(form[-3])}\d+)([eE][+-]?\d+)?$"


def fits(words: pa.Array) -> set[str]:
    """Return the forms in which every word is a number."""
    return {form for form in FORMATS if pc.all(pc.match_substring_regex(words, _pattern(form))).as_py() is not False}


def hint(value: str) -> str:
    """Return the form of `FORMATS` in which the text is a number, or "" if there is none."""
    found = fits(pa.array([value.strip()]))
    return next((form for form in FORMATS if form in found), "")


def _refuse(fine: pa.Array, words: pa.Array, should: str) -> None:
    """Raise `Wrong` at the first word that is neither missing nor fine."""
    place = pc.index(fine, False).as_py()
    if place >= 0:
        raise Wrong(place, str(words[place]), should)


def _floats(numbers: pa.Array) -> Floats:
    found: Floats = numbers.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    return found
