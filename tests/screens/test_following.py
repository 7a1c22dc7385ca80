"""Following a file: the end, scrolling away, freezing, the condition of the file, and restarts."""

from __future__ import annotations

import gc
import re
import weakref
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.events import MouseScrollUp

from tests.support.app_following import ANSWER, CALL, HEAD, QUESTION, REPLY, THOUGHT, Live, chat, live
from tests.support.containers import documents, eval_log
from tests.support.running import SMALL, drawn, press, running, said, type_in
from viewer.model.visibility import Reveal
from viewer.render.title import FollowState
from viewer.tui.app import ViewOptions
from viewer.tui.main import throttle as pace
from viewer.tui.session import Changed

FOLLOW = ViewOptions(follow=True)
DEBUG = replace(FOLLOW, revealed=frozenset({Reveal.ALL}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.ocml"


class TestBeginning:
    async def test_at_the_end(self, path: Path) -> None:
        async with live(path, chat(20)) as app:
            assert "Answer 20." in drawn(app.pilot)
            assert "● live" in app.title and "60 of 60" in drawn(app.pilot)

    @pytest.mark.slow
    async def test_from_the_start(self, path: Path) -> None:
        async with live(path, chat(20), options=replace(FOLLOW, from_start=True)) as app:
            assert "Answer 1." in drawn(app.pilot)
            assert "❚❚ paused" in app.title
            await app.write(QUESTION)
            assert "❚❚ paused, 1 new" in app.title

    @pytest.mark.slow
    async def test_a_missing_file_is_waited_for(self, path: Path) -> None:
        async with live(path) as app:
            assert "waiting for the file" in app.title
            assert "Waiting for run.ocml." in [line.strip() for line in app.conversation]
            assert "Where is the umbrella shop?" in await app.write(HEAD + QUESTION)
            assert "● live" in app.title

    async def test_a_missing_file_on_a_small_screen(self, path: Path) -> None:
        async with live(path, size=SMALL) as app:
            assert "waiting for the file" in app.title

    async def test_an_empty_file(self, path: Path) -> None:
        async with live(path, "") as app:
            assert "● live" in app.title
            assert "Where is the umbrella shop?" in await app.write(HEAD + QUESTION)

    async def test_a_place_on_the_command_line_is_shown(self, path: Path) -> None:
        async with live(path, chat(20), options=replace(FOLLOW, go_to="4")) as app:
            assert app.main.navigator.focused_number == 4
            assert "❚❚ paused" in app.title


class TestGrowth:
    @pytest.mark.slow
    async def test_the_text_of_an_open_message_grows_in_place(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION) as app:
            before = app.conversation
            for part in ("It", " is", " near."):
                shown = await app.write(part if part != "It" else ANSWER + part)
                assert part in shown
            assert "It is near.▏" in drawn(app.pilot)
            assert app.conversation[: before.index("")] == before[: before.index("")]
            assert "It is near.▏" not in await app.write("<|return|>")

    @pytest.mark.slow
    async def test_a_message_shows_once_its_header_is_complete(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION) as app:
            for character in ANSWER:
                assert "Assistant" not in drawn(app.pilot)
                await app.write(character)
            assert "Assistant" in drawn(app.pilot)

    async def test_a_hidden_message_is_only_counted(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION) as app:
            shown = await app.write(THOUGHT.removesuffix("<|end|>\n"))
            assert "┄ 1 hidden message ┄" in shown
            settled = await app.write(" More of it. " * 40)
            assert settled == shown

    @pytest.mark.slow
    async def test_a_long_message_stays_open_while_it_grows_and_when_it_ends(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION + ANSWER) as app:
            for number in range(90):
                await app.write(f"line {number}\n")
            assert "line 89" in drawn(app.pilot)
            assert "more lines" not in drawn(app.pilot)
            assert "line 89" in await app.write("<|return|>")

    @pytest.mark.slow
    async def test_all_panes_of_a_frame_show_the_same_messages(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pace, "ALL_SECONDS", 1000.0)  # frames are drawn, but full redraws are not due
        async with live(path, chat(1), options=DEBUG) as app:
            for number in range(4, 9):
                app.append(QUESTION)
                await app.until(lambda number=number: f"{number} of {number}" in drawn(app.pilot))  # type: ignore[misc]
                outline = [line[:30] for line in drawn(app.pilot).splitlines()]
                assert sum("Where is" in line for line in outline) == number - 2

    async def test_the_title_counts_what_is_drawn_and_not_what_is_read(self, path: Path) -> None:
        async with live(path, chat(1)) as app:
            await app.press("equals_sign")
            app.append(QUESTION)
            await app.until(lambda: app.main.session.document.message_count == 4)
            app.main.redraw(Changed.TITLE)
            assert "of 3" in drawn(app.pilot)

    async def test_a_notice_is_cleared_by_the_next_key(self, path: Path) -> None:
        async with live(path, chat(1)) as app:
            await app.press("i")
            assert "debug" in said(app.pilot)
            await app.press("j")
            assert said(app.pilot) == ""

    @pytest.mark.slow
    @pytest.mark.parametrize("size", [(120, 40), (80, 24), (40, 12)])
    async def test_another_size_keeps_the_end(self, path: Path, size: tuple[int, int]) -> None:
        async with live(path, chat(20)) as app:
            await app.pilot.resize_terminal(*size)
            shown = await app.rest()
            assert "Answer 20." in shown
            assert "● live" in app.title or size == (40, 12)
            assert "near" in await app.write(ANSWER + "near")

    @pytest.mark.slow
    async def test_the_end_is_followed_again_at_once_while_the_size_changes(self, path: Path) -> None:
        async with live(path, chat(20)) as app:
            await app.press("b", "b")
            assert "❚❚ paused" in app.title
            app.main.stick._last_size = None  # a change of size that no redraw has seen
            await app.press("G")
            assert "● live" in app.title

    @pytest.mark.slow
    async def test_another_view_keeps_the_end(self, path: Path) -> None:
        async with live(path, chat(20)) as app:
            for key in ("d", "T", "i", "a", "vertical_line", "p", "d"):
                assert "Answer 20." in await app.press(key)
                assert "● live" in app.title

    @pytest.mark.slow
    async def test_thoughts_in_their_pane_grow_too(self, path: Path) -> None:
        async with live(path, chat(12)) as app:
            await app.press("d", "T", "i", "vertical_line")
            shown = await app.write(THOUGHT.replace("Plums are a secret.<|end|>\n", "this is a plum "))
            assert "◌ open" in shown


class TestYielding:
    @pytest.mark.share(quick=4, test=2)
    @pytest.mark.parametrize("key", ["k", "up", "ctrl+u", "b", "g", "K", "{"])
    async def test_when_the_reader_scrolls_up(self, path: Path, key: str) -> None:
        async with live(path, chat(20)) as app:
            await app.press(key)
            assert "❚❚ paused" in app.title
            before = app.conversation
            await app.write((ANSWER + "More.<|return|>\n") * 3)
            assert app.conversation == before
            assert "❚❚ paused, 3 new" in app.title

    @pytest.mark.slow
    async def test_to_the_wheel(self, path: Path) -> None:
        async with live(path, chat(20)) as app:
            await app.pilot._post_mouse_events([MouseScrollUp], app.main.widgets.transcript)
            await app.rest()
            assert "❚❚ paused" in app.title

    @pytest.mark.slow
    @pytest.mark.parametrize("key", ["G", "end", "F"])
    async def test_until_the_end_is_asked_for(self, path: Path, key: str) -> None:
        async with live(path, chat(20)) as app:
            await app.press("b", "b")
            await app.write(ANSWER + "Near the market.")
            shown = await app.press(key)
            assert "Near the market." in shown and "● live" in app.title
            assert "And far." in await app.write(" And far.")

    @pytest.mark.slow
    @pytest.mark.parametrize("keys", [("k", "j"), ("b", "space"), ("K", "J")])
    async def test_until_the_reader_returns_to_the_end(self, path: Path, keys: tuple[str, str]) -> None:
        async with live(path, chat(20)) as app:
            await app.press(keys[0])
            assert "❚❚ paused" in app.title
            await app.press(keys[1])
            assert "● live" in app.title

    @pytest.mark.slow
    async def test_on_a_small_screen(self, path: Path) -> None:
        async with live(path, chat(20), size=SMALL) as app:
            await app.press("k")
            assert "❚❚ paused" in app.title
            await app.write(QUESTION)
            assert "❚❚ paused, 1 new" in app.title

    @pytest.mark.slow
    async def test_a_strict_audience_learns_only_of_shown_messages(self, path: Path) -> None:
        async with live(path, chat(20), options=replace(FOLLOW, strict=True)) as app:
            await app.press("k")
            await app.write(THOUGHT * 3 + QUESTION)
            assert "❚❚ paused, 1 new" in app.title


class TestFreezing:
    @pytest.mark.slow
    async def test_nothing_is_drawn_until_it_ends(self, path: Path) -> None:
        async with live(path, chat(2)) as app:
            before = await app.press("=")
            assert "❄ frozen" in app.title
            app.append(QUESTION * 2 + "<|start|>assistant<|message|>Broken")
            await app.until(lambda: app.main.session.document.message_count == 9)
            await app.rest()
            assert drawn(app.pilot) == before
            shown = await app.press("=")
            assert "Broken" in shown and "● live" in app.title

    async def test_a_restart_during_a_freeze_is_drawn_afterwards(self, path: Path) -> None:
        async with live(path, chat(2)) as app:
            before = await app.press("=")
            path.write_text(HEAD + QUESTION, "utf-8")
            await app.until(lambda: app.main.session.document.message_count == 1)
            assert drawn(app.pilot) == before
            shown = await app.press("=")
            assert "Answer" not in shown and "1 of 1" in drawn(app.pilot)


class TestWords:
    @pytest.mark.slow
    async def test_stalled(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION + ANSWER + "So", options=replace(FOLLOW, stall_after=0.5)) as app:
            assert re.search(r"◌ stalled \d+ s ", await app.shows("◌ stalled"))
            await app.write(" far")
            assert "● live" in app.title

    @pytest.mark.slow
    async def test_a_file_at_rest_is_not_stalled(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async with live(path, chat(1), options=replace(FOLLOW, stall_after=0.1)) as app:
            monkeypatch.setattr("viewer.document.live.LiveDocument.quiet_for", 60.0)
            await app.write(QUESTION)
            assert "● live" in app.title

    async def test_gone_and_back(self, path: Path) -> None:
        async with live(path, chat(1)) as app:
            path.unlink()
            await app.shows("✖ source lost")
            assert "Answer 1." in drawn(app.pilot)
            assert said(app.pilot) == "The file was removed; waiting for it to reappear."
            path.write_text(HEAD + QUESTION + ANSWER + "Anew", "utf-8")
            assert "Answer 1." not in await app.shows("Anew")
            assert "● live" in app.title

    async def test_a_directory_in_its_place(self, tmp_path: Path) -> None:
        folder = tmp_path / "run"
        async with live(folder) as app:
            folder.mkdir()
            await app.until(lambda: "waiting for a file  [SAFE]" in app.title)

    @pytest.mark.slow
    async def test_the_pending_message_is_in_the_list_of_problems(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION + ANSWER + "So", options=DEBUG) as app:
            assert "… #2   Becomes E-STREAM-TRUNCATED if the input ends here (last byte" in await app.press("p")
            await app.until(lambda: re.search(r"\(last byte [1-9]\d*\.\d s ago\)", drawn(app.pilot)) is not None)
            assert "E-STREAM-TRUNCATED" not in await app.write("<|return|>")

    async def test_the_safe_view_reports_a_shown_message_that_is_open(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION + ANSWER + "So") as app:
            assert "The transcript is still being written." in await app.press("p")
            await app.write("<|return|>" + THOUGHT.removesuffix("<|end|>\n"))
            assert "still being written" not in drawn(app.pilot)

    @pytest.mark.slow
    async def test_the_outline_marks_what_grows(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION + ANSWER + "So far", options=DEBUG) as app:
            line = next(line for line in drawn(app.pilot).splitlines() if "● So far" in line)
            assert line[:29].rstrip().endswith("live")


class TestFindings:
    @pytest.mark.slow
    async def test_appear_as_they_happen(self, path: Path) -> None:
        async with live(path, chat(1), options=DEBUG) as app:
            assert "✖" not in app.title
            await app.press("p")
            shown = await app.write("<|start|>assistant<|channel|>anaylsis<|message|>Hm<|end|>\n")
            assert "✖ 1" in app.title or "⚠ 1" in app.title
            assert "✖ #4   Unknown channel" in shown.split("4 Problems 1")[1]

    @pytest.mark.slow
    async def test_a_call_past_its_deadline(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION, options=DEBUG) as app:
            assert "◌ running" in await app.write(CALL + '{"deadline_ms":300}<|call|>\n')
            await app.shows("E-TOOL-TIMEOUT")
            assert "✖ timeout" in drawn(app.pilot)
            assert "✖ 1" in app.title

    @pytest.mark.slow
    async def test_a_reply_links_itself(self, path: Path) -> None:
        async with live(path, HEAD + QUESTION + CALL + "{}<|call|>\n", options=DEBUG) as app:
            await app.press("C")
            shown = await app.write(REPLY)
            assert "✓ ok" in shown
            assert "#2→3 ▸" in shown

    @pytest.mark.slow
    async def test_cancelled_at_once(self, path: Path) -> None:
        events = [
            '{"type":"response.delta","message_id":"m1","delta":"One "}',
            '{"type":"response.delta","message_id":"m2","delta":"Two "}',
        ]
        async with live(path, "\n".join(events) + "\n", options=DEBUG) as app:
            assert not any("cancel" in line.lower() for line in app.conversation)
            await app.write('{"type":"response.cancel","message_id":"m1"}\n')
            assert any("cancel" in line.lower() for line in app.conversation)


class TestBeginningAnew:
    async def prepared(self, app: Live) -> None:
        await app.press("d", "a")
        await type_in(app.pilot, "/", "umbrella")
        await app.press("G")

    @pytest.mark.slow
    @pytest.mark.parametrize("change", ["truncated", "rewritten", "replaced"])
    async def test_search_and_layout_stay_and_one_line_says_so(self, path: Path, change: str) -> None:
        async with live(path, chat(6)) as app:
            await self.prepared(app)
            new = chat(2).replace("Answer", "Reply")
            if change == "rewritten":
                new = chat(8).replace("Answer", "Reply")
            if change == "replaced":
                other = path.with_name("other")
                other.write_text(new, "utf-8")
                other.replace(path)
            else:
                path.write_text(new, "utf-8")
            await app.until(lambda: "reading again" in said(app.pilot))
            await app.until(lambda: app.main.session.document.message_count == new.count("<|start|>"))
            shown = await app.rest()
            assert "Reply" in shown and "Answer" not in shown
            assert "[DEBUG]" in app.title and "● live" in app.title
            assert "Plums" not in shown and "┄ 1 hidden message ┄" in shown
            assert app.main.search.searcher is not None
            assert len(app.main.search.searcher.matches) == new.count("umbrella")

    @pytest.mark.slow
    async def test_a_reader_away_from_the_end_returns_to_the_top(self, path: Path) -> None:
        async with live(path, chat(20)) as app:
            await app.press("b", "b")
            path.write_text(chat(19).replace("Answer", "Reply"), "utf-8")
            shown = await app.shows("Reply 1.")
            assert "❚❚ paused" in shown

    @pytest.mark.slow
    async def test_the_previous_reading_is_released(self, path: Path) -> None:
        async with live(path, chat(3)) as app:
            before = weakref.ref(app.main.session.document._analysis)
            await app.press("d", "a", "d")
            path.write_text(HEAD + QUESTION, "utf-8")
            await app.until(lambda: app.main.session.document.message_count == 1)
            await app.rest()
            gc.collect()
            assert before() is None

    async def test_marks_and_folds_of_other_messages_go(self, path: Path) -> None:
        async with live(path, chat(3)) as app:
            await app.press("m")
            assert app.main.session.marks
            path.write_text(HEAD + QUESTION, "utf-8")
            await app.until(lambda: app.main.session.document.message_count == 1)
            await app.rest()
            assert not app.main.session.marks


class TestSearchAndFilter:
    @pytest.mark.slow
    async def test_new_matches_are_found(self, path: Path) -> None:
        async with live(path, chat(3)) as app:
            await type_in(app.pilot, "/", "umbrella")
            await app.press("G")
            await app.write(QUESTION)
            await app.shows("1 of 4")
            assert app.main.search.searcher is not None and len(app.main.search.searcher.matches) == 4

    @pytest.mark.slow
    async def test_new_messages_pass_the_filter_if_they_match(self, path: Path) -> None:
        async with live(path, chat(3)) as app:
            await type_in(app.pilot, "&", "umbrella")
            assert len(app.main.session.rows) == 3
            await app.write(ANSWER + "Nothing of the kind.<|return|>\n" + QUESTION)
            await app.until(lambda: len(app.main.session.rows) == 4)
            assert "Nothing of the kind" not in await app.rest()


class TestSwitching:
    @pytest.mark.slow
    async def test_a_file_that_was_read_is_followed_from_the_current_place(self, path: Path) -> None:
        path.write_text(chat(20), "utf-8")
        async with running(path) as pilot:
            await type_in(pilot, "/", "answer")
            await press(pilot, "J", "J", "m", "T", "p")
            app = Live(pilot, path)
            before = app.conversation, app.main.navigator.focused_number, app.main.session.marks
            shown = await app.press("F")
            assert "❚❚ paused" in app.title
            assert (app.conversation, app.main.navigator.focused_number, app.main.session.marks) == before
            assert "Outline" in shown and "Problems" in shown and "/answer" in shown
            await app.write(QUESTION)
            assert "❚❚ paused, 1 new" in app.title
            await app.press("F")
            assert "● live" in app.title

    @pytest.mark.slow
    async def test_an_open_message_is_no_longer_an_error(self, path: Path) -> None:
        path.write_text(HEAD + QUESTION + ANSWER + "So", "utf-8")
        async with running(path, options=ViewOptions(revealed=frozenset({Reveal.ALL}))) as pilot:
            await press(pilot, "p")
            assert "✖ #2   The input ended inside a message body" in drawn(pilot)
            assert "E-STREAM-TRUNCATED" in drawn(pilot)
            await press(pilot, "F")
            assert "✖" not in drawn(pilot)
            assert "… #2   Becomes E-STREAM-TRUNCATED if the input ends here" in drawn(pilot)

    @pytest.mark.slow
    async def test_off_and_on(self, path: Path) -> None:
        async with live(path, chat(1)) as app:
            shown = await app.press("F")
            assert "live" not in app.title and said(app.pilot) == "Stopped following. Press F to resume."
            app.append(QUESTION)
            await app.rest()
            assert drawn(app.pilot).count("umbrella") == shown.count("umbrella")
            await app.press("F")
            assert "● live" in await app.shows("4 of 4")

    async def test_a_compressed_file_is_not_followed(self, tmp_path: Path) -> None:
        import gzip

        path = tmp_path / "run.ocml.gz"
        path.write_bytes(gzip.compress(chat(1).encode()))
        async with running(path, options=FOLLOW, keys=["F"]) as pilot:
            assert said(pilot) == "Compressed files cannot be followed."
            assert "Answer 1." in drawn(pilot)

    @pytest.mark.slow
    async def test_a_container_and_an_item_are_opened_whole_and_not_followed(self, tmp_path: Path) -> None:
        path = Path(eval_log(tmp_path / "run.eval", documents("inspect")["several-samples-and-epochs"]))
        for name, item in ((path, ""), (path, ":1:1")):
            async with running(Path(f"{name}{item}"), options=FOLLOW, keys=["F"]) as pilot:
                assert said(pilot) == "Only whole files can be followed."
                assert "Name a river in Spain." in drawn(pilot)
        rows = tmp_path / "rows.jsonl"
        rows.write_text('{"prompt":"One?","completion":"1"}\n{"prompt":"Two?","completion":"2"}\n')
        async with running(Path(f"{rows}:2")) as pilot:
            assert "Two?" in drawn(pilot) and "One?" not in drawn(pilot)


def test_every_state_has_a_test_here() -> None:
    text = Path(__file__).read_text("utf-8") + (Path(__file__).parent / "test_following_streams.py").read_text("utf-8")
    for state in FollowState:
        assert state is FollowState.STILL or state.value in text, state
