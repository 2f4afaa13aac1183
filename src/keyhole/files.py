"""Durable files: written whole or not at all, and still there after a power cut.

A file is written under a random name beside its place, forced to the disk, and moved into place; then the folder is
forced to the disk too. Everything that keyhole puts on a disk goes through here.
"""

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["digest", "is_leftover", "make_folder", "remove", "remove_leftovers", "replacing", "write_atomically"]

_LEFTOVER = re.compile(r"\.keyhole-[0-9a-f]{16}\.part")


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@contextmanager
def replacing(path: Path, *, over: bool = True) -> Iterator[BinaryIO]:
    """A file to write into, which becomes `path` in one step when all went well, and vanishes when not.

    With `over=False` a file that came into its place meanwhile is a `FileExistsError`.
    """
    temporary = path.with_name(f".keyhole-{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _move(temporary, path, over)
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell
            os.unlink(temporary)
        raise
    _sync(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by a file with this content, in one step."""
    with replacing(path) as file:
        file.write(data)


def make_folder(path: Path) -> None:
    """The folder and those above it, as far as they are missing."""
    if not path.is_dir():
        make_folder(path.parent)
        with suppress(FileExistsError):  # another process was quicker; a file in its place fails at the next step
            os.mkdir(path)
        _sync(path.parent)


def remove(path: Path) -> None:
    """The file, or link, is gone; none is no fault."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def is_leftover(name: str) -> bool:
    """Whether a process that died may have left a file of this name behind."""
    return _LEFTOVER.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> None:
    """Take away what processes that died were writing; only for who holds the folder's lock."""
    for path in folder.iterdir():
        if is_leftover(path.name):
            remove(path)


def _move(temporary: Path, path: Path, over: bool) -> None:
    if over:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)  # unlike a rename, this never replaces anything
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(f"{path} came into being meanwhile") from None
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _sync(folder: Path) -> None:
    """Force a folder's entries to the disk, where the system knows of such a thing."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems refuse, and are no worse for it
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
