"""Model files that somebody made up: changed at random, with a digest that is right again."""

import hashlib
import io
import json
import zipfile
from contextlib import suppress
from tokenize import TokenError

import numpy as np

NUMBERS = [0, 1, -1, 2, 7, 10**6, -(10**6), 2**31, 2**62, -(2**63), 10**30, 10**400, 0.5, -0.5, 1e-300, 1e9, -1e9]
FLOATS = [0.0, 1.0, -1.0, 1e-300, 1e-12, 1e6, -1e6, 1e30, 1e140, -1e140, 1e200, 1e308, -1e308, np.inf, -np.inf, np.nan]
ODD = [*NUMBERS, None, True, "", "x", "1e9", [], {}, [1, 2, 3], {"a": 1}, "squares", 1e308, float("nan"), float("inf")]


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
        archive.comment = b"0" * 64
    return signed(buffer.getvalue()[:-64])


def signed(body):
    return body + hashlib.sha256(body).hexdigest().encode()


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def forged(data, rng):
    """The file with one to three things changed."""
    members = unpacked(data)
    for _ in range(int(rng.integers(1, 4))):
        with suppress(
            ValueError, EOFError, MemoryError, KeyError, IndexError, SyntaxError, TokenError
        ):  # a second change may find what the first one left unreadable
            WAYS[int(rng.integers(len(WAYS)))](members, rng)
    return packed(members)


def an_entry(members, rng):
    """One number of an array."""
    name = pick(rng, [m for m in members if m.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    if not array.size:
        return
    place = np.unravel_index(int(rng.integers(array.size)), array.shape)
    if array.dtype.names:
        field = pick(rng, array.dtype.names)
        array[field][place] = an_odd(array.dtype[field], rng)
    else:
        array[place] = an_odd(array.dtype, rng)
    members[name] = npy(array)


def an_odd(dtype, rng):
    if dtype.kind == "f":
        return pick(rng, FLOATS)
    return dtype.type(np.clip(pick(rng, [-1, 0, 1, 8, 9, 10**6, -(10**6), 2**62, -(2**63)]), -(2**63), 2**63 - 1))


def an_array(members, rng):
    """All of an array: its size, its type, its content."""
    name = pick(rng, [m for m in members if m.endswith(".npy")])
    array = np.load(io.BytesIO(members[name]))
    change = int(rng.integers(6))
    if change == 0:
        array = array[:-1] if array.ndim and len(array) else array
    elif change == 1 and not array.dtype.names:
        array = array.astype(np.float32 if array.dtype.kind == "f" else np.int32)
    elif change == 2 and array.dtype.names:
        field = pick(rng, array.dtype.names)
        array[field] = an_odd(array.dtype[field], rng)
    elif change == 2:
        array = np.full_like(array, an_odd(array.dtype, rng))
    elif change == 3:
        members[name] = members[name][: int(rng.integers(len(members[name])))]
        return
    elif change == 4:
        members[name] = members[name].replace(b"'shape': (", b"'shape': (9999999999,", 1)
        return
    elif not array.dtype.names and array.dtype.kind == "f":
        array = array * pick(rng, [-1.0, 1e-200, 1e100, 0.0])
    members[name] = npy(array)


def a_header(members, rng):
    """Something anywhere in the header: configuration, numbers, generator, open rounds."""
    header = json.loads(members["keyhole.json"])
    at = header
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            break
        key = pick(rng, keys)
        if isinstance(at[key], str) and at[key].startswith("{") and rng.random() < 0.9:
            inner = json.loads(at[key])
            field = pick(rng, list(inner))
            inner[field] = _changed(inner[field], rng)
            at[key] = json.dumps(inner)
            break
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.9:
            at = at[key]
            continue
        if rng.random() < 0.1 and isinstance(at, dict):
            del at[key]
        else:
            at[key] = pick(rng, ODD)
        break
    members["keyhole.json"] = json.dumps(header).encode()


def _changed(value, rng):
    if isinstance(value, list) and value and rng.random() < 0.8:
        value = list(value)
        value[int(rng.integers(len(value)))] = pick(rng, [*NUMBERS, 1e308, 0.3])
        return value
    return pick(rng, ODD)


def a_member(members, rng):
    """A member that is missing, or foreign."""
    if rng.random() < 0.5:
        members.pop(pick(rng, list(members)))
    else:
        members[pick(rng, ["../x.npy", "keyhole.json.npy", "order.npy"])] = npy(np.arange(9))


def bytes_of_it(members, rng):
    """A byte somewhere in a member."""
    name = pick(rng, list(members))
    content = bytearray(members[name])
    if content:
        content[int(rng.integers(len(content)))] = int(rng.integers(256))
    members[name] = bytes(content)


def pick(rng, things):
    return things[int(rng.integers(len(things)))]


WAYS = [an_entry, an_entry, an_entry, an_entry, an_array, a_header, a_header, a_header, a_member, bytes_of_it]
