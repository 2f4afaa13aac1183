"""The HTTP client behind `kh.connect(url)`: the interface of a store, for a running `keyhole serve`.

It needs only the standard library. The same calls return the same values and raise the same errors as with a store.
"""

import csv
import http.client
import io
import json
import math
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from .._internal.dataframes import column_names, is_frame
from .._internal.formatting import from_iso, to_iso
from ..core.round import STATUSES, Round
from ..core.validation import finite, past_table
from ..errors import ConfigError, ProtocolError, StateError
from ..store.events import nulls
from ..store.models import Conflict, LabelHistory, NoSuchLearner, NoSuchRound, Outcome, Purchase, Taken, Totals

if TYPE_CHECKING:
    from .._internal.typing import Bools, Floats, Ints
    from ..core.learner import Learner, Values

__all__ = ["Remote", "RemoteLearner", "Wire", "by_name", "connect", "plain", "quoted", "round_of"]

# -- calls


_TRIES = 5
_AWAY = (502, 503, 504)
"""Status codes of a server that is stopping or starting, or of a proxy that cannot reach it."""


class Wire:
    """HTTP calls to one server. Every call may be repeated, because keys and labels are idempotent."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        secure, self._host, self._port, self._base = _address(url)
        if token is not None and not (isinstance(token, str) and token.isascii() and token.isprintable()):
            raise ConfigError("a token is a line of letters and digits, as keyhole token create prints it")
        self._class = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._timeout, self._mine = timeout, threading.local()
        self.url = url

    def json(self, method: str, path: str, body: object = None) -> object:
        """Make a call whose request and answer are JSON."""
        sent = None if body is None else json.dumps(body, allow_nan=False).encode()
        found: object = json.loads(self.bytes(method, path, sent, "application/json"))
        return found

    def bytes(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> bytes:
        """Make a call; repeat it if no answer arrived, as long as the server may just be restarting."""
        headers = self._headers | ({"Content-Type": kind} if body is not None else {})
        tries = 0
        while True:
            reused = getattr(self._mine, "connection", None) is not None
            try:
                connection = self._connection()
                connection.request(method, self._base + path, body, headers)
                answer = connection.getresponse()
                data = answer.read()
                if answer.status not in _AWAY:
                    break
                fault: object = answer.reason
            except (OSError, http.client.HTTPException) as broken:
                self._mine.connection, fault = None, broken
                if reused:  # servers close idle connections, so open a new one at once
                    continue
            tries += 1
            if tries == _TRIES:
                raise ConnectionError(f"{self.url} does not answer: {fault}")
            time.sleep(0.2 * tries)
        if answer.status >= 400:
            raise _error(answer.status, data)
        return data

    def _connection(self) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._mine, "connection", None)
        if kept is None:
            kept = self._mine.connection = self._class(self._host, self._port, timeout=self._timeout)
        return kept


def _address(url: str) -> tuple[bool, str, int | None, str]:
    """Return whether the address is https, its host, its port and its path."""
    try:
        parts = urlsplit(url if url.isprintable() else "")
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except (ValueError, AttributeError):  # AttributeError: not even text
        host = ""
    if not host or parts.scheme not in ("http", "https"):
        raise ConfigError(f"{url!r} is not the address of a server; use http://host:8765")
    return parts.scheme == "https", host, port, parts.path.rstrip("/")


_ERRORS = {
    ("urn:keyhole:conflict", 409): Conflict,
    ("urn:keyhole:config", 409): Taken,
    ("urn:keyhole:config", 422): ConfigError,
    ("urn:keyhole:protocol", 422): ProtocolError,
}


def _error(status: int, data: bytes) -> Exception:
    """Return the error that a store would have raised."""
    try:
        problem = json.loads(data)
        kind, detail = str(problem["type"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return StateError(f"the server answered {status}, but not like a keyhole service; check the address")
    if kind == "urn:keyhole:missing":
        return NoSuchLearner(detail) if "no learner" in detail else NoSuchRound(detail)
    if kind == "urn:keyhole:access":
        return PermissionError(detail)
    return _ERRORS.get((kind, status), StateError)(detail)


# -- conversion of values to JSON and back


def round_of(row: object) -> Round:
    """Build a round from the server's answer."""
    if not isinstance(row, dict):
        raise StateError("the server's answer is not a round; check the address")
    names = {"names": row["attributes"], "extra_names": row["extra"]}
    indices = {"attributes": row["attribute_indices"], "extra": row["extra_indices"]}
    times = {name: row[name] and from_iso(row[name]) for name in ("asked_at", "deadline", "labelled_at")}
    return Round.from_plain({**row, **names, **indices, **times})


def by_name(values: "Values", names: Sequence[str]) -> dict[str, float | None]:
    """Map names to values for JSON, with null for NaN."""
    try:
        pairs = {str(name): float(x) for name, x in values.items()} if isinstance(values, Mapping) else {}
        given: Floats = np.array([] if isinstance(values, Mapping) else values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProtocolError(f"the values must be numbers, one each for {', '.join(names)}") from None
    if not isinstance(values, Mapping):
        if given.shape != (len(names),):
            raise ProtocolError(f"expected {len(names)} values, one each for {', '.join(names)}; got {given.shape}")
        pairs = dict(zip(names, given.tolist(), strict=True))
    if any(math.isinf(x) for x in pairs.values()):
        raise ProtocolError("a value is infinite; pass NaN for one that was not observed")
    return {name: None if math.isnan(x) else x for name, x in pairs.items()}


def plain(value: object) -> object:
    """Convert an argument to JSON types."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value if isinstance(value, bool | int | float | str) else str(value)


def quoted(text: str) -> str:
    """Quote a name as part of a URL path."""
    return quote(str(text), safe="")


# -- the store


Given: TypeAlias = "Round | int"
_PAGE = 1000
_HISTORY = ("labels", "predictions", "price")


def connect(url: str, token: str | None = None, timeout: float = 30.0) -> "Remote":
    """Connect to the store behind a running `keyhole serve`: `kh.connect("http://ward:8765", token="kh_...")`."""
    return Remote(Wire(url, token, timeout))


class Remote:
    """A store on a server: a mapping from names to learners."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def create(
        self, name: str, algorithm: str, *, note: Mapping[str, str] | None = None, **arguments: object
    ) -> "RemoteLearner":
        """Create a learner, or return the existing one of equal configuration."""
        given = {key: plain(value) for key, value in arguments.items() if value is not None}
        body = {**given, "name": name, "algorithm": algorithm, "note": dict(note or {})}
        self._wire.json("POST", "/v1/learners", body)
        return self[name]

    def __getitem__(self, name: str) -> "RemoteLearner":
        self._wire.json("GET", f"/v1/learners/{quoted(name)}")
        return RemoteLearner(self._wire, name)

    def __contains__(self, name: object) -> bool:
        return name in self._names()

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def _names(self) -> list[str]:
        rows = self._wire.json("GET", "/v1/learners")
        return [str(row["name"]) for row in rows]  # type: ignore[attr-defined]


class RemoteLearner:
    """A learner in a store on a server."""

    def __init__(self, wire: Wire, name: str) -> None:
        self._wire, self.name = wire, name
        self._path = f"/v1/learners/{quoted(name)}"

    def __repr__(self) -> str:
        return f"<RemoteLearner '{self.name}' at {self._wire.url}>"

    def ask(
        self,
        key: str | None = None,
        available: "Bools | Sequence[bool] | Sequence[str] | None" = None,
        deadline: float | None = None,
        prices: "Mapping[str, float] | None" = None,
    ) -> Round:
        """Open a round; the same key always gives the same round. `prices` are the prices of this row, by source."""
        # Without a key we generate one, because repeating a call whose answer was lost must not open a second round.
        body: dict[str, object] = {"key": uuid.uuid4().hex if key is None else key}
        if available is not None:
            body["available"] = self._names(available)
        if deadline is not None:
            body["deadline"] = to_iso(deadline)
        if prices is not None:
            body["prices"] = dict(prices)
        return round_of(self._wire.json("POST", f"{self._path}/rounds", body))

    def predict(self, r: Given, values: "Values") -> float:
        """Predict from the bought values. The prediction is recorded; the last one before the label counts."""
        return cast(float, self.predict_interval(r, values).prediction)

    def predict_interval(self, r: Given, values: "Values") -> Round:
        """Predict like `predict`, and return the round: its `prediction`, `low` and `high`."""
        body = {"values": by_name(values, self._round(r).names)}
        return round_of(self._wire.json("POST", f"{self._round_path(r)}/prediction", body))

    def tell(
        self,
        r: Given,
        values: "Values | None",
        y: float,
        extra_attributes: "Sequence[int] | Ints | None" = None,
        extra_values: "Values | None" = None,
    ) -> bool:
        """Close a round with its label, however late; return False if the same label was told before."""
        body: dict[str, object] = {"y": finite("the label", y)}
        if values is not None:
            body["values"] = by_name(values, self._round(r).names)
        if extra_values is not None:
            body["extra"] = by_name(extra_values, self._extra(r, extra_attributes))
        answer = self._wire.json("POST", f"{self._round_path(r)}/label", body)
        return bool(answer["new"])  # type: ignore[index]

    def abandon(self, r: Given) -> bool:
        """Stop waiting for the label of a round; a later label is still accepted."""
        answer = self._wire.json("POST", f"{self._round_path(r)}/abandon")
        return bool(answer["new"])  # type: ignore[index]

    def learn(self, X: object, y: object) -> bool:
        """Learn from past rows (NaN for values that were not observed); return False if they were learnt before.

        The columns of an array must be in the learner's order; the columns of a frame are matched by name.
        """
        names = column_names(X) if is_frame(X) else None
        table, labels = past_table(X, y, names or ())
        body: dict[str, object] = {"rows": [nulls(row) for row in table.tolist()], "labels": nulls(labels.tolist())}
        if names is not None:
            body["names"] = names
        answer = self._wire.json("POST", f"{self._path}/past_rows", body)
        return bool(answer["new"])  # type: ignore[index]

    def tell_many(self, labels: Iterable[tuple[str, float]]) -> list[Outcome]:
        """Tell many late labels by key, in one transaction."""
        text = io.StringIO()
        csv.writer(text).writerows([("key", "y"), *((key, repr(float(y))) for key, y in labels)])
        answer = self._wire.bytes("POST", f"{self._path}/labels", text.getvalue().encode(), "text/csv")
        return [Outcome(line["key"], line["status"], line["message"]) for line in json.loads(answer)["lines"]]

    def rounds(self, status: str | None = None) -> tuple[Round, ...]:
        """Return the rounds in the order asked; `status` is open, labelled or abandoned."""
        if status is not None and status not in STATUSES:
            raise ConfigError(f"status must be one of {', '.join(STATUSES)}, not '{status}'")
        found: list[Round] = []
        while True:
            asked = {"after": found[-1].index if found else 0, "limit": _PAGE} | ({"status": status} if status else {})
            page = self._wire.json("GET", f"{self._path}/rounds?{urlencode(asked)}")
            found += [round_of(row) for row in page]  # type: ignore[attr-defined]
            if len(page) < _PAGE:  # type: ignore[arg-type]
                return tuple(found)

    def round(self, index: int) -> Round:
        """Return one round by its index, which counts from 1."""
        return round_of(self._wire.json("GET", self._round_path(index)))

    def history(self) -> LabelHistory:
        """Return the labels in order of arrival, each with the last prediction before it."""
        found: dict[str, list[Any]] = self._wire.json("GET", f"{self._path}/history")  # type: ignore[assignment]
        labelled_at = [from_iso(at) for at in found["labelled_at"]]
        numbers = [np.array(column, dtype=np.float64) for column in (labelled_at, *map(found.get, _HISTORY))]
        return LabelHistory(np.array(found["rounds"], dtype=np.int64), tuple(found["keys"]), *numbers)

    def ledger(self) -> tuple[Purchase, ...]:
        """Return all ordered sources with their prices."""
        rows = self._wire.json("GET", f"{self._path}/ledger")
        return tuple(Purchase(**(row | {"at": from_iso(row["at"])})) for row in rows)  # type: ignore[attr-defined]

    def learner(self) -> "Learner":
        """Return a copy of the current learner, to save or explain."""
        from ..core.serialization import from_bytes

        return from_bytes(self._wire.bytes("GET", f"{self._path}/model"))

    def totals(self) -> Totals:
        """Return the counts, the losses and the money spent so far."""
        row = self._wire.json("GET", f"{self._path}/totals")
        return Totals(**row)  # type: ignore[arg-type]

    # -- helpers

    def _round_path(self, r: Given) -> str:
        index = r if isinstance(r, int) and not isinstance(r, bool) else self._round(r).index
        return f"/v1/rounds/{quoted(f'{self.name}:{index}')}"

    def _round(self, r: Given) -> Round:
        if isinstance(r, Round):
            return r
        if isinstance(r, int) and not isinstance(r, bool):
            return self.round(r)
        raise ProtocolError(f"expected the Round that ask() gave, not {type(r).__name__}")

    def _extra(self, r: Given, given: "Sequence[int] | Ints | None") -> Sequence[str]:
        """Return the names of the attributes bought after the label."""
        mine = self._round(r)
        if given is not None and list(given) != mine.extra.tolist():
            raise ProtocolError(f"extra_attributes must be those of the round, which are {mine.extra.tolist()}")
        return mine.extra_names

    def _names(self, available: "Bools | Sequence[bool] | Sequence[str]") -> list[object]:
        """Return the available names; a mask is converted with the learner's names."""
        given = available.tolist() if isinstance(available, np.ndarray) else list(available)
        if given and all(isinstance(a, bool | np.bool_) for a in given):
            names = self.learner().names
            if len(names) == len(given):
                return [name for name, there in zip(names, given, strict=True) if there]
        return given
