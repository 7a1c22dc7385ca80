"""Rendered Markdown: blocks as rows, with the source offset of each character."""

from __future__ import annotations

import random
import re

import pytest

from viewer.render.blocks.markdown_rows import Rendered, rendered
from viewer.render.body import Rendering, drawn_text
from viewer.render.markdown import DEEPEST, LARGEST
from viewer.render.sanitize import SafeText, sanitize
from viewer.render.style import StyleRole
from viewer.render.width import cells

WORD = re.compile(r"[^\W_]+")
SOURCE = """\
# Prices per night

| Ryokan | Price | Bath |
|---|---:|---|
| Edo-san | 28,000 | yes |
| Wakasa | 19,500 | **no** |

- Both are a short walk from the station
  - Edo-san serves dinner
> Check-in is at 15:00.

See the [map](https://example.org/map) for ~~some~~ details, \\*not\\* <https://a.example>.

1. **北極星** (Hokkyokusei), the *home* of `omurice`
2. two

   more of it

```python
for stay in stays:
    print(stay.price)
```

Small
-----
"""
ROWS = """\
Prices per night
════════════════

Ryokan  │  Price │ Bath
────────┼────────┼──────
Edo-san │ 28,000 │ yes
Wakasa  │ 19,500 │ no

• Both are a short walk from the station
  ◦ Edo-san serves dinner
▎ Check-in is at 15:00.

See the map (https://example.org/map) for some details, *not*
https://a.example.

  1. 北極星 (Hokkyokusei), the home of omurice
  2. two

     more of it

╭ python ───────────────╮
│ for stay in stays:    │
│     print(stay.price) │
╰───────────────────────╯

Small
─────"""


def made(text: str, width: int = 62, *, ascii: bool = False) -> Rendered:
    found = rendered(SafeText(text), width, ascii=ascii)
    assert found is not None
    return found


def lines(text: str, width: int = 62) -> list[str]:
    return [line.rstrip() for line in made(text, width).text.split("\n")]


def test_blocks_and_marks_are_drawn() -> None:
    assert "\n".join(lines(SOURCE)) == ROWS


def test_the_space_around_a_quote_has_no_mark() -> None:
    text = "Before\n\n> one\n>\n> two\n> > inner\n\n1. item\n\n> last\n\nAfter"
    expected = ["Before", "", "▎ one", "▎", "▎ two", "▎ ▎ inner", "", "  1. item", "", "▎ last", "", "After"]
    assert lines(text) == expected


def test_each_drawn_word_has_its_place_in_the_source() -> None:
    result = made(SOURCE)
    assert len(result.origins) == len(result.text) + 1
    for word in ("Prices", "28,000", "Edo-san", "dinner", "15:00", "example.org", "details", "omurice", "stay.price"):
        at = result.text.index(word)
        assert SOURCE[result.origins[at] :].startswith(word), word
        assert result.origins[at + len(word) - 1] == result.origins[at] + len(word) - 1, word


def test_marks_become_styles() -> None:
    result = made(SOURCE)
    looks = {result.text[span.start : span.end]: span.look for span in result.spans}
    expected = {
        "Prices per night": StyleRole.HEADING,
        "no": StyleRole.STRONG,
        "map": StyleRole.LINK,
        "some": StyleRole.STRIKE,
        "home": StyleRole.EMPHASIS,
        "omurice": StyleRole.CODE,
        "for": StyleRole.CODE_WORD,
        "• ": StyleRole.BULLET,
    }
    assert {text: looks.get(text) for text in expected} == expected


def test_a_table_that_is_too_wide_becomes_pairs() -> None:
    table = "| Name | Remark |\n|---|---|\n| one | a long remark that needs room |\n| two | b |"
    assert lines(table, 24) == [
        "Name: one",
        "Remark: a long remark",
        "  that needs room",
        "",
        "Name: two",
        "Remark: b",
    ]


def test_line_breaks_and_plain_text_stay() -> None:
    assert lines("one\ntwo\n\nthree * 4 * 5\n\nsnake_case_name") == [
        "one",
        "two",
        "",
        "three * 4 * 5",
        "",
        "snake_case_name",
    ]
    assert lines("a\n\n\n\nb\n# c") == ["a", "", "b", "c", "═"]


def test_wide_code_is_wrapped_inside_its_frame() -> None:
    drawn = lines("```\n" + "x" * 40 + "\n```", 24)
    assert drawn == ["╭──────────────────────╮", f"│ {'x' * 20} │", f"│ {'x' * 20} │", "╰──────────────────────╯"]


@pytest.mark.parametrize("text", ["- ```a\r\n\tb", "> ```\r\n>\tb", "- - ```\r\n\t\tb\r\n"])
def test_code_indented_with_a_tab_has_its_place_in_the_source(text: str) -> None:
    drawn = drawn_text(text, 40, json=False, markdown=Rendering.ROWS, trim=False)
    assert drawn.origins is not None
    assert drawn.origins == sorted(drawn.origins)
    assert text[drawn.origins[drawn.text.index("b")]] == "b"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("```py title='a b'\nc\n```", ["╭ py title='a b' ─╮", "│ c               │", "╰─────────────────╯"]),
        ("```" + "x" * 22 + " y", ["╭──────────────────────╮", f"│ {'x' * 20} │", f"│ xx y{' ' * 16} │"]),
        ("    a\tb\n    c", ["╭───────╮", "│ a   b │", "│ c     │", "╰───────╯"]),
        ('![a](b "c d") e', ['a (b "c d") e']),
        ("[a](a)", ["a"]),
        ("|a|b|\n|-|-|\n|1|2|3|", ["a │ b", "──┼─────", "1 │ 2|3"]),
        ("|a|b|\n|-|-|\n|1||3|\n|1|2||", ["a │ b", "──┼─────", "1 │ ||3", "1 │ 2"]),
        ("|a|b|\n|-|-|\n|`ls \\| wc`|x \\| y|", ["a       │ b", "────────┼───────", "ls | wc │ x | y"]),
        (f"|{'a' * 20}|{'b' * 9}|\n|-|-|", ["a" * 20, "b" * 9]),
        (f"|{'a' * 20}|bb|\n|-|-|\n|c|d|", [f"{'a' * 20}:", "  c", "bb: d"]),
        ("***both*** and `` a`b ``", ["both and a`b"]),
        ("[a](b_(c)) [a [1]](b)", ["a (b_(c)) a [1] (b)"]),
        ("[a](<b c>) [![d](e)](f)", ["a (<b c>) d (e) (f)"]),
    ],
)
def test_no_word_is_left_out(text: str, rows: list[str]) -> None:
    assert lines(text, 24)[: len(rows)] == rows


def test_names_and_numbers_stay_where_nothing_can_be_indented() -> None:
    assert lines("|name|b|\n|-|-|\n|some words|d|", 12) == ["name:", "some words", "b:", "d"]
    assert lines("12) some words", 12) == ["12)", "some words"]


def test_blocks_that_are_nested_too_deep_show_the_source() -> None:
    for mark in ("> ", "- ", "1. "):
        assert rendered(SafeText(mark * (DEEPEST + 1) + "word"), 80) is None
    assert "word" in made("> " * (DEEPEST - 1) + "word").text


@pytest.mark.parametrize("text", ["```\nx\n" + "y" * 40, f"|{'a' * 11}|b|\n|-|-|", "> > ```a b c d e f g h i j"])
def test_frames_and_rules_fit_into_narrow_panes(text: str) -> None:
    for width in (12, 13, 14, 15, 16):
        assert max(map(cells, lines(text, width))) <= width


def test_ascii_glyphs_replace_the_others() -> None:
    text = SOURCE.replace("北極星", "Kita")
    assert made(text, ascii=True).text.isascii()


def test_very_long_text_and_very_narrow_panes_show_the_source() -> None:
    assert rendered(SafeText("# a\n" * (LARGEST // 4 + 1)), 80) is None
    assert rendered(SafeText("# a"), 5) is None


@pytest.mark.parametrize("count", [60, pytest.param(300, marks=pytest.mark.slow)])
def test_code_below_a_fold_is_not_highlighted_and_the_rest_is_unchanged(count: int) -> None:
    chance, folded = random.Random(3), 0
    code = ("x = 1", "def f(a):", "    return 'a'", "# note", "", 'y = "' + "long " * 12 + '"')
    for _ in range(count):
        parts = []
        for _ in range(chance.randint(1, 4)):
            lines = "\n".join(chance.choices(code, k=chance.randint(1, 20)))
            parts.append(
                chance.choice((f"```python\n{lines}\n```", f"> ```py {'z' * 40}\n> {lines}", "Text.\n" * 4, ""))
            )
        text, width, most = SafeText("\n\n".join(parts)), chance.choice((30, 80)), chance.choice((5, 12, 30))
        keep = chance.randint(1, most)
        whole, some = rendered(text, width), rendered(text, width, fold=(most, keep))
        assert whole is not None
        assert some is not None
        assert (some.text, some.origins) == (whole.text, whole.origins)
        rows = whole.text.split("\n")
        is_folded = len(rows) > most
        shown = len("\n".join(rows[:keep])) if is_folded else len(whole.text)
        assert _spans_until(some, shown) == _spans_until(whole, shown), (text, most, keep)
        folded += len(some.spans) < len(whole.spans)
    assert folded > count / 6


def _spans_until(page: Rendered, end: int) -> list[tuple[int, int, StyleRole]]:
    return [(span.start, min(span.end, end), span.look) for span in page.spans if span.start < end]


@pytest.mark.parametrize(
    "count", [pytest.param(1500, marks=pytest.mark.slow), pytest.param(100_000, marks=pytest.mark.lab)]
)
def test_any_text_has_rows_that_fit_all_words_and_places_in_order(count: int) -> None:
    blocks = (
        "# ",
        "## ",
        "- ",
        "* ",
        "> ",
        "1. ",
        "12) ",
        "```",
        "~~~",
        "py",
        "\n",
        "\n\n",
        "    ",
        "\t",
        "|",
        "|-|-|",
        "| a | b |\n|---|---|\n| c \\| d | `e\\|f` |\n",
    )
    marks = ("*a*", "**b**", "***g***", "`c`", "`` h`i ``", "[x](y)", "[![j](k)](l(m))", "~~d~~", "<http://e.f>", "---")
    pieces = (*blocks, *marks, "===", "\\*", "_", "a|b", "e" + "\u0301" * 9, "é", "\N{CAT}", "東", " ", "word")
    chance = random.Random(2)
    for _ in range(count):
        text = sanitize("".join(chance.choices(pieces, k=chance.randint(1, 30))))
        width = chance.choice((12, 20, 60))
        result = rendered(text, width)
        if result is None:
            continue
        words = "".join(WORD.findall(result.text))
        assert [word for word in WORD.findall(text) if word not in words] == [], (text, width)
        assert result.origins == sorted(result.origins), text
        assert result.origins[-1] == len(text), text
        assert result.text == sanitize(result.text), text
        ends = [0, *(edge for span in result.spans for edge in (span.start, span.end)), len(result.text)]
        assert ends == sorted(ends), text
        widest = max(cells(SafeText(line)) for line in result.text.split("\n"))
        assert widest <= max(width, 16) + 8, (text, width)
