"""Names from outside are harmless to look at."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from keyhole._internal.escaping import escape, printable


@given(st.text())
def test_nothing_that_is_shown_is_hidden_or_obeyed(text):
    assert not [s for s in printable(text) if s != "\n" and unicodedata.category(s) in ("Cc", "Cf", "Cs", "Zl", "Zp")]


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_plain_text_is_left_alone(text):
    assert printable(text) == text


def test_html_is_escaped_too():
    assert escape("<b>\u202e\x1b</b>") == "&lt;b&gt;\\u202e\\x1b&lt;/b&gt;"
