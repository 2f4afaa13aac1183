"""Upload of past rows as CSV on the page of a learner: they are parsed, previewed, and then learnt."""

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from ..._internal.formatting import plain_number, repeated
from ...errors import ProtocolError

__all__ = ["PastTable", "form_fields", "read_past_table"]

_SHOWN = 5
_MISSING = {"", "na", "nan", "null", "-"}
_YES_NO = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_BOUNDARY = re.compile(r'multipart/form-data *; *boundary=(?:"([^"]{1,200})"|([^\s;,"]{1,200}))', re.IGNORECASE)
_FIELD = re.compile(rb'^content-disposition: *form-data; *name="([a-z]{1,20})"', re.IGNORECASE | re.MULTILINE)
_MOST_PARTS = 20


class PastTable(NamedTuple):
    """A table of past rows (NaN for an empty cell), with the facts that a user checks before learning from it."""

    rows: list[list[float]]
    labels: list[float]
    unused: list[str]
    """Columns that are neither an attribute nor the label."""
    missing: dict[str, int]
    """The number of empty cells of each attribute that has any."""
    shown: list[list[str]]
    """The first lines as they were uploaded: the attributes, then the label."""

    @property
    def n_labelled(self) -> int:
        """The number of rows that would be learnt from."""
        return sum(not math.isnan(y) for y in self.labels)


def form_fields(content_type: str, body: bytes) -> dict[str, str]:
    """Parse the fields of a form with a file, as browsers send it; raise `ProtocolError` if it is malformed.

    Python's parser of e-mails also follows nested parts and comments, which takes minutes or ends in a `RecursionError`
    where a form is made for that.
    """
    boundary = _BOUNDARY.fullmatch(content_type[:1000])
    if boundary is None:
        raise ProtocolError("the table must be sent as multipart/form-data")
    separator = b"\r\n--" + (boundary[1] or boundary[2]).encode("latin-1", "replace")
    fields: dict[str, str] = {}
    for part in (b"\r\n" + body).split(separator, _MOST_PARTS)[1:]:
        head, blank, content = part.partition(b"\r\n\r\n")
        name = _FIELD.search(head[:1000]) if blank else None
        if name is None:
            continue
        try:
            fields[name[1].decode()] = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ProtocolError("the table is not UTF-8 text; save it as CSV UTF-8") from None
    return fields


def read_past_table(text: str, names: Sequence[str], label: str, binary: bool) -> PastTable:
    """Parse a CSV whose first line names the columns; a `ProtocolError` names the line and column of a fault."""
    head, *lines = _lines(text)
    if (twice := repeated(head)) is not None:
        raise ProtocolError(f"the first line has the column '{twice[:40]}' twice")
    place = {name: j for j, name in enumerate(head)}
    lacking = [name for name in (*names, label) if name not in place]
    if lacking:
        raise ProtocolError(f"the table has no column '{lacking[0][:40]}'; its first line must name every attribute")
    places, target = [place[name] for name in names], place[label]
    used = {*places, target}
    rows, labels = [], []
    for number, cells in lines:
        if len(cells) != len(head):
            raise ProtocolError(f"line {number} has {len(cells)} cells, the first line has {len(head)}")
        rows.append([_number(cells[j], number, head[j]) for j in places])
        labels.append(_label(cells[target], number, label, binary))
    if not any(not math.isnan(y) for y in labels):
        raise ProtocolError(f"no row has a label in the column '{label[:40]}': there is nothing to learn")
    empty = {name: sum(math.isnan(row[i]) for row in rows) for i, name in enumerate(names)}
    return PastTable(
        rows,
        labels,
        unused=[name for j, name in enumerate(head) if j not in used],
        missing={name: n for name, n in empty.items() if n},
        shown=[[cells[j] for j in (*places, target)] for _, cells in lines[:_SHOWN]],
    )


def _lines(text: str) -> "tuple[list[str], *tuple[tuple[int, list[str]], ...]]":
    """Return the names of the columns, followed by each line with its number."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        found = [(reader.line_num, cells) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as fault:
        raise ProtocolError(f"line {reader.line_num} of the CSV cannot be read: {fault}") from None
    if len(found) < 2:
        raise ProtocolError("the table needs a first line with the names of its columns, and a line for each row")
    return [cell.strip() for cell in found[0][1]], *found[1:]


def _number(text: str, line: int, column: str) -> float:
    if text.strip().lower() in _MISSING:
        return math.nan
    value = plain_number(text)
    if value is None:
        raise ProtocolError(f"line {line}, column '{column[:40]}' is '{text[:40]}', not a number; leave it empty")
    return value


def _label(text: str, line: int, column: str, binary: bool) -> float:
    known = _YES_NO.get(text.strip().lower()) if binary else None
    value = _number(text, line, column) if known is None else known
    if binary and value not in (0.0, 1.0) and not math.isnan(value):
        raise ProtocolError(f"line {line}, column '{column[:40]}' is '{text[:40]}'; the label is yes or no, or 1 or 0")
    return value
