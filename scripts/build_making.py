"""Write src/keyhole/core/registry/making.pyi: one overload of `kh.make` per algorithm, for editors.

python scripts/build_making.py     (after a change of an option; a test compares)
"""

from pathlib import Path

import keyhole as kh
from keyhole.core.registry.algorithm import Algorithm, Option

PLACE = Path(kh.__file__).parent / "core" / "registry" / "making.pyi"
HEAD = '''"""`kh.make` as an editor reads it: each algorithm with its options. Made by scripts/build_making.py."""

from collections.abc import Mapping, Sequence
from typing import Literal, overload

from ..._internal.dataframes import Names
from ...algorithms.thrifty import Thrifty
from ...estimation.dantzig_width import Scaled
from ...estimation.exploration_schedule import Rate, Squares
from ..learner import Learner

'''
# What `kh.make` takes for every algorithm.
COMMON = (
    "d: int | None = None",
    "names: Names | None = None",
    "k: int | None = None",
    "k0: int = 0",
    "seed: int | None = None",
    'label: Literal["number", "binary"] = "number"',
)
TYPES = {
    "number": "float",
    "whole number": "int",
    "yes or no": "bool",
    "list": "Sequence[object]",
    "prices": "Mapping[str, float] | Sequence[float]",
    "sources": "Mapping[str, Sequence[str]]",
    "schedule": 'Literal["squares"] | str | float | Squares | Rate',
}
# A choice that may be more than one of its words.
MORE = {"scaled(c)": "Scaled | str", "solve": "int"}


def type_of(option: Option) -> str:
    """The type of an option, as an annotation."""
    if option.type != "choice":
        words = TYPES[option.type]
    else:
        plain = [f'"{choice}"' for choice in option.choices if choice not in MORE]
        more = [MORE[key] for key in (*option.choices, option.name) if key in MORE]
        words = " | ".join([f"Literal[{', '.join(plain)}]", *more])
    return f"{words} | None" if option.default is None and "None" not in words else words


def default_of(option: Option) -> str:
    """Its default; what must be given has none that works, but is a keyword like the others."""
    return f'"{option.default}"' if isinstance(option.default, str) else repr(option.default)


def overload_of(a: Algorithm) -> str:
    """One algorithm's signature, its options before what is common to all."""
    options = [f"{o.name}: {type_of(o)} = {default_of(o)}" for o in a.options]
    made = "Thrifty" if a.name == "thrifty" else "Learner"
    lines = ",\n    ".join([f'name: Literal["{a.name}"]', "*", *COMMON, *options])
    return f"@overload\ndef make(\n    {lines},\n) -> {made}: ...\n"


def text() -> str:
    """The whole file."""
    rest = ",\n    ".join(["name: str", "*", *COMMON, "**options: object"])
    last = f"@overload\ndef make(\n    {rest},\n) -> Learner: ...\n"
    return HEAD + "".join([*map(overload_of, kh.list_algorithms()), last])


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
    print(PLACE)
