"""The schema of a store: events are the truth; rounds and totals follow from them, and are kept to be found quickly."""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

__all__ = ["SCHEMA", "about", "events", "learners", "metadata", "rounds", "snapshots", "tokens"]

SCHEMA = 1
"""The number of this schema; `upgrading` knows the way from every earlier one."""

metadata = MetaData()

about = Table(
    "keyhole_about",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("value", Text, nullable=False),
)

learners = Table(
    "keyhole_learners",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(64), nullable=False, unique=True),
    Column("config", Text, nullable=False),  # of `make`, as JSON
    Column("note", Text, nullable=False),  # the label's unit and the like, for people
    Column("made_at", Double, nullable=False),
    Column("head", Integer, nullable=False),  # the number of the last event
    Column("checksum", String(64), nullable=False),  # of the last event, which covers all before it
    Column("asked", Integer, nullable=False),
    Column("told", Integer, nullable=False),
    Column("abandoned", Integer, nullable=False),
    Column("scored", Integer, nullable=False),
    Column("loss", Double, nullable=False),
    Column("idle", Double, nullable=False),
    Column("labels", Double, nullable=False),
    Column("spent", Double, nullable=False),
)


def _owner() -> "Column[int]":
    return Column("learner", Integer, ForeignKey(learners.c.id), primary_key=True)


def _index_of_known(name: str) -> Index:
    """An index of the rounds of a learner that have this number already: an open round takes no place in it."""
    known = text(f"{name} IS NOT NULL")
    return Index(f"keyhole_rounds_{name}", "learner", name, sqlite_where=known, postgresql_where=known)


# A commit costs SQLite by the page. So rows lie in the tree of their own key, not in one of hidden numbers beside it,
# and an index has only what is looked for. (A store that was made otherwise works the same, and stays as it is.)
events = Table(
    "keyhole_events",
    metadata,
    _owner(),
    Column("number", Integer, primary_key=True),
    Column("kind", String(8), nullable=False),
    Column("round", Integer, nullable=False),
    Column("at", Double, nullable=False),
    Column("body", Text, nullable=False),
    Column("checksum", String(64), nullable=False),
    sqlite_with_rowid=False,
)

rounds = Table(
    "keyhole_rounds",
    metadata,
    _owner(),
    Column("round", Integer, primary_key=True),
    Column("key", String(200)),
    Column("status", String(10), nullable=False),
    Column("asked", Integer, nullable=False),  # the number of the event, as are `predicted` and `ended`
    Column("asked_at", Double, nullable=False),
    Column("price", Double, nullable=False),
    Column("deadline", Double),
    Column("predicted", Integer),
    Column("prediction", Double),
    Column("ended", Integer),
    Column("told_at", Double),
    Column("label", Double),
    Column("scored", Integer),  # the totals just after this label, so that a curve needs no sum over history
    Column("loss", Double),
    Column("idle", Double),
    UniqueConstraint("learner", "key"),
    Index("keyhole_rounds_status", "learner", "status", "round"),
    _index_of_known("scored"),
    Index("keyhole_rounds_asked_at", "learner", "asked_at"),
    _index_of_known("ended"),
    sqlite_with_rowid=False,
)

snapshots = Table(
    "keyhole_snapshots",
    metadata,
    _owner(),
    Column("number", Integer, primary_key=True),  # the state just after this event
    Column("start", Boolean, nullable=False),  # replays begin here: an upgrade made it
    Column("version", String(40), nullable=False),
    Column("model", LargeBinary, nullable=False),  # a model file
)

tokens = Table(
    "keyhole_tokens",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("hash", String(64), nullable=False),
    Column("learner", String(64)),  # by name; none: every learner
    Column("may", String(80), nullable=False),
    Column("made_at", Double, nullable=False),
)
