"""The store: learners by name, shared by all processes that open it."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from ..core.learner import Plain
from ..errors import ConfigError, StateError
from .cached_learner import CachedLearner
from .database import Connection, Database, DuplicateRow
from .events import first_checksum
from .models import NoSuchLearner, Taken, Totals
from .schema import TOTAL_COLUMNS
from .stored_learner import StoredLearner

__all__ = ["Store", "Summary", "add_learner"]

_NAME = re.compile(r"[^\W_][\w .-]{0,63}")
_ADD_LEARNER = (
    f"INSERT INTO keyhole_learners (name, config, note, created_at, head, checksum, {TOTAL_COLUMNS}) "
    f"VALUES (:name, :config, :note, :created_at, 0, :checksum, {', '.join(f':{name}' for name in Totals._fields)})"
)


@dataclass(frozen=True)
class Summary:
    """A learner in a list, read without loading its state."""

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
        self._cached: dict[str, CachedLearner] = {}

    def create(
        self, name: str, algorithm: str, *, note: Mapping[str, str] | None = None, **arguments: object
    ) -> StoredLearner:
        """A new learner, made with the arguments of `kh.make`; one of equal configuration is returned as it is.

        `note` (`label`, `unit`, `currency`) is for people. A missing seed is drawn, and equals any.
        """
        from ..core.registry.catalogue import make

        config = make(algorithm, **arguments).config  # type: ignore[arg-type]  # `make` checks each
        _check_names(name, config)
        text = json.dumps(config, sort_keys=True)
        if self._find(name) is None:
            with suppress(DuplicateRow), self.database.writing() as connection:
                add_learner(connection, name, text, json.dumps(dict(note or {})), time.time())
        found = self[name]
        if not _equal(found.config, config, arguments.get("seed") is not None):
            raise Taken(f"there is a learner '{name}' of another configuration; choose another name")
        return found

    def create_from_model(self, name: str, model: bytes, *, note: Mapping[str, str] | None = None) -> StoredLearner:
        """A new learner in the state of a model file, such as `keyhole plan` writes; it may be called again.

        A learner of this name that has another configuration, or rounds of its own, is a `Taken` or a `Conflict`.
        """
        from ..core.serialization import from_bytes

        config = dict(from_bytes(model).config)
        options, algorithm = config.pop("options"), config.pop("name")
        stored = self.create(name, str(algorithm), note=note, **config, **options)  # type: ignore[arg-type]
        stored.transact(lambda transaction: transaction.start_from(model))
        return stored

    def __getitem__(self, name: str) -> StoredLearner:
        cached = self._find(name)
        if cached is None:
            raise NoSuchLearner(f"there is no learner '{name}' in this store")
        return StoredLearner(self.database, cached)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.heads()))

    def __len__(self) -> int:
        return len(self.heads())

    def summaries(self) -> list[Summary]:
        """All learners with their totals, by name; one query."""
        with self.database.reading() as connection:
            rows = connection.rows(
                f"SELECT name, config, note, head, {TOTAL_COLUMNS} FROM keyhole_learners ORDER BY name"
            )
        return [
            Summary(name, str(json.loads(config)["name"]), head, Totals(*totals), json.loads(note))
            for name, config, note, head, *totals in rows
        ]

    def heads(self) -> dict[str, int]:
        """The number of the last event of each learner."""
        with self.database.reading() as connection:
            return dict(connection.rows("SELECT name, head FROM keyhole_learners"))

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _find(self, name: str) -> CachedLearner | None:
        """The state of a learner in this process; None where the store has no such learner."""
        if name not in self._cached:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                return None
            with self.database.reading() as connection:
                found = connection.row("SELECT id, config FROM keyhole_learners WHERE name = :name", {"name": name})
            if found is None:
                return None
            self._cached.setdefault(name, CachedLearner(found[0], name, json.loads(found[1])))
        return self._cached[name]


def add_learner(connection: Connection, name: str, config: str, note: str, created_at: float) -> int:
    """Add a learner without events; its id."""
    row: dict[str, object] = {"name": name, "config": config, "note": note, "created_at": created_at}
    connection.run(_ADD_LEARNER, row | {"checksum": first_checksum(name, config), **Totals()._asdict()})
    found = connection.row("SELECT id FROM keyhole_learners WHERE name = :name", {"name": name})
    if found is None:
        raise StateError(f"learner '{name}' was not added to the store")
    return int(found[0])


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
