"""One file, no pickle: continues bit for bit, and whatever is not a whole keyhole file is a StateError."""

import hashlib
import io
import json
import os
import re
import zipfile

import numpy as np
import pytest

import keyhole as kh
from keyhole.core import serialization
from keyhole.core.serialization import from_bytes, to_bytes


@pytest.fixture
def learner():
    X, y, _ = kh.streams.synthetic(7, 3, 60, seed=0)
    learner = kh.make("ds-oslrc", d=7, k=3, seed=0)
    kh.play(learner, X, y)
    learner.ask()  # an open round belongs to the file
    return learner


def rewrite(data, change):
    """The file with its members changed and the digest made right again: what a clever forger would send."""
    members = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def edit_header(**changes):
    def change(members):
        members["keyhole.json"] = json.dumps({**json.loads(members["keyhole.json"]), **changes}).encode()

    return change


def test_what_is_loaded_is_what_was_saved(learner, tmp_path):
    learner.save(tmp_path / "a.kh")
    loaded = kh.load(tmp_path / "a.kh")
    assert serialization.to_bytes(loaded) == serialization.to_bytes(learner)
    assert loaded.open_rounds == learner.open_rounds
    assert os.listdir(tmp_path) == ["a.kh"]


def test_it_is_an_npz_that_numpy_opens_without_pickle(learner, tmp_path):
    learner.save(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert np.array_equal(file["estimate.w_hat"], learner.estimate.w_hat)


def test_every_flipped_byte_is_noticed(learner):
    data = serialization.to_bytes(learner)
    for i in range(0, len(data), 7):
        damaged = data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :]
        with pytest.raises(kh.StateError):
            from_bytes(damaged)


def test_every_cut_is_noticed(learner):
    data = serialization.to_bytes(learner)
    for n in [0, 1, 63, 64, 65, *range(100, len(data), 97), len(data) - 1]:
        with pytest.raises(kh.StateError):
            from_bytes(data[:n])


def test_a_foreign_file_is_refused_by_name(tmp_path):
    path = tmp_path / "foreign.npz"
    np.savez(path, a=np.zeros(3))
    with pytest.raises(kh.StateError, match="foreign.npz: this is not a keyhole file"):
        kh.load(path)


FORGED = {
    "a newer format": (edit_header(format=serialization.FORMAT + 1), "newer keyhole"),
    "no format": (edit_header(format=None), "train it again"),
    "an unknown algorithm": (
        edit_header(config={"name": "os.system", "d": 7, "k": 3, "k0": 0, "seed": 0, "options": {}}),
        "no algorithm",
    ),
    "a foreign argument": (
        edit_header(config={"name": "ds-oslrc", "d": 7, "k": 3, "k0": 0, "seed": 0, "options": {"x": 1}}),
        "no option",
    ),
    "no generator": (edit_header(generator={}), "cannot be interpreted"),
    "a bad round": (edit_header(open=["{}"]), "not the JSON of a round"),
    "missing numbers": (edit_header(scalars={}), "lacks"),
    "a missing array": (lambda m: m.pop("estimate.w_hat.npy"), "lacks 'w_hat'"),
    "an array of another type": (lambda m: m.update({"estimate.w_hat.npy": m["order.npy"]}), "array of float64"),
}


@pytest.mark.parametrize("case", FORGED)
def test_a_forged_file_is_refused(learner, case):
    change, message = FORGED[case]
    with pytest.raises(kh.StateError, match=message):
        from_bytes(rewrite(serialization.to_bytes(learner), change))


def test_an_array_of_another_length_is_refused(learner):
    def shorten(members):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.zeros(3), allow_pickle=False)
        members["estimate.w_hat.npy"] = buffer.getvalue()

    with pytest.raises(kh.StateError, match="w_hat"):
        from_bytes(rewrite(serialization.to_bytes(learner), shorten))


def test_a_pickled_array_is_never_opened(learner):
    def pickle_in(members):
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, np.array([{}], dtype=object), allow_pickle=True)
        members["estimate.w_hat.npy"] = buffer.getvalue()

    with pytest.raises(kh.StateError, match="allow_pickle=False"):
        from_bytes(rewrite(serialization.to_bytes(learner), pickle_in))


def test_a_file_that_wants_a_password_is_refused(learner):
    body = bytearray(serialization.to_bytes(learner)[:-64])
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # where a member's flags stand
        for found in re.finditer(re.escape(mark), bytes(body)):
            body[found.start() + place] |= 1
    with pytest.raises(kh.StateError, match="cannot be interpreted.*encrypted"):
        from_bytes(bytes(body) + hashlib.sha256(body).hexdigest().encode())


def test_one_flipped_bit_anywhere_in_a_container_is_noticed():
    whole = serialization.pack({"row": 5}, {"w": np.arange(3.0)})
    header, arrays = serialization.unpack(whole)
    assert (header["row"], arrays["w"].tolist()) == (5, [0.0, 1.0, 2.0])
    for bit in range(8 * len(whole)):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(kh.StateError, match="cut or changed"):
            serialization.unpack(bytes(changed))
    for length in range(len(whole)):
        with pytest.raises(kh.StateError, match="cut or changed"):
            serialization.unpack(whole[:length])


def test_a_failed_write_leaves_the_old_file(learner, tmp_path, monkeypatch):
    path = tmp_path / "a.kh"
    learner.save(path)
    old = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    kh.play(learner, np.zeros((5, 7)), np.zeros(5))
    with pytest.raises(kh.StateError, match=r"a.kh: cannot be written \(disk full\)"):
        learner.save(path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["a.kh"]


def test_what_is_not_there_is_one_sentence(learner, tmp_path):
    with pytest.raises(kh.StateError, match="nope.kh: cannot be read .no such file"):
        kh.load(tmp_path / "nope.kh")
    with pytest.raises(kh.StateError, match="cannot be read .is a directory"):
        kh.load(tmp_path)
    with pytest.raises(kh.StateError, match="a path is needed"):
        kh.load(5.0)
    with pytest.raises(kh.StateError, match="cannot be written .no such file"):
        learner.save(tmp_path / "no" / "where.kh")
    with pytest.raises(kh.StateError, match="cannot be written"):
        learner.save(tmp_path)


def test_a_file_that_moved_on_is_not_overwritten(learner, tmp_path):
    path = tmp_path / "a.kh"
    learner.save(path)
    one, two = kh.load(path), kh.load(path)
    one.ask()
    one.save(path)
    one.ask()
    one.save(path)  # what it wrote itself it may replace
    two.ask()
    with pytest.raises(kh.StateError, match=r"a\.kh has changed since it was loaded.*kh\.open_store"):
        two.save(path)
    assert kh.load(path).t == learner.t + 2
    two.save(tmp_path / "b.kh")
    path.unlink()
    two.save(path)
    assert kh.load(path).t == learner.t + 1


def test_a_learner_that_was_not_loaded_may_overwrite(learner, tmp_path):
    path = tmp_path / "a.kh"
    learner.save(path)
    other = kh.load(path)
    other.ask()
    other.save(path)
    learner.save(path)
    assert kh.load(path).t == learner.t
    assert serialization.to_bytes(kh.load(path)) == serialization.to_bytes(learner)


def test_two_that_come_to_the_same_state_do_not_quarrel(learner, tmp_path):
    path = tmp_path / "a.kh"
    learner.save(path)
    one, two = kh.load(path), kh.load(path)
    one.save(path)
    two.save(path)


def test_a_learner_made_by_its_class_keeps_its_options_in_its_file():
    learner = kh.DSOSLRC(("a", "b", "c", "d", "e", "f"), 3, 0, 7, explore="2 t^(-1/3)", reset="partial")
    again = from_bytes(to_bytes(learner))
    assert again.config["options"] == {"explore": "2 t^(-1/3)", "reset": "partial"}
    assert (again.names, again.k, again.seed) == (learner.names, 3, 7)
    assert to_bytes(again) == to_bytes(learner)
