"""Where results may go: nothing is deleted or overwritten that keyhole did not write.

Every command claims what it writes here: a folder of its own (`Folder`), or a single file (`claim_file`).
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import ConfigError, StateError
from . import atomic_io

__all__ = ["Folder", "claim_file"]

_MARKER = ".keyhole.json"
_LOCK, _WRITER = ".lock", ".writer"


class Folder:
    """A folder that keyhole made, with a marker `.keyhole.json` in it that lists what we wrote there.

    A name goes into the marker before its file is written; what is not listed is somebody else's and left alone.
    """

    def __init__(self, path: Path, kind: str, names: Iterable[str] = ()) -> None:
        self.path, self.kind, self._names = path, kind, set(names)

    @classmethod
    def claim(cls, path: Path, kind: str) -> "Folder":
        """The folder of results of this `kind` ("run", "comparison", ...): a new one, an empty one, or one of its own.

        Anything else is a `ConfigError`, and nothing was touched.
        """
        found = cls.find(path)
        if found is not None:
            if found.kind != kind:
                raise ConfigError(f"{path} holds a {found.kind}, not a {kind}; choose another --out")
            return found
        try:
            if os.path.lexists(path) and any(not _is_ours(name) for name in os.listdir(path)):
                raise ConfigError(f"{path} is not empty, and keyhole did not make it; choose another --out")
            atomic_io.make_folder(path)
            folder = cls(path, kind)
            folder._write()
        except OSError as fault:
            raise ConfigError(f"{path} cannot be written ({fault.strerror}); choose another folder") from None
        return folder

    @classmethod
    def find(cls, path: Path) -> "Folder | None":
        """The folder of ours at this path; None where there is none."""
        marker = path / _MARKER
        damaged = f"{marker} is damaged; nothing in {path} is touched: choose another folder"
        try:
            data = atomic_io.read_json(marker)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as fault:
            raise ConfigError(f"{path} cannot be read ({fault.strerror}); choose another folder") from None
        except StateError:
            raise ConfigError(damaged) from None
        kind, names = data.get("kind"), data.get("files")
        if not isinstance(kind, str) or not isinstance(names, list) or not all(map(_is_plain, names)):
            raise ConfigError(damaged)
        return cls(path, kind, names)

    def file(self, name: str) -> Path:
        """The path of a file of ours, "report.html" or "figures/loss.svg", claimed now where it was not before."""
        place = self.path / name
        if place.parent != self.path:
            self._make(place.parent)
        if name not in self._names and os.path.lexists(place):
            raise ConfigError(f"{place} is not keyhole's, and would be overwritten; move it away, then continue")
        self._list(name)
        return place

    def subfolder(self, name: str) -> Path:
        """A folder within this one whose whole content is ours, made now where it was not before."""
        place, entry = self.path / name, f"{name}/"
        if entry not in self._names and os.path.lexists(place) and (not place.is_dir() or any(place.iterdir())):
            raise ConfigError(f"{place} is not keyhole's; move it away, then continue")
        self._list(entry)
        self._make(place)
        return place

    @contextmanager
    def lock(self) -> Iterator[None]:
        """One writer at a time: a second one is a `ConfigError` that names the process which holds the folder.

        The system gives the lock back when its holder dies, however it dies. What dead ones left is taken away.
        """
        try:
            from filelock import FileLock, Timeout
        except ModuleNotFoundError:
            raise ConfigError("writing a folder needs filelock: pip install 'keyhole[cli]'") from None
        lock, writer = FileLock(self.path / _LOCK, timeout=0), self.path / _WRITER
        try:
            lock.acquire()
        except Timeout:
            pid = _running_process(writer)
            holder = "another process; wait for it" if pid is None else f"process {pid}; wait for it, stop it"
            raise ConfigError(f"{self.path} is being written by {holder}, or choose another folder") from None
        except OSError as fault:
            raise ConfigError(f"{self.path} cannot be written ({fault.strerror}); choose another folder") from None
        try:
            atomic_io.remove_leftovers(self.path)
            atomic_io.write_atomically(writer, str(os.getpid()).encode())
            yield
        finally:
            with suppress(OSError):
                atomic_io.remove(writer)
            lock.release()

    def check_room(self, needed: int) -> None:
        """The disk has room for that many bytes."""
        free = shutil.disk_usage(self.path).free
        if free < needed:
            text = f"{self.path} may need {needed / 1e6:.0f} MB and its disk has {free / 1e6:.0f} MB free"
            raise ConfigError(f"{text}; make room or choose another folder")

    def clear(self) -> None:
        """Remove the files we listed and nothing else; subfolders are for their writers to empty."""
        for name in self._names:
            place = self.path / name
            if not name.endswith("/") and not (place.parent != self.path and place.parent.is_symlink()):
                atomic_io.remove(place)
        self._names = {name for name in self._names if name.endswith("/")}
        self._write()

    def _make(self, place: Path) -> None:
        if place.is_symlink():
            raise ConfigError(f"{place} is a link, which keyhole did not make; move it away, then continue")
        atomic_io.make_folder(place)

    def _list(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            self._write()

    def _write(self) -> None:
        atomic_io.write_json(self.path / _MARKER, {"kind": self.kind, "files": sorted(self._names)})


def claim_file(path: Path, *, force: bool = False, reads: Iterable[Path] = ()) -> Path:
    """A place for a file that a command writes: free, or (`force`) an ordinary file, and nothing the command `reads`.

    Anything else is a `ConfigError`.
    """
    if any(_same(path, other) for other in reads):
        raise ConfigError(f"{path} is what this command reads, and would be overwritten; choose another place")
    if not path.parent.is_dir():
        raise ConfigError(f"{path} cannot be written: there is no folder {path.parent}; make it first")
    if os.path.lexists(path) and not (path.is_file() or path.is_symlink()):
        raise ConfigError(f"{path} is not an ordinary file; choose another place")
    if os.path.lexists(path) and not force:
        raise ConfigError(f"{path} exists already; choose another place, or add --force to replace it")
    return path


def _running_process(writer: Path) -> int | None:
    """The process that wrote its number here, if it still runs: a killed one leaves its number behind."""
    if sys.platform == "win32":  # where signal 0 is Control-C
        return None
    pid = 0
    try:
        pid = int(writer.read_text(encoding="ascii"))
        os.kill(max(pid, 1), 0)
    except PermissionError:  # it runs, and belongs to another user
        return pid
    except (OSError, ValueError, OverflowError):
        return None
    return pid if pid > 0 else None


def _same(path: Path, other: Path) -> bool:
    """Whether both are one file, by whatever names and links."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def _is_ours(name: str) -> bool:
    """What a process that died on its way to the marker may have left."""
    return name in (_LOCK, _WRITER) or atomic_io.is_leftover(name)


def _is_plain(name: object) -> bool:
    """A name that stays within its folder: the marker is a file like any other, and might have been changed."""
    if not isinstance(name, str) or not name or "\\" in name or "\0" in name or ":" in name:
        return False
    parts = name.removesuffix("/").split("/")
    return len(parts) <= 2 and not any(part in ("", ".", "..") for part in parts)
