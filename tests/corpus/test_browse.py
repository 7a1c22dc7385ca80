"""`ocmlview browse`: problems, files, answers, filters, and where each row leads."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import DataTable, Input

from tests.support.corpora import write_corpus
from tests.support.program import BROKEN, CHAT, run
from tests.support.running import drawn, settled
from tests.support.walks import SIZES
from viewer.corpus import browse
from viewer.corpus.browse import ALL_FILES, CHANGED, MISSING, Browser, Kind, Listing, Place
from viewer.corpus.ready import ready_queries
from viewer.corpus.views import connect, open_tables
from viewer.document.filter.grammar import parse
from viewer.errors import ViewerError
from viewer.tui.browse.app import BrowseApp

pytestmark = pytest.mark.slow

MOST_PAUSES = 500
GOLDEN = Path(__file__).parent / "golden"
NAMES = ("again.ocml", "broken.ocml", "caf\x1b[31mé[b].ocml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables of the safe view."""
    folder = tmp_path_factory.mktemp("browsed")
    write_corpus(folder / "runs", 3, turns=2)
    for name in NAMES:
        (folder / "runs" / name).write_text(BROKEN)
    (folder / "runs" / "zero.ocml").write_text(CHAT.replace("warm in", "warm\0in"))
    assert run("scan", folder / "runs", "--to", folder / "safe", "--quiet", "--jobs", "1", "--exit-zero").code == 0
    return folder


@pytest.fixture
def browser(folder: Path) -> Iterator[Browser]:
    tables = open_tables(str(folder / "safe"))
    with connect(tables) as database:
        yield Browser(database, tables.contents)


def _marks(size: tuple[int, int]) -> list[pytest.MarkDecorator]:
    return [pytest.mark.lab] if size in SIZES[2:] else []


def column(browser: Browser, name: str) -> list[Any]:
    page = browser.page()
    return [row[page.columns.index(name)] for row in page.rows]


def test_a_problem_leads_to_its_files_and_a_file_to_its_message(browser: Browser, folder: Path) -> None:
    page = browser.page()
    assert page.rows[0][0] == ALL_FILES
    assert page.rows[0][2] == 7
    row = next(index for index, row in enumerate(page.rows) if row[0] == "E-PARSE-HEADER")
    assert page.rows[row][1:3] == ("error", 3)
    listing = browser.place_of(page, row)
    assert listing == Listing(Kind.FILES, "E-PARSE-HEADER")
    browser.stack.append(listing)
    page = browser.page()
    paths = [folder / "runs" / name for name in NAMES]
    assert [row[0] for row in page.rows] == [str(path) for path in paths]
    assert browser.place_of(page, 1) == Place(str(paths[1]), 2)
    assert column(browser, "message") == [2, 2, 2]
    assert browser.shown(page).columns[-1] == "note"
    paths[1].write_text(f"{BROKEN}\n")
    assert browser.place_of(page, 1) == Place(str(paths[1]), 2, is_changed=True)
    assert [row[-1] for row in browser.shown(page).rows] == ["", CHANGED, ""]
    moved = paths[1].rename(folder / "moved")
    with pytest.raises(ViewerError, match=MISSING):
        browser.place_of(page, 1)
    assert browser.shown(page).rows[1][-1] == MISSING
    moved.rename(paths[1])


def test_lists_are_sorted_and_read_page_by_page(browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    browser.stack.append(Listing(Kind.FILES))
    counts = column(browser, "messages")
    browser.listing.sort = "messages"
    assert column(browser, "messages") == sorted(counts)
    browser.listing.is_descending = True
    assert column(browser, "messages") == sorted(counts, reverse=True)
    monkeypatch.setattr(browse, "PAGE", 4)
    assert (len(browser.page().rows), browser.page().count) == (4, 7)
    browser.listing.first = 4
    assert (len(browser.page().rows), browser.page().count) == (3, 7)
    browser.listing.sort = 'x" desc; drop table files --'
    with pytest.raises(Exception, match="x"):
        browser.page()


def test_a_filter_limits_problems_and_files_to_messages_that_match(browser: Browser) -> None:
    browser.filter_by(parse("role:user is:warning"))
    page = browser.page()
    assert page.rows == ((ALL_FILES, "", 1, 1), ("W-ENCODING", "warning", 1, 1))
    browser.stack.append(Listing(Kind.FILES))
    [row] = browser.page().rows
    assert row[0].endswith("zero.ocml")
    assert column(browser, "message") == [2]
    browser.stack[-1] = Listing(Kind.FILES, "W-ENCODING")
    assert browser.page().rows == (row,)
    browser.filter_by(parse("code:E-PARSE-HEADER"))  # of a hidden message
    assert browser.page().rows == ()
    browser.stack[-1] = Listing(Kind.FILES)
    browser.filter_by(parse("role:user file:nothing"))
    assert browser.page().rows == ()
    for refused, sentence in (("tool:x", "needs --reveal tool"), ("umbrella", "contain no text")):
        with pytest.raises(ViewerError, match=sentence):
            browser.filter_by(parse(refused))
    assert browser.where == "role:user file:nothing"
    browser.filter_by(None)
    assert len(browser.page().rows) == 7


def test_ready_queries_are_listed_and_lead_to_files(browser: Browser) -> None:
    browser.stack.append(Listing(Kind.QUERIES))
    page = browser.page()
    names = [row[0] for row in page.rows]
    listing = browser.place_of(page, names.index("@top-diagnostics"))
    assert listing == Listing(Kind.ANSWER, "top-diagnostics")
    browser.stack.append(listing)
    page = browser.page()
    assert isinstance(browser.place_of(page, 0), Place)
    for name, sentence in (("failing-tools", "needs calls"), ("new-errors", "needs a value for run")):
        browser.stack[-1] = Listing(Kind.ANSWER, name)
        with pytest.raises(ViewerError, match=sentence):
            browser.page()
    browser.stack[-1] = Listing(Kind.ANSWER, "overview")
    with pytest.raises(ViewerError, match="names no file"):
        browser.place_of(browser.page(), 0)


def test_the_command_refuses_what_it_cannot_show(folder: Path) -> None:
    done = run("browse", folder / "safe")
    assert (done.code, done.out) == (2, "")
    assert "browse needs a terminal" in done.err
    revealed = folder / "all.DEBUG"
    scanned = ("--to", revealed, "--reveal", "all", "--quiet", "--jobs", "1", "--exit-zero")
    assert run("scan", folder / "runs", *scanned).code == 0
    assert "add -d to read it" in run("browse", revealed).err
    assert "--reveal tool" in run("sql", "--where", "tool:x", folder / "safe").err


def test_no_list_shows_hidden_text(tmp_path: Path) -> None:
    hidden = CHAT.replace("A hidden thought", "CANARY").replace("functions.weather", "functions.CANARY")
    hidden = hidden.replace("call_id=c1", "call_id=CANARY").replace("Be brief.", "CANARY <think>")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "chat.ocml").write_text(hidden.replace('"ok":true', '"CANARY":'))
    (tmp_path / "runs" / "broken.ocml").write_text(
        BROKEN.replace("Secret plums", "CANARY").replace("anaylsis", "CANARY")
    )
    assert run("scan", tmp_path / "runs", "--to", tmp_path / "safe", "--quiet", "--jobs", "1").code == 1
    tables = open_tables(str(tmp_path / "safe"))
    with connect(tables) as database:
        browser = Browser(database, tables.contents)
        problems = browser.page()
        names = [row[0] for row in problems.rows]
        assert len(names) > 1
        queries = [each.name for each in ready_queries().values() if not each.needs and "run" not in each.parameters]
        lists = [
            *(Listing(Kind.FILES, name) for name in ("", *names[1:])),
            *(Listing(Kind.ANSWER, name) for name in queries),
        ]
        shown = [problems]
        for listing in lists:
            browser.stack[-1] = listing
            shown.append(browser.shown(browser.page()))
        assert "CANARY" not in repr(shown)


WALK = {
    "problems": "",
    "files": "down enter",
    "sorted": "s s",
    "filter": "ampersand t o o l : x enter",
    "queries": "escape at",
    "answer": "enter",
}


@pytest.mark.parametrize("size", [pytest.param(size, marks=_marks(size)) for size in SIZES], ids=lambda size: size[0])
async def test_each_list_equals_its_approved_screen(
    folder: Path, tmp_path: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    tables = tmp_path / "safe"
    places = folder / "runs", "--root", folder, "--to", tables
    assert run("scan", *places, "--quiet", "--jobs", "1", "--exit-zero").code == 0
    found = open_tables(str(tables))
    screens = []
    with connect(found) as database:
        app = BrowseApp(Browser(database, found.contents), name="safe")
        async with app.run_test(size=size) as pilot:
            for name, keys in WALK.items():
                await pilot.press(*keys.split())
                await settled(pilot)
                screens += [f"━━━━ {name}: {keys}".rstrip(), *(line.rstrip() for line in drawn(pilot).splitlines())]
    text = "\n".join(screens) + "\n"
    golden = GOLDEN / f"browse-{size[0]}x{size[1]}.txt"
    if os.environ.get("OCML_UPDATE"):
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


@pytest.mark.slow
async def test_keys_walk_through_the_levels(browser: Browser) -> None:
    app = BrowseApp(browser, name="safe")
    async with app.run_test(size=(100, 20)) as pilot:

        def text() -> str:
            table = app.query_one("#rows", DataTable)
            rows = [table.get_row_at(index) for index in range(table.row_count)]
            rows.append([column.label for column in table.ordered_columns])
            return "\n".join(" ".join(map(str, row)) for row in rows) + str(app.query_one("#status").render())

        async def shows(*words: str, keys: Sequence[str] = ()) -> None:
            await pilot.press(*keys)
            for _ in range(MOST_PAUSES):
                if all(word in text() for word in words):
                    return
                await pilot.pause()
            raise AssertionError(text())

        await shows("E-PARSE-HEADER")
        head = app.query_one("#head").render_line(0).text
        assert (len(head), head.split(), head[-6:]) == (98, ["safe", "›", "problems", "[SAFE]"], "[SAFE]")
        await shows("again.ocml", "caf␛[31mé[b].ocml", keys=("down", "enter"))
        await shows("path ▼", keys=("s", "s"))
        assert (browser.listing.sort, browser.listing.is_descending) == ("path", True)
        await shows("E-PARSE-HEADER", keys=("q",))
        await shows('"tool" needs --reveal tool.', keys=("ampersand", *"tool:x", "enter"))
        assert app.query_one(Input).display
        await shows("@top-diagnostics", keys=("escape", "at"))
        await shows("E-PARSE-HEADER", keys=("escape",))
        await shows("again.ocml", keys=("enter",))
        await pilot.press("enter")
    assert app.chosen is not None
    assert app.chosen.message == 2
    assert app.return_code == 0
