"""The project around the code: one version, no target without a recipe, no departure without its line."""

import ast
import re
import tomllib
from importlib.metadata import distributions, requires
from pathlib import Path

import pytest
import yaml
from hypothesis import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import keyhole

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MAP = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")


def test_the_version_stands_in_one_place():
    assert f"version: {keyhole.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert 'dynamic = ["version"]' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f"## {keyhole.__version__.partition('.dev')[0]}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_phony_target_has_a_recipe():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()
    for target in phony:
        assert re.search(rf"^{target}:.*\n\t", text, re.M), target


def test_every_deviation_has_its_line_in_the_map():
    for path in SOURCES:
        for words in re.findall(r"# Deviation: (.*(?:\n\s*#.*)*)", path.read_text(encoding="utf-8")):
            errata = re.findall(r"\bE\d+\b", words)
            known = all(re.search(rf"\b{e}\b", MAP) for e in errata) if errata else f"`{path.stem}`" in MAP
            assert known, f"{path.name}: {words}"


HOST = [ROOT / ".pre-commit-config.yaml", *sorted((ROOT / ".github").rglob("*.yml"))]


@pytest.mark.parametrize("path", HOST, ids=lambda p: p.name)
def test_the_recipes_of_the_host_are_sound(path):
    assert yaml.safe_load(path.read_text(encoding="utf-8"))


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_python_is_tested_on_every_system_and_the_lowest_versions_too():
    jobs = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))["jobs"]
    matrix = jobs["suite"]["strategy"]["matrix"]
    assert {os.partition("-")[0] for os in matrix["os"]} == {"ubuntu", "macos", "windows"}
    script = (ROOT / "scripts" / "pythons.py").read_text(encoding="utf-8")
    assert matrix["python"] == re.findall(r'"(3\.\d+)"', re.search(r"^VERSIONS = (.*)$", script, re.M)[1])
    assert project()["requires-python"] == f">={matrix['python'][0]}"
    lowest = jobs["lowest"]["steps"]
    assert "scripts/pythons.py lowest" in lowest[-1]["run"]
    assert lowest[1]["with"]["python-version"] == matrix["python"][0]


def test_wheels_are_built_for_every_system_and_python():
    wheels = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]["wheels"]
    systems = {"ubuntu-24.04", "ubuntu-24.04-arm", "macos-15-intel", "macos-15", "windows-2025"}
    assert set(wheels["strategy"]["matrix"]["os"]) == systems  # Linux and macOS on x86-64 and arm64, Windows
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    # cp312 builds the wheel of the stable ABI; cibuildwheel then tests that one on cp314 instead of building another.
    assert tools["cibuildwheel"]["build"] == ["cp311-*", "cp312-*", "cp314-*"]
    assert tools["scikit-build"]["wheel"]["py-api"] == "cp312"
    assert (ROOT / tools["cibuildwheel"]["test-command"].split("{project}/")[1]).exists()


def test_what_a_page_or_a_recipe_tells_to_run_is_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    pages = [*HOST, ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for words in re.findall(r"(?:`|run: |\$ )make ((?:[A-Z]+=\S+ )*[a-z ]+)", text):
            for target in re.findall(r"\b(?<!=)[a-z]+\b", re.sub(r"[A-Z]+=\S+", "", words)):
                assert re.search(rf"^{target}:", makefile, re.M), f"{page.name}: make {target}"
        for path in re.findall(r"\b(?:scripts|benchmarks|tests|src|docs)/[\w/.-]*\w", text):
            assert (ROOT / path).exists() or not path.endswith((".py", ".md", ".toml")), f"{page.name}: {path}"
    hooks = yaml.safe_load(HOST[0].read_text(encoding="utf-8"))["repos"][0]["hooks"]
    commands = {"lint-imports": "import-linter"}
    tools = {re.match(r"[\w.-]+", one)[0] for one in project()["optional-dependencies"]["test"]}
    assert {commands.get(name, name) for name in (hook["entry"].split()[0] for hook in hooks)} <= tools


def test_the_lock_holds_every_requirement_with_its_hashes_and_names_no_place():
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    entries = re.findall(
        r"^([a-z0-9][\w.-]*)(?:\[[\w,]+\])?==(\S+)[^\n]*\n((?:    --hash=sha256:[0-9a-f]{64}[^\n]*\n)*)", text, re.M
    )
    assert all(hashes for _, _, hashes in entries)
    locked = {name for name, _, _ in entries}
    extras = project()["optional-dependencies"]
    wanted, ahead = list(project()["dependencies"]), ["dev"]
    for extra in ahead:
        for requirement in extras[extra]:
            inside = re.fullmatch(r"keyhole\[([\w,]+)\]", requirement)
            ahead.extend(inside[1].split(",") if inside else ())
            wanted.extend(() if inside else (requirement,))
    assert {re.match(r"[\w.-]+", requirement)[0].lower() for requirement in wanted} <= locked
    assert not re.search(r"https?://|file:|--index|--find-links|(^| )/", text, re.M)


def test_the_lock_names_the_extras_that_its_packages_ask_of_each_other():
    """pip takes a package with an extra for another requirement, and refuses it where only the plain one has hashes."""
    text = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    locked = {Requirement(line).name: Requirement(line) for line in re.findall(r"^[a-z][^ ]*==[^ ]+", text, re.M)}
    asked = 0
    for name in locked.keys() & {canonicalize_name(d.metadata["Name"]) for d in distributions()}:
        for wanted in map(Requirement, requires(name) or ()):
            if wanted.extras and (wanted.marker is None or wanted.marker.evaluate({"extra": ""})):
                assert wanted.extras <= locked[canonicalize_name(wanted.name)].extras, f"{name} asks for {wanted}"
                asked += 1
    assert asked


def test_no_test_has_a_deadline():
    """It would measure the machine."""
    assert settings.default.deadline is None
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("settings", "register_profile"):
                given = [word.value for word in node.keywords if word.arg == "deadline"]
                assert all(isinstance(value, ast.Constant) and value.value is None for value in given), path


def test_no_machine_is_named():
    """No path of somebody's machine and no registry's host in what is committed."""
    odd = re.compile(r"/work/|/home/\w+/|pypi\.org|registry\.npmjs|deb\.debian")
    for folder in ("src", "tests", "docs", "benchmarks", "scripts", ".github"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in {".py", ".md", ".toml", ".yml", ".html", ".js"} and path != Path(__file__).resolve():
                assert not odd.search(path.read_text(encoding="utf-8")), path
