"""Messages that grow over several records, and the records that end them."""

from __future__ import annotations

import pytest

from tests.support.agent_records import as_lines, kinds
from viewer.document.document import Document
from viewer.document.values import ShownMessage
from viewer.formats.opening import traits
from viewer.formats.tables.model import Container, Merge, Mode, RecordFormat, RecordRule, flag, has
from viewer.model.events import Closed, Found
from viewer.model.messages import Kind
from viewer.model.visibility import END_USER
from viewer.reading.bodies import read_body
from viewer.reading.parser import Parser
from viewer.sources.files import SpooledSource

GROWING = traits(
    RecordFormat(
        name="growing",
        title="Growing",
        container=Container.LINES,
        signatures=(),
        records=(
            RecordRule((has("note"),), Kind.NOTICE, role="system", body="note"),
            RecordRule((), Kind.SAID, role="user", body="text", merge=Merge(Mode.APPEND, done=flag("done"))),
        ),
    )
)


def texts(*lines: str) -> tuple[list[str], list[str]]:
    """Return the text of each message, and the codes of the diagnostics."""
    data = "\n".join(lines).encode()
    parser = Parser(GROWING)
    events = [*parser.feed(data), *parser.close()]
    pieces = [event.message.pieces for event in events if isinstance(event, Closed)]
    found = [event.code for event in events if isinstance(event, Found)]
    return [read_body(each, lambda start, end: data[start:end]).text for each in pieces], found


def test_the_last_record_ends_a_message_even_if_it_adds_nothing() -> None:
    assert texts('{"text":"a"}', '{"text":"","done":true}', '{"text":"b","done":true}') == (["a", "b"], [])


def test_another_record_ends_a_message_without_a_key() -> None:
    assert texts('{"text":"a"}', '{"note":"n"}', '{"text":"b","done":true}') == (["a", "n", "b"], [])


def test_the_end_of_the_input_cuts_a_message_off() -> None:
    assert texts('{"text":"a"}') == (["a"], ["E-STREAM-TRUNCATED"])


MARKED = (
    'Hi <tool_call>{"name": "f", "arguments": {"a": "SECRET_"}}</tool_call> bye',
    "<think>SECRET_</think>Hello",
    "SECRET_</think>\nHello",
    "Plain <b>text</b> with <|no|> marks.",
    '<tool_call>{"name": "f", "arguments": {}}</tool_call>',
)


def streamed(*texts: str) -> bytes:
    records = [{"model": "m", "message": {"role": "assistant", "content": text}, "done": False} for text in texts]
    return as_lines(*records[:-1], {**records[-1], "done": True})


@pytest.mark.slow
def test_marks_in_several_records_divide_a_text_like_marks_in_one() -> None:
    for text in MARKED:
        whole = kinds(streamed(text), "ollama")
        for cut in range(1, len(text)):
            assert kinds(streamed(text[:cut], text[cut:]), "ollama") == whole, (text, cut)
        assert kinds(streamed(*text), "ollama") == whole


def test_a_text_with_marks_shows_nothing_hidden_while_it_arrives() -> None:
    for text in MARKED[:2]:
        data = streamed(*(text[at : at + 3] for at in range(0, len(text), 3)))
        for end in range(0, len(data), 97):
            document = Document(SpooledSource("part", iter([data[:end]]), False), "ollama").load()
            seen = [item.body for item in document.project(END_USER).items() if isinstance(item, ShownMessage)]
            assert not any("SECRET_" in body for body in seen), (text, end)
