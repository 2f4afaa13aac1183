"""Save a learner to a file and load it again.

A model file contains only data: the learner's class is looked up by name in the catalogue, its arguments pass the same
checks as a user's, and every number must be valid for such a learner (`core.state`). Loading executes no code from the
file, decompresses nothing (members are stored uncompressed, so none can exceed the file), and allocates nothing based
on a size that the file merely claims.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy

from .._internal.atomic_io import digest, write_atomically
from ..errors import StateError
from .learner import Learner, Plain
from .registry.catalogue import class_of, from_config
from .round import Round
from .state import Array, Value

__all__ = ["content_of", "from_bytes", "load", "note_in", "pack", "save", "to_bytes", "unpack"]

FORMAT = 1
DIGEST = 64


def save(learner: Learner, path: "str | PathLike[str]") -> None:
    """Write the learner atomically: after a crash the path holds either the old file or the complete new one.

    A learner loaded from this path overwrites only the version it was loaded from or has since written itself. If
    another process saved in the meantime, overwriting would lose the labels which that process learnt from.
    """
    try:
        data = to_bytes(learner)
        _check_still_there(learner, Path(path))
        write_atomically(Path(path), data)
        if learner.origin is not None and learner.origin[0] == Path(path).resolve():
            learner.origin = (learner.origin[0], data[-DIGEST:])
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise StateError(f"{path}: cannot be written ({reason}); an existing file is unchanged") from None
    except StateError:
        raise
    except (TypeError, ValueError) as fault:
        raise StateError(f"the learner cannot be written: {fault}") from None


def _check_still_there(learner: Learner, path: Path) -> None:
    """Check that the file still has the digest it had when the learner was loaded."""
    if learner.origin is None or learner.origin[0] != path.resolve() or not path.exists():
        return
    if path.read_bytes()[-DIGEST:] != learner.origin[1]:
        way_out = "save to another file, or let processes share the learner in a store (kh.open_store)"
        raise StateError(f"{path} has changed since it was loaded, and overwriting it would lose that; {way_out}")


def to_bytes(learner: Learner, note: dict[str, Plain] | None = None) -> bytes:
    """Return the file content; equal states give equal bytes. `note_in` reads back the optional `note`."""
    with learner.locked():
        state, generator, rounds = learner.get_state(), learner.rng.bit_generator.state, learner.open_rounds
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    header = {
        "note": note or {},
        "config": learner.config,
        "scalars": {key: value for key, value in state.items() if key not in arrays},
        "generator": generator,
        "open": [r.to_json() for r in rounds],
    }
    return pack(header, arrays)


def pack(header: Mapping[str, object], arrays: Mapping[str, Array]) -> bytes:
    """Serialize a header and arrays as a ZIP archive of JSON and npy members, followed by its SHA-256.

    Models and checkpoints use this format. Equal contents give equal bytes; `unpack` is the inverse.

    Parameters
    ----------
    header
        Any JSON-serializable mapping; the format version is added.
    arrays
        Arrays by name, without object dtypes.

    Returns
    -------
    bytes

    Examples
    --------
    >>> header, arrays = unpack(pack({"row": 5}, {"w": np.zeros(2)}))
    >>> header["row"], arrays["w"]
    (5, array([0., 0.]))
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _write(archive, "keyhole.json", json.dumps({"format": FORMAT, **header}).encode())
        for key, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            _write(archive, f"{key}.npy", member.getvalue())
        archive.comment = b"0" * DIGEST
    body = buffer.getvalue()[:-DIGEST]
    return body + digest(body).encode()


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a member with a fixed date, so that equal states give equal files."""
    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)


_MEMBERS = 10_000
_START = b"PK\x03\x04"  # of a zip archive
_NOT_OURS = "this is not a keyhole file, or it was cut or changed; restore it from a copy"


def load(path: "str | PathLike[str]") -> Learner:
    """Return the learner written by `learner.save(path)`, which continues bit for bit; else raise `StateError`."""
    try:
        data = content_of(Path(path))
        learner = from_bytes(data)
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise StateError(f"{path}: cannot be read ({reason}); give the file that learner.save(path) wrote") from None
    except StateError as fault:
        raise StateError(f"{path}: {fault}") from None
    except (TypeError, ValueError) as fault:
        raise StateError(f"a path is needed, the file that learner.save(path) wrote: {fault}") from None
    learner.origin = (Path(path).resolve(), data[-DIGEST:])
    return learner


def content_of(path: Path) -> bytes:
    """Return the content of a model file; a device or a large file of another kind is not read into memory."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise StateError(_NOT_OURS)
    with path.open("rb") as file:
        if file.read(len(_START)) != _START:
            raise StateError(_NOT_OURS)
        file.seek(0)
        return file.read()


def note_in(data: bytes) -> dict[str, Plain]:
    """Return the note in a file's content, for example the schema of its training data; empty if there is none."""
    note = _read(data)[0].get("note")
    return note if isinstance(note, dict) else {}


def from_bytes(data: bytes) -> Learner:
    """Return the learner stored in a file's content."""
    try:
        return _rebuild(*_read(data))
    except StateError:
        raise
    except Exception as fault:  # malformed content can make numpy or a constructor raise anything
        raise StateError(f"the file cannot be interpreted: {str(fault)[:200]}") from None


def _read(data: bytes) -> tuple[dict[str, Plain], dict[str, Value]]:
    """Return the header and the state (numbers and arrays)."""
    header, arrays = unpack(data)
    scalars = header.get("scalars")
    if not isinstance(scalars, dict):
        raise StateError("the file cannot be interpreted: it has no numbers")
    return header, {**scalars, **arrays}


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return the header and the arrays serialized by `pack`.

    Raises
    ------
    StateError
        If the data are corrupted, the format version differs, or the content was not written by `pack`.
    """
    if digest(data[:-DIGEST]).encode() != data[-DIGEST:]:
        raise StateError(_NOT_OURS)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > _MEMBERS or any(m.compress_type != zipfile.ZIP_STORED for m in members):
                raise StateError("the file is compressed or has too many parts; learner.save(path) writes no such file")
            if sum(m.file_size for m in members) > len(data):
                raise StateError("parts of the file share their bytes; learner.save(path) writes no such file")
            header = json.loads(archive.read("keyhole.json"))
            _check_format(header)
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            arrays = {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}
    except StateError:
        raise
    except Exception as fault:  # a malformed archive can make zipfile, json or numpy raise anything
        raise StateError(f"the file cannot be interpreted: {str(fault)[:200]}") from None
    return header, arrays


def _array(content: bytes) -> Array:
    """Return the array in an npy member; its header must announce exactly the bytes that follow."""
    member = io.BytesIO(content)
    version = npy.read_magic(member)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read_header(member)
    if dtype.hasobject:
        raise StateError("an array holds Python objects; it is never opened (allow_pickle=False)")
    body = memoryview(content)[member.tell() :]
    if any(n < 0 for n in shape) or prod(shape) * dtype.itemsize != len(body):
        raise StateError("an array has another size than its header states")
    flat = np.frombuffer(body, dtype=dtype) if dtype.itemsize else np.empty(0, dtype)
    return cast(Array, flat.reshape(shape, order="F" if fortran else "C").copy(order="C"))


def _rebuild(header: dict[str, Plain], state: dict[str, Value]) -> Learner:
    """Build a new learner from the saved configuration and restore its state, generator and open rounds."""
    config = header["config"]
    if not isinstance(config, dict):
        raise StateError("the configuration in the file is not valid")
    _check_size(config, state)
    learner = from_config(config)
    learner.set_state(state)
    learner.rng.bit_generator.state = header["generator"]  # type: ignore[assignment]  # numpy checks it
    learner._reopen([Round.from_json(text) for text in header["open"]])  # type: ignore[union-attr,arg-type]
    return learner


def _check_size(config: dict[str, Plain], state: dict[str, Value]) -> None:
    """Check that the state is large enough for the claimed size before building a learner of that size."""
    order, names = state.get("order"), config.get("names")
    d, k = len(names) if isinstance(names, list) else config.get("d"), config.get("k")
    if not isinstance(order, np.ndarray) or d != order.size or not isinstance(k, int) or not 1 <= k <= order.size:
        raise StateError("the file does not have the size that its configuration implies")
    arrays = [value for value in state.values() if isinstance(value, np.ndarray)]
    numbers = sum(array.size * len(array.dtype.names or ("itself",)) for array in arrays)
    if numbers < class_of(str(config.get("name")))._min_state_size(order.size, k):
        raise StateError("the file has fewer numbers than its configuration implies")


def _check_format(header: dict[str, object]) -> None:
    version = header.get("format")
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        fix = "install a newer keyhole" if newer else "train it again"
        raise StateError(f"the file has format {version}, this version of keyhole reads format {FORMAT}; {fix}")
