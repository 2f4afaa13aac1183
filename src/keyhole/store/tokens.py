"""Who may do what through the service. Only a hash of a token is stored, so that a stolen store opens nothing."""

import hashlib
import hmac
import re
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import func, select

from ..errors import ConfigError
from .database import Database
from .sql_tables import learners, tokens

__all__ = ["RIGHTS", "Token", "any_token", "create_token", "find_token", "list_tokens", "revoke_token"]

RIGHTS = ("ask", "tell", "read", "create")
_FORM = re.compile(r"kh_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_NOBODY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True)
class Token:
    """What a token allows; the token itself is not known."""

    id: str
    learner: str | None
    """None: every learner."""
    may: tuple[str, ...]
    made_at: float

    def allows(self, right: str, learner: str | None) -> bool:
        """Whether it allows this on a learner (None: on the whole store)."""
        return right in self.may and (self.learner is None or self.learner == learner)


def create_token(database: Database, learner: str | None, may: tuple[str, ...]) -> str:
    """A new token, shown once."""
    for right in may:
        if right not in RIGHTS:
            raise ConfigError(f"a token may {', '.join(RIGHTS)}; not '{right}'")
    if learner is not None and "create" in may:
        raise ConfigError("a token for one learner cannot create others; leave --learner out, or create out of --may")
    with database.writing() as connection:
        if learner is not None and not connection.execute(select(learners).where(learners.c.name == learner)).first():
            raise ConfigError(f"there is no learner '{learner}' in this store; create it first")
        id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        row = {"id": id, "hash": _hash(secret), "learner": learner, "may": ",".join(may), "made_at": time.time()}
        connection.execute(tokens.insert().values(row))
    return f"kh_{id}_{secret}"


def find_token(database: Database, text: str) -> Token | None:
    """The token's record, if it is one of this store's; takes as long for a wrong secret as for a right one."""
    parts = _FORM.fullmatch(text)
    if parts is None:
        return None
    with database.reading() as connection:
        found = connection.execute(select(tokens).where(tokens.c.id == parts[1])).mappings().first()
    same = hmac.compare_digest(_hash(parts[2]), found["hash"] if found else _NOBODY)
    if not same or found is None:
        return None
    return Token(found["id"], found["learner"], tuple(found["may"].split(",")), found["made_at"])


def list_tokens(database: Database) -> list[Token]:
    """All tokens, oldest first."""
    with database.reading() as connection:
        rows = connection.execute(select(tokens).order_by(tokens.c.made_at)).mappings().all()
    return [Token(r["id"], r["learner"], tuple(r["may"].split(",")), r["made_at"]) for r in rows]


def any_token(database: Database) -> bool:
    """Whether anybody could come in."""
    with database.reading() as connection:
        return bool(connection.execute(select(func.count()).select_from(tokens)).scalar_one())


def revoke_token(database: Database, id: str) -> None:
    """A token that opens nothing from now on."""
    with database.writing() as connection:
        if not connection.execute(tokens.delete().where(tokens.c.id == id)).rowcount:
            raise ConfigError(f"there is no token '{id}'; keyhole token list shows them")


def _hash(secret: str) -> str:
    # Secrets are 32 random bytes: a slow hash would only protect what cannot be guessed anyway.
    return hashlib.sha256(secret.encode()).hexdigest()
