"""What came out, for a person: one page that works offline, on a phone and on paper."""

from .of_run import headline, most_bought, write_report

__all__ = ["headline", "most_bought", "write_report"]
