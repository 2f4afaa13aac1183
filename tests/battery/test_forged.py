"""A model file cannot reach memory: made-up ones are a StateError, or learners that work."""

import io
import json
import time
import warnings
import zipfile

import numpy as np
import pytest

import keyhole as kh
from keyhole.core.serialization import from_bytes, note_in, to_bytes
from keyhole.testing import answer_round

from .cases import CASES
from .forging import FLOATS, forged, npy, packed, signed, unpacked

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def files():
    """A model file per case, taken mid-stream with rounds open."""
    made = []
    for case in CASES:
        X, y = case.stream(60)
        learner = case.make()
        kh.play(learner, X, y)
        for _ in range(4):
            learner.ask()
        made.append((case, to_bytes(learner)))
    return made


def survives(case, data):
    """Whether the file was accepted; an accepted learner answers its open rounds and plays on."""
    begun = time.process_time()
    try:
        learner = from_bytes(data)
    except kh.StateError:
        learner = None
    assert time.process_time() - begun < 10
    if learner is None:
        return False
    X, y = kh.streams.synthetic(learner.d, 1, 12, seed=1)[:2]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for t, r in enumerate(learner.open_rounds):
            assert np.isfinite(learner.predict(r, X[t % 12][r.attributes]))
            answer_round(learner, r, X[t % 12], float(y[t % 12]))
        assert np.isfinite(kh.play(learner, X, y).predictions).all()
        assert np.isfinite(learner.weights).all()
    return True


def attack(files, seeds):
    accepted = 0
    for seed in seeds:
        rng = np.random.default_rng([2026, seed])
        case, data = files[seed % len(files)]
        try:
            accepted += survives(case, forged(data, rng))
        except Exception as fault:
            raise AssertionError(f"seed {seed}, {case}: {type(fault).__name__}: {fault}") from fault
    return accepted


def test_forged_files_are_refused_or_work(files):
    accepted = attack(files, range(300))
    assert 0 < accepted < 300  # else the forger is too clumsy, or nothing is checked


@pytest.mark.slow
def test_ten_thousand_forged_files_are_refused_or_work(files):
    attack(files, range(300, 10_300))


FAST = (1e199, -1e308)
LARGE = (1e60, 1e101, 1e199, -1e199)


@pytest.mark.parametrize(
    "number", [pytest.param(x, marks=() if x in FAST else pytest.mark.slow) for x in (*FLOATS, *LARGE)], ids=str
)
def test_a_number_everywhere_in_an_array_is_refused_or_harmless(files, number):
    """In each array of floating-point numbers, and in each such field of an array of records."""
    for case, data in files:
        members = unpacked(data)
        for name in members:
            array = np.load(io.BytesIO(members[name])) if name.endswith(".npy") else np.zeros(0, np.int64)
            for field in array.dtype.names or [None]:
                changed = array.copy()
                where = changed if field is None else changed[field]
                if where.dtype.kind == "f" and where.size:
                    where[...] = number
                    try:
                        survives(case, packed(members | {name: npy(changed)}))
                    except Exception as fault:
                        raise AssertionError(f"{case}, {name}, {field}: {type(fault).__name__}: {fault}") from fault


def test_untouched_files_are_accepted(files):
    assert all(survives(case, data) for case, data in files)


def seconds_to_refuse(data):
    """Of the processor: other threads of the tests may take some of them now and then."""
    begun = time.process_time()
    with pytest.raises(kh.StateError):
        from_bytes(data)
    return time.process_time() - begun


@pytest.mark.parametrize("config", [{"d": 10**30}, {"d": 10**9}, {"k": 10**30}, {"d": 40_000, "k": 3}])
def test_a_size_that_is_only_claimed_is_never_built(files, config):
    for case, data in files:
        members = unpacked(data)
        header = json.loads(members["keyhole.json"])
        header["config"] |= config
        members["keyhole.json"] = json.dumps(header).encode()
        assert min(seconds_to_refuse(packed(members)) for _ in range(3)) < 1, case


def test_a_large_order_alone_does_not_make_a_large_learner(files):
    for case, data in files:
        members = unpacked(data)
        header = json.loads(members["keyhole.json"])
        header["config"] |= {"d": 30_000, "k": 30_000 if case.k == 9 else case.k}
        members["keyhole.json"] = json.dumps(header).encode()
        members["order.npy"] = npy(np.arange(30_000))
        assert min(seconds_to_refuse(packed(members)) for _ in range(2)) < 5, case


@pytest.mark.parametrize("t", [-1, 2**60, 2**63, 10**400])
def test_a_count_that_is_none_is_refused(files, t):
    for _, data in files:
        members = unpacked(data)
        header = json.loads(members["keyhole.json"])
        header["scalars"]["t"] = t
        members["keyhole.json"] = json.dumps(header).encode()
        with pytest.raises(kh.StateError, match="'t' in the state"):
            from_bytes(packed(members))


def test_a_packed_file_is_not_unpacked(files):
    data = files[0][1]
    members = {**unpacked(data), "bomb.npy": bytes(50_000_000)}
    bomb = packed(members, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1_000_000
    for read in (from_bytes, note_in):
        with pytest.raises(kh.StateError, match="compressed"):
            read(bomb)


def test_members_that_share_their_bytes_are_not_read(files):
    """A directory may list the same bytes thousands of times, and so make much of a small file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in unpacked(files[0][1]).items():
            archive.writestr(zipfile.ZipInfo(name), content)
        largest = max(archive.filelist, key=lambda member: member.file_size)
        archive.filelist += [largest] * 5000
        archive.comment = b"0" * 64
    for read in (from_bytes, note_in):
        with pytest.raises(kh.StateError, match="share their bytes"):
            read(signed(buffer.getvalue()[:-64]))
