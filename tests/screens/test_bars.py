"""Bars: their text at each width, the action of a click, and sanitized text."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from rich.style import Style as RichStyle
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen

from tests.support.running import until
from viewer.model.visibility import Reveal
from viewer.render.style import Part, Style, StyleRole, trusted
from viewer.render.title import FollowState, TitleFacts
from viewer.render.width import cells
from viewer.tui.bars.bar import ActionChosen, Bar
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.prompt import Prompt, SafeInput
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.title import TitleBar
from viewer.tui.bars.toggles import ToggleFacts, Toggles
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.display_state import FIRST_CHANNELS
from viewer.tui.host import Notice, PromptKind
from viewer.tui.keys import bindings, remapped
from viewer.tui.palette import command_provider
from viewer.tui.terminal.paint import Painter

PAINTER = Painter({})
HOSTILE = "a\x1b]52;c;AA==\x07b\u202ec\u200bd[@click=app.bell]e[/]\x9bf\nf\tg"
FACTS = TitleFacts(
    "weather.ocm", "OpenChatML 2.2", "gpt-oss-120b", 3, False, FollowState.FOLLOWING, 0, 1, 2, 17, 17, 98
)
DEBUG_FACTS = replace(FACTS, debug=True, follow=FollowState.PAUSED, behind=1, message=11, percent=58)
STRIP = (Part(trusted("SDUACCTFUC[T]FUACTF")),)
TOGGLES = ToggleFacts(FIRST_CHANNELS, "", 17, 3, 0, STRIP)


def text(bar: Bar, width: int) -> str:
    line = "".join(part.text for part in bar.line(width))
    assert cells(line) <= width
    return line


def title(facts: TitleFacts, width: int, printing: Style | None = None) -> str:
    bar = TitleBar(PAINTER, printing)
    bar.facts = facts
    return text(bar, width)


class TestTitle:
    def test_in_120_columns(self) -> None:
        assert title(FACTS, 120) == (
            " weather.ocm   OpenChatML 2.2 · gpt-oss-120b · 3 turns             "
            "[SAFE]  ▶ LIVE               ✖ 1 ⚠ 2  msg 17/17  98% "
        )
        assert title(DEBUG_FACTS, 120) == (
            " weather.ocm   OpenChatML 2.2 · gpt-oss-120b · 3 turns            "
            "[DEBUG]  ❚❚ paused +1         ✖ 1 ⚠ 2  msg 11/17  58% "
        )

    def test_in_80_columns(self) -> None:
        assert title(FACTS, 80) == " weather.ocm  OCM 2.2                         [SAFE] ▶ LIVE         ✖1 ⚠2 17/17 "
        assert (
            title(DEBUG_FACTS, 80) == " weather.ocm  OCM 2.2                        [DEBUG] ❚❚ +1          ✖1 ⚠2 11/17 "
        )

    @pytest.mark.parametrize("width", [20, 40, 60, 80, 99, 100, 120, 200, 500])
    def test_the_badge_never_moves(self, width: int) -> None:
        many = replace(DEBUG_FACTS, errors=12345, warnings=67890, message=1_000_000, messages=1_000_000, behind=123456)
        facts = [
            FACTS,
            DEBUG_FACTS,
            TitleFacts(),
            many,
            replace(FACTS, name="n" * 300),
            replace(FACTS, busy="indexing"),
        ]
        assert len({title(each, width).index("]") for each in facts}) == 1
        assert all(len(title(each, width)) == width for each in facts)

    @pytest.mark.parametrize("width", range(1, 20))
    def test_in_very_few_columns_only_the_badge_stays(self, width: int) -> None:
        bar = TitleBar(PAINTER)
        bar.facts = FACTS
        line = "".join(part.text for part in bar.line(width))
        assert "[SAFE]" in line[: max(width, 8)]

    def test_names_from_outside_are_sanitized(self) -> None:
        line = title(TitleFacts(name=HOSTILE, format="OpenChatML 2.2", model=HOSTILE), 200)
        assert line.isprintable()
        assert "a␛]52;c;AA==␇b⇠c·d[@click=app.bell]e" in line

    def test_in_ascii(self) -> None:
        for state in FollowState:
            facts = replace(DEBUG_FACTS, follow=state, name="wetter-größe.ocm")
            assert title(facts, 120, Style(ascii=True)).isascii()

    def test_work_in_progress_takes_the_place_of_the_follow_state(self) -> None:
        line = title(replace(FACTS, busy="indexing 41 %"), 120)
        assert "indexing 41 %" in line
        assert "LIVE" not in line


class TestToggles:
    def line(self, facts: ToggleFacts, width: int, printing: Style | None = None) -> str:
        bar = Toggles(PAINTER, printing)
        bar.facts = facts
        return text(bar, width)

    def test_in_120_columns(self) -> None:
        assert self.line(TOGGLES, 120) == (
            " show: [x]final [x]commentary [x]analysis [ ]system/dev [x]tools   filter: none            "
            "17 shown · 3 calls · 0 open  "
        )

    def test_in_80_columns(self) -> None:
        assert (
            self.line(TOGGLES, 80) == " F✓ C✓ A✓ S· T✓                                             SDUACCTFUC[T]FUACTF "
        )

    def test_in_ascii(self) -> None:
        assert self.line(TOGGLES, 80, Style(ascii=True)).startswith(" F+ C+ A+ S- T+ ")
        assert self.line(replace(TOGGLES, filter="größe"), 120, Style(ascii=True)).isascii()

    def test_a_filter_is_shown_and_sanitized(self) -> None:
        assert "filter: a␛[2Jb" in self.line(replace(TOGGLES, filter="a\x1b[2Jb"), 120)
        assert self.line(replace(TOGGLES, filter="x"), 80).startswith(" F✓ C✓ A✓ S· T✓ & ")

    @pytest.mark.parametrize("width", [20, 30, 100, 110])
    def test_it_fits_into_little_space(self, width: int) -> None:
        self.line(ToggleFacts(frozenset(Reveal), "f" * 300, 10**7, 10**6, 10**5, STRIP), width)


class TestFooter:
    def line(self, debug: bool, width: int) -> str:
        footer = KeyFooter(PAINTER)
        footer._debug = debug
        return text(footer, width)

    def test_in_120_columns(self) -> None:
        assert self.line(False, 120) == (
            " q Quit  / Find  n N Match  e E Error  J K Message  F Follow  d Debug view"
            "                          ^p Commands  ? Help "
        )
        assert self.line(True, 120) == (
            " q Quit  d Safe  a Analysis  c Comm  t Tools  s Sys  o O Call  e E Error  r Raw  y Copy  F Follow"
            "       ^p Cmds  ? Help "
        )

    def test_in_80_columns(self) -> None:
        assert self.line(False, 80) == (
            " q Quit  / Find  e Err  J/K Msg  F Follow  d Debug              ^p Cmds  ? Help "
        )
        assert self.line(True, 80) == (
            " q Quit  d Safe  a c t s Chan  o Call  e Err  r Raw  y Copy     ^p Cmds  ? Help "
        )

    @pytest.mark.parametrize("debug", [False, True])
    def test_the_most_important_part_stays_longest(self, debug: bool) -> None:
        assert "q Quit" in self.line(debug, 20)
        assert "? Help" in self.line(debug, 20)
        assert f"d {'Safe' if debug else 'Debug'}" in self.line(debug, 30)
        for width in range(1, 130):
            self.line(debug, width)


class TestStatus:
    def test_it_names_the_view(self) -> None:
        line = StatusLine(PAINTER)
        assert text(line, 120) == (
            " SAFE view: only what the end user saw.  Hidden: analysis, commentary, tools, system, developer."
        )
        line.show(debug=False, strict=True, source="spooled\x1b from a pipe")
        assert text(line, 120) == " SAFE view: only what the end user saw.  [spooled␛ from a pipe]"
        line.show(debug=True)
        assert text(line, 120).startswith(" DEBUG view: includes hidden messages.")
        assert text(line, 30).endswith("…")


class BarsScreen(Screen[None]):
    BINDINGS = [*bindings(remapped({"search": "ctrl+f"}))]  # noqa: RUF012

    def __init__(self, printing: Style | None = None) -> None:
        super().__init__()
        self.printing = printing or Style()
        self.heard: list[tuple[str, ...]] = []

    def compose(self) -> ComposeResult:
        yield TitleBar(PAINTER, self.printing)
        yield Toggles(PAINTER, self.printing)
        yield Prompt()
        yield StatusLine(PAINTER, self.printing)
        yield KeyFooter(PAINTER, self.printing)

    def on_mount(self) -> None:
        self.query_one(TitleBar).show(FACTS)
        self.query_one(Toggles).show(TOGGLES)

    @on(ActionChosen)
    def run_it(self, message: ActionChosen) -> None:
        self.heard.append(("action", message.action))
        self.action_do(message.action)

    @on(Prompt.Submitted)
    @on(Prompt.Changed)
    @on(Prompt.Cancelled)
    def hear(self, message: Message) -> None:
        kind = message.kind.value  # type: ignore[attr-defined]
        self.heard.append((type(message).__name__, kind, getattr(message, "text", "")))

    def action_do(self, id: str) -> None:
        if id == "search":
            self.query_one(Prompt).ask(PromptKind.SEARCH)
        elif id == "help":
            self.app.push_screen(HelpScreen(PAINTER, self.printing))
        elif id == "next_error":
            self.heard.append(("next_error",))


class BarsApp(App[None]):
    COMMANDS = {command_provider()}  # noqa: RUF012

    def get_default_screen(self) -> Screen[None]:
        return BarsScreen()


def bars(pilot: Pilot[None]) -> BarsScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, BarsScreen)
    return screen


class TestClicks:
    async def test_a_click_does_what_the_key_does(self) -> None:
        async with BarsApp().run_test(size=(120, 20)) as pilot:
            place = "".join(part.text for part in bars(pilot).query_one(KeyFooter).line(120)).index("e E")
            await pilot.click(KeyFooter, offset=(place, 0))
            await pilot.pause()
            assert bars(pilot).heard == [("action", "next_error"), ("next_error",)]

    async def test_each_channel_except_final_can_be_clicked(self) -> None:
        bar = Toggles(PAINTER)
        bar.facts = TOGGLES
        line = text(bar, 120)
        spots = {spot.part.text[3:]: spot.action for spot in bar.spots(120) if spot.part.text.startswith("[")}
        assert spots == {
            "final": "",
            "commentary": "commentary",
            "analysis": "analysis",
            "system/dev": "system",
            "tools": "tools",
        }
        async with BarsApp().run_test(size=(120, 20)) as pilot:
            await pilot.click(Toggles, offset=(line.index("[x]tools"), 0))
            await pilot.click(Toggles, offset=(line.index("[x]final"), 0))
            await pilot.click(TitleBar, offset=(title(FACTS, 120).index("[SAFE]"), 0))
            await pilot.pause()
            assert bars(pilot).heard == [("action", "tools")]


class TestNotice:
    async def test_it_replaces_the_sentence_for_a_while(self) -> None:
        async with BarsApp().run_test() as pilot:
            status = bars(pilot).query_one(StatusLine)
            status.show_notice(f"one {HOSTILE}", Notice.WARNING, seconds=60)
            status.show_notice("debug view only: press d", seconds=0.05)
            assert text(status, 80) == " debug view only: press d"
            assert status.has_class("-notice")
            await until(lambda: text(status, 80).startswith(" SAFE view:"))
            assert not status.has_class("-notice")

    async def test_it_is_sanitized_and_forgotten(self) -> None:
        async with BarsApp().run_test() as pilot:
            status = bars(pilot).query_one(StatusLine)
            status.show_notice(HOSTILE, Notice.ERROR)
            assert "".join(part.text for part in status.line(120)).isprintable()
            status.clear_notice()
            assert status.notice == ""


class TestPrompt:
    async def test_it_is_closed_and_takes_no_keys_until_it_asks(self) -> None:
        async with BarsApp().run_test() as pilot:
            prompt = bars(pilot).query_one(Prompt)
            assert not prompt.display or prompt.has_class("-closed")
            await pilot.press("a", "b")
            assert prompt.query_one(SafeInput).value == ""
            assert pilot.app.focused is None

    @pytest.mark.slow
    async def test_submitted_text_is_posted(self) -> None:
        async with BarsApp().run_test() as pilot:
            await pilot.press("ctrl+f", "e", "?", "enter")
            assert bars(pilot).heard == [("Changed", "/", "e"), ("Changed", "/", "e?"), ("Submitted", "/", "e?")]
            assert not bars(pilot).query_one(Prompt).is_asking
            await pilot.press("e")
            assert bars(pilot).heard[-1] == ("next_error",)

    async def test_escape_closes_it(self) -> None:
        async with BarsApp().run_test() as pilot:
            await pilot.press("ctrl+f", "e", "escape")
            assert bars(pilot).heard[-1] == ("Cancelled", "/", "")
            assert bars(pilot).query_one(Prompt).has_class("-closed")

    @pytest.mark.slow
    async def test_earlier_texts_come_back(self) -> None:
        async with BarsApp().run_test() as pilot:
            await pilot.press("ctrl+f", "a", "enter", "ctrl+f", "b", "enter", "ctrl+f", "up", "up")
            prompt = bars(pilot).query_one(Prompt)
            assert prompt.query_one(SafeInput).value == "a"
            await pilot.press("down", "down")
            assert prompt.query_one(SafeInput).value == ""

    async def test_it_can_start_with_a_text(self) -> None:
        async with BarsApp().run_test() as pilot:
            bars(pilot).query_one(Prompt).ask(PromptKind.GOTO, "L1")
            await pilot.press("2", "enter")
            assert bars(pilot).heard == [("Changed", ":", "L12"), ("Submitted", ":", "L12")]

    async def test_it_keeps_the_search_in_view(self) -> None:
        async with BarsApp().run_test() as pilot:
            prompt = bars(pilot).query_one(Prompt)
            prompt.rest(PromptKind.SEARCH, "umbrella[b]", "2/3")
            await pilot.pause()
            assert "/umbrella[b]  2/3" in rows(pilot)[prompt.region.y]
            prompt.close()
            await pilot.pause()
            assert not any("umbrella" in row for row in rows(pilot))

    async def test_pasted_text_is_shown_sanitized_and_kept_unchanged(self) -> None:
        async with BarsApp().run_test() as pilot:
            prompt = bars(pilot).query_one(Prompt)
            prompt.ask(PromptKind.SEARCH, HOSTILE)
            await pilot.pause()
            row = rows(pilot)[prompt.region.y]
            assert "a␛]52;c;AA==␇b⇠c·d[@click=app.bell]e[/]" in row
            assert row.isprintable()
            assert prompt.query_one(SafeInput).value == HOSTILE


def rows(pilot: Pilot[None]) -> list[str]:
    """The screen as text."""
    return ["".join(segment.text for segment in strip) for strip in pilot.app.screen._compositor.render_strips()]


class TestHelp:
    @pytest.mark.slow
    @pytest.mark.parametrize("size", [(120, 20), (20, 5)])
    async def test_it_opens_scrolls_and_closes(self, size: tuple[int, int]) -> None:
        async with BarsApp().run_test(size=size) as pilot:
            await pilot.press("question_mark", "G", "k", "b", "g", "space", "ctrl+d", "ctrl+u", "j")
            for close in ("escape", "q", "question_mark"):
                assert isinstance(pilot.app.screen, HelpScreen)
                await pilot.press(close)
                assert isinstance(pilot.app.screen, BarsScreen)
                await pilot.press("question_mark")

    async def test_its_end_can_be_reached(self) -> None:
        async with BarsApp().run_test(size=(80, 24)) as pilot:
            await pilot.press("question_mark")
            await pilot.pause()
            assert any("Move one line down." in row for row in rows(pilot))
            await pilot.press("G")
            await pilot.pause()
            assert any("ctrl+c" in row for row in rows(pilot))

    @pytest.mark.slow
    async def test_it_follows_the_width(self) -> None:
        async with BarsApp().run_test(size=(120, 60)) as pilot:
            await pilot.press("question_mark")
            await pilot.pause()
            assert any("Move" in row and "View" in row for row in rows(pilot))
            await pilot.resize_terminal(80, 60)
            await pilot.pause()
            assert not any("Move" in row and "View" in row for row in rows(pilot))


class TestPalette:
    @pytest.mark.slow
    async def test_an_action_is_found_by_its_name_and_runs(self) -> None:
        async with BarsApp().run_test() as pilot:
            pilot.app.action_command_palette()
            await pilot.pause()
            await pilot.press(*"next err")
            await until(lambda: any("Next error" in row for row in rows(pilot)))
            await pilot.press("enter", "enter")
            await until(lambda: ("next_error",) in bars(pilot).heard)


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40), (500, 200)])
async def test_all_bars_draw_at_every_size(size: tuple[int, int]) -> None:
    async with BarsApp().run_test(size=size) as pilot:
        await pilot.pause()
        assert "[SAFE]" in rows(pilot)[0]
        bars(pilot).query_one(TitleBar).paint_with(Painter({StyleRole.TITLE: RichStyle(bold=True)}))
        await pilot.pause()
