"""The body of a growing message: written text does not change, and the final result equals that of `show`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.render.body import GrowingBody, body_lines
from viewer.render.style import Printable, Style

GUTTER = Printable("| ")
WIDTH = 12
STYLES = [Style(), Style(wrapped=True), Style(ascii=True), Style(ascii=True, wrapped=True)]
BODIES = [
    "", "\n", "\n\n", "a", "a\n", "a\n\n", "\na", "\n\na\n\n", "a\r\nb\r\n", "a\r", "a\r\r\n", "a\rb",
    "a\tb\t\tc", "one two three four five six", "    indented_and_far_too_long_for_a_row", "a" * 40,
    "東京は晴れです。大阪は雨です。", "word 東京 " * 8, "e\u0301" * 30, "a" + "\u0301" * 9 + "b",
    "👩\u200d👩\u200d👧 family 👍🏽 ok", "a\u200db\u200d", "❤\ufe0f x", "\x1b[2J\u202eabc\u2028d", "   ",
    "a   \n   b", "a  b  c  d  e  f  g  h", "\u0301a", "🇯🇵🇯🇵", "1\ufe0f\u20e3 2",
]  # fmt: skip
TEXT = st.lists(
    st.sampled_from([*"ab \n\r\t.é東👍\u0301\u200d\ufe0f\U0001f3fd\u202e\x1b", "word ", "\r\n", "longer than a row "]),
    max_size=25,
).map("".join)


def shown(body: str, style: Style, trim: bool) -> str:
    return "".join(f"{GUTTER}{line}\n" for line in body_lines(body, WIDTH, style, trim=trim))


def written(body: str, style: Style, trim: bool, step: int = 1) -> list[str]:
    """Return the output after each piece, and at the end."""
    live = GrowingBody(GUTTER, WIDTH, style, trim=trim)
    texts = [""]
    for end in range(0, len(body), step):
        assert live.continues(body[:end])
        texts.append(texts[-1] + "".join(live.grow(body[:end])))
    return [*texts, texts[-1] + "".join(live.finish(body))]


def without_trailing_spaces(text: str) -> list[str]:
    return [line.rstrip(" ") for line in text.split("\n")]


@pytest.mark.parametrize("style", STYLES, ids=str)
@pytest.mark.parametrize("trim", [False, True])
@each("body", BODIES)
def test_the_final_text_is_what_show_prints(body: str, trim: bool, style: Style) -> None:
    check(body, trim, style)


@pytest.mark.slow
@given(TEXT, st.booleans(), st.sampled_from(STYLES))
def test_any_text_ends_as_show_prints_it(body: str, trim: bool, style: Style) -> None:
    check(body, trim, style)


def check(body: str, trim: bool, style: Style) -> None:
    for step in (1, 3):
        last = written(body, style, trim, step)[-1]
        if style.wrapped:  # a space that did not fit may or may not be written
            assert without_trailing_spaces(last) == without_trailing_spaces(shown(body, style, trim))
        else:
            assert last == shown(body, style, trim)


def test_text_is_written_as_it_arrives() -> None:
    assert written("Take the line", Style(), trim=False)[:6] == ["", "", "", "| T", "| Ta", "| Tak"]
    assert written("Take the line to", Style(wrapped=True), trim=False)[-1] == "| Take the\n| line to\n"
    assert "| Take" in written("Take the line", Style(wrapped=True), trim=False)


def test_a_changed_text_is_noticed() -> None:
    live = GrowingBody(GUTTER, WIDTH, Style(), trim=False)
    assert "".join(live.grow("so I think")) == "| so I thin"
    assert live.continues("so I thing")
    assert not live.continues("Yes")
