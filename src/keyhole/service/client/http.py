"""HTTP by the standard library: one open connection per thread, and errors as the store would raise them."""

import http.client
import json
import threading
import time
from urllib.parse import urlsplit

from ...errors import ConfigError, ProtocolError, StateError
from ...store.models import Conflict, NoSuchLearner, NoSuchRound, Taken

__all__ = ["Wire"]

_TRIES = 5
_AWAY = (502, 503, 504)
"""A server that is going or coming, or a proxy that does not reach it."""


class Wire:
    """Calls to one server. Every call may be repeated: keys and labels are idempotent."""

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"'{url}' is not the address of a server; use http://host:8765")
        self._class = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._base = parts.hostname, parts.port, parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._timeout, self._mine = timeout, threading.local()
        self.url = url

    def json(self, method: str, path: str, body: object = None) -> object:
        """A call with JSON on both sides."""
        sent = None if body is None else json.dumps(body, allow_nan=False).encode()
        found: object = json.loads(self.bytes(method, path, sent, "application/json"))
        return found

    def bytes(self, method: str, path: str, body: bytes | None = None, kind: str = "") -> bytes:
        """A call; an answer that never came is asked for again, as long as the server may only have been restarted."""
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
                if reused:  # servers close idle connections: a new one is opened at once
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


_ERRORS = {
    ("urn:keyhole:conflict", 409): Conflict,
    ("urn:keyhole:config", 409): Taken,
    ("urn:keyhole:config", 422): ConfigError,
    ("urn:keyhole:protocol", 422): ProtocolError,
}


def _error(status: int, data: bytes) -> Exception:
    """The error that a store would have raised."""
    try:
        problem = json.loads(data)
        kind, detail = str(problem["type"]), str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return StateError(f"the server answered {status}, and not as keyhole does; is the address right?")
    if kind == "urn:keyhole:missing":
        return NoSuchLearner(detail) if "no learner" in detail else NoSuchRound(detail)
    if kind == "urn:keyhole:access":
        return PermissionError(detail)
    return _ERRORS.get((kind, status), StateError)(detail)
