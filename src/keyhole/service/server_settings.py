"""The settings of a server; several workers read them from the environment."""

import ipaddress
import json
import os
from dataclasses import asdict, dataclass

__all__ = ["LOOPBACK_NAMES", "Settings", "is_loopback"]

LOOPBACK_NAMES = ("127.0.0.1", "localhost", "::1", "[::1]")

_VARIABLE = "KEYHOLE_SERVE"


@dataclass(frozen=True)
class Settings:
    """One server."""

    url: str
    """The store."""
    auth: bool = False
    """Whether every call needs a token."""
    local: bool = True
    """Whether only this machine can reach it: then no other host name is answered."""
    supervisor: int | None = None
    """The process that started several workers."""
    max_connections: int = 0
    """At most so many connections at once in a process; 0: half of the file descriptors it may open."""
    request_timeout: float = 10.0
    """Seconds in which a client must send a whole request, and go on reading an answer."""
    max_learner_memory: float = 512.0
    """MB that a learner may take; a larger one is refused."""
    max_learner_seconds: float = 5.0
    """Seconds that a learner may take to be built, or for a round; a slower one is refused."""

    def to_environment(self) -> None:
        """Write the settings for the workers, which are processes of their own."""
        os.environ[_VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> "Settings":
        """What `to_environment` wrote."""
        return cls(**json.loads(os.environ[_VARIABLE]))


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_loopback(h) for h in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "10.0.0.4", "ward.example")]
    [True, True, True, False, False, False]
    """
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
