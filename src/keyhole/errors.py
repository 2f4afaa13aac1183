"""The exceptions and warnings of the package; each message states what is wrong, where, and what to do."""

__all__ = ["ConfigError", "KeyholeWarning", "ProtocolError", "StateError"]


class ConfigError(ValueError):
    """An argument of `make` or of a component is invalid; nothing was built."""


class ProtocolError(ValueError):
    """A call violates the protocol; the learner's state is unchanged."""


class StateError(ValueError):
    """A file does not contain a learner that this version can load; nothing in it was executed."""


class KeyholeWarning(UserWarning):
    """A condition that the user should know about but that is not an error; issued once."""
