"""Messages that grow over records of a table: what ends them."""

from __future__ import annotations

from viewer.formats.opening import traits
from viewer.formats.tables.model import Container, Merge, Mode, RecordFormat, RecordRule, flag, has
from viewer.model.events import Closed, Found
from viewer.model.messages import Kind
from viewer.reading.bodies import read_body
from viewer.reading.parser import Parser

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
    """The texts of the messages, and the codes of what was found."""
    data = "\n".join(lines).encode()
    parser = Parser(GROWING)
    events = [*parser.feed(data), *parser.close()]
    pieces = [event.message.pieces for event in events if isinstance(event, Closed)]
    found = [event.code for event in events if isinstance(event, Found)]
    return [read_body(each, lambda start, end: data[start:end]).text for each in pieces], found


def test_the_last_record_ends_a_message_also_if_it_adds_nothing() -> None:
    assert texts('{"text":"a"}', '{"text":"","done":true}', '{"text":"b","done":true}') == (["a", "b"], [])


def test_another_record_ends_a_message_without_a_key() -> None:
    assert texts('{"text":"a"}', '{"note":"n"}', '{"text":"b","done":true}') == (["a", "n", "b"], [])


def test_the_end_of_the_input_cuts_a_message_off() -> None:
    assert texts('{"text":"a"}') == (["a"], ["E-STREAM-TRUNCATED"])
