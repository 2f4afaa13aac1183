"""Checks of names that need no heavy imports, so that typing errors are reported at once."""

from collections.abc import Iterable
from pathlib import Path

from ..errors import ConfigError

__all__ = ["require_algorithms", "require_experiment", "require_file", "require_model", "require_store"]

_TABLES = (".csv", ".gz", ".parquet", ".pq", ".tsv", ".txt")


def require_file(path: Path | str) -> None:
    """Refuse a path to a file that does not exist. A string without a file extension may name a data set instead."""
    named = isinstance(path, Path) or Path(path).suffix in _TABLES
    if named and not Path(path).exists():
        raise ConfigError(f"{path}: no such file; check the name and the folder")


def require_model(path: Path) -> None:
    """Refuse a path to a model that does not exist."""
    if not path.exists():
        raise ConfigError(f"{path}: no such file; give the model.kh of a run")


def require_store(url: str) -> None:
    """Refuse the address of an unsupported kind of database."""
    if not url.startswith(("sqlite:", "sqlite+", "postgresql:", "postgresql+")):
        raise ConfigError(f"'{url}' is not a store; use sqlite:///file.db or postgresql://user@host/database")


def require_algorithms(specs: Iterable[str]) -> None:
    """Refuse every NAME or NAME[option=value,...] whose algorithm does not exist, all in one sentence."""
    from ..core.registry.catalogue import record
    from ..core.registry.plugins import import_algorithm
    from ..core.registry.spec import Spec

    refused = []
    for spec in specs:
        name = Spec.parse(spec).name
        try:
            import_algorithm(name)
            record(name)
        except ConfigError as fault:
            refused.append(str(fault))
    if refused:
        raise ConfigError("; ".join(dict.fromkeys(refused)))


def require_experiment(name: str) -> None:
    """Refuse the name of an experiment that does not exist."""
    studies = Path(__file__).parents[1] / "experiments" / "studies"
    known = sorted(path.stem for path in studies.glob("*.toml"))
    if name not in (*known, "all", "list"):
        raise ConfigError(f"there is no experiment '{name}'; there are: {', '.join(known)}, and all")
