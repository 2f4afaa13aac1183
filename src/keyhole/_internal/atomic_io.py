"""Durable files: a file is written completely or not at all, and survives a power failure.

A file is written under a random name in its folder, forced to the disk, and moved into place; then the folder is forced
to the disk too. keyhole writes all its files through this module.
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

from ..errors import StateError, WriteError

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
    """Return the SHA-256 of the data, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the digest of a file's content, in constant memory."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(path: Path, *, over: bool = True) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces `path` in one step on success, and is removed on failure.

    Raises `WriteError` if the file cannot be written; with `over=False`, `FileExistsError` if `path` was created in the
    meantime.
    """
    temporary = path.with_name(f".keyhole-{secrets.token_hex(8)}.part")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _move(temporary, path, over)
    except BaseException as fault:
        with suppress(OSError):  # report the first error, not this one
            os.unlink(temporary)
        if isinstance(fault, FileExistsError) or not isinstance(fault, OSError) or not fault.errno:
            raise
        if fault.filename not in (None, str(temporary)):
            raise
        raise WriteError(fault.errno, fault.strerror, str(path)) from None  # name the final file to the user
    _sync(path.parent)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by a file with this content, in one step."""
    with replacing(path) as file:
        file.write(data)


def write_json(path: Path, content: dict[str, object]) -> None:
    """Write a JSON object with an additional last member: a digest of all bytes before it."""
    body = json.dumps(content, indent=1).removesuffix("\n}").encode()
    write_atomically(path, body + _tail(body))


def read_json(path: Path) -> dict[str, object]:
    """Read what `write_json` wrote; raise `StateError` if a single bit differs."""
    text = path.read_bytes()
    body = text[: -len(_tail(b""))]
    try:
        if body + _tail(body) == text:
            return {key: value for key, value in json.loads(text).items() if key != "digest"}
    except (ValueError, RecursionError):
        pass  # not JSON: reported as damaged below
    raise StateError(f"{path} is damaged: it is not what keyhole wrote")


def _tail(body: bytes) -> bytes:
    return f',\n "digest": "{digest(body)}"\n}}\n'.encode()


def make_folder(path: Path) -> None:
    """Create the folder and its missing parents."""
    if not path.is_dir():
        make_folder(path.parent)
        try:
            os.mkdir(path)
        except FileExistsError:
            pass  # another process created it first; if it is a file, the next step fails
        except OSError as fault:
            raise WriteError(fault.errno, fault.strerror, str(path)) from None
        _sync(path.parent)


def remove(path: Path) -> None:
    """Remove a file or link; it need not exist."""
    with suppress(FileNotFoundError):
        os.unlink(path)


def is_leftover(name: str) -> bool:
    """Whether a file of this name may have been left by a process that died."""
    return _LEFTOVER.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that died; the caller must hold the folder's lock."""
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
            raise FileExistsError(f"{path} was created by another process in the meantime") from None
        os.replace(temporary, path)
    else:
        os.unlink(temporary)


def _sync(folder: Path) -> None:
    """Force a folder's entries to the disk, if the system supports it."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # some network file systems do not support it
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
