"""The row of a learner: which names are valid, and its configuration and note, which are JSON."""

import re

from ..core.learner import Learner, Plain
from .events import json_object, reason
from .models import DamagedStore

__all__ = ["VALID_NAME", "learner_config", "learner_note", "new_learner"]

VALID_NAME = re.compile(r"[^\W_][\w .-]{0,63}")


def learner_config(name: str, text: str) -> dict[str, Plain]:
    """Return the arguments of `make` that created a learner."""
    config = json_object(text, f"the configuration of learner {name!r:.80}")
    if not (isinstance(config.get("name"), str) and isinstance(config.get("options"), dict) and "seed" in config):
        raise DamagedStore(f"the configuration of learner {name!r:.80} has no name, options or seed")
    return config


def new_learner(name: str, config: dict[str, Plain]) -> Learner:
    """Return the learner as it was before its first event."""
    from ..core.registry.catalogue import from_config

    try:
        return from_config(config)
    except Exception as fault:  # a damaged configuration can make a constructor raise anything
        what = f"the configuration of learner {name!r:.80}"
        raise DamagedStore(f"{what} cannot be used: {reason(fault)}") from None


def learner_note(name: str, text: str) -> dict[str, str]:
    """Return the texts shown beside the numbers."""
    note = json_object(text, f"the note of learner {name!r:.80}")
    if not all(isinstance(value, str) for value in note.values()):
        raise DamagedStore(f"the note of learner {name!r:.80} has values that are not text")
    return note  # type: ignore[return-value]
