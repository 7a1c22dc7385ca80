"""List of problems: places in the debug view, fixed sentences without a place in the safe view."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.panes import DEBUG, PAINTER, PLAIN, SAFE, STRICT, STYLE, OnePane, screen, text_of, texts, tour
from tests.support.running import drawn, running, settled, type_in, view
from tests.support.views import diagnostic_view, problems_of
from viewer.model.visibility import Audience
from viewer.render.style import Style
from viewer.render.width import cells
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.panes.problem_lines import Pending, ProblemLines
from viewer.tui.panes.problems import Problems


def listed(audience: Audience, pending: Pending | None = None, style: Style = STYLE) -> ProblemLines:
    projection = tour().project(audience)
    return ProblemLines(problems_of(projection), style, safe=audience.is_safe, pending=pending)


def all_lines(lines: ProblemLines, width: int) -> list[str]:
    return texts([lines.head(width), *(lines.line(row, width) for row in range(len(lines)))])


def test_the_tour_in_the_debug_view() -> None:
    assert all_lines(listed(DEBUG, Pending(33, 1400)), 120) == [
        " PROBLEMS  4 errors · 3 warnings · 1 pending".ljust(101) + "sorted by position",
        " ✖ 86:134   #12  E-CALL-SCHEMA                The value is not allowed for the argument.",
        " ⚠ 87:121   #13  W-TOOL-FAILED                The tool reported a failure.",
        " ✖ 89:161   #15  E-BODY-CONSTRAINT-VIOLATION  Invalid JSON.",
        " ✖ 101:149  #22  E-TOOL-TIMEOUT               The reply reports a timeout.",
        " ⚠ 132:43   #29  W-CALL-ID-MISSING            "
        "The call has no `call_id`. Its reply was matched by tool and order.",
        " ⚠ 133:53   #30  W-CALL-ID-MISSING            "
        "The reply has no `call_id`. Its call was matched by tool and order.",
        " ✖ 141:144  #33  E-STREAM-TRUNCATED           The input ended inside a message body.",
        " … EOF      #33  open message                 "
        "Becomes E-STREAM-TRUNCATED if the input ends here (last byte 1.4 s ago).",
    ]


def test_the_end_user_gets_code_number_and_a_safe_sentence() -> None:
    lines = all_lines(listed(SAFE, Pending(33, 1400)), 120)
    assert lines[1] == (" ✖ #12  E-CALL-SCHEMA                A background step was given invalid input.")
    assert lines[-1] == " …      open message                 The transcript is still being written."
    assert not any(":" in line or "1.4" in line for line in lines)


def test_a_strict_end_user_gets_only_problems_of_shown_messages() -> None:
    lines = all_lines(listed(STRICT), 80)
    assert lines[1:] == [" ✖ #11 E-STREAM-TRUNCATED The transcript is incomplete."]


def test_an_incomplete_check_never_says_none() -> None:
    nothing = diagnostic_view([])
    lines = ProblemLines(nothing, STYLE, safe=True, checking=True)
    assert text_of(lines.head(80)).split("  ")[1] == "checking…"
    assert text_of(lines.one_line(0, 80)) == " checking…"
    assert "4 errors · 3 warnings · checking…" in text_of(
        ProblemLines(listed(DEBUG).problems, STYLE, safe=False, checking=True).head(120)
    )
    assert "none" in text_of(ProblemLines(nothing, STYLE, safe=True).head(80))


@pytest.mark.slow
async def test_the_list_says_checking_until_everything_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "long.ocml"
    path.write_text("version: 2.2\n" + "<|start|>user<|message|>Hello there<|end|>\n" * 2000)
    app = ViewerApp([str(path)], ViewOptions())
    async with app.run_test(size=(120, 40)) as pilot:
        seen = set()
        await pilot.press("p")
        while not view(pilot).session.document.is_complete:
            seen.add("none" in drawn(pilot))
            await asyncio.sleep(0)
        await settled(pilot)
        assert "PROBLEMS  none" in drawn(pilot)
    assert True not in seen


def test_one_line() -> None:
    lines = listed(DEBUG)
    assert text_of(lines.one_line(2, 80)) == (" ✖ 3/7  89:161 #15 E-BODY-CONSTRAINT-VIOLATION Invalid JSON.")
    assert cells(text_of(lines.one_line(2, 80))) <= 80
    assert text_of(ProblemLines(diagnostic_view([]), STYLE, safe=True).one_line(0, 80)) == " no problems"


def test_no_problems() -> None:
    lines = ProblemLines(diagnostic_view([]), STYLE, safe=False)
    assert text_of(lines.head(80)).startswith(" PROBLEMS  none")
    assert len(lines) == 0


def test_lines_fit_and_have_ascii_forms() -> None:
    for width in (60, 80, 120):
        for row in range(8):
            assert cells(text_of(listed(DEBUG, Pending(33)).line(row, width))) <= width
            assert text_of(listed(DEBUG, Pending(33), PLAIN).line(row, width)).isascii()


async def test_a_click_chooses_and_the_cursor_stays_on_its_problem() -> None:
    problems = tour().project(DEBUG).diagnostics()
    pane = Problems(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(120, 10)) as pilot:
        pane.show(diagnostic_view(problems[1:]), safe=False)
        await pilot.pause()
        await pilot.click(pane.list, offset=(8, 1))
        assert [(getattr(e, "number", None), getattr(e, "diagnostic", None)) for e in app.heard] == [(15, problems[2])]
        pane.show(diagnostic_view(problems), safe=False)
        assert pane.chosen_problem == problems[2]
        assert text_of(pane.one_line(100)).startswith(" ✖ 3/7  89:161 #15")
        pane.move(1)
        pane.choose()
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
