"""Where in a CSV file the first fault is: searched for only when reading has failed."""

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from .encoding import hint
from .table import DataError

__all__ = ["FAULTS", "is_number", "noting", "search"]

# What reading a file that is damaged, or none, may raise.
FAULTS = (pa.ArrowException, OSError, EOFError, UnicodeDecodeError)
_BOOLEANS = ("1", "0", "True", "False", "TRUE", "FALSE", "true", "false")


def noting(delimiter: str, invalid: "list[csv.InvalidRow]") -> csv.ParseOptions:
    """How to parse on past rows with too few or many cells, putting them into `invalid`."""

    def note(row: csv.InvalidRow) -> str:
        invalid.append(row)
        return "skip"

    handler: Callable[[csv.InvalidRow], str] = note
    return csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=handler)


def search(
    reader: csv.CSVStreamingReader, file: str, types: Mapping[str, pa.DataType], invalid: "list[csv.InvalidRow]"
) -> None:
    """Raise the `DataError` of the first row with too few or many cells, or with a cell that is not of its type.

    `reader` gives every cell as text, and puts rows that it passes over into `invalid`.
    """
    first = 1
    for rows in reader:
        faults = [(first + i, name) for name in types for i in _wrong(rows.column(name), types[name])]
        if invalid and (not faults or invalid[0].number - 1 <= min(faults)[0]):
            break
        if faults:
            row, name = min(faults)
            value = rows.column(name)[row - first].as_py()
            raise DataError(
                f"{file}: row {row} (without the header), column '{name}': '{value}' is not a number; {_fix(value)}",
                row,
                name,
            )
        first += rows.num_rows
    if invalid:
        row = invalid[0].number - 1  # the header is the first
        cells = f"{invalid[0].actual_columns} cells where the header has {invalid[0].expected_columns}"
        raise DataError(f"{file}: row {row} (without the header) has {cells}; correct that row", row)


def is_number(text: str) -> bool:
    """Whether pyarrow reads the text as a number: as Python does, but for 1_000 and foreign digits."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def _wrong(texts: pa.StringArray, dtype: pa.DataType) -> list[int]:
    """The place of the first cell that cannot be read as the type, if any."""
    if pa.types.is_boolean(dtype):
        wrong = pc.invert(pc.is_in(texts, pa.array(_BOOLEANS), skip_nulls=False))
        wrong = pc.and_(wrong, texts.is_valid())
        return [pc.index(wrong, True).as_py()] if pc.any(wrong).as_py() else []
    try:
        pc.cast(pc.utf8_trim_whitespace(texts), pa.float64())
    except pa.ArrowInvalid:
        return [next(i for i, text in enumerate(texts.to_pylist()) if text is not None and not is_number(text))]
    return []


def _fix(value: str) -> str:
    form = hint(value)
    if form:
        return f'declare numbers = "{form}" for it in the schema if that is how its numbers are written'
    return "correct it, or leave the cell empty if the value is missing"
