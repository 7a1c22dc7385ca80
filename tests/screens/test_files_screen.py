"""File list: its content, finding and choosing a file, and new files."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.app import App
from textual.pilot import Pilot

from tests.support.transcripts import CHAT, EVERYTHING, STRICT
from viewer.model.visibility import Audience
from viewer.render.style import Style
from viewer.sources.folder import found_file
from viewer.tui.dialogs import file_table
from viewer.tui.dialogs.file_lines import file_line
from viewer.tui.dialogs.file_table import Counts, FileTable, Reading
from viewer.tui.dialogs.files import Choice, FilesScreen
from viewer.tui.terminal.paint import Painter

BROKEN = "version: 2.2\n\n<|start|>user<|message|>Hi"
NASTY = "\x1b]0;x\x07[@click=app.quit]z[/].ocml"


class Chooser(App[None]):
    """Shows the list, and records the choice."""

    def __init__(self, table: FileTable) -> None:
        super().__init__()
        self.table = table
        self.chosen: list[Choice | None] = []

    def on_mount(self) -> None:
        self.push_screen(FilesScreen(Painter({}), self.table, "runs"), self.chosen.append)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, text in {"one.ocml": CHAT, "two.ocml": BROKEN, "ten.ocml": CHAT}.items():
        (folder / name).write_text(text)
    return folder


def finished(table: FileTable) -> FileTable:
    while table.step(0.01):
        pass
    return table


def rows(app: App[None]) -> list[str]:
    screen = app.screen
    width, height = screen.size
    strips = screen._compositor.render_strips()
    assert len(strips) == height
    return ["".join(segment.text for segment in strip)[:width].rstrip() for strip in strips]


async def settled(pilot: Pilot[None], app: Chooser) -> None:
    for _ in range(2000):
        await pilot.pause(0.02)
        if app.table.is_listed and all(map(app.table.is_counted, app.table.files)):
            break
    await pilot.pause()


class TestTable:
    def test_counts_messages_and_problems(self, runs: Path) -> None:
        table = finished(FileTable(str(runs)))
        assert {file.name: table.counts(file) for file in table.files} == {
            "one.ocml": Counts(8, 0, 0),
            "ten.ocml": Counts(8, 0, 0),
            "two.ocml": Counts(1, 1, 0),
        }

    def test_counts_for_a_strict_audience_include_only_shown_messages(self, runs: Path) -> None:
        table = finished(FileTable(str(runs), reading=Reading(STRICT)))
        assert [counts.messages for file in table.files if (counts := table.counts(file))] == [4, 4, 1]

    @pytest.mark.parametrize("audience", [STRICT, Audience(), EVERYTHING])
    def test_files_are_counted_in_several_steps(self, runs: Path, audience: Audience) -> None:
        table = FileTable(str(runs), reading=Reading(audience))
        assert table.step(0)
        assert len(table.files) <= 1

    def test_named_files_keep_their_order(self, runs: Path) -> None:
        paths = [str(runs / name) for name in ("two.ocml", "gone.ocml", "one.ocml")]
        table = finished(FileTable(None, paths))
        assert [file.path for file in table.files] == paths
        assert table.files[1].reason == "no such file or directory"

    def test_a_changed_file_keeps_its_numbers_until_it_is_counted_again(self, runs: Path) -> None:
        table = finished(FileTable(str(runs)))
        with (runs / "one.ocml").open("a") as file:
            file.write("<|start|>user<|message|>More<|end|>\n")
        table.list_again()
        while not table._new or table._looking:
            table.step(0)
        changed = table.files[0]
        assert table.counts(changed) in (Counts(8, 0, 0), Counts(9, 0, 0))
        finished(table)
        assert table.counts(changed) == Counts(9, 0, 0)

    def test_a_large_file_is_not_counted(self, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(file_table, "MOST_COUNTED", 10)
        table = finished(FileTable(str(runs)))
        assert {table.counts(file) for file in table.files} == {None}
        assert all(table.is_counted(file) for file in table.files)

    def test_the_folder_may_disappear(self, runs: Path) -> None:
        table = finished(FileTable(str(runs)))
        for file in runs.iterdir():
            file.unlink()
        runs.rmdir()
        table.list_again()
        assert finished(table).files == []


class TestScreen:
    @pytest.mark.share(quick=2)
    @pytest.mark.parametrize("size", [(120, 40), (80, 24), (50, 10), (20, 5)])
    async def test_the_list_has_names_formats_sizes_and_counts(self, runs: Path, size: tuple[int, int]) -> None:
        app = Chooser(FileTable(str(runs)))
        async with app.run_test(size=size) as pilot:
            await settled(pilot, app)
            shown = rows(app)
            width = size[0]
            assert ("runs" in shown[0], "3 files" in shown[0]) == (True, True)
            assert shown[2].startswith(" one" if width > 20 else " o")
            if width >= 60:
                assert shown[4].split()[:6] == ["two.ocml", "openchatml-2.2", f"{len(BROKEN)}", "B", "1", "✖"]
            assert not [line for line in shown if "Tokyo" in line or "plums" in line]

    async def test_enter_opens_the_file_and_passes_the_order_on(self, runs: Path) -> None:
        app = Chooser(FileTable(str(runs)))
        async with app.run_test() as pilot:
            await settled(pilot, app)
            await pilot.press("down", "enter")
            await pilot.pause()
        order = tuple(str(runs / name) for name in ("one.ocml", "ten.ocml", "two.ocml"))
        assert app.chosen == [Choice(order[1], order, order)]

    @pytest.mark.slow
    async def test_typing_finds_a_name_and_escape_forgets_it_first(self, runs: Path) -> None:
        app = Chooser(FileTable(str(runs)))
        async with app.run_test() as pilot:
            await settled(pilot, app)
            await pilot.press("t", "w")
            assert "1 of 3 files" in rows(app)[0]
            assert rows(app)[-1].startswith(" name: tw")
            await pilot.press("z")
            assert rows(app)[2].strip() == "No file matches."
            await pilot.press("enter", "backspace", "escape")
            assert app.chosen == []
            assert "3 files" in rows(app)[0]
            await pilot.press("escape")
            await pilot.pause()
        assert app.chosen == [None]

    async def test_a_choice_names_the_files_that_the_name_filter_leaves_out(self, runs: Path) -> None:
        app = Chooser(FileTable(str(runs)))
        async with app.run_test() as pilot:
            await settled(pilot, app)
            await pilot.press("t", "w", "enter")
            await pilot.pause()
        one, ten, two = (str(runs / name) for name in ("one.ocml", "ten.ocml", "two.ocml"))
        assert app.chosen == [Choice(two, (two,), (one, ten, two))]

    @pytest.mark.slow
    async def test_a_click_opens(self, runs: Path) -> None:
        app = Chooser(FileTable(str(runs)))
        async with app.run_test() as pilot:
            await settled(pilot, app)
            await pilot.click(offset=(3, 4))
            await pilot.pause()
        assert [choice.path for choice in app.chosen if choice] == [str(runs / "two.ocml")]

    @pytest.mark.slow
    async def test_new_files_appear_and_the_cursor_stays_on_its_file(self, runs: Path) -> None:
        app = Chooser(FileTable(str(runs)))
        async with app.run_test() as pilot:
            await settled(pilot, app)
            await pilot.press("down")
            (runs / "a.ocml").write_text(CHAT)
            app.table.list_again()
            await settled(pilot, app)
            for _ in range(2000):
                if "4 files" in rows(app)[0]:
                    break
                await pilot.pause(0.02)
            await pilot.press("enter")
            await pilot.pause()
        assert [choice.path for choice in app.chosen if choice] == [str(runs / "ten.ocml")]

    @pytest.mark.slow
    async def test_an_empty_folder_says_so(self, tmp_path: Path) -> None:
        app = Chooser(FileTable(str(tmp_path)))
        async with app.run_test() as pilot:
            await settled(pilot, app)
            assert rows(app)[2].strip() == "No transcripts here yet. New files appear in this list."
            await pilot.press("enter", "down", "enter")
            assert app.chosen == []

    async def test_hostile_names_are_only_names(self, runs: Path) -> None:
        (runs / NASTY.replace("/", "_")).write_text(CHAT)
        (runs / "\x1b[31mgone.ocml").symlink_to(runs / "gone")
        app = Chooser(FileTable(str(runs)))
        async with app.run_test(size=(120, 20)) as pilot:
            await settled(pilot, app)
            shown = "\n".join(rows(app))
            assert "\x1b" not in shown and "␛]0;x␇[@click=app.quit]z" in shown
            await pilot.press("home", "enter")
            await pilot.pause()
            assert app.chosen == []
            assert "no such file or directory" in shown


def test_lines_fit_and_ascii_is_ascii(runs: Path) -> None:
    files = [found_file(str(runs / "one.ocml"), "日本語" * 20), found_file(str(runs / "gone"), "gone")]
    for width in range(1, 150):
        for file in files:
            for counts in (Counts(10**9, 1, 2), None):
                line = file_line(file, counts, False, width, Style(ascii=True))
                assert "".join(part.text for part in line).isascii()
                if width > 26:
                    assert sum(len(part.text) for part in line) <= width
