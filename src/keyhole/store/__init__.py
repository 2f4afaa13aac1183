"""The store: learners that many processes share, as events and snapshots in SQLite or PostgreSQL.

    store = kh.open_store("sqlite:///clinic.db")
    learner = store.create("icu", "thrifty", names=TESTS, k=4, seed=0)
    r = learner.ask(key="patient-17")
    learner.predict(r, values)
    learner.tell(r, values, y)             # any process, any order, any time later

`models` defines the values that the store returns, `database` the tables and the two databases, `events` the event log,
`projections` the tables computed from it, `learner_row` the configuration and the note of a learner, `cached_learner`
its state in this process, `transaction` a single change, and `store` the public interface. The command line also uses
`verify`, `export_import` and `tokens`.
"""

from typing import TYPE_CHECKING

from ..errors import ConfigError

if TYPE_CHECKING:
    from .store import Store

__all__ = ["open_store"]


def open_store(url: str) -> "Store":
    """Open the store at `sqlite:///file.db` or `postgresql://user@host/database`; create it if it does not exist.

    Parameters
    ----------
    url : the address of the database.

    Returns
    -------
    The store, which maps names to learners.

    Raises
    ------
    ConfigError : the address is invalid, or the database cannot be opened.
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
