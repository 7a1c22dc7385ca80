"""Settings in the complete app: keys, panes, widths, and colors apply. The viewer always starts in the safe view."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.binding import Binding, BindingsMap

from tests.support.running import TOUR, drawn, press, running, said, settled, type_in, until, view
from viewer.render.theme import load_theme
from viewer.tui.app import ViewOptions
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.marks import MarksScreen
from viewer.tui.dialogs.palette import PaletteScreen
from viewer.tui.dialogs.themes import ThemeScreen
from viewer.tui.keys import Scope, remapped
from viewer.tui.panes.list_keys import add_list_keys
from viewer.tui.settings.file import read_settings
from viewer.tui.settings.places import config_file
from viewer.tui.settings.settings import Pane, Settings

MINE = Settings(
    keymap={
        "search": "ctrl+f",
        "filter": "f4",
        "debug": "D",
        "yank": "f5",
        "leave": "Q",
        "help": "f2",
        "bottom": "f6",
        "command": "f7",
        "palette": "f8",
        "previous_message": "ctrl+p",
        "copy_or_quit": "f9",
        "problems": "P",
    }
)


def with_settings(settings: Settings) -> ViewOptions:
    return ViewOptions(settings=settings)


class TestKeysOfOnesOwn:
    @pytest.mark.slow
    async def test_act_and_the_old_ones_do_not(self) -> None:
        async with running(options=with_settings(MINE)) as pilot:
            await press(pilot, "slash", "d", "question_mark", "q")
            assert not view(pilot).widgets.prompt.is_asking
            assert not view(pilot).session.display.debug
            assert not isinstance(pilot.app.screen, HelpScreen)
            await type_in(pilot, "ctrl+f", "osaka")
            assert "1 of 2" in drawn(pilot)
            await type_in(pilot, "f7", "26")
            assert view(pilot).navigator.focused_number == 26
            await press(pilot, "ctrl+p")
            assert view(pilot).navigator.focused_number < 26
            await press(pilot, "1", "1", "f6")
            assert view(pilot).navigator.focused_number == 11
            await press(pilot, "D")
            assert view(pilot).session.display.debug
            await press(pilot, "Q", "Q")
            assert pilot.app._exit

    async def test_are_the_ones_that_are_shown(self) -> None:
        async with running(options=with_settings(MINE)) as pilot:
            footer = drawn(pilot).splitlines()[-1]
            assert footer.startswith(" ctrl+f Find ")
            assert " D Debug " in footer
            assert "F8 Commands  F2 Help" in footer
            await press(pilot, "a")
            assert said(pilot) == "debug view only: press D"
            await press(pilot, "D", "f5", "x")
            assert said(pilot).startswith("Press F5, then one of: ")
            await press(pilot, "4")
            assert said(pilot) == "4  j k lines · J ctrl+p messages · F6 message · tab pane"
            await press(pilot, "escape", "f9")
            assert said(pilot) == "Press F9 again to quit."

    @pytest.mark.slow
    async def test_are_on_the_help_screen_and_close_it(self) -> None:
        async with running(options=with_settings(MINE)) as pilot:
            await press(pilot, "f2")
            assert isinstance(pilot.app.screen, HelpScreen)
            assert "ctrl+f" in drawn(pilot)
            await press(pilot, "question_mark", "q")
            assert isinstance(pilot.app.screen, HelpScreen)
            await press(pilot, "f2")
            assert not isinstance(pilot.app.screen, HelpScreen)

    @pytest.mark.slow
    async def test_are_in_the_palette(self) -> None:
        async with running(options=with_settings(MINE)) as pilot:
            await press(pilot, "f8")
            assert isinstance(pilot.app.screen, PaletteScreen)
            await press(pilot, *"searc")
            assert re.search(r"Search +ctrl\+f ", drawn(pilot))

    @pytest.mark.slow
    async def test_are_named_in_the_list_of_problems(self) -> None:
        options = with_settings(Settings(keymap={"open": "f3"}))
        async with running(options=options, keys=("d", "p")) as pilot:
            assert "F3 Go  ? Explain" in drawn(pilot)

    @pytest.mark.slow
    async def test_are_named_next_to_the_count_of_problems(self) -> None:
        async with running(options=with_settings(MINE), keys=("D",)) as pilot:
            assert view(pilot).host.key_of("problems") == "P"

    @pytest.mark.slow
    async def test_move_and_close_the_screens_that_are_lists(self) -> None:
        mine = Settings(keymap={"line_down": "f2", "bottom": "f3", "leave": "f4", "lens": "f5", "next_prompt": "f6"})
        async with running(options=with_settings(mine), keys=("J", "m", "J", "m")) as pilot:
            await press(pilot, "apostrophe")
            marks = pilot.app.screen
            assert isinstance(marks, MarksScreen)
            here = marks.list.cursor
            await press(pilot, "g", "j", "down")
            assert (here, marks.list.cursor) == (1, 0)
            await press(pilot, "f2")
            assert marks.list.cursor == 1
            await press(pilot, "q")
            assert pilot.app.screen is marks
            await press(pilot, "f4")
            assert view(pilot).host.is_current
            main = pilot.app.screen
            for key in ("f5", "f6"):
                await press(pilot, "d", key)
                await settled(pilot)
                assert pilot.app.screen is not main, key
                await press(pilot, key, "d")
                assert pilot.app.screen is main, key


def test_a_screen_keeps_its_own_keys() -> None:
    known = BindingsMap([Binding("space", "play"), Binding("escape", "back")])
    add_list_keys(known, remapped({"line_down": "space, n", "replay": "f9"}), "replay")
    targets = {key: known.key_to_bindings[key][0].action for key in ("space", "n", "J", "f9", "q", "ctrl+d", "G")}
    assert targets == {
        "space": "play", "n": "move(1)", "J": "move(1)", "f9": "back", "q": "back", "ctrl+d": "page(1)",
        "G": "move(1000000000)",
    }  # fmt: skip
    assert "j" not in known.key_to_bindings


class TestPanes:
    @pytest.mark.slow
    async def test_open_with_the_chosen_sizes(self) -> None:
        settings = Settings(outline=Pane(False), inspector=Pane(True, 50), problems=Pane(True, 9))
        async with running(options=with_settings(settings), keys=("d",)) as pilot:
            main = view(pilot)
            assert not main.widgets.outline.display
            assert not main.widgets.inspector.display, "the view opens it from 140 columns"
            await press(pilot, "i")
            assert main.widgets.inspector.outer_size.width == 50
            assert main.widgets.bottom.outer_size.height == 9
            await pilot.resize_terminal(80, 24)
            await settled(pilot)
            assert main.widgets.inspector.outer_size.width == 80
            await pilot.resize_terminal(120, 40)
            await settled(pilot)
            assert main.widgets.inspector.outer_size.width == 50

    @pytest.mark.slow
    async def test_closed_panes_open_with_their_keys(self) -> None:
        closed = Settings(outline=Pane(False), inspector=Pane(False), problems=Pane(False))
        async with running(size=(160, 48), options=with_settings(closed), keys=("d", "T", "i", "p")) as pilot:
            main = view(pilot)
            assert main.widgets.outline.display and main.widgets.inspector.display and main.widgets.bottom.display

    @pytest.mark.slow
    async def test_nothing_opens_in_the_safe_view(self) -> None:
        async with running(options=with_settings(Settings(inspector=Pane(True, 60)))) as pilot:
            main = view(pilot)
            assert not (main.session.display.debug or main.widgets.inspector.display or main.widgets.outline.display)


async def test_text_is_at_most_as_wide_as_the_setting() -> None:
    async with running(options=with_settings(Settings(wrap=40))) as pilot:
        rows = drawn(pilot).splitlines()[2:-5]
        texts = [row[:-1].strip() for row in rows if "SAFE" not in row and "─" not in row]
        assert 30 < max(map(len, texts)) <= 40
        assert "umbrella" in drawn(pilot)


@pytest.mark.slow
async def test_markdown_may_stay_source() -> None:
    for markdown in (True, False):
        async with running(options=with_settings(Settings(markdown=markdown))) as pilot:
            assert ("It's **20 °C and sunny** in Tokyo" not in drawn(pilot)) is markdown
            assert ("It's 20 °C and sunny in Tokyo" in drawn(pilot)) is markdown


async def test_invalid_settings_are_reported_at_the_start() -> None:
    settings = Settings(problems_found=("config.yaml:1:1: unknown key 'thme'. Did you mean theme?",))
    async with running(options=with_settings(settings)) as pilot:
        assert said(pilot) == "config.yaml:1:1: unknown key 'thme'. Did you mean theme?"


class TestThemes:
    @pytest.fixture(autouse=True)
    def colored(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NO_COLOR", raising=False)

    async def test_the_theme_of_the_settings_is_used(self) -> None:
        async with running(options=with_settings(Settings(theme="ember"))) as pilot:
            assert pilot.app.theme == "viewer-ember"

    @pytest.mark.slow
    async def test_are_shown_as_the_cursor_goes_and_kept_or_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        async with running(keys=("d",)) as pilot:
            before = background(pilot.app)
            assert before == load_theme("dark").colors["background"]
            await pilot.app.screen.run_action("do('theme')")
            await settled(pilot)
            assert isinstance(pilot.app.screen, ThemeScreen)
            assert pilot.app.screen.styles.background.a == 0
            await press(pilot, "end", "k", "down", "up")
            assert pilot.app.theme == "viewer-light"
            await until(lambda: background(pilot.app) == load_theme("light").colors["background"])
            await press(pilot, "escape")
            await until(lambda: background(pilot.app) == before)
            await pilot.app.screen.run_action("do('theme')")
            await settled(pilot)
            await press(pilot, "j", "enter")
            assert pilot.app.theme == "viewer-ember"
            await until(lambda: background(pilot.app) == load_theme("ember").colors["background"])
            assert said(pilot).startswith("Theme ember. To keep it, press s")
            assert not config_file().exists()
            await pilot.app.screen.run_action("do('theme')")
            await settled(pilot)
            await press(pilot, "j", "s")
            assert said(pilot) == f"Saved the theme heather in {config_file()}."
            assert read_settings().theme == "heather"
            config_file().write_bytes(b"\xff")
            await pilot.app.screen.run_action("do('theme')")
            await settled(pilot)
            await press(pilot, "s")
            assert said(pilot) == f"Theme not saved: {config_file()} cannot be changed."
        served = ViewOptions(settings=Settings(scope=Scope.SERVED))
        async with running(options=served, keys=("ctrl+p", *"choose a theme", "enter")) as pilot:
            assert "s save" not in drawn(pilot)
            await press(pilot, "j", "s")
            assert isinstance(pilot.app.screen, ThemeScreen)
            await press(pilot, "enter")
            assert said(pilot) == "Theme ember."

    @pytest.mark.slow
    async def test_every_screen_changes_its_colors(self, tmp_path: Path) -> None:
        async with running(TOUR, __file__, options=ViewOptions(format="openchatml-2.2")) as pilot:
            await press(pilot, "]")
            await pilot.app.screen.run_action("do('theme')")
            await settled(pilot)
            await press(pilot, "end", "up", "enter")
            await press(pilot, "[")
            await until(lambda: background(pilot.app) == load_theme("light").colors["background"])
            assert {str(color) for color in colors(pilot.app)} >= {load_theme("light").colors["primary"]}

    @pytest.mark.slow
    async def test_an_edited_theme_is_read_again(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        file.write_text("like: light\n")
        options = ViewOptions(theme="mine", settings=Settings(folder=tmp_path))
        async with running(options=options) as pilot:
            await until(lambda: background(pilot.app) == load_theme("light").colors["background"])
            replacement = tmp_path / "mine.yaml.new"
            replacement.write_text("like: light\ncolors: {background: '#fafbfc'}\n")
            replacement.replace(file)
            await until(lambda: background(pilot.app) == "#fafbfc")
            assert said(pilot) == "Reloaded the theme mine."
            file.write_text("like: light\ncolors: {backgruond: '#000000'}\n")
            await until(lambda: "Did you mean background?" in said(pilot))
            assert said(pilot).startswith("Theme not applied: ")
            assert background(pilot.app) == "#fafbfc"

    @pytest.mark.slow
    async def test_a_theme_with_a_mistake_is_read_again_when_it_is_fixed(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.yaml"
        file.write_text("lkie: light\n")
        options = ViewOptions(theme="mine", settings=Settings(folder=tmp_path))
        async with running(options=options) as pilot:
            assert said(pilot).endswith("Did you mean like?")
            file.write_text("like: light\n")
            await until(lambda: pilot.app.theme == "viewer-mine")


def colors(app) -> set[str]:  # type: ignore[no-untyped-def]
    strips = app.screen._compositor.render_strips()
    return {s.style.color.name for strip in strips for s in strip if s.style and s.style.color}


def background(app) -> str:  # type: ignore[no-untyped-def]
    """Return the background of the conversation."""
    segment = next(iter(app.screen._compositor.render_strips()[5]))
    return str(segment.style.bgcolor.name)
