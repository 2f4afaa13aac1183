"""Price files: TOML with one `name = price` per line."""

from os import PathLike
from typing import TYPE_CHECKING

from .._internal.formatting import listed
from . import schema_toml

if TYPE_CHECKING:
    from .columns import Attribute, Panel
    from .schema import Schema

__all__ = ["read_prices", "unpriced"]


def read_prices(path: "str | PathLike[str]") -> dict[str, float]:
    """The prices in a file, by source (a column alone is one of its own); a price is a finite number >= 0."""
    from .schema_models import PricesFile, checked

    return dict(checked(PricesFile, schema_toml.parse(schema_toml.read_text(path), str(path)), str(path)).root)


def unpriced(schema: "Schema") -> list[str]:
    """A sentence on the sources that have no price beside others that have one; none where all or none have."""
    together = {c for panel in schema.panels for c in panel.columns}
    said: list[Panel | Attribute] = [
        *schema.panels,
        *(a for a in schema.attributes if not a.free and a.name not in together),
    ]
    names = [source.name for source in said if source.price is None]
    if not schema.priced or not names:
        return []
    what = "no price is given for"
    return [f"{what} {listed(names, 4)}: 1 is taken; put it into the schema or the prices, or what it costs is wrong"]
