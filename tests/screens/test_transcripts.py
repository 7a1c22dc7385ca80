"""Several transcripts in one input: their boundaries, their turns, and jumps between them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.laws.test_backends_agree import BACKENDS
from tests.support.program import run
from tests.support.running import ROOMY, SMALL, drawn, press, running, said, type_in, view
from tests.support.transcripts import END_USER, EVERYTHING, STRICT, document_of
from tests.unit.render.exports.exported import export
from viewer.document import rows as rows_module
from viewer.model.visibility import Audience
from viewer.render.blocks.block import Block
from viewer.render.page import BlockMaker

QUESTIONS = ["Which metal melts first?", "What boils at 78 degrees?", "Why is ice lighter than water?"]


def rows_of(count: int, hidden: int = 0) -> str:
    """Return JSON Lines with `count` conversations of one or two turns. The one at `hidden` shows nothing."""
    lines = []
    for number in range(1, count + 1):
        question = QUESTIONS[number % 3]
        messages = [
            {"role": "system", "content": f"Secret {number}"},
            {"role": "user", "content": question},
            {"role": "assistant", "content": f"Answer {number}."},
        ]
        if number % 2:
            messages += [{"role": "user", "content": "Sure?"}, {"role": "assistant", "content": f"Yes, {number}."}]
        lines.append(json.dumps({"messages": messages[:1] if number == hidden else messages}))
    return "\n".join(lines) + "\n"


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("lab.jsonl")
    path.write_text(rows_of(6, hidden=3), "utf-8")
    return path


def blocks(path: Path, audience: Audience) -> list[Block]:
    projection = document_of(path.parent, path.read_text(), "again.jsonl").project(audience)
    rows = projection.rows()
    maker = BlockMaker(projection, rows, 79)
    return [maker.make(row) for row in range(len(rows))]


def boundaries(text: str) -> list[str]:
    found = re.findall("━━ (transcript [^━│█\n]*)", text)
    return [line.strip() for line in found]


def texts(made: list[Block]) -> str:
    return "\n".join("".join(part.text for part in line.parts) for block in made for line in block.lines)


TITLED = [
    "transcript 1 of 6 · JSON messages · What boils at 78 degrees?",
    "transcript 2 of 6 · JSON messages · Why is ice lighter than water?",
    "transcript 3 of 6 · JSON messages",
    "transcript 4 of 6 · JSON messages · What boils at 78 degrees?",
    "transcript 5 of 6 · JSON messages · Why is ice lighter than water?",
    "transcript 6 of 6 · JSON messages · Which metal melts first?",
]
STRICTLY = [
    "transcript 1 of 5 · JSON messages · What boils at 78 degrees?",
    "transcript 2 of 5 · JSON messages · Why is ice lighter than water?",
    "transcript 3 of 5 · JSON messages · What boils at 78 degrees?",
    "transcript 4 of 5 · JSON messages · Why is ice lighter than water?",
    "transcript 5 of 5 · JSON messages · Which metal melts first?",
]


class TestBoundaries:
    @pytest.mark.parametrize(("audience", "expected"), [(END_USER, TITLED), (EVERYTHING, TITLED), (STRICT, STRICTLY)])
    def test_are_where_each_transcript_begins(self, lab: Path, audience: Audience, expected: list[str]) -> None:
        assert boundaries(texts(blocks(lab, audience))) == expected

    @pytest.mark.parametrize(
        ("options", "expected"), [([], TITLED), (["--reveal", "all"], TITLED), (["--strict-safe"], STRICTLY)]
    )
    def test_are_the_same_in_show_and_in_exports(self, lab: Path, options: list[str], expected: list[str]) -> None:
        assert boundaries(run("show", *options, lab).out) == expected
        audience = {0: END_USER, 1: STRICT, 2: EVERYTHING}[len(options)]
        document = document_of(lab.parent, lab.read_text(), "again.jsonl")
        for form in ("html", "md", "text"):
            made = export(document.project(audience), form)
            for line in expected:
                for word in line.removeprefix("transcript ").split(" · "):
                    assert word in made, (form, word)
            assert f"ranscript {len(expected) + 1}" not in made

    def test_a_strict_audience_cannot_count_transcripts_that_show_nothing(self, lab: Path) -> None:
        lines = [json.loads(line) for line in run("show", "--json", "--strict-safe", lab).out.splitlines()]
        assert [line["number"] for line in lines if line["kind"] == "transcript"] == [1, 2, 3, 4, 5]
        assert {line["transcript"] for line in lines if line["kind"] == "message"} == {1, 2, 3, 4, 5}
        stats = json.loads(run("stats", "--json", "--strict-safe", lab).out.splitlines()[0])
        assert stats["transcripts"] == 5

    def test_hidden_text_makes_no_title(self, tmp_path: Path) -> None:
        hidden = '[{"role":"system","content":"Secret"},{"role":"assistant","content":"Hello"}]\n'
        document = document_of(tmp_path, hidden * 2, "two.jsonl")
        for audience in (END_USER, EVERYTHING):
            projection = document.project(audience)
            made = texts([BlockMaker(projection, projection.rows(), 99).make(0)])
            assert boundaries(made) == ["transcript 1 of 2 · JSON messages"]

    def test_a_title_is_one_line_of_at_most_60_columns_and_safe(self, tmp_path: Path) -> None:
        asked = "\x1b]0;x\x07 two\nlines " + "長" * 80
        one = json.dumps([{"role": "user", "content": asked}])
        projection = document_of(tmp_path, f"{one}\n{one}\n", "two.jsonl").project(END_USER)
        title = projection.boundary(projection.rows(), 1).title
        shown = boundaries(texts([BlockMaker(projection, projection.rows(), 200).make(0)]))[0]
        assert "\n" not in title and "\x1b" not in shown and "\x07" not in shown
        from viewer.render.sanitize import SafeText
        from viewer.render.width import cells

        assert cells(SafeText(shown.split(" · ")[-1])) <= 60

    def test_one_transcript_has_none(self, tmp_path: Path) -> None:
        path = tmp_path / "one.jsonl"
        path.write_text(rows_of(1))
        assert boundaries(texts(blocks(path, END_USER))) == []

    def test_a_transcript_without_messages_has_one(self, tmp_path: Path) -> None:
        one = '{"messages":[{"role":"user","content":"Hi"}]}'
        none = '{"messages":[]}'
        document = document_of(tmp_path, "\n".join([one, none, none, one, none]) + "\n", "rows.jsonl")
        projection = document.project(END_USER)
        rows = projection.rows()
        made = texts([BlockMaker(projection, rows, 79).make(row) for row in range(len(rows))])
        assert [line.split(" of ")[0] for line in boundaries(made)] == [f"transcript {n}" for n in (1, 2, 3, 4, 5)]

    def test_every_backend_makes_the_same(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        document = document_of(tmp_path, rows_of(40, hidden=7), "many.jsonl")
        found = []
        for columns, at_once in ((BACKENDS[0], 1000), (BACKENDS[1], 7), (BACKENDS[1], 1000)):
            monkeypatch.setattr(rows_module, "AT_ONCE", at_once)
            document.index.use_columns(columns)
            for audience in (END_USER, STRICT, EVERYTHING):
                rows = document.project(audience).rows()
                found.append([(rows.kind(row), rows.turn(row), rows.transcript(row)) for row in range(len(rows))])
        assert found[0:3] == found[3:6] == found[6:9]


class TestInTheViewer:
    @pytest.mark.share(quick=12)
    @pytest.mark.parametrize("size", [ROOMY, SMALL])
    @pytest.mark.parametrize("keys", [[], ["d"]])
    async def test_a_boundary_is_drawn_and_the_title_counts(
        self, lab: Path, size: tuple[int, int], keys: list[str]
    ) -> None:
        async with running(lab, size=size, keys=keys) as pilot:
            assert boundaries(drawn(pilot))[0].startswith("transcript 1 of 6 · JSON messages")
            assert "1 of 6" in drawn(pilot).splitlines()[0]
            await press(pilot, ")")
            assert "2 of 6" in drawn(pilot).splitlines()[0]

    async def test_a_narrow_boundary_keeps_the_title(self, lab: Path) -> None:
        async with running(lab, size=(56, 12)) as pilot:
            assert "━━ transcript 1 of 6 · What boils at 78 degrees?" in drawn(pilot)

    @pytest.mark.slow
    async def test_keys_move_between_them(self, lab: Path) -> None:
        async with running(lab, size=SMALL) as pilot:
            rows = view(pilot).session.rows
            places = []
            for key in (")", ")", ")", "(", "2", ")", ")", ")"):
                await press(pilot, key)
                places.append(rows.transcript(view(pilot).navigator.cursor_row or 0))
            assert places == [2, 3, 4, 3, 3, 5, 6, 6]
            assert said(pilot) == "No next transcript: this is the last one."
            await press(pilot, "g", "(")
            assert said(pilot) == "No previous transcript: this is the first one."

    @pytest.mark.slow
    async def test_a_place_can_be_typed(self, lab: Path) -> None:
        async with running(lab, size=SMALL) as pilot:
            rows = view(pilot).session.rows
            await type_in(pilot, ":", "x5")
            assert rows.transcript(view(pilot).navigator.cursor_row or 0) == 5
            assert "transcript 5 of 6" in drawn(pilot)
            await type_in(pilot, ":", "t2")
            row = view(pilot).navigator.cursor_row or 0
            assert (rows.transcript(row), rows.turn(row)) == (5, 2)
            await type_in(pilot, ":", "x9")
            assert said(pilot) == "No transcript 9: the last one is 6."

    @pytest.mark.share(quick=3)
    @pytest.mark.parametrize("keys", [[], ["d"]])
    async def test_turns_count_per_transcript_and_turn_keys_cross_boundaries(self, lab: Path, keys: list[str]) -> None:
        async with running(lab, size=SMALL, keys=[*keys, "g"]) as pilot:
            rows = view(pilot).session.rows
            seen = []
            for _ in range(9):
                row = view(pilot).navigator.cursor_row or 0
                seen.append((rows.transcript(row), rows.turn(row)))
                await press(pilot, "}")
            turns = [(1, 1), (1, 2), (2, 1), (4, 1), (5, 1), (5, 2), (6, 1)]
            assert [turn for turn in dict.fromkeys(seen) if turn[0] != 3] == turns
            for _ in range(12):
                await press(pilot, "{")
            assert rows.transcript(view(pilot).navigator.cursor_row or 0) == 1

    @pytest.mark.slow
    async def test_outline_filter_and_search_work_across_transcripts(self, lab: Path) -> None:
        async with running(lab, size=ROOMY, keys=["T"]) as pilot:
            assert "transcript 2 · " in drawn(pilot)
            await type_in(pilot, "&", "Yes, 5")
            assert [line[:17] for line in boundaries(drawn(pilot))] == ["transcript 5 of 6"]

    @pytest.mark.slow
    async def test_a_strict_view_numbers_what_it_shows(self, lab: Path) -> None:
        from viewer.tui.app import ViewOptions

        async with running(lab, size=ROOMY, keys=["T", "G"], options=ViewOptions(strict=True)) as pilot:
            text = drawn(pilot)
            assert "of 6" not in text and "transcript 6" not in text
            assert "transcript 5 of 5" in text

    @pytest.mark.slow
    async def test_boundaries_come_while_a_file_is_followed(self, tmp_path: Path) -> None:
        from tests.support.app_following import live

        path = tmp_path / "lab.jsonl"
        lines = rows_of(3).splitlines(keepends=True)
        path.write_text(lines[0])
        async with live(path, size=SMALL) as followed:
            assert boundaries(drawn(followed.pilot)) == []
            await followed.write(lines[1] + lines[2])
            shown = await followed.press("g")
            assert boundaries(shown)[0].startswith("transcript 1 of 3")


class TestPlaces:
    """The other places that show the transcripts of a file."""

    async def test_the_minimap_marks_where_each_begins(self, tmp_path: Path) -> None:
        async with running(written(tmp_path, 3), size=SMALL) as pilot:
            pane = view(pilot).widgets.transcript
            column = [pane.render_line(y).text[-1] for y in range(pane.view_height)]
            assert column.count("━") == 2

    @pytest.mark.slow
    async def test_the_minimap_marks_none_of_too_many(self, tmp_path: Path) -> None:
        async with running(written(tmp_path, 200), size=SMALL) as pilot:
            pane = view(pilot).widgets.transcript
            assert not any(pane.render_line(y).text.endswith("━") for y in range(pane.view_height))

    @pytest.mark.slow
    async def test_the_outline_names_the_first_one_too(self, tmp_path: Path) -> None:
        async with running(written(tmp_path, 3), size=ROOMY, keys=["T"]) as pilot:
            assert "transcript 1 · Hello." in drawn(pilot)

    @pytest.mark.slow
    async def test_a_long_name_leaves_room_for_the_number_in_the_title(self, tmp_path: Path) -> None:
        path = written(tmp_path, 3)
        long = path.rename(tmp_path / f"{'a-very-long-name-' * 8}.jsonl")
        for size in (SMALL, ROOMY):
            async with running(long, size=size) as pilot:
                assert "transcript 1 of 3" in drawn(pilot).splitlines()[0]


def written(folder: Path, count: int) -> Path:
    path = folder / "many.jsonl"
    line = '{"messages":[{"role":"user","content":"Hello."},{"role":"assistant","content":"Good day."}]}\n'
    path.write_text(line * count, "utf-8")
    return path
