"""Output folders and files: keyhole never deletes or overwrites a file that it did not write.

Every command claims its output through this module: a folder (`Folder`) or a single file (`claim_file`).
"""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import ConfigError, StateError
from . import atomic_io

__all__ = ["Folder", "claim_file"]

_MARKER = ".keyhole.json"
_LOCK, _WRITER = ".lock", ".writer"


class Folder:
    """A folder that keyhole created, with a marker `.keyhole.json` that lists the files written there.

    A name is added to the marker before its file is written. Files that are not listed are never touched.
    """

    def __init__(self, path: Path, kind: str, names: Iterable[str] = ()) -> None:
        self.path, self.kind, self._names = path, kind, set(names)

    @classmethod
    def claim(cls, path: Path, kind: str) -> "Folder":
        """Claim a folder for results of this `kind` ("run", "comparison", ...).

        The folder must be new, empty, or already have this kind. Otherwise a `ConfigError` is raised and nothing is
        changed.
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
        """Return the folder at this path if keyhole created it, otherwise None."""
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
        """Return the path of a file such as "figures/loss.svg", and claim it if it is not listed yet."""
        place = self.path / name
        if place.parent != self.path:
            self._make(place.parent)
        if name not in self._names and os.path.lexists(place):
            raise ConfigError(f"{place} was not written by keyhole and would be overwritten; move it, then continue")
        self._list(name)
        return place

    def subfolder(self, name: str) -> Path:
        """Return a subfolder that belongs to keyhole entirely, and create it if it does not exist."""
        place, entry = self.path / name, f"{name}/"
        if entry not in self._names and os.path.lexists(place) and (not place.is_dir() or any(place.iterdir())):
            raise ConfigError(f"{place} was not written by keyhole; move it, then continue")
        self._list(entry)
        self._make(place)
        return place

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Lock the folder for one writer; for a second one raise a `ConfigError` that names the process holding it.

        The operating system releases the lock when its holder dies. Temporary files of dead processes are removed.
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
            for place in (self.path, *self._subfolders()):
                atomic_io.remove_leftovers(place)
            atomic_io.write_atomically(writer, f"{os.getpid()} {_start_time(os.getpid())}".encode())
            yield
        finally:
            with suppress(OSError):
                atomic_io.remove(writer)
            lock.release()

    def check_room(self, needed: int) -> None:
        """Raise `ConfigError` if the disk does not have room for this many bytes."""
        free = shutil.disk_usage(self.path).free
        if free < needed:
            text = f"{self.path} may need {needed / 1e6:.0f} MB and its disk has {free / 1e6:.0f} MB free"
            raise ConfigError(f"{text}; make room or choose another folder")

    def clear(self) -> None:
        """Remove the listed files and nothing else; the writers of subfolders empty them."""
        for name in self._names:
            place = self.path / name
            if not name.endswith("/") and not (place.parent != self.path and place.parent.is_symlink()):
                atomic_io.remove(place)
        self._names = {name for name in self._names if name.endswith("/")}
        self._write()

    def _subfolders(self) -> list[Path]:
        """Return the folders in which keyhole has written, without links that took the place of one."""
        names = {name.split("/")[0] for name in self._names if "/" in name}
        places = [self.path / name for name in sorted(names)]
        return [place for place in places if place.is_dir() and not place.is_symlink()]

    def _make(self, place: Path) -> None:
        if place.is_symlink():
            raise ConfigError(f"{place} is a link that keyhole did not make; move it, then continue")
        atomic_io.make_folder(place)

    def _list(self, name: str) -> None:
        if name not in self._names:
            self._names.add(name)
            self._write()

    def _write(self) -> None:
        atomic_io.write_json(self.path / _MARKER, {"kind": self.kind, "files": sorted(self._names)})


def claim_file(path: Path, *, force: bool = False, reads: Iterable[Path] = ()) -> Path:
    """Claim the path of a file that a command writes.

    The path must be free or, with `force`, an ordinary file, and must not be a file that the command `reads`; otherwise
    a `ConfigError` is raised.
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
    """Return the process that this file names if it still runs; a killed process leaves its number behind.

    Numbers are given again to new processes, so the start time must agree as well.
    """
    try:
        pid, start = map(int, writer.read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return None
    return pid if start and start == _start_time(pid) else None


def _start_time(pid: int) -> int:
    """Return when a running process started, in clock ticks since boot; 0 if it has ended, or without /proc."""
    try:
        # The name of the program may contain anything, but only the name is in brackets. Man page: proc_pid_stat(5).
        state, *fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return 0 if state in "ZX" else int(fields[18])
    except (OSError, ValueError, IndexError):
        return 0


def _same(path: Path, other: Path) -> bool:
    """Whether both paths lead to the same file, through any names and links."""
    try:
        return path.samefile(other)
    except OSError:
        return False


def _is_ours(name: str) -> bool:
    """Whether a process that died before it wrote the marker may have left this file."""
    return name in (_LOCK, _WRITER) or atomic_io.is_leftover(name)


def _is_plain(name: object) -> bool:
    """Whether a name stays within its folder; needed because the marker is an ordinary file that anyone may edit."""
    if not isinstance(name, str) or not name or "\\" in name or "\0" in name or ":" in name:
        return False
    parts = name.removesuffix("/").split("/")
    return len(parts) <= 2 and not any(part in ("", ".", "..") for part in parts)
