"""A growing document: its views while it grows, and changes of its file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.reading import describe
from tests.support.samples import KNOWN_TOO_LATE, Sample, samples
from tests.support.source_following import Clock
from tests.support.visibility_rows import ROWS, SECRET, Row
from viewer.document.document import Document, open_document
from viewer.document.live import LiveChange, LiveDocument
from viewer.document.values import ShownMessage
from viewer.errors import FileRewrittenError
from viewer.model.messages import Ending
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal
from viewer.sources.changes import Reason, SourceCondition
from viewer.sources.follow import FollowSource

HEAD = "version: 2.2\n"
QUESTION = "<|start|>user<|message|>Hi<|end|>\n"
ANSWER = "<|start|>assistant<|channel|>final<|message|>"
CALL = "<|start|>assistant to=functions.f call_id=c<|channel|>commentary<|constrain|>json<|message|>"
REPLY = '<|start|>tool name=functions.f call_id=c to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>'
NOT_KNOWN_BEFORE = {"only the closing think tag"}
OPENING_THOUGHT = re.compile(rb"<(?:think|thinking|reasoning)[> ]|<\|START_THINKING|\[THINK\]")
CLOSING_THOUGHT = re.compile(rb"</(?:think|thinking|reasoning)>|<\|END_THINKING|\[/THINK\]")


def begins_inside_a_thought(text: bytes) -> bool:
    """True if a thought closes that was never opened. Nobody can know about it before the closing mark."""
    closing, opening = CLOSING_THOUGHT.search(text), OPENING_THOUGHT.search(text)
    return closing is not None and (opening is None or closing.start() < opening.start())


"""Samples with text that only later text reveals to be a thought."""


class Log:
    """A file that is written to and followed."""

    def __init__(self, path: Path, format: str | None = None) -> None:
        self.path = path
        self.clock = Clock()
        path.touch()
        self.document = LiveDocument(FollowSource(str(path), clock=self.clock), format, clock=self.clock)

    def write(self, text: str | bytes) -> list[LiveChange]:
        with self.path.open("ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.steps()

    def steps(self) -> list[LiveChange]:
        """Return all steps until nothing is left."""
        self.clock.now += 0.001
        changes = [self.document.step()]
        while changes[-1].more:
            changes.append(self.document.step())
        return changes

    def shown(self, audience: Audience = END_USER) -> list[ShownMessage]:
        return [item for item in self.document.project(audience).items() if isinstance(item, ShownMessage)]

    def bodies(self, audience: Audience = END_USER) -> list[str]:
        return [message.body for message in self.shown(audience)]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "run.log")


def reading(document: Document) -> object:
    return describe(document._analysis, document._source.read(0, 1 << 30))


class TestGrowth:
    def test_the_text_of_an_open_message_grows(self, log: Log) -> None:
        log.write(HEAD + QUESTION + ANSWER)
        assert log.bodies() == ["Hi", ""]
        for so_far in ("It", "It is ", "It is 4."):
            log.write(so_far[len(log.bodies()[1]) :])
            assert log.bodies() == ["Hi", so_far]
        assert log.document.open_numbers
        log.write("<|return|>")
        assert log.bodies() == ["Hi", "It is 4."]
        assert not log.document.open_numbers

    def test_rows_made_before_grow(self, log: Log) -> None:
        log.write(HEAD + QUESTION + ANSWER + "a")
        projection = log.document.project(END_USER)
        rows = projection.rows()
        log.write("b<|end|>" + QUESTION)
        rows.extend()
        items = [projection.item(rows, row) for row in range(len(rows))]
        assert [item.body for item in items if isinstance(item, ShownMessage)] == ["Hi", "ab", "Hi"]

    def test_a_message_shows_once_its_header_is_complete(self, log: Log) -> None:
        log.write(HEAD)
        seen = []
        for character in "<|start|>assistant<|channel|>final<|message|>Yes":
            log.write(character)
            seen.append(len(log.shown()))
        assert seen == [0] * (len(seen) - 4) + [1] * 4

    def test_an_incomplete_character_waits(self, log: Log) -> None:
        log.write(HEAD + ANSWER)
        for part, so_far in ((b"\xf0\x9f", ""), (b"\x98", ""), (b"\x80", "😀"), (b"\xc3", "😀")):
            log.write(part)
            assert log.bodies() == [so_far]
        log.document.close()
        assert log.bodies() == ["😀\ufffd"]

    def test_deltas_of_several_messages(self, log: Log) -> None:
        for piece in ("a", "b", "c"):
            for name in ("m1", "m2"):
                log.write(f'{{"type":"response.delta","message_id":"{name}","delta":"{name}{piece} "}}\n')
        assert log.document.detection.format == "events"
        assert log.bodies() == ["m1a m1b m1c ", "m2a m2b m2c "]
        log.write('{"type":"response.cancel","message_id":"m1"}\n')
        assert [message.cancelled for message in log.shown()] == [True, False]

    def test_spans_of_an_open_message_reach_to_its_last_byte(self, log: Log) -> None:
        log.write(HEAD + ANSWER + "abc")
        message = log.shown(EVERYTHING)[0]
        assert message.span == (len(HEAD), len(HEAD + ANSWER) + 3)
        assert message.body_span == (len(HEAD + ANSWER), len(HEAD + ANSWER) + 3)

    def test_a_burst_is_read_in_slices(self, log: Log) -> None:
        changes = log.write(HEAD + QUESTION * 100_000)
        assert len(changes) > 3
        assert log.document.message_count == 100_000


THOUGHTS = [
    "<think>x</think>b",
    " \n<THINKING>x</thinking>b",
    "<think>x<think>x</think>x</think>b",
    "<think>x</think> <think>x</think>b",
    "b<|start_reason|>x<|end_reason|>b",
    "b<|start_reflect|>x<|start_reason|>x<|end_reflect|>b",
    "<think>x<|start_reason|>x</think>x<|end_reason|>b",
    "<think>x",
    "b<|start_introspect|>x",
]


class TestThoughts:
    @pytest.mark.share(quick=3)
    @pytest.mark.parametrize("text", THOUGHTS)
    def test_a_thought_and_its_marks_are_never_shown(self, log: Log, text: str) -> None:
        log.write(HEAD + ANSWER)
        for character in text:
            log.write(character)
            assert set(log.bodies()[0]) <= set("b \n")
        log.write("<|end|>")
        assert log.bodies()[0].strip() == "".join(c for c in re.sub("<[^>]*>", "", text) if c == "b")

    @pytest.mark.parametrize("text", ["a < b <", "a <thin", "<", "a <|star", "a </think"])
    def test_text_that_resembles_a_mark_waits_and_is_then_shown(self, log: Log, text: str) -> None:
        log.write(HEAD + ANSWER + text)
        assert text.startswith(log.bodies()[0])
        assert log.bodies()[0] != text
        log.write(".")
        assert log.bodies() == [text + "."]
        log.write(text)
        log.document.close()
        assert log.bodies() == [f"{text}.{text}"]

    def test_escaped_and_literal_marks_are_text(self, log: Log) -> None:
        log.write(HEAD + ANSWER + "<|literal|><think>a</think><|endliteral|> <<|start_reason|>b ")
        assert log.bodies() == ["<think>a</think> <|start_reason|>b "]

    def test_an_audience_of_thoughts_sees_them_as_they_arrive(self, log: Log) -> None:
        log.write(HEAD + ANSWER + "<think>so")
        assert log.bodies(Audience(frozenset({Reveal.ANALYSIS}))) == ["<think>so"]


class TestOneByteAtATime:
    @each("row", ROWS, ids=lambda row: f"{row.format}: {row.name}", quick=36, test=4)
    def test_no_hidden_byte_is_ever_shown(self, tmp_path: Path, row: Row) -> None:
        if row.shown or row.preambles or row.name in NOT_KNOWN_BEFORE:
            return
        log = Log(tmp_path / "run.log", row.format)
        for at in range(len(row.text.encode())):
            log.write(row.text.encode()[at : at + 1])
            for body in log.bodies():
                assert SECRET[:3] not in body, row.text.encode()[: at + 1]

    @each("sample", samples("valid"), ids=lambda sample: sample.name, quick=0, test=150)
    def test_no_sample_shows_more_than_its_final_view(self, tmp_path: Path, sample: Sample) -> None:
        text = sample.path.read_bytes()
        if len(text) > 3000 or sample.name in KNOWN_TOO_LATE:
            return
        log = Log(tmp_path / "run.log", sample.asked)
        whole = open_document(str(sample.path), format=sample.asked)
        settled = [item.body for item in whole.project(END_USER).items() if isinstance(item, ShownMessage)]
        for at in range(len(text)):
            log.write(text[at : at + 1])
            if log.document.detection.format == whole.detection.format and not begins_inside_a_thought(text):
                later = iter(settled)  # a message that may be a copy appears once that is decided
                for body in log.bodies():
                    assert any(final.startswith(body) for final in later), text[: at + 1]
        log.document.close()
        assert reading(log.document) == reading(whole)
        assert log.document.detection == whole.detection


class TestDetection:
    def test_the_first_bytes_reveal_nothing(self, log: Log) -> None:
        changes = log.write("{")
        assert changes[0].restarted
        assert changes[0].reset is None
        assert log.bodies(EVERYTHING) == []

    def test_new_evidence_restarts_the_reading(self, log: Log) -> None:
        log.write("<|start|>assistant<|message|>Hi<|end|>")
        assert log.document.detection.format == "openchatml-1.x"
        changes = log.write("<|start|>assistant<|channel|>analysis<|message|>secret")
        assert log.document.detection.format == "harmony"
        assert (changes[0].restarted, changes[0].reset) == (True, Reason.DETECTED)
        assert log.bodies(EVERYTHING) == ["Hi", "secret"]
        assert log.bodies() == ["Hi"]

    def test_the_format_is_settled_after_64_kb(self, log: Log) -> None:
        log.write("<|start|>assistant<|message|>" + "a" * 70_000 + "<|end|>")
        changes = log.write("<|start|>assistant<|channel|>analysis<|message|>secret")
        assert changes[0].reset is None
        assert log.document.detection.format == "openchatml-1.x"

    def test_a_chosen_format_is_settled_at_once(self, tmp_path: Path) -> None:
        log = Log(tmp_path / "run.log", "harmony")
        log.write("version: 2.2\n")
        log.path.write_bytes(b"")
        log.steps()
        log.write("version: 2.2\n")
        assert log.document.detection.format == "harmony"

    def test_utf_16_is_reported(self, log: Log) -> None:
        log.write((HEAD + QUESTION).encode("utf-16"))
        assert log.bodies() == ["Hi"]
        assert [(f.diagnostic.code, f.diagnostic.reason) for f in log.document.findings()] == [("W-ENCODING", "utf-16")]


class TestResets:
    def test_a_shorter_file_restarts_the_reading(self, log: Log) -> None:
        log.write(HEAD + QUESTION * 3)
        log.path.write_bytes((HEAD + QUESTION).encode())
        changes = log.steps()
        assert [change.reset for change in changes if change.restarted] == [Reason.TRUNCATED]
        assert [message.number for message in log.shown()] == [1]

    def test_an_earlier_projection_shows_nothing_of_a_new_reading(self, log: Log) -> None:
        text = HEAD + ANSWER + "seen " * 400_000 + "<|end|>"
        log.write(text)
        before = log.document.project(END_USER, withholds=False)
        log.document.rewrites.withhold(lambda: None)
        on_screen = log.document.project(END_USER)
        log.path.write_bytes(text.replace("final", "hidde").replace("seen", "hide").encode())
        for _ in range(2):
            assert next(iter(on_screen.items())).body == ""  # type: ignore[union-attr]
            with pytest.raises(FileRewrittenError):
                next(iter(before.items()))
            log.steps()

    def test_a_rotated_file_is_read_to_its_end_first(self, log: Log) -> None:
        log.write(HEAD + QUESTION + ANSWER + "so")
        with log.path.open("ab") as file:
            file.write(b" far")
        log.path.rename(log.path.with_name("old"))
        log.path.write_bytes((HEAD + QUESTION).encode())
        first = log.document.step()
        assert (first.grew, first.restarted, log.bodies()) == (True, False, ["Hi", "so far"])
        second = log.document.step()
        assert second.ended
        assert [message.ending for message in log.shown()] == ["end", "open"]
        assert not log.document.open_numbers
        assert not log.document.is_complete
        third = log.document.step()
        assert (third.restarted, third.reset) == (True, Reason.REPLACED)
        assert log.bodies() == ["Hi"]
        assert log.document.message_count == 1

    def test_replacing_an_empty_file_is_not_reported(self, log: Log) -> None:
        log.steps()
        log.path.unlink()
        log.path.write_bytes((HEAD + QUESTION).encode())
        assert [change.reset for change in log.steps()] == [None] * len(log.steps() + log.steps())
        assert log.bodies() == ["Hi"]


class TestEnds:
    def test_closing_leaves_open_messages_unfinished(self, log: Log) -> None:
        log.write(HEAD + ANSWER + "so far <thin")
        assert log.document.findings() == []
        log.document.close()
        log.document.close()
        assert log.document.is_complete
        assert log.bodies() == ["so far <thin"]
        assert log.document.index[1].ending is Ending.OPEN
        assert [finding.diagnostic.code for finding in log.document.findings()] == ["E-STREAM-TRUNCATED"]
        assert log.document.step() == LiveChange()

    def test_an_open_message_stalls_without_new_bytes(self, log: Log) -> None:
        log.write(HEAD + ANSWER)
        log.clock.now += 12
        assert 12 <= log.document.stalled_for < 13
        log.write("a")
        assert log.document.stalled_for < 1
        log.write("<|end|>")
        log.clock.now += 12
        assert log.document.stalled_for == 0

    def test_states_of_the_source_are_passed_on(self, log: Log) -> None:
        log.steps()
        log.path.unlink()
        states = [change.state.condition for change in log.steps() if change.state]
        assert states == [SourceCondition.WAITING]
        assert log.document.following.state.sentence == "the file was removed; waiting for it to reappear"


class TestDeadlines:
    def test_a_call_past_its_deadline_times_out_once(self, log: Log) -> None:
        log.write(HEAD + QUESTION + CALL + '{"deadline_ms": 2000}<|call|>')
        log.clock.now += 1.9
        assert not log.steps()[0].grew
        log.clock.now += 0.2
        assert log.steps()[0].grew
        log.clock.now += 9
        log.steps()
        assert [link.state.value for link in log.document.tally.links] == ["timeout"]
        found = [(f.diagnostic.code, f.diagnostic.reason, f.diagnostic.message) for f in log.document.findings()]
        assert found == [("E-TOOL-TIMEOUT", "overdue", 2)]

    def test_a_late_reply_does_not_undo_the_timeout(self, log: Log) -> None:
        log.write(HEAD + QUESTION + CALL + '{"deadline_ms": 10}<|call|>')
        log.clock.now += 1
        log.steps()
        log.write(REPLY)
        link = log.document.tally.links[0]
        assert (link.state.value, link.reply) == ("timeout", 3)

    def test_overdue_becomes_late_with_the_delay_and_stays_one_problem(self, log: Log) -> None:
        log.write(HEAD + QUESTION + CALL + '{"deadline_ms": 2000}<|call|>')
        log.clock.now += 2.5
        log.steps()
        before = log.document.version
        assert [found.diagnostic.reason for found in log.document.new_findings()] == ["overdue"]
        log.clock.now += 1
        log.write(REPLY)
        assert log.document.version != before
        assert [found.diagnostic.reason for found in log.document.new_findings()] == ["late"]
        (found,) = log.document.project(EVERYTHING).diagnostics()
        assert (found.code, found.reason, found.message) == ("E-TOOL-TIMEOUT", "late", 2)
        assert found.sentence == "The reply arrived 1.5 s after the deadline."
        assert log.document.tally.diagnostics("error") == 1

    @pytest.mark.parametrize(
        "reply", ['{"ok":false,"error":"E-TOOL-TIMEOUT"}', '{"ok":false,"error":{"code":"E-TOOL-TIMEOUT"}}']
    )
    def test_a_late_reply_that_reports_the_timeout_is_the_same_problem(self, log: Log, reply: str) -> None:
        log.write(HEAD + QUESTION + CALL + '{"deadline_ms": 2000}<|call|>')
        log.clock.now += 2.5
        log.steps()
        log.write(REPLY.replace('{"ok": true}', reply))
        assert [(each.diagnostic.code, each.diagnostic.reason) for each in log.document.findings()] == [
            ("E-TOOL-TIMEOUT", "late")
        ]
        assert log.document.tally.links[0].state.value == "timeout"

    def test_a_late_reply_between_two_polls_is_one_problem(self, log: Log) -> None:
        log.write(HEAD + QUESTION + CALL + '{"deadline_ms": 2000}<|call|>')
        log.clock.now += 2.5
        log.write(REPLY)
        assert [(each.diagnostic.code, each.diagnostic.reason) for each in log.document.findings()] == [
            ("E-TOOL-TIMEOUT", "late")
        ]

    def test_a_latency_is_observed_if_no_times_are_stated(self, log: Log) -> None:
        log.write(HEAD + QUESTION)
        log.write(CALL + "{}<|call|>")
        log.clock.now += 0.9
        log.write(REPLY)
        (link,) = log.document.tally.links
        assert (link.latency_ms, link.observed_ms) == (None, 901)

    def test_no_latency_is_observed_in_older_content(self, log: Log) -> None:
        log.write(HEAD + QUESTION + CALL + "{}<|call|>" + REPLY)
        log.write(
            QUESTION + CALL.replace("call_id=c", "call_id=d") + "{}<|call|>" + REPLY.replace("call_id=c", "call_id=d")
        )
        assert [link.observed_ms for link in log.document.tally.links] == [None, None]

    def test_a_reply_in_time_is_not_a_problem(self, log: Log) -> None:
        log.write(HEAD + QUESTION + CALL + '{"deadline_ms": 2000}<|call|>')
        log.write(REPLY)
        log.clock.now += 9
        log.steps()
        assert [link.state.value for link in log.document.tally.links] == ["ok"]
        assert log.document.findings() == []
