"""Inspector: header, raw bytes, tokens, links, and problems of one message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.panes import (
    ALL,
    CALLS,
    DEBUG,
    PAINTER,
    PLAIN,
    SAFE,
    STYLE,
    OnePane,
    look_of_text,
    read,
    screen,
    text_of,
    texts,
    tour,
)
from tests.support.views import problems_of
from viewer.document.projection import Projection
from viewer.render.style import StyleRole
from viewer.render.width import cells
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.inspector_lines import Inspected, Tab, entries, tab_at, tab_lines
from viewer.tui.panes.raw_lines import LONGEST_RAW, raw_lines, token_lines


def inspected(projection: Projection, number: int) -> Inspected:
    message, problems = projection.message(number), projection.diagnostics_of(number)
    return Inspected(projection, number, message, projection.calls(), problems, problems_of(projection))


def tab_of(number: int, tab: Tab, width: int = 34, *, sheet: bool = False) -> list[str]:
    found = entries(inspected(tour().project(DEBUG), number), tab, width, STYLE, sheet=sheet)
    return texts(entry.line for entry in found)


def test_the_tabs_have_a_heavy_rule_below_the_active_one() -> None:
    assert texts(tab_lines(list(Tab), Tab.HEADER, 38, STYLE)) == [
        " Header  Raw  Links  Problems",
        " ━━━━━━ ─────────────────────────────",
    ]
    assert texts(tab_lines(list(Tab), Tab.RAW, 38, STYLE))[1] == " ─────── ━━━ ────────────────────────"


def test_empty_tabs_are_not_shown() -> None:
    projection = tour().project(DEBUG)
    assert inspected(projection, 3).tabs == [Tab.HEADER, Tab.RAW]
    assert inspected(projection, 6).tabs == [Tab.HEADER, Tab.RAW, Tab.LINKS]
    assert inspected(projection, 12).tabs == list(Tab)
    assert inspected(projection, 1).tabs == [Tab.HEADER]


def test_a_click_on_a_tab() -> None:
    assert [tab_at(list(Tab), x) for x in (0, 1, 8, 9, 14, 21, 40)] == [
        None, Tab.HEADER, None, Tab.RAW, Tab.LINKS, Tab.PROBLEMS, None,
    ]  # fmt: skip


def test_header_in_a_pane() -> None:
    assert tab_of(15, Tab.HEADER, 38) == [
        " role       tool",
        " name       functions.get_weather",
        " channel    commentary",
        " to         assistant",
        " type       constrain json",
        " call       wx3  → call #14",
        " state      ✖ bad JSON",
        " visible    Hidden: the role is not",
        "            shown to users",
        " size       53 B",
        " bytes      3905–4078",
        " line       89",
        " ending     <|end|>",
    ]


def test_header_in_a_sheet() -> None:
    assert tab_of(12, Tab.HEADER, 78, sheet=True) == [
        " role     assistant                     channel  commentary",
        " to       functions.get_weather         type     constrain json",
        " call     wx2  → reply #13              state    ✖ failed",
        " visible  Hidden: the channel is not s… size     38 B",
        " bytes    3406–3555                     line     86",
        " ending   <|call|>",
    ]


def test_an_inferred_partner_is_dotted() -> None:
    assert " call       —  ┄ call #29" in tab_of(30, Tab.HEADER)


def test_a_shown_message_says_why() -> None:
    assert " visible    Visible: user message" in tab_of(3, Tab.HEADER)


def test_a_message_that_the_toggles_hide_shows_no_byte() -> None:
    expected = [
        " role       system",
        " visible    Hidden: the role is",
        "            not shown to users",
        "",
        " This message's channel is off.",
    ]
    for tab in (Tab.HEADER, Tab.RAW, Tab.LINKS):
        assert tab_of(1, tab) == expected


def test_raw_marks_control_tokens() -> None:
    found = entries(inspected(tour().project(DEBUG), 15), Tab.RAW, 34, STYLE, sheet=False)
    assert texts(entry.line for entry in found[:6]) == [
        " <|start|>tool name=functions.get",
        " _weather call_id=wx3 to=assistan",
        " t<|channel|>commentary<|constrai",
        ' n|>json<|message|>{"ok":true,"co',
        ' ntent":{"temperature":23,"rain":',
        " light}}<|end|>",
    ]
    assert look_of_text(found[0].line, "<|start|>") is StyleRole.MARKER
    assert look_of_text(found[0].line, "tool") is StyleRole.PLAIN


def test_raw_shows_invisible_characters() -> None:
    data = "a\tb\x1b \u202e\U000e0068\U000e0069\r\n".encode() + b"\xff\xfe" + " 👨".encode()
    lines = list(raw_lines(data, "openchatml-2.2", 60, STYLE))
    assert texts(lines) == ["a␉b␛ ⇠[tags: hi]", "\\xff\\xfe 👨"]
    assert look_of_text(lines[0], "tags") is StyleRole.NOTED_SPAN
    assert look_of_text(lines[1], "\\xff") is StyleRole.BAD_SPAN


def test_escaped_and_literal_marks_are_not_tokens() -> None:
    data = b"<|message|><<|end|><|literal|><|end|><|endliteral|><|end|>"
    (line,) = raw_lines(data, "openchatml-2.2", 80, STYLE)
    assert [part.text for part in line if part.look is StyleRole.MARKER] == [
        "<|message|>",
        "<|literal|>",
        "<|endliteral|>",
        "<|end|>",
    ]
    (line,) = raw_lines(data, "harmony", 80, STYLE)
    assert [str(part.text) for part in line if part.look is StyleRole.MARKER].count("<|end|>") == 3
    (line,) = raw_lines(data, "json", 80, STYLE)
    assert all(part.look is StyleRole.PLAIN for part in line)


def test_a_huge_message_is_cut() -> None:
    data = "日".encode() * LONGEST_RAW
    lines = texts(raw_lines(data, "json", 80, STYLE))
    assert lines[-1] == f"… {len(data) - LONGEST_RAW + 1:,} more bytes"
    assert all(cells(line) <= 80 for line in lines)


def test_tokens_have_their_offsets() -> None:
    data = b"<|start|>user<|message|>Hi<|end|>"
    assert texts(token_lines(data, 1000, "openchatml-2.2", STYLE)) == [
        "    1,000  <|start|>",
        "    1,009  text 4 B",
        "    1,013  <|message|>",
        "    1,024  text 2 B",
        "    1,026  <|end|>",
    ]
    assert texts(token_lines(data, 0, "json", STYLE)) == ["This format has no control tokens."]


def test_links_show_state_deadline_and_provenance(tmp_path: Path) -> None:
    found = entries(inspected(read(tmp_path, CALLS).project(ALL), 3), Tab.LINKS, 40, STYLE, sheet=False)
    assert texts(entry.line for entry in found) == [
        " Call a",
        " tool       functions.f",
        " call       #3 (this one)",
        " reply      #4",
        " state      ✓ ok",
        " deadline   0.5 s",
        " linked by  call_id",
        "",
        " Provenance  from the reply",
        " source     https://x.example␛]8;;",
        " page       7",
        "",
        " Call graph",
        "▸a  #3 ──► #4  ✓ ok",
        " —  #7 ┄┄► #8  ✓ by order",
    ]
    assert [entry.follows for entry in found if entry.follows] == [4, 4, 7]


def test_problems_come_with_advice_and_in_openchatml_with_section(tmp_path: Path) -> None:
    assert tab_of(15, Tab.PROBLEMS, 50) == [
        " 1 problem",
        "",
        " ✖ 89:161",
        "   E-BODY-CONSTRAINT-VIOLATION/json-malformed",
        "   Invalid JSON.",
        "   OpenChatML 2.2 sections 14, 6",
        "   Fix the marked part of the body, or remove the",
        "   constraint if the body has another type.",
    ]
    assert tab_of(9, Tab.PROBLEMS) == [" no problems"]
    harmony = "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final<|message|>Hello"
    foreign = inspected(read(tmp_path, harmony).project(DEBUG), 2)
    assert texts(each.line for each in entries(foreign, Tab.PROBLEMS, 80, STYLE, sheet=False))[:1] == [" 1 problem"]
    assert "section" not in " ".join(
        texts(each.line for each in entries(foreign, Tab.PROBLEMS, 80, STYLE, sheet=False))
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", [20, 34, 80, 200])
def test_every_line_of_every_tab_fits(width: int) -> None:
    projection = tour().project(ALL)
    for number in range(1, projection.message_count + 1):
        for tab in (Tab.RAW, Tab.LINKS, Tab.PROBLEMS) if width >= 34 else (Tab.RAW,):
            for entry in entries(inspected(projection, number), tab, width, STYLE, sheet=False):
                assert cells(text_of(entry.line).rstrip()) <= width


def test_without_unicode() -> None:
    projection = tour().project(DEBUG)
    for tab in Tab:
        for entry in entries(inspected(projection, 30), tab, 40, PLAIN, sheet=False):
            assert text_of(entry.line).isascii()


@pytest.mark.slow
async def test_tabs_and_links_can_be_clicked() -> None:
    projection = tour().project(DEBUG)
    pane = Inspector(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(40, 30)) as pilot:
        pane.show(projection, 15)
        await pilot.pause()
        row = next(row for row, entry in enumerate(pane._entries) if entry.follows == 14)
        await pilot.click(pane.list, offset=(5, row), times=2)
        assert [getattr(event, "number", None) for event in app.heard] == [14]
        await pilot.click(pane.head, offset=(9, 0))
        await pilot.pause()
        assert pane.active_tab is Tab.RAW
        assert "<|start|>tool name=functions" in screen(app)
        pane.clear()
        await pilot.pause()
        assert "weather" not in screen(app)
        assert (pane._inspected, pane._entries) == (None, [])


async def test_the_safe_view_has_no_inspector() -> None:
    pane = Inspector(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(40, 30)) as pilot:
        pane.show(tour().project(SAFE), 3)
        await pilot.pause()
        assert "3 Inspector" in screen(app)
        assert pane._entries == []


@pytest.mark.slow
async def test_the_inspector_is_a_sheet_below_the_transcript() -> None:
    pane = Inspector(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(80, 9)) as pilot:
        pane.show(tour().project(DEBUG), 13)
        await pilot.pause()
        assert "3 Inspector #13" in screen(app)
        assert " Header  Raw  Links  Problems" in screen(app)
        assert " role     tool " in screen(app)
