"""What `make fuzz` says with its exit code."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("fuzz_script", ROOT / "scripts" / "fuzz.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("n", "minutes", "code"), [(2000, 10, 0), (1999, 10, 1), (100, 0.5, 0), (99, 0.5, 1)])
def test_a_target_that_was_tried_too_rarely_is_a_failure(script, monkeypatch, tmp_path, capsys, n, minutes, code):
    """Targets whose one turn has so many attempts, on a clock that is over after it."""

    def turn(target):
        target.tally["refused"] += 10**6 if target.name == "files" else n

    times = iter([0.0, *[60.0 * minutes] * 100])
    monkeypatch.setattr(script.Target, "turn", turn)
    monkeypatch.setattr(script.time, "monotonic", lambda: next(times))
    words = ["fuzz.py", "--minutes", str(minutes), "--only", "files,rounds", "--state", str(tmp_path / "state.json")]
    monkeypatch.setattr(script.sys, "argv", words)
    assert script.main() == code
    said = f"rounds had {n} attempts, fewer than {200 * minutes:.0f}"
    assert (said in capsys.readouterr().out) is bool(code)


def test_a_find_is_a_failure(script, monkeypatch, capsys):
    monkeypatch.setattr(script, "attack", lambda *_: ["build/finds/files-1.json CRASH"])
    monkeypatch.setattr(script.sys, "argv", ["fuzz.py"])
    assert script.main() == 1
    assert "files-1.json" in capsys.readouterr().out
