"""Durable files: written whole or not at all, and still there after a power cut.

A file is written under a random name beside its place, forced to the disk, and moved into place; then the folder is
forced to the disk too. Everything that keyhole puts on a disk goes through here.
"""

import hashlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import StateError

__all__ = [
    "digest",
    "digest_of_file",
    "is_leftover",
    "make_folder",
    "read_json",
    "remove",
    "remove_leftovers",
    "replacing",
    "write_atomically",
    "write_json",
]

_LEFTOVER = re.compile(r"\.keyhole-[0-9a-f]{16}\.part")


def digest(data: bytes) -> str:
    """SHA-256, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_of_file(path: Path) -> str:
    """The same of a file's content; memory does not grow with it."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
    except BaseException as fault:
        with suppress(OSError):  # the first error is the one to tell
            os.unlink(temporary)
        if isinstance(fault, OSError) and fault.errno and fault.filename in (None, str(temporary)):
            raise OSError(fault.errno, fault.strerror, str(path)) from None  # which file is what a person needs
        raise
    _sync(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by a file with this content, in one step."""
    with replacing(path) as file:
        file.write(data)


def write_json(path: Path, content: dict[str, object]) -> None:
    """A JSON object with one more member, the last: a digest of all bytes before it."""
    body = json.dumps(content, indent=1).removesuffix("\n}").encode()
    write_atomically(path, body + _tail(body))


def read_json(path: Path) -> dict[str, object]:
    """What `write_json` wrote; a `StateError` where a single bit of it is different."""
    text = path.read_bytes()
    body = text[: -len(_tail(b""))]
    try:
        if body + _tail(body) == text:
            return {key: value for key, value in json.loads(text).items() if key != "digest"}
    except (ValueError, RecursionError):
        pass  # a digest over something else
    raise StateError(f"{path} is damaged: it is not what keyhole wrote")


def _tail(body: bytes) -> bytes:
    return f',\n "digest": "{digest(body)}"\n}}\n'.encode()


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
