"""The exceptions and warnings of the package; each message states what is wrong, where, and what to do."""

__all__ = ["ConfigError", "KeyholeWarning", "ProtocolError", "StateError", "WriteError"]


class ConfigError(ValueError):
    """An argument of `make` or of a component is invalid; nothing was built."""


class ProtocolError(ValueError):
    """A call violates the protocol; the learner's state is unchanged."""


class StateError(ValueError):
    """A file does not contain a learner that this version can load; nothing in it was executed."""


class WriteError(OSError, StateError):
    """A file cannot be written, for example because the disk is full; a file that was there is untouched."""

    def __str__(self) -> str:
        return f"cannot write {self.filename} ({self.strerror}); a file that was there is untouched"


class KeyholeWarning(UserWarning):
    """A condition that the user should know about but that is not an error; issued once."""
