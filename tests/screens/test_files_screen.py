"""The list of files: its columns, sorting, search, and keys. Visible files are read first, and keys always work."""

from __future__ import annotations

import asyncio
import gzip
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import get_ident

import pytest
from textual.pilot import Pilot

from tests.support.running import ROOMY, SMALL, drawn, press, running, type_in, until, view
from tests.support.transcripts import CHAT, EVERYTHING, STRICT
from viewer.model.visibility import END_USER, Audience, Reveal
from viewer.render.style import Style
from viewer.render.width import cells
from viewer.sources.folder import found_file
from viewer.tui.app import ViewOptions
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.palette import PaletteScreen
from viewer.tui.files import facts
from viewer.tui.files.catalog import SORTS, Arranged, Catalog
from viewer.tui.files.facts import FileFacts, Hit, Reading, facts_of, head_of, search_in
from viewer.tui.files.keys import OWN, SHARED, list_actions
from viewer.tui.files.lines import RowFacts, columns_of, entry_line, heading, preview_lines, title_line
from viewer.tui.files.listing import Entry, FileListing
from viewer.tui.files.reader import FilesReader
from viewer.tui.files.screen import FilesScreen
from viewer.tui.insight.diff import DiffScreen
from viewer.tui.keys import ACTIONS, remapped
from viewer.tui.main.screen import MainScreen
from viewer.tui.search.engine import Query

BROKEN = "version: 2.2\n\n<|start|>user<|message|>Hi"
LONG = CHAT.replace("Is it warm in Tokyo?", "How deep is the sea?") + CHAT.partition("\n\n")[2] * 3
NASTY = "\x1b]0;x\x07[@click=app.quit]z[/].ocml"
AGES = {"one.ocml": 7200, "two.ocml": 100_000, "ten.ocml": 300}


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, text in {"one.ocml": CHAT, "two.ocml": BROKEN, "ten.ocml": LONG}.items():
        (folder / name).write_text(text)
        changed = time.time() - AGES[name] - 30
        os.utime(folder / name, (changed, changed))
    return folder


def nothing() -> None:
    """Do nothing: the reading is not interrupted."""


def listed(folder: Path, audience: Audience = END_USER) -> Catalog:
    listing = FileListing(str(folder))
    while listing.list_some(0.01):
        pass
    catalog = Catalog(listing, "runs", Reading(audience), "by name", newest_first=True)
    catalog.arrange()
    return catalog


def names(catalog: Catalog) -> list[str]:
    return [entry.name for entry in catalog.entries]


def screen(pilot: Pilot[int]) -> FilesScreen:
    assert isinstance(pilot.app.screen, FilesScreen)
    return pilot.app.screen


class TestFacts:
    @pytest.mark.parametrize(
        ("audience", "hidden", "calls"), [(END_USER, 4, None), (STRICT, None, None), (EVERYTHING, 0, 1)]
    )
    def test_each_audience_has_its_own_counts_and_the_same_title(
        self, runs: Path, audience: Audience, hidden: int | None, calls: int | None
    ) -> None:
        entry = next(each for each in listed(runs).entries if each.name == "one.ocml")
        found = facts_of(entry, Reading(audience), nothing)
        assert (found.title, found.turns, found.hidden, found.calls) == (
            "Is it warm in Tokyo? Warm, I mean.", 2, hidden, calls,
        )  # fmt: skip
        assert [said.text for said in found.last] == [
            "Is it warm in Tokyo? Warm, I mean.", "Yes: 20 degrees. It is WARM.", "Thanks.", "Stay warm.",
        ]  # fmt: skip

    def test_a_search_counts_what_the_audience_is_shown(self, runs: Path) -> None:
        entry = next(each for each in listed(runs).entries if each.name == "one.ocml")
        found = {
            (audience, words): search_in(entry, Reading(audience), Query.parse(words), nothing)
            for audience in (END_USER, EVERYTHING)
            for words in ("plums", "warm", "/w[a]rm", "/w[")
        }
        assert [found[END_USER, words].count for words in ("plums", "warm", "/w[a]rm", "/w[")] == [0, 4, 4, 0]
        assert found[EVERYTHING, "plums"].count == 2
        assert found[END_USER, "/w["].fault and not found[END_USER, "/w[a]rm"].fault
        said = found[END_USER, "warm"].said[2]
        assert (said.role, said.text[slice(*said.match)]) == ("assistant", "WARM")
        assert said.text.startswith("Yes: 20 degrees. It is WARM.")

    def test_a_large_file_has_a_title_only_and_a_broken_one_is_not_a_transcript(
        self, runs: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(facts, "MOST_COUNTED", 600)
        by_name = {entry.name: facts_of(entry, Reading(), nothing) for entry in listed(runs).entries}
        assert by_name["ten.ocml"] == FileFacts("How deep is the sea? Warm, I mean.", is_counted=True)
        assert by_name["two.ocml"].errors == 1
        path = runs / "one.ocml.gz"
        path.write_bytes(gzip.compress(LONG.encode()))
        assert facts_of(Entry(str(path), path.name, 10**9), Reading(), nothing) == FileFacts(is_counted=True)
        monkeypatch.undo()
        packed = Entry(str(path), path.name, path.stat().st_size)
        assert (head_of(packed), facts_of(packed, Reading(), nothing).title) == (
            FileFacts(), "How deep is the sea? Warm, I mean.",
        )  # fmt: skip
        gone = facts_of(Entry(str(runs / "gone"), "gone", 5), Reading(), nothing)
        assert not gone.is_transcript


class TestCatalog:
    def test_it_sorts_by_each_column_and_keeps_the_cursor(self, runs: Path) -> None:
        catalog = listed(runs)
        for entry in catalog.entries:
            catalog.learn(entry, facts_of(entry, Reading(), nothing))
        catalog.put_cursor(str(runs / "two.ocml"))
        orders = {}
        for _ in range(len(SORTS)):
            orders[catalog.sort.words] = " ".join(Path(name).stem for name in names(catalog))
            assert catalog.entries[catalog.row].name == "two.ocml"
            catalog.next_sort()
        assert orders == {
            "newest first": "ten one two",
            "largest first": "ten one two",
            "most turns first": "ten one two",
            "most hidden first": "ten one two",
            "most problems first": "two ten one",
            "by title": "two ten one",
            "by name": "one ten two",
        }

    def test_titles_of_visible_files_are_read_first_then_their_facts_then_the_rest(self) -> None:
        class Many:
            is_listed, repeats, has_groups = True, True, False

            def __init__(self) -> None:
                self.entries = [Entry(str(place), str(place), 100_000 * (place % 2 + 1)) for place in range(200)]

            def list_some(self, budget_seconds: float) -> bool:
                return False

            def list_again(self) -> None: ...

        catalog = Catalog(Many(), "many", Reading(), "as named", newest_first=False)
        catalog.arrange()
        visible, order = catalog.entries[50:53], []
        while wanted := catalog.wanted(visible):
            entry, whole = wanted
            order.append((entry.name, whole))
            catalog.learn(entry, FileFacts("title", is_counted=whole))
        assert order[:6] == [(name, whole) for whole in (False, True) for name in ("50", "51", "52")]
        assert sorted(name for name, whole in order if whole) == sorted(str(number) for number in range(200))
        assert len(order) == 203

    async def test_a_large_folder_is_listed_and_arranged_in_threads_in_linear_time(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Growing:
            is_listed, repeats, has_groups = False, False, False

            def __init__(self) -> None:
                self.entries: list[Entry] = []

            def list_some(self, budget_seconds: float) -> bool:
                self.entries += [Entry(str(len(self.entries) + at), "name", is_transcript=False) for at in range(10)]
                threads.add(get_ident())
                return len(self.entries) < 2_000

            def list_again(self) -> None: ...

        arranged: list[int] = []
        threads: set[int] = set()
        drawn_at: list[int] = []

        def arrange(catalog: Catalog, whole: Callable[[Catalog], Arranged] = Catalog.arranged) -> Arranged:
            threads.add(get_ident())
            arranged.append(len(catalog.listing.entries))
            return whole(catalog)

        monkeypatch.setattr(Catalog, "arranged", arrange)
        catalog, tasks = Catalog(Growing(), "growing", Reading(), "as named", newest_first=False), []
        reader = FilesReader(
            *(catalog, lambda: (), lambda load: tasks.append(asyncio.ensure_future(load()))),
            arranged=lambda: drawn_at.append(len(catalog.rows)),
            listed=nothing,
            learned=nothing,
            finished=nothing,
        )
        reader.load()
        await asyncio.gather(*tasks)
        assert get_ident() not in threads
        assert drawn_at == arranged and arranged[-1] == 2_000
        assert sum(arranged) < 6 * 2_000

    def test_a_changed_file_keeps_its_facts_until_it_is_read_again(self, runs: Path) -> None:
        catalog = listed(runs)
        before = {entry.name: entry for entry in catalog.entries}["one.ocml"]
        catalog.learn(before, FileFacts("earlier", is_counted=True))
        with (runs / "one.ocml").open("a") as file:
            file.write("<|start|>user<|message|>More<|end|>\n")
        catalog.listing.list_again()
        while catalog.listing.list_some(0.01):
            pass
        catalog.arrange()
        after = catalog.entries[0]
        assert after.name == "one.ocml" and after != before
        assert catalog.facts(after) == FileFacts("earlier", is_counted=True)
        assert catalog.wanted([after]) == (after, True)

    def test_named_files_keep_their_order_and_the_folder_may_disappear(self, runs: Path) -> None:
        paths = [str(runs / name) for name in ("two.ocml", "gone.ocml", "one.ocml")]
        named = FileListing(None, paths)
        while named.list_some(0.01):
            pass
        assert [(entry.path, entry.reason) for entry in named.entries] == [
            (paths[0], ""), (paths[1], "no such file or directory"), (paths[2], ""),
        ]  # fmt: skip
        catalog = listed(runs)
        for file in runs.iterdir():
            file.unlink()
        runs.rmdir()
        catalog.listing.list_again()
        while catalog.listing.list_some(0.01):
            pass
        assert catalog.listing.entries == []


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("size", [ROOMY, (100, 30), SMALL, (50, 10), (20, 6)])
async def test_the_list_shows_safe_facts_and_opens_files(runs: Path, size: tuple[int, int]) -> None:
    async with running(runs, size=size) as pilot:
        text = drawn(pilot)
        lines = text.splitlines()
        assert lines[0].endswith("[SAFE]")
        assert "plums" not in text
        assert lines[2].startswith("▌⚠   How deep" if size[0] > 20 else "▌⚠   How")
        if size[0] >= 80:
            assert "runs  3 transcripts" in lines[0] and "newest first" in lines[0]
            counts = lines[3].removeprefix("     Is it warm in Tokyo? Warm, I mea").lstrip("n.…").split()
            assert counts == ["2", *(["4"] if size[0] >= 90 else []), "–", "647", "B", "2", "h", "ago"]
            assert lines[4].startswith(" ✖   Hi") and "✖ 1" in lines[4] and lines[4].endswith("yesterday")
            assert "1 of 3" in lines[-2]
            assert lines[-1].endswith("ctrl+p Commands  ? Help")
        assert ("─ Preview" in text) is (size[0] >= 100)
        await press(pilot, "j", "enter")
        assert view(pilot).session.document.name.endswith("one.ocml")
        assert [Path(path).name for path in view(pilot).program.files] == ["ten.ocml", "one.ocml", "two.ocml"]


PROVEN: set[str] = set()


@pytest.mark.slow
async def test_every_key_of_the_list_does_what_its_help_says(runs: Path) -> None:
    async def does(id: str, key: str, holds: Callable[[], object]) -> None:
        await press(pilot, key)
        await until(holds)
        PROVEN.add(id)

    async with running(runs, size=(100, 30)) as pilot:

        def cursor() -> str:
            catalog = screen(pilot).catalog
            return catalog.entries[catalog.row].name

        def is_at(name: str) -> bool:
            return cursor() == name

        await does("line_down", "J", lambda: cursor() == "one.ocml")
        await does("line_up", "k", lambda: cursor() == "ten.ocml")
        for id, key, name in (
            ("bottom", "G", "two.ocml"), ("top", "g", "ten.ocml"), ("half_page_down", "ctrl+d", "two.ocml"),
            ("half_page_up", "ctrl+u", "ten.ocml"), ("page_down", "space", "two.ocml"), ("page_up", "b", "ten.ocml"),
        ):  # fmt: skip
            await does(id, key, partial(is_at, name))
        await press(pilot, "2", "²")
        await does("bottom", "G", lambda: cursor() == "one.ocml")
        await does("sort_files", "s", lambda: "largest first" in drawn(pilot))
        await type_in(pilot, "&", "sea")
        await does("filter", "g", lambda: "1 of 3" in drawn(pilot) and "2 h ago" not in drawn(pilot))
        await does("clear", "escape", lambda: "3 transcripts" in drawn(pilot))
        await press(pilot, "escape")
        assert "Press q to quit." in drawn(pilot)
        await does("copy_path", "y", lambda: pilot.app.clipboard.endswith(cursor()))
        await does("compare_files", "D", lambda: "Press D on another file" in drawn(pilot))
        await press(pilot, "j", "D")
        assert isinstance(pilot.app.screen, DiffScreen)
        await press(pilot, "q")
        await does("help", "?", lambda: isinstance(pilot.app.screen, HelpScreen))
        assert "Find text in all files" in drawn(pilot) and "Fold" not in drawn(pilot)
        await press(pilot, "escape")
        await does("palette", "ctrl+p", lambda: isinstance(pilot.app.screen, PaletteScreen))
        await press(pilot, *"sort", "enter")
        await until(lambda: "most turns first" in drawn(pilot))
        await screen(pilot).run_action("do('theme')")
        await does("theme", "escape", lambda: isinstance(pilot.app.screen, FilesScreen))
        await does("copy_or_quit", "ctrl+c", lambda: "Press ctrl+c again to quit." in drawn(pilot))
        await type_in(pilot, "/", "yes: 20")
        await until(lambda: "in 2 of 3 files" in drawn(pilot))
        assert "─ Matches" in drawn(pilot) and "found" in drawn(pilot) and "Hi" not in drawn(pilot)
        PROVEN.add("search")
        await does("open", "enter", lambda: isinstance(pilot.app.screen, MainScreen))
        await until(lambda: "1 of" in drawn(pilot).splitlines()[-2])
        assert "/yes: 20" in drawn(pilot)
        await press(pilot, "q", "q")
        assert "/yes: 20" in drawn(pilot)
        await press(pilot, "escape")
        await does("follow_newest", "F", lambda: isinstance(pilot.app.screen, MainScreen))
        await until(lambda: "● live" in drawn(pilot))
        await press(pilot, "q")
        await does("leave", "q", lambda: pilot.app._exit)
    assert {action.id for action in list_actions()} - {"suspend"} == PROVEN


def test_the_keys_of_a_list_have_one_meaning_each_and_follow_the_settings() -> None:
    for actions in (ACTIONS, remapped({"line_down": "s, D", "leave": "Q"})):
        keys = [key for action in list_actions(actions) for key in action.keys]
        assert len(keys) == len(set(keys))
    assert "s" in next(action for action in list_actions(actions) if action.id == "line_down").keys
    assert all(callable(getattr(FilesScreen, action.target)) for action in list_actions())
    assert {row[0] for row in SHARED} <= {action.id for action in ACTIONS}
    assert not {action.id for action in OWN} & {action.id for action in ACTIONS}


@pytest.mark.slow
async def test_several_files_open_as_a_list_and_a_double_click_opens_one(runs: Path) -> None:
    paths = [runs / name for name in ("two.ocml", "one.ocml")]
    async with running(*paths, size=(100, 30)) as pilot:
        assert "named files  2 transcripts" in drawn(pilot) and "as named" in drawn(pilot)
        await pilot.click(offset=(8, 3), times=2)
        await until(lambda: isinstance(pilot.app.screen, MainScreen))
        assert view(pilot).session.document.name == str(paths[1])
        await press(pilot, "q", "g")
        (runs / "two.ocml").unlink()
        await press(pilot, "enter")
        assert "Cannot open the file: no such file" in drawn(pilot)
        await press(pilot, "q")
        assert pilot.app._exit


@pytest.mark.slow
async def test_new_files_appear_and_the_cursor_stays_on_its_file(runs: Path) -> None:
    async with running(runs, size=(100, 30), keys=("j",)) as pilot:
        (runs / "a.ocml").write_text(CHAT)
        await until(lambda: "4 transcripts" in drawn(pilot) and " ●   live  Is it warm" in drawn(pilot))
        assert screen(pilot).catalog.entries[screen(pilot).catalog.row].name == "one.ocml"


@pytest.mark.slow
async def test_a_revealing_list_says_so_and_counts_calls(runs: Path) -> None:
    options = ViewOptions(revealed=frozenset({Reveal.ALL}))
    async with running(runs, size=ROOMY, options=options) as pilot:
        title, heads, *_ = drawn(pilot).splitlines()
        assert title.endswith("[DEBUG]") and "╱╱" in title
        assert heads.split() == ["title", "turns", "calls", "problems", "size", "changed"]
        await type_in(pilot, "/", "plums")
        await until(lambda: "in 2 of 3 files" in drawn(pilot))


async def test_hidden_text_changes_nothing_and_hostile_names_are_only_names(runs: Path) -> None:
    screens = []
    for secret in ("plums", "plums and " * 400):
        (runs / "one.ocml").write_text(CHAT.replace("plums", secret))
        (runs / NASTY.replace("/", "_")).write_text(CHAT.partition("<|start|>user")[0])
        for name in ("one.ocml", NASTY.replace("/", "_")):
            os.utime(runs / name, (10**9, 10**9))
        async with running(runs, size=(69, 24)) as pilot:
            await press(pilot, "s", "s", "s", "G")
            screens.append(drawn(pilot))
    assert screens[0] == screens[1]
    assert "\x1b" not in screens[0] and "␛]0;x␇[@click=app.quit]z" in screens[0]


@pytest.mark.slow
def test_lines_fit_and_ascii_is_ascii(runs: Path) -> None:
    found = found_file(str(runs / "one.ocml"), "日本語" * 20)
    entries = [
        Entry(found.path, found.name, found.size, found.modified),
        Entry("gone", "gone", reason="no such file or directory"),
        Entry("x.bin", "x.bin", 10**6, 10**9, is_transcript=False),
    ]
    catalog = listed(runs)
    known = FileFacts("日本語" * 20, 10**6, 10**6, None, 10**6, 10**6, True)
    for ascii in (True, False):
        style = Style(ascii=ascii)
        for width in range(1, 170):
            rows = [RowFacts(), RowFacts(known, is_cursor=True, is_marked=True), RowFacts(known, Hit(10**6))]
            lines = [
                entry_line(entry, row, columns_of(catalog, width), time.time(), width, style)
                for entry in entries
                for row in rows
            ]
            lines += [title_line(catalog, 3, width, style), heading(catalog, width, style)]
            lines += preview_lines(entries[0], rows[1], 5, width, style)
            for line in lines:
                text = "".join(part.text for part in line)
                assert not ascii or text.isascii()
                assert cells(style.name(text)) <= max(width, 26)
