"""The output of `show -f`: nothing is ever taken back, and the final result equals that of `show`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.samples import Sample, samples
from tests.support.visibility_rows import ROWS, SECRET, Row
from tests.unit.document.test_live import ANSWER, CALL, HEAD, QUESTION, REPLY, Log
from viewer.document.document import open_document
from viewer.document.live import LiveChange
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.values import Boundary
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.render.conversation import TAKEN_BACK, Conversation, conversation_lines
from viewer.render.json_lines import LiveLines, projection_lines
from viewer.render.style import Style

STRICT = Audience(strict=True)
WIDTH = 60


class Written:
    """The output while a log grows. A restart begins a new page."""

    def __init__(self, log: Log, audience: Audience = END_USER, style: Style = Style()) -> None:  # noqa: B008
        self.log = log
        self.audience = audience
        self.style = style
        self.text = ""
        self._begin()

    def _begin(self) -> None:
        self.page = Conversation(self.log.document.project(self.audience), WIDTH, self.style)
        self.text = ""

    def write(self, text: str | bytes) -> str:
        """Write to the log and return the new output."""
        before = self.text
        if any(anew_of(self.log.write(text))):
            self._begin()
        self.text += "".join(self.page.grow())
        return self.text.removeprefix(before)

    def end(self) -> str:
        self.log.document.close()
        self.text += "".join(self.page.end())
        return self.text


def anew_of(changes: list[LiveChange]) -> list[bool]:
    return [change.restarted for change in changes]


def shown(path: Path, format: str | None, audience: Audience = END_USER, style: Style = Style()) -> str:  # noqa: B008
    """Return the output of `show`. A boundary lacks what is unknown while the input grows."""
    projection = open_document(str(path), format=format).project(audience)
    if len(projection.transcripts()) > 1:
        projection = Uncounted(projection.audience, projection._analysis, projection._places, projection._vault)
    return "".join(f"{line}\n" for line in conversation_lines(projection, WIDTH, style))


class Uncounted(Projection, frozen=True):
    """A projection that counts no transcripts."""

    def boundary(self, rows: Rows, label: int, *, grows: bool = False, before: int = 0) -> Boundary:
        return super().boundary(rows, label, grows=True, before=before)


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(Log(tmp_path / "run.log"))


class TestAsItComes:
    def test_the_text_of_an_answer(self, written: Written) -> None:
        assert written.write(HEAD + QUESTION).endswith("▌ User\n▌ Hi\n")
        assert written.write("<|start|>assistant<|channel|>final") == ""
        assert written.write("<|message|>") == "\n▌ Assistant\n"
        assert written.write("Take") == "▌ Tak"
        assert written.write(" the line\n") == "e the line"
        assert written.write("to") == "\n▌ t"
        assert written.write("<|retu") == ""
        assert written.write("rn|>") == "o\n"
        assert written.write(QUESTION).startswith("\n── turn 2 ─")

    def test_hidden_messages_are_counted_when_the_next_shown_one_begins(self, written: Written) -> None:
        written.write(HEAD + QUESTION)
        assert written.write(CALL + "{}<|call|>" + REPLY + "<|start|>assistant<|channel|>analysis<|message|>x") == ""
        assert written.write("<|end|><|start|>assistant<|channel|>final") == ""
        assert written.write("<|message|>") == "\n  ┄ 3 hidden ┄\n\n▌ Assistant\n"

    def test_hidden_messages_at_the_end_are_counted_at_the_end(self, written: Written) -> None:
        before = written.write(HEAD + QUESTION + CALL + "{}<|call|>" + REPLY)
        assert "hidden" not in before
        assert written.end().endswith("\n  ┄ 2 hidden ┄\n")

    def test_a_preamble_shows_when_it_is_closed(self, written: Written) -> None:
        written.write(HEAD)
        assert written.write("<|start|>assistant intent=preamble<|channel|>commentary<|message|>First I look.") == ""
        assert "▌ First I look.\n" in written.write("<|end|>")

    def test_a_message_that_breaks_off(self, written: Written) -> None:
        written.write(HEAD + QUESTION + ANSWER + "so far")
        assert "\n▌ so far\n  ┄ unfinished ┄\n✖ #2 The transcript is incomplete." in written.end()

    def test_a_message_that_is_cancelled(self, written: Written) -> None:
        written.write('{"type":"response.delta","message_id":"m1","delta":"so far "}\n')
        assert "▌ so far" in written.text
        assert written.write('{"type":"response.cancel","message_id":"m1"}\n') == " \n  ┄ cancelled ┄\n"

    def test_the_second_of_two_open_messages_waits(self, written: Written) -> None:
        for name in ("m1", "m2", "m1", "m2"):
            written.write(f'{{"type":"response.delta","message_id":"{name}","delta":"{name} text "}}\n')
        assert "m1 text m1 text" in written.text
        assert "m2" not in written.text
        written.write('{"type":"response.done","message_id":"m1"}\n')
        assert "m2 text m2 text" in written.text

    def test_on_a_terminal_rows_fit_and_the_last_word_waits(self, tmp_path: Path) -> None:
        written = Written(Log(tmp_path / "run.log"), style=Style(wrapped=True, color=True))
        written.write(HEAD + ANSWER)
        assert written.write("word " * 11).endswith("word word")
        assert written.write("longer than the row ").startswith(" word\n\x1b[1;32m▌ \x1b[0mlonger than")

    @pytest.mark.parametrize("audience", [STRICT, EVERYTHING], ids=["strict", "debug"])
    def test_pipes_get_whole_messages(self, tmp_path: Path, audience: Audience) -> None:
        written = Written(Log(tmp_path / "run.log"), audience)
        written.write(HEAD + QUESTION)
        assert written.write(ANSWER + "Take the line") == ""
        assert "Take the line\n" in written.write("<|return|>")

    def test_a_developer_sees_what_is_known_of_a_call_at_that_time(self, tmp_path: Path) -> None:
        written = Written(Log(tmp_path / "run.log"), EVERYTHING)
        written.write(HEAD + QUESTION)
        assert "pending" in written.write(CALL + "{}<|call|>")
        assert "↑#2 ok" in written.write(REPLY)


class TestThoughtsThatAreKnownTooLate:
    """A closing tag without an opening one: the text before it was a thought, but was written before that was known."""

    TEXT = "I think.</think>Yes, it is."

    def test_the_text_is_cut_there_with_a_note(self, written: Written) -> None:
        written.write(HEAD + QUESTION + ANSWER)
        assert written.write("I think.") == "▌ I think"
        assert written.write("</think>") == f"\n  ┄ {TAKEN_BACK} ┄\n"
        assert written.write("Yes, it is.") == ""
        new = written.write("<|return|>")
        assert new.startswith("▌ Yes, it is.\n✖ #2 ")
        assert "E-PERM-VISIBILITY/cot-in-final" in new

    def test_from_then_on_messages_of_this_reading_wait_for_their_end(self, written: Written) -> None:
        written.write(HEAD + QUESTION + ANSWER + "I think.")
        written.write("</think>Yes.<|return|>" + QUESTION)
        assert written.write(ANSWER + "I think.") == ""
        new = written.write("</think>No.<|return|>")
        assert "▌ No.\n" in new
        assert "think" not in new

    def test_nothing_of_it_is_written_at_once(self, written: Written) -> None:
        written.write(HEAD + QUESTION + ANSWER + self.TEXT)
        assert "think" not in written.text

    def test_a_strict_audience_never_sees_any_of_it(self, tmp_path: Path) -> None:
        written = Written(Log(tmp_path / "run.log"), STRICT)
        for character in HEAD + QUESTION + ANSWER + self.TEXT + "<|return|>":
            written.write(character)
        assert "think" not in written.end()
        assert "▌ Yes, it is.\n" in written.text


def late_notes(text: str) -> tuple[list[str], list[str]]:
    """Return the conversation and the problems, which may come later than in `show`."""
    lines = text.splitlines()
    is_note = [line.startswith(("✖", "⚠", "ℹ")) for line in lines]
    return [line for line, note in zip(lines, is_note, strict=True) if not note], sorted(
        line for line, note in zip(lines, is_note, strict=True) if note
    )


LATE = {"W-CALL-UNANSWERED", "E-TOOL-CANCELLED", "E-TOOL-TIMEOUT", "W-CALL-MIXED"}
"""Problems that are found only after their message, possibly after later messages were written."""


SAMPLES = [*samples("valid"), *(sample for sample in samples("broken") if not sample.is_compressed)]


class TestInTheEnd:
    @each(
        "sample, audience",
        [(sample, audience) for sample in SAMPLES for audience in (END_USER, STRICT)],
        ids=lambda case: f"{case[0].path.name} {case[1]}",
        quick=1020,
        test=120,
    )
    def test_it_is_what_show_prints(self, tmp_path: Path, sample: Sample, audience: Audience) -> None:
        text = sample.path.read_bytes()
        for step in (max(7, len(text) // 200), 1 << 30):
            log = tmp_path / f"run{step}.log"
            written = Written(Log(log, sample.asked), audience)
            for at in range(0, len(text), step):
                written.write(text[at : at + step])
            expected = shown(sample.path, sample.asked, audience)
            text_written = written.end()
            if any(code in expected for code in LATE):
                assert late_notes(text_written) == late_notes(expected)
            elif TAKEN_BACK in text_written:  # the marks of some templates end no message, so it may be at the end
                shown_again = text_written.rpartition(f"{TAKEN_BACK} ┄\n")[2]
                assert shown_again and without_branches(expected).endswith(without_branches(shown_again))
            else:
                assert without_branches(text_written) == without_branches(expected)

    @pytest.mark.slow
    @each(
        "sample, audience",
        [(sample, audience) for sample in SAMPLES for audience in (END_USER, STRICT, EVERYTHING)],
        ids=lambda case: f"{case[0].path.name} {case[1]}",
        quick=330,
        test=72,
    )
    def test_the_json_lines_are_those_of_show(self, tmp_path: Path, sample: Sample, audience: Audience) -> None:
        text = sample.path.read_bytes()
        log = Log(tmp_path / "run.log", sample.asked)
        lines: list[str] = []
        page = LiveLines(log.document.project(audience))
        step = max(50, len(text) // 100)
        for at in range(0, len(text), step):
            if any(anew_of(log.write(text[at : at + step]))):
                page, lines = LiveLines(log.document.project(audience)), []
            lines += page.grow()
        log.document.close()
        lines += page.end()
        projection = open_document(str(sample.path), format=sample.asked).project(audience)
        assert ordered(settled_calls(lines)) == ordered(list(projection_lines(projection)))


def without_branches(text: str) -> str:
    """Return the text without the lines around superseded branches, which output written earlier cannot know about."""
    return re.sub(r"── (?:rewound|continued) ─+\n\n", "", text)


def ordered(lines: list[str]) -> list[object]:
    """Return the transcripts, messages, and stray text in order, without details from later records, and all others
    sorted. Later problems may have been merged into one that was already written, so its end and count are left out."""
    values = [json.loads(line) for line in lines]
    for value in values:
        value.pop("superseded", None)
        if value["kind"] == "diagnostic":
            value["count"] = None
            value["span"] = value["span"] and value["span"][0]
    items = [value for value in values if value["kind"] in ("transcript", "message", "stray")]
    return [items, sorted(json.dumps(value) for value in values if value not in items)]


def settled_calls(lines: list[str]) -> list[str]:
    """Return the last line about each call."""
    newest: dict[object, str] = {}
    for place, line in enumerate(lines):
        value = json.loads(line)
        is_reply = value["kind"] == "call" and (value["call"] is None or value["state"] == "duplicate")
        key = (value["call"], value["reply"] if is_reply else None) if value["kind"] == "call" else place
        newest[key] = line
    return list(newest.values())


class TestOneByteAtATime:
    @each(
        "row, make",
        [(row, make) for row in ROWS for make in (Conversation, LiveLines)],
        ids=lambda case: f"{case[0].format}: {case[0].name} {case[1].__name__}",
        quick=72,
        test=16,
    )
    def test_no_hidden_byte_is_ever_written(
        self, tmp_path: Path, row: Row, make: Callable[[Projection], object]
    ) -> None:
        if row.shown or row.preambles:
            return
        log = Log(tmp_path / "run.log", row.format)
        pages = {audience: page_of(log, audience, make) for audience in (END_USER, STRICT)}
        for byte in row.text.encode():
            anew = any(anew_of(log.write(bytes([byte]))))
            for audience in pages:
                if anew:
                    pages[audience] = page_of(log, audience, make)
                text = "".join(pages[audience].grow())
                if row.name != "only the closing think tag" or audience is STRICT or make is LiveLines:
                    assert SECRET[:3] not in text


def page_of(log: Log, audience: Audience, make: Callable[[Projection], object]) -> Conversation | LiveLines:
    projection = log.document.project(audience)
    return LiveLines(projection) if make is LiveLines else Conversation(projection, WIDTH, Style())
