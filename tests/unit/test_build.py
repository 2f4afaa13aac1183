"""What `make core` does on a machine without a compiler, and on one without Python's headers."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def build_core(tmp_path, monkeypatch):
    """The script as a module, working in an empty folder."""
    spec = importlib.util.spec_from_file_location("build_core", ROOT / "scripts" / "build_core.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.delenv("CXX", raising=False)
    return module


def test_the_systems_compiler_is_taken_where_there_is_one(build_core, monkeypatch):
    monkeypatch.setattr(build_core.shutil, "which", lambda name: f"/usr/bin/{name}" if name == "g++" else None)
    monkeypatch.setattr(build_core.subprocess, "run", lambda *a, **k: pytest.fail("nothing is to be installed"))
    assert build_core.compiler() == []


@pytest.mark.skipif(sys.platform == "win32", reason="there CMake finds the compiler")
def test_without_a_compiler_ziglang_is_installed_without_a_question(build_core, monkeypatch, tmp_path):
    installed = []
    monkeypatch.setattr(build_core.shutil, "which", lambda name: None)
    monkeypatch.setattr(build_core.subprocess, "run", lambda call, check: installed.append(call))
    options = dict(option.removeprefix("-D").split("=") for option in build_core.compiler())
    assert installed[0][:4] == [sys.executable, "-m", "pip", "install"]
    assert installed[0][-1].startswith("ziglang")
    assert set(options) == {"CMAKE_CXX_COMPILER", "CMAKE_AR", "CMAKE_RANLIB"}
    for path in map(Path, options.values()):
        assert path.is_relative_to(tmp_path)
        assert os.access(path, os.X_OK)
        assert f'"{sys.executable}" -m ziglang {path.name} "$@"' in path.read_text()


def test_without_pythons_headers_one_sentence_names_the_package(build_core, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(build_core.sysconfig, "get_path", lambda name: str(tmp_path / "include"))
    monkeypatch.setattr(build_core, "run", lambda *words: pytest.fail("nothing can be built"))
    for words in ([], ["--check"]):
        monkeypatch.setattr(sys, "argv", ["build_core.py", *words])
        with pytest.raises(SystemExit) as stopped:
            build_core.main()
        sentence = str(stopped.value)
        assert str(tmp_path / "include" / "Python.h") in sentence
        assert f"python{sys.version_info.major}.{sys.version_info.minor}-dev" in sentence
        assert "python3-devel" in sentence
        assert sentence.count("\n") == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="hides the compiler by PATH")
def test_a_core_built_by_ziglang_gives_the_stored_traces(tmp_path):
    """A new environment, a copy of the sources and a PATH without any compiler."""
    for folder in ("cpp", "scripts", "src"):
        plain = shutil.ignore_patterns("__pycache__", "_core.*.so")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=plain)
    shutil.copy(ROOT / "CMakeLists.txt", tmp_path)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env" / "bin" / "python"
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "cmake>=3.26", "ninja>=1.11", "nanobind>=3.0"], check=True)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to(shutil.which("sh"))
    env = {key: value for key, value in os.environ.items() if key not in ("CXX", "CC", "PYTHONPATH")}
    subprocess.run([python, "scripts/build_core.py"], cwd=tmp_path, env={**env, "PATH": str(tools)}, check=True)
    env["PYTHONPATH"] = str(tmp_path / "src")
    probe = "import keyhole._core as core; print(core.__file__)"
    built = subprocess.run([sys.executable, "-c", probe], env=env, check=True, capture_output=True, text=True).stdout
    assert built.startswith(str(tmp_path))
    call = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/battery/test_traces.py"]
    subprocess.run(call, cwd=ROOT, env=env, check=True)
