"""What a server is told; several workers read it from the environment."""

import ipaddress
import json
import os
from dataclasses import asdict, dataclass

__all__ = ["Settings", "is_loopback"]

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
    """The process that looks after several workers."""

    def to_environment(self) -> None:
        """For the workers, which are processes of their own."""
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
