"""What many processes share: learners as events and snapshots in SQLite or PostgreSQL.

    store = kh.open_store("sqlite:///clinic.db")
    stored = store.create("icu", "thrifty", names=TESTS, k=4, seed=0)
    r = stored.ask(key="patient-17")
    stored.predict(r, values)
    stored.tell(r, values, y)              # any process, any order, any time later

`entries` holds the values that come out, `tables` the schema, `database` the two engines, `events` what is written,
`books` what follows from it, `live` the state in this process, `desk` one transaction, `learner` and `store` what a
user calls; `checking`, `carrying`, `upgrading` and `tokens` are the command line's.
"""

from typing import TYPE_CHECKING

from ..errors import ConfigError

if TYPE_CHECKING:
    from .store import Store

__all__ = ["open_store"]


def open_store(url: str) -> "Store":
    """The store at `sqlite:///file.db` or `postgresql://user@host/database`; made where it is new."""
    try:
        from .store import Store
    except ModuleNotFoundError as missing:
        raise ConfigError(f"the store needs '{missing.name}'; install it with: pip install 'keyhole[serve]'") from None
    return Store(url)
