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
    """Write the learner, all or nothing: a crash leaves the old file or the new one, never half of one.

    A learner that was loaded from this file replaces only what it was loaded from, or what it wrote there since:
    where another process saved meanwhile, overwriting would lose what that one was told.
    """
    try:
        data = to_bytes(learner)
        _check_still_there(learner, Path(path))
        write_atomically(Path(path), data)
        if learner.origin is not None and learner.origin[0] == Path(path).resolve():
            learner.origin = (learner.origin[0], data[-DIGEST:])
    except OSError as fault:
        reason = (fault.strerror or str(fault)).lower()
        raise StateError(f"{path}: cannot be written ({reason}); a file that was there is untouched") from None
    except StateError:
        raise
    except (TypeError, ValueError) as fault:
        raise StateError(f"the learner cannot be written: {fault}") from None


def _check_still_there(learner: Learner, path: Path) -> None:
    """The file is the one the learner was loaded from, told from its digest."""
    if learner.origin is None or learner.origin[0] != path.resolve() or not path.exists():
        return
    if path.read_bytes()[-DIGEST:] != learner.origin[1]:
        way_out = "save to another file, or let processes share the learner in a store (kh.open_store)"
        raise StateError(f"{path} has moved on since it was loaded, and overwriting it would lose that; {way_out}")


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
