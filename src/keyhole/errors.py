"""What can go wrong, in one sentence: what, where, and what to do."""

__all__ = ["ConfigError", "KeyholeWarning", "ProtocolError", "StateError"]


class ConfigError(ValueError):
    """An argument of `make` (or of a part) makes no sense; nothing was built."""


class ProtocolError(ValueError):
    """A round was answered in a way the protocol forbids; the learner's state is as it was before the call."""


class StateError(ValueError):
    """A file is not a learner this version can continue; nothing in it was executed."""


class KeyholeWarning(UserWarning):
    """Something a person should know that is not an error, said once."""
