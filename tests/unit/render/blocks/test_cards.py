"""Cards of calls, and rows of other messages that the end user did not see."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.support.program import ROOT
from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.model.visibility import EVERYTHING, Audience, Reveal
from viewer.render.blocks.block import Block, BlockFacts, RowProblems
from viewer.render.blocks.json_rows import ALL_NODES
from viewer.render.page import BlockMaker
from viewer.render.style import ASCII, UNICODE, Glyphs, StyleRole
from viewer.render.width import cells

WIDTH = 80
DEBUG = Audience(frozenset({Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL}))
CALL = "<|start|>assistant to=functions.{} call_id={}<|channel|>commentary<|constrain|>json<|message|>{}<|call|>\n"
REPLY = "<|start|>tool name=functions.{} call_id={} to=assistant<|channel|>commentary<|message|>{}<|end|>\n"
USER = "<|start|>user<|message|>Now?<|end|>\n"
THOUGHT = "<|start|>assistant<|channel|>analysis<|message|>{}<|end|>\n"


class Page:
    """The blocks of the text."""

    def __init__(self, document: Document, audience: Audience = DEBUG, glyphs: Glyphs = UNICODE) -> None:
        self.projection: Projection = document.project(audience)
        self.rows: Rows = self.projection.rows()
        problems = self.projection.problems(self.rows).extend(self.rows.settled_number)
        self.facts = BlockFacts(self.projection.calls(), RowProblems(self.rows, problems))
        self.maker = BlockMaker(self.projection, self.rows, WIDTH, self.facts, glyphs)

    def block(self, number: int) -> Block:
        return self.maker.make(self.rows.row_of(number))

    def open(self, *numbers: int, depth: int = 0) -> Page:
        self.facts.folds |= dict.fromkeys(numbers, True)
        self.facts.depths |= dict.fromkeys(numbers, depth)
        return self

    def lines(self, numbers: Iterable[int]) -> list[str]:
        return [line for number in numbers for line in lines_of(self.block(number))]


def lines_of(block: Block) -> list[str]:
    return ["".join(part.text for part in line.parts) for line in block.lines]


def page(folder: Path, *texts: str, audience: Audience = DEBUG, glyphs: Glyphs = UNICODE) -> Page:
    path = folder / "a.ocml"
    path.write_text("version: 2.2\n" + "".join(texts), newline="")
    return Page(open_document(str(path)), audience, glyphs)


def tour(audience: Audience = DEBUG, glyphs: Glyphs = UNICODE) -> Page:
    return Page(open_document(str(ROOT / "samples" / "tour.ocml")), audience, glyphs)


def test_a_call_and_its_reply_are_one_line() -> None:
    assert tour().lines((12, 13, 14, 15)) == [
        "  ƒ get_weather  location=Osaka format=kelvin       ✖ failed          #12→13 ▸",
        "  ƒ get_weather  location=Osaka format=celsius      ✖ bad JSON        #14→15 ▸",
        "",
    ]


def test_an_open_card_shows_arguments_reply_and_problems_under_their_values() -> None:
    assert tour().open(12).lines((12, 13)) == [
        "  ƒ get_weather  location=Osaka format=kelvin       ✖ failed          #12→13 ▾",
        "  ├ location  Osaka",
        "  ├ format    kelvin",
        "  │           ~~~~~~  ✖ The value is not allowed for the argument.",
        "  └ reply     error  format must be celsius or fahrenheit",
    ]


def test_a_reply_after_other_messages_leaves_a_row_at_its_place() -> None:
    lines = tour().lines((6, 7, 8, 9))
    assert [line[:30].rstrip() for line in lines] == [
        "  ƒ get_weather  location=Toky",
        "  ƒ get_rain_chance  location=",
        "  ↑ reply of get_weather #9",
        "",
    ]
    assert (lines[0].endswith("  #6→9 ▸"), lines[1].endswith("  #7→8 ▸")) == (True, True)


def test_a_pairing_by_order_has_another_sign() -> None:
    assert "#29┄30" in tour().lines((29,))[0]


def test_each_state_has_a_glyph_and_a_word(tmp_path: Path) -> None:
    cases = {
        "✓ ok": REPLY.format("f", "c1", '{"ok":true,"content":1}'),
        "✖ failed": REPLY.format("f", "c1", '{"ok":false,"error":"no"}'),
        "✖ timeout": REPLY.format("f", "c1", '{"ok":false,"error":"E-TOOL-TIMEOUT"}'),
        "? no reply": USER,
        "⊘ cancelled": REPLY.format("f", "c1", '{"ok":false,"error":"E-TOOL-CANCELLED"}'),
    }
    for state, reply in cases.items():
        assert state in page(tmp_path, USER, CALL.format("f", "c1", '{"a":1}'), reply).lines((2,))[0], state


def test_thoughts_and_instructions_are_one_dim_line() -> None:
    shown = tour(EVERYTHING)
    system, developer, space = shown.lines((1, 2))[2:]
    assert system.startswith("  § system · You are a travel assistant")
    assert (developer.startswith("  § developer · # Instructions Be brief"), space) == (True, "")
    thought = shown.block(18).lines[0]
    assert lines_of(shown.block(18))[0].startswith("  ∴ thought · I know the area from guides only;")
    assert lines_of(shown.block(18))[0].endswith(" 225 B     #18 ▸")
    assert [part.look for part in thought.parts[1:3]] == [StyleRole.ANALYSIS, StyleRole.QUIET]
    assert lines_of(shown.block(23))[0].startswith("  ¶ commentary · No answer within")


def test_an_open_thought_is_italic_text_below_its_line(tmp_path: Path) -> None:
    shown = page(tmp_path, USER, THOUGHT.format("\n".join(f"line {number}" for number in range(30)))).open(2)
    block = shown.block(2)
    assert lines_of(block)[:2] == ["  ∴ thought" + " " * 52 + "229 B      #2 ▾", "    line 0"]
    assert block.lines[1].parts[-1].look is StyleRole.ASIDE
    assert lines_of(block)[-2:] == ["    ▸ 18 more lines", ""]
    assert lines_of(shown.open(2, depth=1).block(2))[-2] == "    line 29"


def test_rows_of_one_line_have_no_space_between_them(tmp_path: Path) -> None:
    texts = (
        USER,
        THOUGHT.format("a"),
        CALL.format("f", "c1", "{}"),
        REPLY.format("f", "c1", "{}"),
        THOUGHT.format("b"),
        USER,
    )
    lines = page(tmp_path, *texts).lines((2, 3, 4, 5))
    assert [line[2:3] for line in lines] == ["∴", "ƒ", "∴", ""]


def test_copies_point_into_the_bodies() -> None:
    block = tour().open(12).block(12)
    rows = [line.row for line in block.lines if line.row]
    assert [block.text[row.start : row.end] for row in rows] == [
        "Osaka",
        "kelvin",
        "format must be celsius or fahrenheit",
    ]
    assert block.bases == {12: 0, 13: len('{"location":"Osaka","format":"kelvin"}') + 1}
    assert block.line_of(block.bases[13] + 40) == len(block.lines) - 1


def test_arguments_that_are_not_json_are_lines_of_text(tmp_path: Path) -> None:
    patch = "\n".join(["*** Begin Patch", *(f"+line {number}" for number in range(40))])
    call = CALL.replace("<|constrain|>json", "").format("patch", "c1", patch)
    lines = page(tmp_path, USER, call, REPLY.format("patch", "c1", "Done")).open(2).lines((2,))
    assert lines[1:3] == ["  ├ text      *** Begin Patch", "  │           +line 0"]
    assert lines[-2:] == ["  │           ▸ 29 more lines · l unfolds it", "  └ reply     Done"]


def test_line_ends_of_windows_leave_no_mark(tmp_path: Path) -> None:
    call = CALL.format("f", "c1", '{"a":"one\\r\\ntwo"}')
    lines = page(tmp_path, USER, call, REPLY.format("f", "c1", "three\r\nfour")).open(2).lines((2,))
    assert [line.strip(" │") for line in lines[3:5]] == ["one", "two"]
    assert lines[-2].split() == ["└", "reply", "three"]
    assert lines[-1].split() == ["four"]


def test_a_folded_card_reads_only_the_beginning_of_its_arguments(tmp_path: Path) -> None:
    reply = json.dumps({"ok": True, "content": ["x" * 50] * 20_000})
    shown = page(tmp_path, USER, CALL.format("f", "c1", '{"a":1}'), REPLY.format("f", "c1", reply))
    assert "✓ ok" in shown.lines((2,))[0]
    opened = shown.open(2)
    assert lines_of(opened.block(2))[-2:] == ["    ├ ok        true", "    └ content   array, 20,000 items ▸"]
    assert lines_of(opened.open(2, depth=1).block(2))[-1] == "      └ ▸ 19,800 more"


@pytest.mark.slow
def test_every_line_fits_its_pane(tmp_path: Path) -> None:
    for width in (40, 60, 80, 100, 160, 300):
        for glyphs in (UNICODE, ASCII):
            shown = tour(EVERYTHING, glyphs).open(*range(1, 34), depth=ALL_NODES)
            maker = BlockMaker(shown.projection, shown.rows, width, shown.facts, glyphs)
            for row in range(len(shown.rows)):
                for line in maker.make(row).lines:
                    assert sum(cells(part.text) for part in line.parts) < width, (width, line)


@pytest.mark.parametrize("audience", [DEBUG, EVERYTHING], ids=["channels", "all"])
def test_a_row_in_a_card_is_drawn_by_its_call(audience: Audience) -> None:
    shown = tour(audience)
    row = shown.rows.row_of(13)
    assert shown.maker.drawn_row(row) == row - 1
    for number in (9, 12, 16, 18):
        assert shown.maker.drawn_row(shown.rows.row_of(number)) == shown.rows.row_of(number)


def test_a_longer_duration_leaves_the_state_in_its_column(tmp_path: Path) -> None:
    def record(number: int, role: str, second: int, part: Mapping[str, object]) -> str:
        time = f"2025-06-03T09:12:{second:02}Z"
        message = {"role": role, "content": [part]} | ({"id": f"m{number}"} if role == "assistant" else {})
        own = {"type": role, "uuid": f"u{number}-{role}", "sessionId": "s", "timestamp": time, "message": message}
        return json.dumps({"parentUuid": None, "isSidechain": False, "userType": "external", "version": "1"} | own)

    lines = [record(0, "user", 0, {"type": "text", "text": "Wait."})]
    for number, seconds in enumerate((9, 11), 1):
        lines.append(
            record(number, "assistant", 0, {"type": "tool_use", "id": f"t{number}", "name": "Wait", "input": {}})
        )
        reply = {"type": "tool_result", "tool_use_id": f"t{number}", "content": "Done"}
        lines.append(record(number, "user", seconds, reply))
    path = tmp_path / "wait.jsonl"
    path.write_text("\n".join(lines) + "\n")
    shown = [line for line in Page(open_document(str(path))).lines((2, 4)) if "✓" in line]
    assert [line.rpartition(" s ")[0].rpartition(" ")[2] for line in shown] == ["9.0", "11.0"]
    assert len({line.index("✓") for line in shown}) == 1, shown


def test_a_path_that_does_not_fit_loses_its_beginning(tmp_path: Path) -> None:
    path = "/data/ana/src/ledger/ledger/deeper/import_csv.py"
    short, long = (json.dumps({"path": path, "words": "x" * count}) for count in (1, 90))
    lines = page(
        tmp_path, USER, *(CALL.format("f", number, text) for number, text in enumerate((long, '{"p": "/a/b"}')))
    ).lines((2, 3))
    assert "  path=…/deeper/import_csv.py words=xxx" in lines[0]
    assert "p=/a/b" in lines[1]
    assert f"path={path}" not in page(tmp_path, USER, CALL.format("f", 0, short)).lines((2,))[0]
    ascii = page(tmp_path, USER, CALL.format("f", 0, long), glyphs=ASCII).lines((2,))[0]
    assert "path=.../deeper/import_csv.py" in ascii
