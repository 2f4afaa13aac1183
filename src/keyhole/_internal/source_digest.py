"""A digest of the code behind a result: a module, every module of the package it imports, and the compiled core."""

import ast
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

__all__ = ["source_digest"]

_ROOT = Path(__file__).parents[1]


def source_digest(file: Path) -> str:
    """16 hexadecimal digits that change where the file, a file of the package that it reaches, or the core changes.

    >>> source_digest(Path(__file__)) == source_digest(Path(__file__))
    True
    """
    reached, open_ = set(), [file.resolve()]
    while open_:
        path = open_.pop()
        if path not in reached:
            reached.add(path)
            open_ += _imports(path)
    total = sha256(_core().encode())
    for path in sorted(reached):
        total.update(path.name.encode() + path.read_bytes())
    return total.hexdigest()[:16]


@lru_cache(maxsize=1)
def _core() -> str:
    """The compiled core's own digest; empty where it is not built."""
    files = sorted(p for p in _ROOT.glob("_core.*") if p.suffix in (".so", ".pyd"))
    return sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


@lru_cache(maxsize=1024)
def _imports(path: Path) -> tuple[Path, ...]:
    """The files of the package that a file imports, wherever the import stands."""
    found: list[Path] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            base = path.parents[node.level - 1] if node.level else _ROOT.parent
            module = base.joinpath(*(node.module or "").split(".")) if node.module else base
            found += [module, *(module / alias.name for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [_ROOT.parent.joinpath(*alias.name.split(".")) for alias in node.names]
    files = [file for place in found for file in (place.with_suffix(".py"), place / "__init__.py")]
    return tuple(file.resolve() for file in files if _ROOT in file.parents and file.is_file())
