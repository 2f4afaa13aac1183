"""The schema that `keyhole diagnose` writes: what was found, and commented lines for what only a person knows."""

from collections.abc import Sequence

from .column_profile import ProposedPanel
from .schema import Schema
from .schema_toml import quoted

__all__ = ["proposed_schema"]

_MONEY = """\
# What things cost. Remove the marks and write your own numbers:
# [money]
# currency = "EUR"
"""
_SOURCE = """\
# [sources.{name}]    # {why}
# price = 1.0
# columns = [{columns}]
"""
_ATTRIBUTES = "# One line per column. Add price = 2.5 to what is ordered alone, free = true to what is there anyway."


def proposed_schema(schema: Schema, panels: Sequence[ProposedPanel]) -> str:
    """The schema as TOML with commented [money] and [sources]; `Schema.from_toml` reads the schema back."""
    head, mark, attributes = schema.to_toml().partition("\n[attributes]\n")
    if not schema.unit:
        head += '# unit = "mmHg"    # the unit of the label\n'
    blocks = [] if schema.currency else [_MONEY]
    for panel in panels:
        columns = ", ".join(map(quoted, panel.columns))
        blocks.append(_SOURCE.format(name=quoted(panel.name), why=panel.why, columns=columns))
    return "\n".join([head, *blocks, f"{_ATTRIBUTES}{mark}{attributes}"])
