"""A lazily compiled pattern matches like one compiled at once."""

from __future__ import annotations

import re

import pytest

from viewer.cache import lazy_regex


def test_a_lazy_regex_behaves_like_a_pattern() -> None:
    pattern = lazy_regex("(a)(b)?", re.IGNORECASE)
    for _ in range(2):
        match = pattern.search("xA")
        assert match is not None
        assert match.span() == (1, 2)
    assert pattern.sub("-", "ab a") == "- -"
    assert (pattern.pattern, pattern.flags & re.IGNORECASE) == ("(a)(b)?", re.IGNORECASE)
    assert lazy_regex(rb"\d").findall(b"1a2") == [b"1", b"2"]


def test_a_lazy_regex_is_compiled_on_first_use() -> None:
    broken = lazy_regex("(")
    with pytest.raises(re.error):
        broken.search("")
