"""An algorithm with options as one writes it: `ds-oslrc[tuning=theory, sigma=0.1]`."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import ConfigError
from ..protocol import Plain

__all__ = ["Spec", "split"]


def split(text: str) -> list[str]:
    """A list at its commas, but not at those within brackets or parentheses.

    >>> split("ds-oslrc[tuning=theory,sigma=0.1], vaw, block(5, 0.8)")
    ['ds-oslrc[tuning=theory,sigma=0.1]', 'vaw', 'block(5, 0.8)']
    """
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "[(") - (sign in ")]")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True)
class Spec:
    """A name and its options.

    >>> Spec.parse("ds-oslrc[tuning=theory, sigma=0.2]")
    Spec(name='ds-oslrc', options=(('tuning', 'theory'), ('sigma', 0.2)))
    >>> str(Spec.parse("ds-oslrc[ sigma = 0.20]"))
    'ds-oslrc[sigma=0.2]'
    """

    name: str
    options: tuple[tuple[str, Plain], ...] = ()

    @classmethod
    def parse(cls, text: str) -> "Spec":
        """The name and options in a text; values are numbers, true, false, or words."""
        match = re.fullmatch(r"\s*([^\[\]\s]+)\s*(?:\[(.*)\])?\s*", text)
        if not match:
            raise ConfigError(f"'{text}' is not an algorithm; write NAME or NAME[option=value,...]")
        return cls(match[1], assignments(match[2] or "", text))

    def __str__(self) -> str:
        inside = ",".join(f"{key}={_text(value)}" for key, value in self.options)
        return f"{self.name}[{inside}]" if inside else self.name


def assignments(inside: str, where: str) -> tuple[tuple[str, Plain], ...]:
    """`key=value, ...` as pairs."""
    pairs: dict[str, Plain] = {}
    for part in split(inside):
        key, sign, value = part.partition("=")
        if not sign or not key.strip():
            raise ConfigError(f"'{where}': write option=value, not '{part}'")
        if key.strip() in pairs:
            raise ConfigError(f"'{where}': '{key.strip()}' is there twice")
        pairs[key.strip()] = _value(value.strip())
    return tuple(pairs.items())


def _value(text: str) -> Plain:
    """A number, true or false, or the word itself; nothing is evaluated."""
    if text in ("true", "false"):
        return text == "true"
    kinds: Iterable[type[int] | type[float]] = (int, float)
    for kind in kinds:
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _text(value: Plain) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
