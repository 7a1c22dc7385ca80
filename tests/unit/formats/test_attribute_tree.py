"""Attributes of OpenTelemetry as a tree, and chains of calls that repeat each other."""

from __future__ import annotations

from viewer.formats.engine.attributes import attribute_tree
from viewer.formats.engine.chains import Conversation
from viewer.formats.engine.drafts import Draft, RecordReading
from viewer.formats.tables.model import RecordRule
from viewer.model.messages import Kind
from viewer.syntax.json_text import read_json

RULE = RecordRule(())


def test_typed_values_are_unwrapped() -> None:
    node = read_json(
        b'[{"key":"a.0.b","value":{"stringValue":"x"}},{"key":"n","value":{"intValue":"5"}},{"key":"t","value":{"boolValue":true}},'
        b'{"key":"l","value":{"arrayValue":{"values":[{"stringValue":"y"},{"kvlistValue":{"values":[{"key":"k.d","value":'
        b'{"doubleValue":1.5}}]}}]}}},{"key":"a.10.b","value":{"stringValue":"z"}},{"key":"a.2.b","value":{"stringValue":"w"}},'
        b'{"key":"p","value":{"stringValue":"own"}},{"key":"p.q","value":{"stringValue":"more"}}]'
    ).node
    assert node is not None
    assert attribute_tree(node).to_python() == {
        "a": [{"b": "x"}, {"b": "w"}, {"b": "z"}],
        "n": "5",
        "t": True,
        "l": ["y", {"k.d": 1.5}],
        "p": {"=": "own", "q": "more"},
    }


def test_names_of_every_shape_end_in_the_same_tree() -> None:
    for text in (
        b'{"a.b.c":1,"a.d":2}',
        b'{"a":{"d":2},"a.b.c":1}',
        b'{"a.b":{"c":1},"a":{"d":2}}',
        b'{"a":{"b":{"c":1},"d":2}}',
    ):
        node = read_json(text).node
        assert node is not None
        assert attribute_tree(node).to_python() == {"a": {"b": {"c": 1}, "d": 2}}, text


def call(*texts: str) -> RecordReading:
    """Return a call with these messages. Text from the user is in lower case."""
    roles = ("user" if text.islower() else "assistant" for text in texts)
    drafts = [Draft(Kind.SAID, role, [], (0, 0), RULE, text=text) for role, text in zip(roles, texts, strict=True)]
    return RecordReading(drafts=drafts)


def test_each_call_keeps_what_is_new_and_the_longest_chain_is_said() -> None:
    cases: list[tuple[list[list[str]], list[str]]] = [
        ([["a", "A"], ["a", "A", "b", "B"]], ["a", "A", "b", "B"]),
        ([["a", "A"], ["A", "b", "B"]], ["a", "A", "b", "B"]),
        ([["a", "A"], ["a", "B"]], ["a", "B"]),
        ([["a", "A"], ["c", "C"]], []),
        ([["c", "C"], ["a", "A"], ["a", "A", "b", "B"]], ["a", "A", "b", "B"]),
        ([["a", "A"], ["B"]], ["a", "A", "B"]),
        ([["a"], ["a", "A"], ["a", "A"]], ["a", "A"]),
    ]
    for calls, said in cases:
        readings = [call(*texts) for texts in calls]
        Conversation().add([(reading, None, "", False) for reading in readings], is_stated=False)
        drafts = [draft for reading in readings for draft in reading.drafts]
        assert [draft.text for draft in drafts if draft.kind is Kind.SAID] == said, calls


def test_a_stated_conversation_goes_on_in_the_next_trace() -> None:
    for is_stated, kind in ((True, Kind.SAID), (False, Kind.REPLAYED)):
        conversation, first, second = Conversation(), call("a", "A"), call("b", "B")
        for reading in (first, second):
            conversation.add([(reading, None, "", False)], is_stated=is_stated)
        assert [draft.kind for draft in (*first.drafts, *second.drafts)] == [Kind.SAID, Kind.SAID, kind, kind]
