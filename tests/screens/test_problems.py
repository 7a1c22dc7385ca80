"""List of problems: with positions in the debug view, and with fixed sentences but no positions in the safe view."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.support.panes import DEBUG, PAINTER, PLAIN, SAFE, STRICT, STYLE, OnePane, screen, text_of, texts, tour
from tests.support.running import drawn, press, running, said, settled, type_in, view
from tests.support.views import diagnostic_view, problems_of
from viewer.model.visibility import Audience
from viewer.render.style import Style
from viewer.render.width import cells
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.bottom.problem_lines import Pending, ProblemLines
from viewer.tui.bottom.problems import Problems


def listed(audience: Audience, pending: Pending | None = None, style: Style = STYLE) -> ProblemLines:
    projection = tour().project(audience)
    calls = None if audience.is_safe else projection.calls()
    return ProblemLines(problems_of(projection), style, safe=audience.is_safe, pending=pending, calls=calls)


def all_lines(lines: ProblemLines, width: int) -> list[str]:
    return texts(lines.line(row, width) for row in range(len(lines)))


def test_the_tour_in_the_debug_view() -> None:
    lines = listed(DEBUG, Pending(33, 1400))
    assert all_lines(lines, 118) == [
        " ✖ #12  The value is not allowed for the argument · get_weather   86:134   E-CALL-SCHEMA/not-in-enum",
        " ⚠ #13  The tool reported a failure · get_weather                 87:121   W-TOOL-FAILED",
        " ✖ #15  Invalid JSON · get_weather                                89:161   "
        "E-BODY-CONSTRAINT-VIOLATION/json-malformed",
        " ✖ #22  The reply reports a timeout · find_tables                 101:149  E-TOOL-TIMEOUT/reported",
        " ⚠ #29  The call has no `call_id` · book_table                    132:43   W-CALL-ID-MISSING/call",
        " ⚠ #30  The reply has no `call_id` · book_table                   133:53   W-CALL-ID-MISSING/reply",
        " ✖ #33  The input ended inside a message body                     141:144  E-STREAM-TRUNCATED/body",
        " … #33  Becomes E-STREAM-TRUNCATED if the input ends here (last…",
    ]
    assert lines.counts == "4 errors · 3 warnings · 1 pending"


def test_on_a_narrow_screen_the_place_is_at_the_right_edge() -> None:
    assert all_lines(listed(DEBUG), 78)[0] == (
        " ✖ #12  The value is not allowed for the argument · get_weather        86:134"
    )


def test_the_row_at_the_cursor_opens_with_its_source_and_advice() -> None:
    projection = tour().project(DEBUG)
    lines = ProblemLines(problems_of(projection), STYLE, safe=False, projection=projection)
    shown = texts(lines.details(2, 118, "enter Go  ? Explain"))
    assert shown[0] == '        {"ok":true,"content":{"temperature":23,"rain":light}}'
    assert shown[1].strip("~") == " " * shown[0].index("light")
    assert shown[-1].endswith("enter Go  ? Explain")
    assert all(cells(line) <= 118 for line in shown)
    assert lines.details(2, 78, "") == []
    safe = tour().project(SAFE)
    assert ProblemLines(problems_of(safe), STYLE, safe=True, projection=safe).details(0, 118, "") == []


def test_the_end_user_gets_number_a_safe_sentence_and_code() -> None:
    lines = all_lines(listed(SAFE, Pending(33, 1400)), 118)
    assert lines[0].split("  ")[:2] == [" ✖ #12", "A background step was given invalid input."]
    assert lines[0].endswith(" E-CALL-SCHEMA")
    assert lines[-1].split("  ")[-1] == "The transcript is still being written."
    assert not any(":" in line or "1.4" in line for line in lines)


def test_a_strict_end_user_gets_only_problems_of_shown_messages() -> None:
    assert all_lines(listed(STRICT), 80) == [" ✖ #11  The transcript is incomplete."]


def test_an_incomplete_check_never_says_that_there_are_none() -> None:
    nothing = diagnostic_view([])
    assert ProblemLines(nothing, STYLE, safe=True, checking=True).counts == "checking…"
    assert ProblemLines(listed(DEBUG).problems, STYLE, safe=False, checking=True).counts == (
        "4 errors · 3 warnings · checking…"
    )
    assert ProblemLines(nothing, STYLE, safe=True).counts == "no problems"


@pytest.mark.slow
async def test_the_list_says_checking_until_everything_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "long.ocml"
    path.write_text("version: 2.2\n" + "<|start|>user<|message|>Hello there<|end|>\n" * 2000)
    app = ViewerApp([str(path)], ViewOptions())
    async with app.run_test(size=(120, 40)) as pilot:
        seen = set()
        await pilot.press("p")
        while not view(pilot).session.document.is_complete:
            seen.add("no problems" in drawn(pilot))
            await asyncio.sleep(0)
        await settled(pilot)
        assert "no problems" in drawn(pilot)
    assert True not in seen


def test_lines_fit_and_have_ascii_forms() -> None:
    for width in (60, 80, 120):
        for row in range(8):
            assert cells(text_of(listed(DEBUG, Pending(33)).line(row, width))) <= width
            assert text_of(listed(DEBUG, Pending(33), PLAIN).line(row, width)).isascii()


async def test_a_click_moves_the_cursor_and_the_cursor_stays_on_its_problem() -> None:
    problems = tour().project(DEBUG).diagnostics()
    pane = Problems(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(120, 10)) as pilot:
        pane.show(diagnostic_view(problems[1:]), safe=False)
        await pilot.pause()
        await pilot.click(pane.list, offset=(8, 1))
        await pilot.pause()
        assert [(getattr(e, "number", None), getattr(e, "diagnostic", None)) for e in app.heard] == [(15, problems[2])]
        pane.show(diagnostic_view(problems), safe=False)
        assert pane.chosen_problem == problems[2]
        pane.list.go_to(pane.list.cursor + 1)
        pane.list.choose()
        await pilot.pause()
        assert getattr(app.heard[-1], "number", None) == 22
        pane.clear()
        await pilot.pause()
        assert screen(app).split() == []
        assert pane._lines is None


@pytest.mark.slow
async def test_a_filter_leaves_a_problem_at_its_message_for_a_strict_audience_too(tmp_path: Path) -> None:
    path = tmp_path / "filtered.ocml"
    fruits = "apple", "pear a\u200bb", "apple two", "apple c\u200bd"
    said = "".join(f"<|start|>user<|message|>{text}<|end|>\n" for text in fruits)
    path.write_text("version: 2.2\n" + said, "utf-8")
    for strict in (False, True):
        async with running(path, options=ViewOptions(strict=strict)) as pilot:
            await type_in(pilot, "&", "apple")
            lines = [line.strip(" ▌│•⚠█").strip() for line in drawn(pilot).splitlines()]
            after = next(place for place, line in enumerate(lines) if line.startswith("apple c")) + 1
            sentence = "A message contains invisible characters; they are shown as marks."
            assert lines[after].endswith(sentence)
            assert sum(sentence in line for line in lines) == 1


@pytest.mark.slow
async def test_the_error_keys_stop_at_each_hidden_problem_and_in_the_calls_at_each_failed_call() -> None:
    """One row hides several problems: each of them is a stop, even backward and across the end."""
    async with running() as pilot:
        stops = []
        for key in "eeeeeEE":
            await press(pilot, key)
            stops.append(view(pilot).navigator.cursor.number)
        assert stops == [12, 15, 22, 33, 12, 33, 22]
        assert "4/7 #22 " in drawn(pilot)
        for key in "dCg":
            await press(pilot, key)
        calls = []
        for key in "eeeeE":
            await press(pilot, key)
            calls.append(view(pilot).navigator.focused_number)
        assert calls == [12, 14, 21, 12, 21]
        assert "Continued from the bottom." in drawn(pilot)


@pytest.mark.slow
async def test_a_problem_of_another_format_is_explained_without_a_section_of_openchatml(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{"}}
    messages: list[dict[str, object]] = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "assistant", "content": "Hello"},
    ]
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": messages}))
    async with running(path, keys=["e", "enter"]) as pilot:
        assert said(pilot).endswith(" d shows the details.")
        assert "OpenChatML" not in said(pilot)
    async with running(keys=["e", "enter"]) as pilot:
        assert "OpenChatML 2.2" in said(pilot)
    async with running(path, options=ViewOptions(sealed=True), keys=["e", "enter"]) as pilot:
        assert "shows the details" not in said(pilot)


@pytest.mark.slow
@pytest.mark.parametrize("hidden", ["zebra", "plums"])
async def test_a_search_without_matches_says_the_same_whatever_is_hidden(hidden: str, tmp_path: Path) -> None:
    path = tmp_path / "a.ocml"
    thought = f"<|start|>assistant<|channel|>analysis<|message|>{hidden}<|end|>\n"
    path.write_text(f"version: 2.2\n<|start|>user<|message|>Hi<|end|>\n{thought}")
    async with running(path) as pilot:
        await type_in(pilot, "/", "zebra")
        assert "no matches in what the user saw" in drawn(pilot)
