"""What a run is: everything that decides its outcome, as one JSON file in its folder."""

from dataclasses import asdict, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, ValidationError
from pydantic.dataclasses import dataclass

from .._internal.atomic_io import read_json, write_json
from ..errors import ConfigError, StateError
from .baselines import Limits

__all__ = ["Settings"]

_FORMAT = 2


@dataclass(frozen=True, config=ConfigDict(strict=True, extra="forbid"))
class Settings:
    """The file and the learner of a run, and how far it is; the schema lies beside it, as `schema.toml`."""

    file: str
    """Absolute, so that a run can be resumed from anywhere."""
    title: str
    """What the report calls it."""
    learner: dict[str, Any]
    """The configuration that `make` needs."""
    scaled: bool
    """Whether the learner sees values scaled into [-1, 1] or raw ones."""
    clip: bool
    """Whether the schema's ranges were given; otherwise nothing is clipped."""
    options: dict[str, Any]
    """What was asked for, by the names of the command's options."""
    command: str
    """What to type to do it again."""
    start: str = ""
    """The digest of start.kh, the learner before the first row, where it knows something already."""
    fingerprint: dict[str, object] = field(default_factory=dict)
    status: str = "running"
    """"running", "stopped" (by something in the file) or "finished"."""
    played: str = ""
    """Where stopped: a digest of the rows played so far, so that the file can be mended further down."""
    results: dict[str, str] = field(default_factory=dict)
    """Where finished: the digests of its results, by file."""
    format: int = _FORMAT

    @property
    def budget_per_row(self) -> float | None:
        """The money that may be spent a row, if that was said; of a total, the mean."""
        budget_per_row, total, rows = (
            self._number("budget_per_row"),
            self._number("total_budget"),
            self._number("expected_rows"),
        )
        mean = total / rows if total is not None and rows is not None else None
        return min((limit for limit in (budget_per_row, mean) if limit is not None), default=None)

    @property
    def error_cost(self) -> float | None:
        """What a unit of squared error in one row is worth in money, if that was said."""
        return self._number("error_cost")

    @property
    def limits(self) -> Limits:
        """What limits a row."""
        budget_per_row, k = self.budget_per_row, self.learner["k"]
        if not isinstance(k, int):
            raise StateError(f"the run's k is {str(k)[:40]!r}, not a whole number; run it again")
        return Limits(k, np.inf if budget_per_row is None else budget_per_row, self.error_cost)

    def _number(self, name: str) -> float | None:
        """An option of the command, or of the learner."""
        options = self.learner["options"]
        said = self.options.get(name) or (options.get(name) if isinstance(options, dict) else None)
        return float(said) if isinstance(said, int | float) else None

    def write(self, path: Path) -> None:
        """All or nothing."""
        write_json(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """What `write` wrote; anything else is a `ConfigError`."""
        try:
            data = read_json(path)
            if data.get("format") != _FORMAT:
                raise ConfigError(f"{path} has format {data.get('format')}; this version of keyhole reads {_FORMAT}")
            return cls(**data)  # type: ignore[arg-type]  # checked field by field
        except (FileNotFoundError, NotADirectoryError):
            raise ConfigError(f"there is no run in {path.parent}: begin one with keyhole run FILE --out DIR") from None
        except (OSError, StateError, ValidationError) as fault:
            what = f"{path} cannot be used ({_first(fault) if isinstance(fault, ValidationError) else fault})"
            raise ConfigError(f"{what}; restore it from a copy, or begin a new run in another folder") from None


def _first(fault: ValidationError) -> str:
    """What pydantic found first: "scaled: Input should be a valid boolean"."""
    found = fault.errors(include_url=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
