"""Algorithms with options, as one writes them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import keyhole as kh
from keyhole.core.registry.spec import Spec, split

words = st.from_regex(r"[a-z][a-z0-9\-]{0,8}", fullmatch=True)
values = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.just("Scaled(2)"))
specs = st.builds(lambda n, o: Spec(n, tuple(o.items())), words, st.dictionaries(words, values, max_size=3))


@given(st.lists(specs, max_size=4))
def test_what_is_written_is_read_back(found):
    text = ", ".join(map(str, found))
    assert [Spec.parse(part) for part in split(text)] == found


@pytest.mark.parametrize("text", ["", "a b", "a[x]", "a[=1]", "a[x=1", "a[x=1,x=2]"])
def test_what_makes_no_sense_is_refused(text):
    with pytest.raises(kh.ConfigError):
        Spec.parse(text)
