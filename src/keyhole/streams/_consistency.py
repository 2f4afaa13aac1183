"""Whether what a schema says of its columns goes together: each sentence names the table and the fix."""

from collections.abc import Sequence

from ..errors import ConfigError
from .columns import Attribute, Panel, Range, repeated

__all__ = ["check_consistency", "no_source"]


def check_consistency(
    label: Range, attributes: Sequence[Attribute], ignored: Sequence[str], panels: Sequence[Panel]
) -> None:
    """`ConfigError` where a column has two places, or two things to order have one name."""
    twice = repeated((label.name, *(a.name for a in attributes), *ignored))
    if twice is not None:
        raise ConfigError(f"{_places(twice, label, attributes, ignored)}: '{twice}' occurs twice; keep one of the two")
    if not attributes:
        raise ConfigError("[attributes]: there is none; list at least one")
    _check_panels(attributes, panels)
    names = [e.name for a in attributes if a.is_complete for e in a.encoded()]
    if (twice := repeated(names)) is not None:
        raise ConfigError(f"[attributes]: two are called '{twice}'; rename a column, or a category's value")


def _places(name: str, label: Range, attributes: Sequence[Attribute], ignored: Sequence[str]) -> str:
    """Where a file has the name."""
    found = ["[label]"] if name == label.name else []
    found += [f"[attributes.{name}]"] if any(a.name == name for a in attributes) else []
    return " and ".join(found + (["ignored"] if name in ignored else []))


def _check_panels(attributes: Sequence[Attribute], panels: Sequence[Panel]) -> None:
    """Every column in one panel at most, known and priced columns in none, and no name that means two sources."""
    if (twice := repeated(p.name for p in panels)) is not None:
        raise ConfigError(f"[sources.{twice}] is there twice; keep one")
    home: dict[str, str] = {}
    for panel in panels:
        for column in panel.columns:
            if column in home:
                one, other = home[column], panel.name
                raise ConfigError(
                    f"[sources.{other}]: '{column}' is in [sources.{one}] already; keep it in one of them"
                )
            home[column] = panel.name
    names = {p.name for p in panels}
    for a in attributes:
        if a.name in home and a.known:
            raise ConfigError(f"[attributes.{a.name}]: it is known, so [sources.{home[a.name]}] cannot sell it")
        if a.name in home and a.price is not None:
            raise ConfigError(f"[attributes.{a.name}]: its price is that of [sources.{home[a.name]}]; leave price away")
        if a.name not in home and a.name in names:
            raise ConfigError(f"[sources.{a.name}]: a column has that name and is not in it; rename the source")


def no_source(name: str, attributes: Sequence[Attribute], panels: Sequence[Panel]) -> str:
    """Why a name cannot have a price."""
    for panel in panels:
        if name in panel.columns:
            return f"the prices name '{name}', which comes with the source '{panel.name}'; price that instead"
    if any(a.name == name for a in attributes):
        return f"the prices name '{name}', which is known and costs nothing; remove it"
    return f"the prices name '{name}', which is no attribute and no source; remove it or correct the name"
