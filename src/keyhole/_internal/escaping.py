"""Names from outside, made harmless to look at."""

import html
import unicodedata

__all__ = ["escape", "printable"]

# Cc: controls (a terminal obeys them), Cf: bidirectional marks and other invisible ones, Cs: halves of characters, Zl
# and Zp: ends of lines that are not our own.
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str) -> str:
    r"""The text with control, bidirectional and invisible characters written out; our own line ends stay.

    >>> printable("age\x1b[2J \u202etxt")
    'age\\x1b[2J \\u202etxt'
    """
    if text.isprintable():
        return text
    return "".join(_escaped(sign) if _is_hidden(sign) else sign for sign in text)


def escape(text: str) -> str:
    """The same for HTML and SVG, whose own signs are escaped too."""
    return html.escape(printable(text))


def _is_hidden(sign: str) -> bool:
    return sign != "\n" and unicodedata.category(sign) in _HIDDEN


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")
