"""Export in the app: file name, format, confirmation before overwriting, and no delay of keys."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.running import SMALL, drawn, press, running, said, type_in, until, view
from viewer.render.exports import EXPORTERS
from viewer.tui.bars.prompt import SafeInput


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(pilot: Pilot[int]) -> str:
    return view(pilot).widgets.prompt.query_one(SafeInput).value


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def exported(pilot: Pilot[int], name: str) -> None:
    """Wait for the end of an export, which may take long because the file is synced to disk."""
    await until(lambda: said(pilot).startswith(f"Exported {name} ("))


@pytest.mark.slow
async def test_a_long_name_shortens_the_hint_from_its_beginning(folder: Path) -> None:
    async with running(size=SMALL, keys=["x"]) as pilot:
        await press(pilot, *"123456789012")
        assert drawn(pilot).splitlines()[-2].endswith("  enter export · esc cancel")
        await press(pilot, *"12345678901234567890")
        assert drawn(pilot).splitlines()[-2].endswith("  esc cancel")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 40), SMALL])
async def test_the_suggested_name_names_the_view(size: tuple[int, int], folder: Path) -> None:
    async with running(size=size, keys=["x"]) as pilot:
        assert "export to tour.safe.html" in drawn(pilot)
        await press(pilot, "escape", "d", "x")
        assert "export to tour.DEBUG.html" in drawn(pilot)
        await press(pilot, "escape")
        assert "export to" not in drawn(pilot)
    assert files(folder) == []


@pytest.mark.slow
async def test_the_prompt_says_the_level_whatever_the_name_and_refuses_a_name_of_a_lower_level(folder: Path) -> None:
    async with running(size=SMALL, keys=["D", "x"]) as pilot:
        assert drawn(pilot).splitlines()[-2].startswith(" BRIEF export to tour.brief.html")
        await press(pilot, "escape", "d", "x")
        for name in ("plain.html", "tour.safe.html", "tour.Brief.md"):
            view(pilot).widgets.prompt.query_one(SafeInput).value = name
            await press(pilot)
            assert drawn(pilot).splitlines()[-2].startswith(f" DEBUG export to {name}")
            if name != "plain.html":
                await press(pilot, "enter")
                level = name.split(".")[1].lower()
                assert f"the name says {level}, but this is the DEBUG view" in drawn(pilot).splitlines()[-2]
                assert asked(pilot) == name
    assert files(folder) == []


@pytest.mark.slow
async def test_up_and_down_offer_the_other_forms(folder: Path) -> None:
    async with running(keys=["x"]) as pilot:
        names = [asked(pilot)]
        for _ in range(len(EXPORTERS) - 1):
            await press(pilot, "up")
            names.append(asked(pilot))
        await press(pilot, "up")
        assert asked(pilot) == names[0]
        await press(pilot, "down")
        assert asked(pilot) == names[-1]
        assert names == [f"tour.safe{exporter.ending}" for exporter in EXPORTERS.values()]
        await press(pilot, *["down"] * (len(EXPORTERS) - 1))
        assert asked(pilot) == "tour.safe.html"
        await press(pilot, "up", "up", "up", "enter")
        await exported(pilot, "tour.safe.jsonl")
    assert json.loads((folder / "tour.safe.jsonl").read_text("utf-8").splitlines()[0])["view"] == "SAFE"


@pytest.mark.slow
async def test_the_file_is_what_the_command_writes(folder: Path) -> None:
    from tests.support.program import ROOT, run

    async with running(keys=["x", "up", "enter"]) as pilot:
        await exported(pilot, "tour.safe.md")
    made = (folder / "tour.safe.md").read_text("utf-8")
    assert made == run("export", "--to", "md", "-o", "-", ROOT / "samples" / "tour.ocml").out


@pytest.mark.slow
async def test_a_debug_file_is_readable_by_its_owner_only(folder: Path) -> None:
    async with running(keys=["d", "x", "enter"]) as pilot:
        await exported(pilot, "tour.DEBUG.html")
        assert stat.S_IMODE((folder / "tour.DEBUG.html").stat().st_mode) == 0o600


@pytest.mark.slow
async def test_an_existing_file_is_replaced_only_after_a_second_confirmation(folder: Path) -> None:
    (folder / "tour.safe.html").write_text("mine")
    async with running(keys=["x", "enter"]) as pilot:
        assert "already exists" in drawn(pilot)
        await press(pilot, "escape")
        assert (folder / "tour.safe.html").read_text() == "mine"
        await press(pilot, "x", "enter", "enter")
        await exported(pilot, "tour.safe.html")
    assert (folder / "tour.safe.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.slow
async def test_a_new_name_after_the_question_needs_a_new_confirmation(folder: Path) -> None:
    for name in ("tour.safe.html", "tour.safe.htm"):
        (folder / name).write_text("mine")
    async with running(keys=["x", "enter", "backspace", "enter"]) as pilot:
        assert "already exists" in drawn(pilot)
    assert {path.read_text() for path in folder.iterdir()} == {"mine"}


@pytest.mark.slow
async def test_a_view_that_changes_during_the_question_is_confirmed_again(folder: Path) -> None:
    async with running(keys=["x"]) as pilot:
        main = view(pilot)
        main.view.apply(main.session.display.opened())
        assert asked(pilot) == "tour.DEBUG.html"
        main.session.display = main.session.display.closed()
        await press(pilot, "enter")
        assert files(folder) == []
        assert "The view has changed." in said(pilot)
        assert asked(pilot) == "tour.safe.html"
        main.session.display = main.session.display.opened()
        await press(pilot, "enter", "enter")
        await exported(pilot, "tour.DEBUG.html")
    assert files(folder) == ["tour.DEBUG.html"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [("x.pdf", "Unknown file extension."), ("no/x.md", "No such file"), ("file/x.md", "cannot be written")],
)
async def test_an_unwritable_file_is_reported_in_one_sentence(folder: Path, name: str, words: str) -> None:
    async with running() as pilot:
        await press(pilot, "x")
        view(pilot).widgets.prompt.query_one(SafeInput).value = name
        (folder / "file").write_text("")
        await press(pilot, "enter")
        assert words in said(pilot)
    assert files(folder) == ["file"]


@pytest.mark.slow
async def test_a_long_export_shows_its_progress_and_stops_on_escape(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(*_: object) -> Iterator[str]:
        while True:
            yield "x"

    monkeypatch.setattr("tests.support.running.LONGEST", 0.2)  # the export never ends by itself
    endless = EXPORTERS["html"].__class__("html", ".html", "", slow)
    monkeypatch.setattr("viewer.tui.main.export.exporter_of", lambda _: endless)
    async with running() as pilot:
        main = view(pilot)
        main.export.ask()
        main.widgets.prompt.close()
        main.export.export_to("tour.safe.html")
        await until(lambda: "Press esc to cancel." in said(pilot))
        assert "Exporting tour.safe.html: " in said(pilot)
        assert len(files(folder)) == 1
        await press(pilot, "j")
        await until(lambda: "Press esc to cancel." in said(pilot))
        assert "Press esc to cancel." in said(pilot)
        await press(pilot, "escape")
        await until(lambda: "Export cancelled" in said(pilot))
        await press(pilot, "j")
        assert said(pilot) == ""
        assert main.navigator.focused_number
    assert files(folder) == []


@pytest.mark.slow
async def test_leaving_while_it_writes_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*_: object) -> Iterator[str]:
        while True:
            yield "x" * 100_000

    endless = EXPORTERS["html"].__class__("html", ".html", "", slow)
    monkeypatch.setattr("viewer.tui.main.export.exporter_of", lambda _: endless)
    async with running() as pilot:
        view(pilot).export.ask()
        view(pilot).export.export_to("tour.safe.html")
        await until(lambda: any(path.stat().st_size for path in folder.iterdir()))
        pilot.app.exit()
    assert files(folder) == []


@pytest.mark.slow
async def test_nothing_is_written_without_a_name(folder: Path) -> None:
    async with running(keys=["x", "ctrl+u", "enter"]) as pilot:
        assert said(pilot) == "" or "Exported" not in said(pilot)
        await type_in(pilot, ":", "3")
        assert view(pilot).navigator.focused_number == 3
    assert files(folder) == []
