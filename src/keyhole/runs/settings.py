"""What a run is: everything that decides its outcome, as one JSON file in its folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from ..errors import ConfigError
from ..files import write_atomically
from ..protocol import Plain

__all__ = ["Settings"]

_FORMAT = 1


@dataclass(frozen=True)
class Settings:
    """The file, the learner and the schema of a run, and how far it is."""

    file: str
    """Absolute, so that a run can be resumed from anywhere."""
    title: str
    """What the report calls it."""
    learner: dict[str, Plain]
    """The configuration that `make` needs."""
    schema: str
    """As TOML."""
    scaled: bool
    """Whether the learner sees values scaled into [-1, 1] or clipped raw ones."""
    clip: bool
    """Whether the schema's ranges were given; otherwise nothing is clipped."""
    spend: float | None
    fingerprint: dict[str, object]
    command: str
    """What to type to do it again."""
    status: str = "running"
    """"running", "stopped" (by something in the file) or "finished"."""
    played: str = ""
    """Where stopped: a digest of the rows played so far, so that the file can be mended further down."""
    format: int = _FORMAT

    def write(self, path: Path) -> None:
        """All or nothing."""
        write_atomically(path, (json.dumps(asdict(self), indent=1) + "\n").encode())

    @classmethod
    def read(cls, path: Path) -> "Settings":
        """What `write` wrote; anything else is a `ConfigError`."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data.get("format") != _FORMAT:
                raise ConfigError(f"{path} has format {data.get('format')}; this version of keyhole reads {_FORMAT}")
            return cls(**data)
        except (FileNotFoundError, NotADirectoryError):
            raise ConfigError(f"there is no run in {path.parent}: begin one with keyhole run FILE --out DIR") from None
        except (TypeError, AttributeError, ValueError) as fault:
            raise ConfigError(f"{path} is not what keyhole wrote ({fault}); restore it, or begin a new run") from None
