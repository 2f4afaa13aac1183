"""Escaping of untrusted text for terminals, HTML and SVG."""

import html
import unicodedata

__all__ = ["escape", "printable"]

# Unicode categories to escape: Cc, control characters (terminals execute them); Cf, bidirectional marks and other
# invisible characters; Cs, lone surrogates; Zl and Zp, line and paragraph separators.
_HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str) -> str:
    r"""Escape control, bidirectional and invisible characters in a text; newlines are kept.

    >>> printable("age\x1b[2J \u202etxt")
    'age\\x1b[2J \\u202etxt'
    """
    if text.isprintable():
        return text
    return "".join(_escaped(sign) if _is_hidden(sign) else sign for sign in text)


def escape(text: str) -> str:
    """Escape a text like `printable`, and also the special characters of HTML and SVG."""
    return html.escape(printable(text))


def _is_hidden(sign: str) -> bool:
    return sign != "\n" and unicodedata.category(sign) in _HIDDEN


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")
