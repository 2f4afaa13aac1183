"""The store: learners by name, shared by every process that opens it."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError

from ..core.learner import Plain
from ..errors import ConfigError
from .cached_learner import CachedLearner
from .database import Database
from .events import first_checksum
from .models import NoSuchLearner, Taken, Totals
from .sql_tables import SCHEMA, learners
from .stored_learner import StoredLearner
from .upgrading import upgrade_schema

__all__ = ["Store", "Summary"]

_NAME = re.compile(r"[^\W_][\w .-]{0,63}")
_TOTALS = Totals._fields


@dataclass(frozen=True)
class Summary:
    """One line about a learner, for lists of thousands of them."""

    name: str
    algorithm: str
    head: int
    totals: Totals
    note: dict[str, str]


class Store:
    """`kh.open_store(url)`. Learners by name, as in a dictionary; `create` makes new ones."""

    def __init__(self, url: str) -> None:
        self.database = Database(url)
        self.database.open()
        if self.database.schema() != SCHEMA:
            upgrade_schema(self.database)
        self._lives: dict[str, CachedLearner] = {}

    def create(
        self, name: str, algorithm: str, *, note: Mapping[str, str] | None = None, **arguments: object
    ) -> StoredLearner:
        """A new learner, made with the arguments of `kh.make`; one of equal configuration is returned as it is.

        `note` (`label`, `unit`, `currency`) is for people. A seed that is not given is drawn, and matches any.
        """
        from ..core.registry.catalogue import make  # brings the compiler: not before somebody needs a learner

        config = make(algorithm, **arguments).config  # type: ignore[arg-type]  # `make` checks each
        _check_names(name, config)
        text = json.dumps(config, sort_keys=True)
        row = {"name": name, "config": text, "note": json.dumps(dict(note or {})), "made_at": time.time(), "head": 0}
        row |= {"checksum": first_checksum(name, text), **Totals()._asdict()}
        if self._find(name) is None:
            try:
                with self.database.writing() as connection:
                    connection.execute(learners.insert().values(row))
            except IntegrityError:
                pass  # another process made it in this moment
        found = self[name]
        if not _equal(found.config, config, arguments.get("seed") is not None):
            raise Taken(f"there is a learner '{name}' of another configuration; choose another name")
        return found

    def __getitem__(self, name: str) -> StoredLearner:
        live = self._find(name)
        if live is None:
            raise NoSuchLearner(f"there is no learner '{name}' in this store")
        return StoredLearner(self.database, live)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter([one.name for one in self.summaries()])

    def __len__(self) -> int:
        return len(self.summaries())

    def summaries(self) -> list[Summary]:
        """All learners with their totals, by name; one query."""
        c = learners.c
        every = select(c.name, c.config, c.note, c.head, *(c[name] for name in _TOTALS)).order_by(c.name)
        with self.database.reading() as connection:
            rows = connection.execute(every).all()
        return [
            Summary(name, str(json.loads(config)["name"]), head, Totals(*totals), json.loads(note))
            for name, config, note, head, *totals in rows
        ]

    def heads(self) -> dict[str, int]:
        """The number of the last event of each learner."""
        with self.database.reading() as connection:
            rows = connection.execute(select(learners.c.name, learners.c.head)).all()
        return {row.name: row.head for row in rows}

    def close(self) -> None:
        """Give the connections back."""
        self.database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, name: str) -> CachedLearner | None:
        """The state of a learner in this process, made when it is first used."""
        if name not in self._lives:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                return None
            mine = select(learners.c.id, learners.c.config).where(learners.c.name == name)
            with self.database.reading() as connection:
                found = connection.execute(mine).first()
            if found is None:
                return None
            self._lives.setdefault(name, CachedLearner(found.id, name, json.loads(found.config)))
        return self._lives[name]


def _check_names(name: str, config: dict[str, Plain]) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        what = "1 to 64 letters, digits, spaces and . - _, a letter or digit first"
        raise ConfigError(f"a learner's name is {what}; not {name!r:.80}")
    for attribute in config.get("names") or ():  # type: ignore[union-attr]
        if not str(attribute).isprintable() or len(str(attribute)) > 200:
            raise ConfigError(f"the name of an attribute is at most 200 printable characters; not {attribute!r:.80}")


def _equal(there: dict[str, Plain], wanted: dict[str, Plain], seeded: bool) -> bool:
    if not seeded:
        wanted = wanted | {"seed": there["seed"]}
    return json.dumps(there, sort_keys=True) == json.dumps(wanted, sort_keys=True)
