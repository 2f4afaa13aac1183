"""A learner back from its file.

What is read is data: the learner's class comes from the catalogue by name, its arguments pass the same checks as a
user's, and every array must have the type and shape that the fresh learner has. Nothing is executed.
"""

import hashlib
import io
import json
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from .catalogue import from_config
from .errors import ConfigError, ProtocolError, StateError
from .protocol import Learner, Plain
from .rounds import Round
from .saving import DIGEST, FORMAT
from .state import Value

__all__ = ["from_bytes", "load", "note_in"]


def load(path: "str | PathLike[str]") -> Learner:
    """The learner that `learner.save(path)` wrote, to continue bit for bit; anything else is a `StateError`."""
    data = Path(path).read_bytes()
    try:
        return from_bytes(data)
    except StateError as fault:
        raise StateError(f"{path}: {fault}") from None


def note_in(data: bytes) -> dict[str, Plain]:
    """The note in a file's content, such as the schema of the data it was trained on; empty where there is none."""
    _check_digest(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        note = json.loads(archive.read("keyhole.json")).get("note")
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
    body, digest = data[:-DIGEST], data[-DIGEST:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise StateError("this is not a keyhole learner, or the file was cut or changed; restore it from a copy")


def _check_format(header: dict[str, object]) -> None:
    version = header.get("format")
    if version != FORMAT:
        newer = isinstance(version, int) and version > FORMAT
        fix = "install a newer keyhole" if newer else "train it again"
        raise StateError(f"the file has format {version}, this version of keyhole reads format {FORMAT}; {fix}")
