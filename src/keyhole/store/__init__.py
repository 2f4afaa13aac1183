"""What many processes share: learners as events and snapshots in SQLite or PostgreSQL.

    store = kh.open_store("sqlite:///clinic.db")
    learner = store.create("icu", "thrifty", names=TESTS, k=4, seed=0)
    r = learner.ask(key="patient-17")
    learner.predict(r, values)
    learner.tell(r, values, y)             # any process, any order, any time later

`models` has the values that are returned, `database` the tables and the two databases, `events` the event log,
`projections` what is computed from it, `cached_learner` the state in this process, `transaction` one change, `store`
the interface of users; the command line uses `verify`, `export_import` and `tokens`.
"""

from typing import TYPE_CHECKING

from ..errors import ConfigError

if TYPE_CHECKING:
    from .store import Store

__all__ = ["open_store"]


def open_store(url: str) -> "Store":
    """Open the store at `sqlite:///file.db` or `postgresql://user@host/database`; a new one is created.

    Parameters
    ----------
    url : the address of the database.

    Returns
    -------
    The store: learners by name.

    Raises
    ------
    ConfigError : the address is wrong, or the database cannot be opened.
    StateError : the database is not a store of this version.

    Examples
    --------
    >>> store = open_store("sqlite:///clinic.db")  # doctest: +SKIP
    """
    try:
        from .store import Store

        return Store(url)
    except ModuleNotFoundError as missing:
        raise ConfigError(f"the store needs '{missing.name}'; install it with: pip install 'keyhole[serve]'") from None
