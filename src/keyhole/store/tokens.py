"""Access tokens of the service. Only a hash of each token is stored, so that a stolen store gives no access."""

import hashlib
import hmac
import math
import re
import secrets
import time
from dataclasses import dataclass

from ..errors import ConfigError
from .database import Connection, Database
from .learner_row import VALID_NAME

__all__ = [
    "RIGHTS",
    "Token",
    "any_token",
    "create_token",
    "damaged_tokens",
    "find_token",
    "list_tokens",
    "revoke_token",
]

RIGHTS = ("ask", "tell", "read", "create")
_FORM = re.compile(r"kh_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_NO_HASH = hashlib.sha256(b"").hexdigest()
_COLUMNS = "id AS token_id, learner AS token_learner, may, created_at"


@dataclass(frozen=True)
class Token:
    """The rights of a token; the token itself is not stored."""

    id: str
    learner: str | None
    """The learner that the token is restricted to; None for every learner."""
    may: tuple[str, ...]
    created_at: float

    def allows(self, right: str, learner: str | None) -> bool:
        """Whether the token grants this right on a learner (None: on the whole store)."""
        return right in self.may and (self.learner is None or self.learner == learner)


def create_token(database: Database, learner: str | None, may: tuple[str, ...]) -> str:
    """Create a token and return its text, which cannot be recovered later."""
    for right in may:
        if right not in RIGHTS:
            raise ConfigError(f"the rights of a token are {', '.join(RIGHTS)}; '{right}' is not one of them")
    if learner is not None and "create" in may:
        raise ConfigError("a token for one learner cannot create others; omit --learner, or remove create from --may")
    with database.writing() as connection:
        exists = "SELECT id FROM keyhole_learners WHERE name = :name"
        if learner is not None and connection.row(exists, {"name": learner}) is None:
            raise ConfigError(f"there is no learner '{learner}' in this store; create it first")
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        row = {"id": id, "hash": _hash(secret), "learner": learner, "may": ",".join(may), "at": time.time()}
        connection.run("INSERT INTO keyhole_tokens VALUES (:id, :hash, :learner, :may, :at)", row)
    return f"kh_{id}_{secret}"


def find_token(database: Database, text: str) -> Token | None:
    """Return the record of a token, or None if it is not valid; a wrong secret takes as long as a right one."""
    parts = _FORM.fullmatch(text)
    if parts is None:
        return None
    with database.reading() as connection:
        found = connection.row(f"SELECT hash, {_COLUMNS} FROM keyhole_tokens WHERE id = :id", {"id": parts[1]})
    same = hmac.compare_digest(_hash(parts[2]), found[0] if found else _NO_HASH)
    return _token(*found[1:]) if same and found else None


def list_tokens(database: Database) -> list[Token]:
    """Return all tokens, oldest first."""
    with database.reading() as connection:
        rows = connection.rows(f"SELECT {_COLUMNS} FROM keyhole_tokens ORDER BY created_at")
    return [_token(*row) for row in rows]


def damaged_tokens(connection: Connection) -> list[str]:
    """Return the ids of the tokens that `create_token` cannot have written."""
    damaged = []
    for id, learner, may, created_at, hash in connection.rows(f"SELECT {_COLUMNS}, hash FROM keyhole_tokens"):
        well_formed = re.fullmatch("[0-9a-f]{12}", id) and re.fullmatch("[0-9a-f]{64}", hash)
        rights = may.split(",") if may else []
        known = learner is None or VALID_NAME.fullmatch(learner)
        if not (well_formed and known and set(rights) <= set(RIGHTS) and math.isfinite(created_at)):
            damaged.append(id)
    return damaged


def any_token(database: Database) -> bool:
    """Whether the store has at least one token."""
    with database.reading() as connection:
        return connection.row(f"SELECT {_COLUMNS} FROM keyhole_tokens LIMIT 1") is not None


def revoke_token(database: Database, id: str) -> None:
    """Remove a token, which from then on gives no access."""
    with database.writing() as connection:
        if not connection.run("DELETE FROM keyhole_tokens WHERE id = :id", {"id": id}):
            raise ConfigError(f"there is no token '{id}'; keyhole token list shows them")


def _token(id: str, learner: str | None, may: str, created_at: float) -> Token:
    return Token(id, learner, tuple(may.split(",")), created_at)


def _hash(secret: str) -> str:
    # A secret is 32 random bytes, which cannot be guessed, so a slow hash would add no protection.
    return hashlib.sha256(secret.encode()).hexdigest()
