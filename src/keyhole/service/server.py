"""The server process: its settings, limits on its connections, and how it runs with one or several workers.

Without limits, a client that opens connections and never completes a request could hold file descriptors for ever, and
would not even need a token. Here it has a few seconds to complete a request. When all connections are taken, the one
that has waited longest without a complete request is closed to make room for a new one.
"""

import asyncio
import ctypes
import functools
import inspect
import ipaddress
import json
import os
import signal
import socket
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from threading import Thread
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from .. import __version__
from ..errors import ConfigError

__all__ = [
    "LOOPBACK_NAMES",
    "RESERVED_DESCRIPTORS",
    "LimitedConnection",
    "LimitedProtocol",
    "Settings",
    "is_loopback",
    "leave_with",
    "max_connections",
    "run",
    "share_arenas",
]

# -- settings


LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")

_VARIABLE = "KEYHOLE_SERVE"


@dataclass(frozen=True)
class Settings:
    """The settings of a server."""

    url: str
    """The address of the store."""
    auth: bool = False
    """Whether every call needs a token."""
    local: bool = True
    """Whether only this machine can reach the server; it then answers to no other host name."""
    supervisor: int | None = None
    """The id of the process that started the workers, if there are several."""
    max_connections: int = 0
    """Maximum number of simultaneous connections per process; 0: as many as its file descriptors allow."""
    request_timeout: float = 10.0
    """Seconds in which a client must send a whole request, or continue reading an answer."""
    max_learner_memory: float = 512.0
    """Maximum memory of a learner in MB; a larger learner is refused."""
    max_learner_seconds: float = 5.0
    """Maximum seconds to build a learner or to play a round; a slower learner is refused."""

    def to_environment(self) -> None:
        """Write the settings to the environment, for the worker processes."""
        os.environ[_VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read the settings that `to_environment` wrote."""
        return cls(**json.loads(os.environ[_VARIABLE]))


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    >>> [is_loopback(h) for h in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "10.0.0.4", "ward.example")]
    [True, True, True, False, False, False]
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


# -- connections


_FULL = b'{"type":"about:blank","title":"Service Unavailable","status":503,"detail":"too many connections; try again"}'
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/problem+json\r\nretry-after: 1\r\n"
    b"connection: close\r\ncontent-length: " + str(len(_FULL)).encode() + b"\r\n\r\n" + _FULL
)


RESERVED_DESCRIPTORS = 160
"""File descriptors that a process needs besides its connections.

FastAPI answers calls in up to 40 threads, each with a connection to the store; SQLite opens three files for each. The
other 40 are for the process itself (13 when it starts), static files and exports.
"""
_MIN_CONNECTIONS = 10


def max_connections(settings: Settings) -> int:
    """Return the limit as set, or half of the file descriptors that the process itself does not need.

    The other half is for connections that are accepted but not counted yet, or closed but not released yet.
    """
    if settings.max_connections:
        return settings.max_connections
    try:
        import resource
    except ImportError:  # Windows
        return 500
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(_MIN_CONNECTIONS, min(1000, (soft - RESERVED_DESCRIPTORS) // 2))


class Connections:
    """All connections of one server process."""

    def __init__(self, limit: int, timeout: float) -> None:
        self.limit, self.timeout, self.count = limit, timeout, 0
        # In the order in which they started to wait.
        self.waiting: dict[LimitedConnection, None] = {}

    def admit(self) -> bool:
        """Whether there is room for one more connection; the longest-waiting one is closed if necessary."""
        if self.count >= self.limit and self.waiting:
            next(iter(self.waiting)).abort()
        return self.count < self.limit


class LimitedConnection:
    """A connection with a timeout; the middleware reports the start and end of its requests."""

    def __init__(self, connections: Connections, transport: asyncio.Transport) -> None:
        self.connections, self.transport, self.open = connections, transport, True
        self.client_reads = True
        self._timer: asyncio.TimerHandle | None = None
        connections.count += 1
        self.wait()

    def wait(self) -> None:
        """Start the timeout: the client must send the head of a request or read the answer."""
        if self.open and self.client_reads:
            self._stop()
            self._timer = asyncio.get_running_loop().call_later(self.connections.timeout, self.abort)
            self.connections.waiting[self] = None

    def wait_for_body(self) -> None:
        """Wait without a timeout of our own: the middleware has one for a body, and answers when it is over."""
        if self.open and self.client_reads:
            self._stop()
            self.connections.waiting[self] = None

    def work(self) -> None:
        """Stop the timeout while the server works: the connection is not closed to make room for another."""
        if self.client_reads:
            self._stop()

    def pause(self) -> None:
        """Start the timeout because the client does not read its answer."""
        self.wait()
        self.client_reads = False

    def resume(self) -> None:
        """Continue after the client has resumed reading."""
        self.client_reads = True
        self.work()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.connections.waiting.pop(self, None)

    def abort(self) -> None:
        """Close the connection at once."""
        self.release()
        self.transport.abort()

    def release(self) -> None:
        """Release the place of a closed connection."""
        if self.open:
            self._stop()
            self.open = False
            self.connections.count -= 1


@functools.cache
def _connections_of_this_process() -> Connections:
    settings = Settings.from_environment()
    return Connections(max_connections(settings), settings.request_timeout)


class LimitedProtocol(H11Protocol):
    """The HTTP protocol of uvicorn with limits; the connection of a request is in `scope["state"]`.

    It is that of h11 also where httptools is installed, which reads heads and trailers of any size into memory.
    """

    def __init__(self, config: Any, server_state: Any, app_state: dict[str, Any], *more: Any, **named: Any) -> None:
        self._limits = _connections_of_this_process()
        self._limited: LimitedConnection | None = None
        self._request_state = dict(app_state)
        super().__init__(config, server_state, self._request_state, *more, **named)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Take a place, or refuse the connection."""
        if not self._limits.admit():
            transport.write(_REFUSAL)
            transport.close()
            return
        self._limited = self._request_state["connection"] = LimitedConnection(self._limits, transport)
        super().connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Pass bytes on, unless the connection was refused."""
        if self._limited is not None:
            super().data_received(data)

    def pause_writing(self) -> None:
        """Start a timeout, as long as that of a request, because the client does not read its answer."""
        if self._limited is not None:
            self._limited.pause()
            super().pause_writing()

    def resume_writing(self) -> None:
        """Continue after the client has resumed reading."""
        if self._limited is not None:
            self._limited.resume()
            super().resume_writing()

    def connection_lost(self, fault: Exception | None) -> None:
        """Release the place of the connection."""
        if self._limited is not None:
            self._limited.release()
            super().connection_lost(fault)


# -- workers


_EVERY = 0.5
_QUEUE = 1024  # connections that the system holds until the server accepts them
_M_ARENA_MAX = -8  # of malloc.h


def share_arenas(most: int = 2) -> None:
    """Let all threads allocate from a few arenas instead of one each; only glibc has such arenas.

    Memory freed in an arena is reused only by threads of that arena. The threads that answer requests come and go, so
    with arenas of their own the unused memory grew by 25 MB in ten minutes, and went on growing.
    """
    if "MALLOC_ARENA_MAX" in os.environ:
        return  # the operator's own choice
    with suppress(OSError, AttributeError, TypeError):  # another C library, or another system
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, most)


def leave_with(supervisor: int) -> None:
    """End this process when its supervisor has ended.

    A supervisor that is killed cannot stop its workers. They would keep the port, and a new server could not use it.
    """

    def watch() -> None:
        while os.getppid() == supervisor:
            time.sleep(_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    Thread(target=watch, name="leave-with-supervisor", daemon=True).start()


def run(settings: Settings, host: str, port: int, workers: int, line: str) -> None:
    """Listen on an address, print it with `line`, and serve requests until the process is stopped."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol must be given explicitly, or asyncio does not set TCP_NODELAY, which costs 40 ms per call.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as fault:
        raise ConfigError(f"cannot listen on {host}, port {port}: {fault.strerror}; choose another --port") from None
    except (TypeError, UnicodeError):
        raise ConfigError(f"--host {host[:80]!r} is not a name that a machine can have") from None
    listening.listen(_QUEUE)  # from now on clients wait for the app instead of being refused
    shown = f"[{host}]" if ":" in host else host
    settings.to_environment()
    app, at = "keyhole.service.app:from_environment", int(listening.getsockname()[1])
    print(f" keyhole {__version__}: http://{shown}:{at}   {line}", flush=True)
    if workers > 1:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="keyhole-metrics-")
    # Event streams never end by themselves, so they are closed after two seconds.
    config = uvicorn.Config(
        app,
        factory=True,
        host=host,
        port=at,
        workers=workers,
        log_level="warning",
        timeout_graceful_shutdown=2,
        server_header=False,
        http=LimitedProtocol,
        proxy_headers=False,
        # asyncio accepts connections in batches of this size, three of them before those of the first are counted.
        backlog=max(8, max_connections(settings) // 3),
    )
    if workers > 1:
        _run_workers(config, listening)
    else:
        _Server(config).run(sockets=[listening])


class _Server(uvicorn.Server):
    """A server with a long queue of clients: asyncio makes the queue as short as the batches in which it accepts.

    The system drops what finds the queue full, and the client tries again a second later.
    """

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_QUEUE)


def _run_workers(config: uvicorn.Config, listening: socket.socket) -> None:
    """Run worker processes that share one socket; the class in uvicorn has different names in different versions."""
    listening.set_inheritable(True)
    wants_target = "target" in inspect.signature(Multiprocess).parameters
    target = {"target": uvicorn.Server(config).run} if wants_target else {}
    Multiprocess(config, sockets=[listening], **target).run()
