"""Bars: their text at each width, the action of a click, and that their text is sanitized."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from textual import on
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot
from textual.screen import Screen

from tests.support.cases import each
from viewer.document.values import ShownDiagnostic
from viewer.render.style import Style
from viewer.render.title import FollowState, TitleFacts
from viewer.render.width import cells
from viewer.tui.bars.bar import ActionChosen, Bar
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.footer_keys import FooterView
from viewer.tui.bars.prompt import Prompt, SafeInput
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.status_lines import NamedProblem, StatusFacts
from viewer.tui.bars.title import TitleBar
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.host import Notice, PromptKind
from viewer.tui.keys import bindings, remapped
from viewer.tui.terminal.paint import Painter

PAINTER = Painter({})
HOSTILE = "a\x1b]52;c;AA==\x07b\u202ec\u200bd[@click=app.bell]e[/]\x9bf\nf\tg"
FACTS = TitleFacts("weather.ocm", "OpenChatML 2.2", "gpt-oss-120b", turn=(2, 3), errors=1, warnings=2)
DEBUG_FACTS = replace(FACTS, level="debug", calls=8, failed=2, size=12400, tokens=402)


def text(bar: Bar, width: int) -> str:
    line = "".join(part.text for part in bar.line(width))
    assert cells(line) <= width
    return line


def title(facts: TitleFacts, width: int, printing: Style | None = None) -> str:
    bar = TitleBar(PAINTER, printing)
    bar.facts = facts
    return text(bar, width)


class TestTitle:
    def test_it_has_what_fits_by_rank(self) -> None:
        assert title(FACTS, 80) == (" weather.ocm  OpenChatML 2.2 · gpt-oss-120b                 turn 2 of 3  [SAFE] ")
        assert title(FACTS, 120).startswith(" weather.ocm  OpenChatML 2.2 · gpt-oss-120b · 3 turns  ")
        assert title(replace(DEBUG_FACTS, name="a.ocm"), 80) == (
            " a.ocm  OpenChatML 2.2 ╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱╱ ✖ 1 ⚠ 2  8 calls  turn 2/3  [DEBUG] "
        )
        assert title(DEBUG_FACTS, 160) == (
            " weather.ocm  OpenChatML 2.2 · gpt-oss-120b · 3 turns " + "╱" * 38 + " ✖ 1 ⚠ 2  "
            "8 calls, 2 failed  402 tokens  12.4 kB  turn 2/3  [DEBUG] "
        )

    def test_the_safe_view_has_no_counts(self) -> None:
        line = title(replace(DEBUG_FACTS, level="safe"), 200)
        for words in ("✖", "⚠", "calls", "failed"):
            assert words not in line

    @pytest.mark.parametrize("width", [20, 40, 60, 80, 99, 100, 120, 200, 500])
    def test_the_level_is_in_the_last_cells(self, width: int) -> None:
        many = replace(DEBUG_FACTS, errors=12345, warnings=67890, turn=(99999, 99999), calls=10**6, failed=10**5)
        for facts in (FACTS, DEBUG_FACTS, TitleFacts(), many, replace(FACTS, name="n" * 300),
                      replace(FACTS, level="brief"), replace(FACTS, busy="reading 41%", is_reading=True)):  # fmt: skip
            line = title(facts, width)
            assert cells(line) == width
            assert line.endswith(f"[{facts.level.upper()}] ")

    @each("width", range(1, 20))
    def test_in_very_few_columns_only_the_level_stays(self, width: int) -> None:
        bar = TitleBar(PAINTER)
        bar.facts = FACTS
        assert "[SAFE]" in "".join(part.text for part in bar.line(width))

    def test_names_from_outside_are_sanitized(self) -> None:
        line = title(TitleFacts(name=HOSTILE, format="OpenChatML 2.2", model=HOSTILE), 200)
        assert line.isprintable()
        assert "a␛]52;c;AA==␇b⇠c·d[@click=app.bell]e" in line

    def test_in_ascii(self) -> None:
        for state in FollowState:
            facts = replace(DEBUG_FACTS, follow=state, name="wetter-größe.ocm")
            assert title(facts, 120, Style(ascii=True)).isascii()
        assert " /////" in title(DEBUG_FACTS, 120, Style(ascii=True))

    def test_states_are_at_the_right_edge(self) -> None:
        for state, words, wanted in (
            (FollowState.LIVE, "live  #34", "● live  #34"),
            (FollowState.PAUSED, "paused, 12 new", "❚❚ paused, 12 new"),
            (FollowState.STALLED, "stalled 14 s in #33", "◌ stalled 14 s in #33"),
            (FollowState.FROZEN, "frozen, 12 new", "❄ frozen, 12 new"),
            (FollowState.WAITING, "waiting for the file", "waiting for the file"),
        ):
            facts = TitleFacts("tour.ocml", "OpenChatML 2.2", "gpt-oss-120b", follow=state, words=words)
            assert title(facts, 80).endswith(f" {wanted}  [SAFE] ")

    def test_work_in_progress_takes_the_place_of_the_format(self) -> None:
        assert title(replace(FACTS, busy="reading 41%", is_reading=True), 80) == (
            " weather.ocm  reading 41%".ljust(70) + "…  [SAFE] "
        )
        assert title(replace(FACTS, busy="checking…"), 80) == (
            " weather.ocm  checking…                                     turn 2 of 3  [SAFE] "
        )


class TestFooter:
    def line(self, view: FooterView, width: int) -> str:
        footer = KeyFooter(PAINTER)
        footer.show(view)
        return text(footer, width)

    def test_the_mock_ups(self) -> None:
        assert self.line(FooterView.SAFE, 80) == (
            " / Find  n Next  e Problem  D Brief  d Debug  y Copy    ctrl+p Commands  ? Help "
        )
        assert self.line(FooterView.DEBUG, 80) == (
            " d Safe  a c t s Show  e Problem  enter Open  i Inspect ctrl+p Commands  ? Help "
        )
        assert self.line(FooterView.DEBUG, 100) == (
            " d Safe  a c t s Show  / Find  e Problem  enter Open  i Inspect  p List     ctrl+p Commands  ? Help "
        )
        assert self.line(FooterView.DEBUG, 120) == (
            " d Safe  a Thoughts  c Commentary  t Tools  s System  / Find  & Filter  e Problem  i Inspect"
            "    ctrl+p Commands  ? Help "
        )
        assert self.line(FooterView.DEBUG, 160) == (
            " d Safe  a Thoughts  c Commentary  t Tools  s System  / Find  & Filter  e Problem  o Call  r Raw  y Copy"
            "  F Follow  tab Pane            ctrl+p Commands  ? Help "
        )

    @pytest.mark.share(quick=3)
    @pytest.mark.parametrize("view", FooterView)
    def test_entries_are_dropped_from_the_end(self, view: FooterView) -> None:
        footer = KeyFooter(PAINTER)
        footer.show(view)
        for width in range(12, 200):
            line = text(footer, width)
            assert "ctrl+p" in line, width
            assert "?" in line, width


class TestStatus:
    problem = ShownDiagnostic("E-CALL-SCHEMA", "not-in-enum", "error", 12, False, (1, 2), 86, 134, 1)

    def line(self, facts: StatusFacts, width: int, notice: str = "") -> str:
        bar = StatusLine(PAINTER)
        bar.show(facts)
        if notice:
            bar.show_notice(notice)
        return text(bar, width)

    def test_a_problem_has_its_place_and_its_code_as_far_as_they_fit(self) -> None:
        facts = StatusFacts(safe=False, problem=NamedProblem(self.problem, 1, 7), place="12 of 33")
        words = " ✖ 1/7 #12 The value is not allowed for the argument  86:134"
        assert self.line(facts, 80) == words.ljust(71) + "12 of 33 "
        assert self.line(facts, 100) == f"{words} E-CALL-SCHEMA".ljust(91) + "12 of 33 "
        assert self.line(facts, 120) == f"{words} E-CALL-SCHEMA · enter explains it".ljust(111) + "12 of 33 "
        assert self.line(facts, 30).rstrip().endswith("12 of 33")

    def test_the_safe_view_counts_hidden_steps(self) -> None:
        facts = StatusFacts(hidden_steps=3, place="16 of 33")
        assert self.line(facts, 80) == (
            " ⚠ 3 hidden messages had problems · e shows the next one               16 of 33 "
        )
        assert "1 hidden message had" in self.line(StatusFacts(hidden_steps=1), 80)
        path = "/proj/ada/" + "folder/" * 20 + "the name.ocml"
        assert self.line(StatusFacts(name=path, place="2 of 3"), 40) == " …er/folder/folder/the name.ocml 2 of 3 "

    def test_a_search_and_a_filter_have_their_counts(self) -> None:
        bar = StatusLine(PAINTER)
        bar.show_search("/osaka", "3 of 11")
        assert text(bar, 80) == " /osaka".ljust(72) + "3 of 11 "
        bar.show_search("&is:failed", "4 of 33 messages")
        assert text(bar, 80) == " Filter is:failed · 4 of 33 messages".ljust(61) + "& edit · esc clear "
        bar.show_search("", "")
        assert text(bar, 80).strip() == ""

    def test_a_notice_keeps_the_position(self) -> None:
        assert self.line(StatusFacts(place="1 of 454"), 80, "Search repeated.") == (
            " Search repeated.".ljust(71) + "1 of 454 "
        )

    def test_the_source_is_named(self) -> None:
        assert self.line(StatusFacts(source="spooled\x1b from a pipe"), 80).startswith(" [spooled␛ from a pipe]")


class BarsScreen(Screen[None]):
    BINDINGS = [*bindings(remapped({"search": "ctrl+f"}))]  # noqa: RUF012

    def __init__(self, printing: Style | None = None) -> None:
        super().__init__()
        self.printing = printing or Style()
        self.heard: list[tuple[str, ...]] = []

    def compose(self) -> ComposeResult:
        yield TitleBar(PAINTER, self.printing)
        status = StatusLine(PAINTER, self.printing)
        yield Prompt(status.show_search)
        yield status
        yield KeyFooter(PAINTER, self.printing)

    def on_mount(self) -> None:
        self.query_one(TitleBar).show(FACTS)

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
    def get_default_screen(self) -> Screen[None]:
        return BarsScreen()


def bars(pilot: Pilot[None]) -> BarsScreen:
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, BarsScreen)
    return screen


class TestClicks:
    async def test_a_click_does_what_the_key_does(self) -> None:
        async with BarsApp().run_test(size=(120, 20)) as pilot:
            place = "".join(part.text for part in bars(pilot).query_one(KeyFooter).line(120)).index("e Problem")
            await pilot.click(KeyFooter, offset=(place, 0))
            await pilot.pause()
            assert bars(pilot).heard == [("action", "next_error"), ("next_error",)]


class TestNotice:
    async def test_the_last_one_is_shown_until_it_is_cleared(self) -> None:
        async with BarsApp().run_test() as pilot:
            status = bars(pilot).query_one(StatusLine)
            status.show_notice(f"one {HOSTILE}", Notice.WARNING)
            status.show_notice("debug view only: press d", aside="esc cancels")
            assert text(status, 80) == " debug view only: press d".ljust(68) + "esc cancels "
            status.clear_notice()
            assert text(status, 80).strip() == ""

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
            assert pilot.app.focused is None
            await pilot.press("ctrl+f")
            assert prompt.query_one(SafeInput).value == ""

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
            bars(pilot).query_one(Prompt).ask(PromptKind.COMMAND, "L1")
            await pilot.press("2", "enter")
            assert bars(pilot).heard == [("Changed", ":", "L12"), ("Submitted", ":", "L12")]

    @pytest.mark.share(quick=2)
    @pytest.mark.parametrize("width", [80, 40])
    async def test_a_fault_in_a_pattern_is_shown_while_typing_and_keeps_it_open(self, width: int) -> None:
        async with BarsApp().run_test(size=(width, 6)) as pilot:
            prompt = bars(pilot).query_one(Prompt)
            await pilot.press("ctrl+f", "slash", "left_parenthesis", "a", "plus")
            await pilot.pause()
            shown = rows(pilot)[prompt.region.y]
            assert shown.startswith(" //(a+ ") and shown.rstrip().endswith("column 2: missing )"), shown
            await pilot.press("enter")
            await pilot.pause()
            assert prompt.is_asking and rows(pilot)[prompt.region.y] == shown
            assert not any(heard[0] == "Submitted" for heard in bars(pilot).heard)
            await pilot.press("right_parenthesis")
            await pilot.pause()
            assert "column" not in rows(pilot)[prompt.region.y]
            await pilot.press("enter")
            assert bars(pilot).heard[-1] == ("Submitted", "/", "/(a+)")
            await pilot.press("ctrl+f", "left_parenthesis", "enter")
            assert bars(pilot).heard[-1] == ("Submitted", "/", "(")

    async def test_it_keeps_the_search_in_view(self) -> None:
        async with BarsApp().run_test() as pilot:
            prompt = bars(pilot).query_one(Prompt)
            prompt.rest(PromptKind.SEARCH, "umbrella[b]", "2 of 3")
            await pilot.pause()
            assert any(row.startswith(" /umbrella[b] ") and row.endswith("2 of 3 ") for row in rows(pilot))
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
    """Return the screen as text."""
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
            assert any("line (5j: five lines)" in row for row in rows(pilot))
            await pilot.press("G")
            await pilot.pause()
            assert any("the user saw this message" in row for row in rows(pilot))
            assert "[SAFE]" in rows(pilot)[0]

    async def test_a_search_shows_every_key_with_its_sentence(self) -> None:
        async with BarsApp().run_test(size=(100, 30)) as pilot:
            await pilot.press("question_mark", "slash", *"pgdq", "backspace", "n")
            await pilot.pause()
            found = [row for row in rows(pilot) if "PgDn" in row]
            assert len(found) == 1 and "space f PgDn ctrl+f     Scroll one page down." in found[0]
            await pilot.press("escape")
            await pilot.pause()
            assert isinstance(pilot.app.screen, HelpScreen)
            assert any("other end of a call" in row for row in rows(pilot))

    @pytest.mark.slow
    async def test_it_follows_the_width(self) -> None:
        async with BarsApp().run_test(size=(120, 60)) as pilot:
            await pilot.press("question_mark")
            await pilot.pause()
            assert any("Move" in row and "Look" in row for row in rows(pilot))
            await pilot.resize_terminal(80, 60)
            await pilot.pause()
            assert not any("Move" in row and "Look" in row for row in rows(pilot))


@pytest.mark.share(quick=2)
@pytest.mark.parametrize("size", [(20, 5), (40, 10), (80, 24), (120, 40), (500, 200)])
async def test_all_bars_draw_at_every_size(size: tuple[int, int]) -> None:
    async with BarsApp().run_test(size=size) as pilot:
        await pilot.pause()
        assert "[SAFE]" in rows(pilot)[0]
