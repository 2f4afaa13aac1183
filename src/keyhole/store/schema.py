"""The tables of a store. Events are the source of truth; rounds and totals are projections, kept for fast lookup."""

from typing import NamedTuple, get_type_hints

from .models import RoundRow, Totals

__all__ = ["ROUND_COLUMNS", "SCHEMA_VERSION", "TOTAL_COLUMNS", "create_statements"]

SCHEMA_VERSION = 1
"""A store of any other version is refused."""


def _sql_types(row_type: type[NamedTuple]) -> dict[str, str]:
    names = {int: "INTEGER", float: "DOUBLE PRECISION", str: "TEXT"}
    types = {}
    for name, annotation in get_type_hints(row_type).items():
        required = annotation in names
        (base,) = [annotation] if required else [a for a in annotation.__args__ if a in names]
        types[name] = names[base] + (" NOT NULL" if required else "")
    return types


ROUND_COLUMNS = ", ".join(RoundRow._fields)
TOTAL_COLUMNS = ", ".join(Totals._fields)


def create_statements(sqlite: bool) -> list[str]:
    """The statements that create the tables where they do not exist yet.

    A commit costs SQLite by the page. So rows are stored in the tree of their primary key (WITHOUT ROWID), and an index
    leaves out the rows that are never looked up by it.
    """
    identity = "INTEGER PRIMARY KEY" if sqlite else "SERIAL PRIMARY KEY"
    blob, without_rowid = ("BLOB", " WITHOUT ROWID") if sqlite else ("BYTEA", "")
    owner = "learner INTEGER NOT NULL REFERENCES keyhole_learners (id)"
    totals = ", ".join(f"{name} {kind}" for name, kind in _sql_types(Totals).items())
    rounds = ", ".join(f"{name} {kind}" for name, kind in _sql_types(RoundRow).items())
    tables = {
        "about": "name VARCHAR(40) PRIMARY KEY, value TEXT NOT NULL)",
        # config: of `make`, as JSON; note: what people read (label, unit, currency); head, checksum: of the last event
        "learners": f"id {identity}, name VARCHAR(64) NOT NULL UNIQUE, config TEXT NOT NULL, note TEXT NOT NULL, "
        f"created_at DOUBLE PRECISION NOT NULL, head INTEGER NOT NULL, checksum VARCHAR(64) NOT NULL, {totals})",
        "events": f"{owner}, number INTEGER NOT NULL, kind VARCHAR(16) NOT NULL, round INTEGER NOT NULL, "
        "at DOUBLE PRECISION NOT NULL, body TEXT NOT NULL, checksum VARCHAR(64) NOT NULL, "
        f"PRIMARY KEY (learner, number)){without_rowid}",
        "rounds": f"{owner}, {rounds}, PRIMARY KEY (learner, round), UNIQUE (learner, key)){without_rowid}",
        # number: the state just after this event; model: a model file
        "snapshots": f"{owner}, number INTEGER NOT NULL, version VARCHAR(40) NOT NULL, model {blob} NOT NULL, "
        "PRIMARY KEY (learner, number))",
        # learner: a name, or NULL for every learner
        "tokens": "id VARCHAR(16) PRIMARY KEY, hash VARCHAR(64) NOT NULL, learner VARCHAR(64), "
        "may VARCHAR(80) NOT NULL, created_at DOUBLE PRECISION NOT NULL)",
    }
    indexes = {
        "status": "(learner, status, round)",
        "asked_at": "(learner, asked_at)",
        "n_scored": "(learner, n_scored) WHERE n_scored IS NOT NULL",
        "end_event": "(learner, end_event) WHERE end_event IS NOT NULL",
    }
    made = [f"CREATE TABLE IF NOT EXISTS keyhole_{name} ({columns}" for name, columns in tables.items()]
    return made + [
        f"CREATE INDEX IF NOT EXISTS keyhole_rounds_{name} ON keyhole_rounds {what}" for name, what in indexes.items()
    ]
