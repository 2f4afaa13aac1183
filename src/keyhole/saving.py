"""A learner in one file: an npz archive of arrays with a JSON header and a digest over every byte. No pickle.

The archive's comment (its last 64 bytes) is the SHA-256 of all bytes before it, so that a cut file and a single flipped
byte are noticed. `loading` reads it back.
"""

import hashlib
import io
import json
import zipfile
from os import PathLike
from pathlib import Path

import numpy as np

from .errors import StateError
from .files import write_atomically
from .protocol import Learner, Plain

__all__ = ["save", "to_bytes"]

FORMAT = 1
DIGEST = 64


def save(learner: Learner, path: "str | PathLike[str]") -> None:
    """Write the learner, all or nothing: a crash leaves the old file or the new one, never half of one."""
    try:
        write_atomically(Path(path), to_bytes(learner))
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise StateError(f"{path}: cannot be written ({reason}); a file that was there is untouched") from None
    except (TypeError, ValueError) as fault:
        raise StateError(f"the learner cannot be written: {fault}") from None


def to_bytes(learner: Learner, note: dict[str, Plain] | None = None) -> bytes:
    """The file's content; the same state gives the same bytes. A `note` travels along: `loading.note_in` reads it."""
    with learner.held():
        state, generator, rounds = learner.get_state(), learner.rng.bit_generator.state, learner.open_rounds
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    header = {
        "note": note or {},
        "format": FORMAT,
        "config": learner.config,
        "scalars": {key: value for key, value in state.items() if key not in arrays},
        "generator": generator,
        "open": [r.to_json() for r in rounds],
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        _write(archive, "keyhole.json", json.dumps(header).encode())
        for key, array in arrays.items():
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            _write(archive, f"{key}.npy", member.getvalue())
        archive.comment = b"0" * DIGEST
    body = buffer.getvalue()[:-DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode()


def _write(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a member with a fixed date, so that equal states make equal files."""
    archive.writestr(zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0)), data)
