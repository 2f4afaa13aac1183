"""A learner in one file: an npz archive of arrays with a JSON header and a digest over every byte. No pickle.

The archive's comment (its last 64 bytes) is the SHA-256 of all bytes before it, so that a cut file and a single flipped
byte are noticed. What is read is data: the learner's class comes from the catalogue by name, its arguments pass
the same checks as a user's, and every array must have the type the fresh learner has.
"""

import hashlib
import io
import json
import os
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from .catalogue import from_config
from .errors import ConfigError, ProtocolError, StateError
from .protocol import Learner, Plain
from .rounds import Round
from .state import Value

__all__ = ["load", "save"]

FORMAT = 1
_DIGEST = 64


def save(learner: Learner, path: "str | PathLike[str]") -> None:
    """Write the learner, all or nothing: a crash leaves the old file or the new one, never half of one."""
    write_atomically(Path(path), to_bytes(learner))


def load(path: "str | PathLike[str]") -> Learner:
    """The learner that `learner.save(path)` wrote, to continue bit for bit; anything else is a `StateError`."""
    data = Path(path).read_bytes()
    try:
        return from_bytes(data)
    except StateError as fault:
        raise StateError(f"{path}: {fault}") from None


def to_bytes(learner: Learner, note: dict[str, Plain] | None = None) -> bytes:
    """The file's content; the same state gives the same bytes. A `note` travels along: see `note_in`."""
    state = learner.get_state()
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    header = {
        "format": FORMAT,
        "config": learner.config,
        "scalars": {key: value for key, value in state.items() if key not in arrays},
        "generator": learner.rng.bit_generator.state,
        "open": [r.to_json() for r in learner.open_rounds],
    } | ({"note": note} if note else {})
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _write(archive, "keyhole.json", json.dumps(header).encode())
        for key, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            _write(archive, f"{key}.npy", member.getvalue())
        archive.comment = b"0" * _DIGEST
    body = buffer.getvalue()[:-_DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode()


def note_in(data: bytes) -> dict[str, Plain]:
    """The note in a file's content (such as the schema of the data it was trained on); empty where there is none."""
    _check_digest(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        note = json.loads(archive.read("keyhole.json")).get("note", {})
    return note if isinstance(note, dict) else {}


def from_bytes(data: bytes) -> Learner:
    """The learner in a file's content."""
    _check_digest(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            header = json.loads(archive.read("keyhole.json"))
            _check_format(header)
            state: dict[str, Value] = dict(header["scalars"])
            for name in archive.namelist():
                if name.endswith(".npy"):
                    member = io.BytesIO(archive.read(name))
                    state[name.removesuffix(".npy")] = np.lib.format.read_array(member, allow_pickle=False)
        return _rebuild(header, state)
    except (ConfigError, ProtocolError, KeyError, TypeError, ValueError, AttributeError, zipfile.BadZipFile) as fault:
        raise StateError(
            fault.args[0] if isinstance(fault, StateError) else f"the file makes no sense: {fault}"
        ) from None


def _rebuild(header: dict[str, object], state: dict[str, Value]) -> Learner:
    """A fresh learner of the saved configuration, with the saved state, generator and open rounds put in."""
    learner = from_config(header["config"])  # type: ignore[arg-type]  # checked by `make`
    learner.set_state(state)
    learner.rng.bit_generator.state = header["generator"]  # type: ignore[assignment]
    rounds = [Round.from_json(text) for text in header["open"]]  # type: ignore[attr-defined]
    learner._open = {r.index: r for r in rounds}
    return learner


def _check_digest(data: bytes) -> None:
    body, digest = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise StateError("this is not a keyhole learner, or the file was cut or changed; restore it from a copy")


def _check_format(header: dict[str, object]) -> None:
    version = header.get("format")
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        fix = "install a newer keyhole" if newer else "train it again"
        raise StateError(f"the file has format {version}, this version of keyhole reads format {FORMAT}; {fix}")


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a member with a fixed date, so that equal states make equal files."""
    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace `path` by a file with this content, in one step."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
