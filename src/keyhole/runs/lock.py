"""One writer per folder: a lock that the system gives back when its holder dies, however it dies."""

import os
import sys
from pathlib import Path
from types import TracebackType

from ..errors import ConfigError

__all__ = ["Lock"]


class Lock:
    """`with Lock(folder):` or a `ConfigError` that names the process which holds it.

    The lock is on the open file, not in its content: a killed process leaves a file behind and no lock.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / ".lock"

    def __enter__(self) -> "Lock":
        self._file = open(self.path, "a+", encoding="ascii")  # open as long as the lock is held
        try:
            _lock(self._file.fileno())
        except OSError:
            self._file.seek(0)
            holder = self._file.read().strip() or "another process"
            self._file.close()
            text = f"{self.path.parent} is being written by {holder}; wait for it, stop it, or choose another folder"
            raise ConfigError(text) from None
        self._file.truncate(0)
        self._file.write(f"process {os.getpid()}")
        self._file.flush()
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, at: TracebackType | None) -> None:
        self._file.truncate(0)
        self._file.close()


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # beyond the text, so that others can read who holds it
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
