"""Timeline: bars of thoughts, calls, and answers; the critical path; zoom. Nothing hidden in the safe view."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.panes import ALL, DEBUG, PLAIN, SAFE, STYLE, read, texts, tour
from tests.support.running import drawn, press, running, settled, view
from viewer.document.projection import Projection
from viewer.render.width import cells
from viewer.tui.bottom.timeline_bars import Bar, Bars, bars_around, critical_path, parallel_calls
from viewer.tui.bottom.timeline_lines import TimelineLines
from viewer.tui.panes.signs import KindSign


def _message(second: str, role: str, content: str | None = None, **more: object) -> str:
    return json.dumps({"role": role, "content": content, "timestamp": f"2026-01-01T{second}Z", **more})


def _call(id: str, name: str, arguments: str) -> dict[str, object]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


TIMED = "\n".join(
    [
        _message("10:00:00", "user", "Weather?"),
        _message(
            "10:00:01", "assistant", tool_calls=[_call("a", "one", '{"deadline_ms":1000}'), _call("b", "two", "{}")]
        ),
        _message("10:00:02", "tool", '{"ok":true}', tool_call_id="b"),
        _message("10:00:04", "tool", '{"ok":true}', tool_call_id="a"),
        _message("10:00:06", "assistant", "Warm."),
        _message("11:00:00", "user", "Thanks"),
        _message("11:00:01", "assistant", "Bye."),
    ]
)


def bars_of(projection: Projection, focus: int = 2, *, one_turn: bool = False) -> Bars:
    return bars_around(projection, projection.rows(), projection.calls(), focus, one_turn=one_turn)


def test_bars_have_the_times_of_the_transcript_without_the_pauses_between_turns(tmp_path: Path) -> None:
    bars = bars_of(read(tmp_path, TIMED).project(DEBUG))
    assert bars.has_times
    assert [(bar.number, bar.sign, bar.start, bar.end) for bar in bars.bars] == [
        (2, KindSign.CALL, 1000, 4000),
        (3, KindSign.CALL, 1000, 2000),
        (6, KindSign.ANSWER, 4000, 6000),
        (8, KindSign.ANSWER, 6000, 7000),
    ]
    assert (bars.critical, bars.total, bars.parallel, bars.turns) == (6000, 7000, 2, (1, 2))


def test_a_turn_alone_starts_at_zero(tmp_path: Path) -> None:
    bars = bars_of(read(tmp_path, TIMED).project(DEBUG), 8, one_turn=True)
    assert [(bar.number, bar.start) for bar in bars.bars] == [(8, 0)]


def test_the_safe_view_has_shown_messages_only(tmp_path: Path) -> None:
    projection = read(tmp_path, TIMED).project(SAFE)
    bars = bars_of(projection)
    assert [bar.number for bar in bars.bars] == [6, 8]
    lines = TimelineLines(bars, projection, STYLE)
    shown = "\n".join(texts([*lines.head(118), *(lines.line(row, 118) for row in range(len(lines)))]))
    for hidden in ("one", "two", "timeout", "limit"):
        assert hidden not in shown


def test_without_times_the_axis_counts_messages() -> None:
    projection = tour().project(DEBUG)
    bars = bars_of(projection)
    assert not bars.has_times
    lines = TimelineLines(bars, projection, STYLE)
    assert lines.counts(118) == "by order · zoom 1× · turn 1–5"
    assert lines.summary(118) == ""


def test_the_critical_path_is_the_longest_chain_without_overlap() -> None:
    def bar(start: int, end: int) -> Bar:
        return Bar(1, 1, KindSign.CALL, start, end)

    assert critical_path([]) == 0
    assert critical_path([bar(0, 5), bar(0, 3), bar(5, 7), bar(3, 6)]) == 7
    assert critical_path([bar(0, 10), bar(1, 2), bar(2, 3)]) == 10
    assert parallel_calls([bar(0, 1)]) == 0, "bars without a call are not calls"


def test_lines(tmp_path: Path) -> None:
    projection = read(tmp_path, TIMED).project(DEBUG)
    lines = TimelineLines(bars_of(projection), projection, STYLE)
    assert texts([*lines.head(118), *(lines.line(row, 118, is_cursor=row == 1) for row in range(4))]) == [
        " " * 28 + "0 s        1 s        2 s        3 s        4 s        5 s        6 s        7 s",
        " turn 1  ƒ one" + " " * 25 + "███████████╳█████████████████████ timeout 3.0 s · limit 1.0 s",
        "       ▌ ƒ two" + " " * 25 + "███████████ 1.0 s",
        "         ● answer" + " " * 55 + "▓" * 22,
        " turn 2  ● answer" + " " * 77 + "▓" * 11,
    ]
    assert lines.counts(118) == "zoom 1× · turn 1–2"
    assert lines.summary(118) == "critical path 6.0 s of 7.0 s · 2 calls in parallel at most"
    assert [lines.row_of(number) for number in (2, 4, 5, 6, 8)] == [0, 1, 0, 2, 3]


def test_lines_fit_at_every_width_and_zoom_and_have_ascii_forms() -> None:
    projection = tour().project(ALL)
    for width in (20, 40, 78, 118, 200):
        for zoom, pan in ((0, 0), (3, 2), (9, 50)):
            for style in (STYLE, PLAIN):
                lines = TimelineLines(bars_of(projection), projection, style, zoom=zoom, pan=pan)
                for line in texts([*lines.head(width), *(lines.line(row, width) for row in range(len(lines)))]):
                    assert cells(line) <= width, (width, zoom, line)
                    assert style is STYLE or line.isascii()


def test_the_axis_has_units_that_fit_its_length(tmp_path: Path) -> None:
    words = [
        _message(f"{hour:02}:{minute:02}:00", role, f"At {hour}:{minute}.")
        for hour in range(1, 13)
        for minute, role in ((10, "user"), (50, "assistant"))
    ]
    for most, label in ((1, "20 min"), (12, "2 h")):
        document = read(tmp_path, "\n".join(words[: 2 * most]))
        lines = TimelineLines(bars_of(document.project(DEBUG)), document.project(DEBUG), STYLE)
        assert label in texts(lines.head(120))[0]


@pytest.mark.slow
async def test_it_opens_at_the_message_under_the_cursor() -> None:
    async with running(keys=("d", "G", "H")) as pilot:
        timeline = view(pilot).widgets.bottom.timeline
        assert timeline.list.cursor == timeline.list.count - 1 > 10
        assert "turn 1–5" in drawn(pilot)
        await press(pilot, "k")
        await pilot.resize_terminal(100, 30)
        await settled(pilot)
        assert timeline.list.text(timeline.list.cursor).split()[:2] == ["▌", "●"]
