"""Flags that hide text in one format hide it in every other format."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.reading import read, visible_texts
from tests.support.record_checks import shown_in
from tests.support.samples import samples
from viewer.formats import hiding, tables
from viewer.formats.tables.model import PartRule, RecordFormat, RecordRule
from viewer.model.messages import Kind

OF_ANSWERS = {"is_error", "done", "stop", "partial", "error", "is_audio"}
"""Flags of results, streams, and recordings. By themselves, they hide nothing."""
OF_AUTHORS = {"is_user", "isCreatedByUser"}
"""Flags that distinguish the user from the assistant."""
WITHOUT_OBJECTS = {"otel", "rows"}
"""Formats with text that is not inside an object: attributes with numbers in their names, and pairs of strings."""


def table_formats() -> dict[str, RecordFormat]:
    modules = [
        importlib.import_module(f"{tables.__name__}.{each.name}") for each in pkgutil.iter_modules(tables.__path__)
    ]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, RecordFormat)]
    return {format.name: format for format in found}


TABLES = table_formats()


def flags(rules: Sequence[RecordRule | PartRule], seen: set[int] | None = None) -> Iterator[tuple[str, bool]]:
    """Yield the flags in the conditions of rules, and whether the flagged text is said. Many rules share others."""
    seen = set() if seen is None else seen
    for rule in rules:
        if id(rule) in seen:
            continue
        seen.add(id(rule))
        yield from flags(rule.also, seen)
        if isinstance(rule, RecordRule):
            yield from flags(rule.rules, seen)
            yield from flags(rule.parts, seen)
        for when in rule.when:
            if when.true is not None and rule.kind is not None:
                yield when.path.rpartition(".")[2], when.true is (rule.kind is Kind.SAID)


def test_every_flag_of_a_table_hides_everywhere() -> None:
    found = {name for format in TABLES.values() for name, says in flags(format.records) if not says}
    known = hiding.FLAGS | hiding.WORDS | hiding.SHOWN | OF_ANSWERS | OF_AUTHORS
    assert found <= known
    assert {"isMeta", "synthetic", "is_demo"} <= found


@pytest.mark.slow
@each("name", [*sorted(TABLES.keys() - WITHOUT_OBJECTS), "json"])
def test_a_flag_on_every_object_hides_everything(name: str) -> None:
    sample = max(samples(f"valid/{name}"), key=lambda sample: len(sample.seen.get("seen", [])))
    assert shown_in(read(sample.text, name))
    flagged = re.sub(rb'\{(?=\s*(\\?)")', rb'{\1"isHidden\1":true,', sample.text)
    assert shown_in(read(flagged, name)) == []


def hides(member: dict[str, Any]) -> bool:
    """Return whether a member hides a message and a text part, in two readers."""
    message = {"role": "user", "content": "Hi.", **member}
    parts = {"role": "user", "content": [{"type": "text", "text": "Hi.", **member}]}
    found = set()
    for record in (message, parts, {"model": "m", "system": "", "messages": [parts]}):
        format = "anthropic" if "messages" in record else "json"
        found.add(not visible_texts(json.dumps(record).encode(), format))
    assert len(found) == 1, member
    return found.pop()


def test_each_flag_hides_a_message_and_a_part() -> None:
    for name in sorted(hiding.FLAGS | hiding.WORDS | hiding.SHOWN)[::97]:
        hidden, open = (False, True) if name in hiding.SHOWN else (True, False)
        for value, is_hidden in ((hidden, True), (open, False), (None, False), (int(hidden), True), (int(open), False)):
            assert hides({name: value}) == is_hidden, (name, value)


def test_flags_have_all_usual_spellings() -> None:
    for names in (hiding.FLAGS, hiding.SHOWN, hiding.CONCEALING):
        for name in (name for name in names if name.islower() and "-" not in name):
            first, *rest = name.split("_")
            assert {name.replace("_", "-"), first + "".join(map(str.capitalize, rest))} <= names
    for value, is_hidden in (
        ("true", True),
        ("1", True),
        ("Yes", True),
        ("false", False),
        ("0", False),
        ("off", False),
    ):
        assert hides({"is_hidden": value}) == hides({"hidden": value}) == is_hidden, value
        assert hides({"synthetic": value}) == is_hidden, value
        assert hides({"visible": value}) != is_hidden, value
    assert hides({"isHiddenFromUI": True}) is hides({"is-hidden": True}) is hides({"hide-from-user": "on"}) is True
    for name in ("isThinkingBlock", "visible_to_llm_only", "toolGenerated", "not-for-user", "excludedFromUi", "HIDDEN"):
        assert hides({name: True}) and not hides({name: False}), name
    for name in ("customerVisible", "should_render", "user-facing", "shown_in_transcript", "isPublic", "sentToUser"):
        assert hides({name: False}) and not hides({name: True}), name
    assert hides({"is_meta": "maybe"}) is hides({"hidden": ["user"]}) is hides({"visible": "maybe"}) is True
    assert hides({"redacted": "maybe"}) is hides({"hidden": ""}) is hides({"hidden": []}) is False


def test_an_author_other_than_the_speaker_hides() -> None:
    for name in ("source", "sender", "author", "origin", "from", "senderType", "author-role", "message_source"):
        for word in ("system", "developer", "tool", "internal", "System", "tool_result", "system-prompt", "functions"):
            assert hides({name: word}), (name, word)
        for other in ("user", "assistant", "human", "model", "Anna", "systematic", "toolbench", "https://tool.org", ""):
            assert not hides({name: other}), (name, other)
        assert not hides({name: 1}) and hides({name: {"role": "tool"}}) and hides({"metadata": {name: "system"}})
        assert not hides({name: {"role": "user"}}) and not hides({name: {"type": "url", "url": "https://tool.org"}})


def test_contents_tags_and_ranges_hide() -> None:
    hiding_members: list[dict[str, Any]] = [
        *[{"content_type": word} for word in ("thoughts", "reasoning_recap", "execution_output", "tether_quote")],
        *[{name: "reasoning"} for name in ("contentType", "content-kind")],
        *[{"visibility": value} for value in ({"user": False}, {"level": "internal"}, {"hidden": 1}, {"to": "model"})],
        *[{"metadata": value} for value in ({"content_type": "thoughts"}, {"tags": ["hidden"]}, {"ui": {"hide": 1}})],
        *[{"tags": value} for value in (["a", "hidden"], "Internal", "do not display")],
        *[{"display": value} for value in ("none", 0, "never", {"visible": False})],
        *[{"tags": value} for value in ("a, hidden", [{"name": "internal"}], {"hidden": True})],
        *[{"visibility": value} for value in ("self", "admin", "not visible", False, 0)],
        *[{name: "internal"} for name in ("purpose", "access_level", "presentation", "audiences")],
        *[{"metadata": value} for value in ([{"hidden": True}], {"display": {"show": False}})],
        *[{name: "analysis"} for name in ("Channel", "output_channel", "msg_type", "stepType", "subtype")],
        *[{name: "sub-agent"} for name in ("agent_type", "createdBy", "source")],
        *[{name: True} for name in ("draft", "isDraft", "deleted", "is-deleted", "spam", "retracted", "unsent")],
        *[{name: "2026-01-02"} for name in ("deletedAt", "removed_at")],
        *[{"status": word} for word in ("draft", "Deleted")],
        *[
            {name: "2026-01-02"}
            for name in ("deletedOn", "deleted_date", "dateDeleted", "removedBy", "hidden_at", "deleted")
        ],
        *[{name: 1767312000} for name in ("deleted_ts", "unsentAt", "removed", "deletionTime")],
        *[{name: True} for name in ("softDeleted", "tombstone", "_deleted", "is_withdrawn")],
        *[{"metadata": {name: "python"}} for name in ("recipient", "to", "recipients", "addressee")],
        *[{"metadata": {name: "analysis"}} for name in ("channel", "phase", "intent", "type", "kind", "message_type")],
        *[{"extra": value} for value in ({"role": "tool"}, {"status": "hidden"}, {"deletedOn": 1}, {"to": ["shell"]})],
        *[{"recipients": value} for value in ("functions.f", ["python"], [{"role": "tool"}, "web"])],
        *[{name: "python"} for name in ("addressed_to", "recipientName", "Recipient")],
        {"attributes": ["hidden"]},
        {"audience": {"user": False}},
        {"phase": "planning"},
        {"state": "thinking"},
        {"subagent_id": "a"},
        {"visible_to": [{"role": "assistant"}]},
        {"private_to": "model"},
        {"customMetadata": {"flags": ["hidden"]}},
        {"options": {"meta": {"visible": False}}},
    ]
    open_members: list[dict[str, Any]] = [
        *[{"content_type": word} for word in ("text", "text/plain", "multimodal_text", "markdown")],
        *[{"visibility": value} for value in ({"user": True}, {"level": "public"}, {})],
        *[{"tags": value} for value in (["reasoning", "tools", "private"], {"hidden": "no"}, True, "v1")],
        *[{"display": value} for value in ("inline", 1)],
        *[{"visibility": value} for value in ("visible", "notable", True)],
        *[{name: "public"} for name in ("purpose", "access_level", "presentation", "audiences")],
        *[{name: "deep analysis"} for name in ("thinking", "summary", "title", "topic")],
        *[{name: "planner"} for name in ("agent_type", "createdBy", "source", "subtype")],
        *[{name: value} for name in ("draft", "deleted", "deletedAt", "is_spam") for value in (False, None, "")],
        *[{"status": word} for word in ("drafting", "completed")],
        *[{"recipients": value} for value in ([], ["user", "python"], "all", ["+1 555 0100", "ann@example.org"])],
        *[{"metadata": {"channel": value}} for value in ("web", "final", None)],
        *[{"metadata": {"recipient": value}} for value in ("user", "all", "ann@example.org", ["assistant"])],
        *[{"metadata": value} for value in ({"role": "developer"}, {"type": "text"}, {"status": "completed"})],
        *[{"metadata": value} for value in ({"intent": "plan_trip"}, {"phase": "planning"}, {"to": "Paris"})],
        *[{name: value} for name in ("deletedOn", "removed", "hidden_by") for value in (None, "", False, 0)],
        {"draft": "v2"},
        {"metadata": {"reasoning": True, "thinking": "on"}},
        {"metadata": [{"hidden": False}, "hidden"]},
        {"public": True},
        {"subagent_id": ""},
        {"visible_to": [{"role": "user"}]},
        {"metadata": {"ui": {"hidden": 0}}},
        {"options": {"a": {"hidden": 1}}},
    ]
    assert [member for member in hiding_members if not hides(member)] == []
    assert [member for member in open_members if hides(member)] == []


def test_facts_about_a_whole_conversation_hide_no_message() -> None:
    pairs = [{"from": "human", "value": "Hi."}]
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({"synthetic": True, "private": True, "redacted": True, "source": "internal", "tags": ["hidden"]}, ["Hi."]),
        ({"visibility": "private", "stage": "reasoning", "subtype": "function_calling", "scope": "private"}, ["Hi."]),
        ({"metadata": {"is_synthetic": True, "visibility": "private"}, "is_hidden": 0, "ephemeral": True}, ["Hi."]),
        ({"draft": True, "isDeleted": True, "deleted_at": "2026-01-02", "spam": True, "to": "tool"}, ["Hi."]),
        ({"hidden": True}, []),
        ({"visibility": "internal"}, []),
        ({"metadata": {"hidden_from_user": True}}, []),
        ({"isSidechain": "yes"}, []),
    ]
    for facts, bodies in cases:
        record = {"conversations": pairs, "id": "a", **facts}
        assert shown_in(read(json.dumps(record), "rows")) == bodies, facts
        record = {"messages": [{"role": "user", "content": "Hi."}], "id": "a", **facts}
        assert shown_in(read(json.dumps(record), "json")) == bodies, facts
        plain = json.dumps({**record, **dict.fromkeys(facts)})
        lines = "\n".join([plain, plain, plain, json.dumps(record)])
        assert shown_in(read(lines, "json")) == ["Hi.", "Hi.", "Hi.", *bodies], facts
    row = {"instruction": "Hi.", "output": "Bye."}
    rows: list[tuple[dict[str, Any], bool]] = [
        *(({name: True}, True) for name in ("synthetic", "draft", "deleted")),
        *(({"status": word}, True) for word in ("draft", "deleted", "private", "thinking")),
        *((member, False) for member in ({"hidden": True}, {"source": "system"}, {"status": "hidden"})),
    ]
    for facts, is_shown in rows:
        assert bool(shown_in(read(json.dumps({**row, **facts}), "rows"))) is is_shown, facts
    request = {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Hi."}], "synthetic": True}
    assert shown_in(read(json.dumps([request]), "pydantic-ai")) == []


def test_flags_in_metadata_and_other_audiences_hide() -> None:
    hiding_values: list[dict[str, object]] = [
        {"metadata": {"userVisible": False}},
        {"metadata": {"is_visually_hidden_from_conversation": True}},
        {"metadata": {"hidden": True}},
        {"metadata": {"visibility": "internal"}},
        {"visibility": "hidden"},
        {"message_type": "reasoning_message"},
        {"subtype": "thought"},
        {"annotations": {"audience": ["assistant"]}},
        {"audience": ["assistant"]},
        {"audience": "internal"},
        {"additional_kwargs": {"hidden": True}},
        {"display": False},
        {"parent_tool_use_id": "toolu_1"},
        {"parentToolCallId": 1},
        {"status": "hidden"},
        {"state": "Internal"},
        {"for": "model"},
        {"for": ["assistant"]},
        {"visible_to": ["model", "tools"]},
        {"show": False},
        {"stage": "analysis"},
        {"phase": "thinking"},
        {"message_kind": "thought"},
        {"metadata": {"kind": "compaction", "model": "m"}},
        {"displayRole": "system"},
        {"meta": {"hidden": True}},
        {"extra": {"visible": False}},
        {"flags": ["edited", "hidden"]},
    ]
    open_values: list[dict[str, object]] = [
        {"metadata": {"userVisible": True, "summary": True}},
        {"metadata": "hidden"},
        {"annotations": {"audience": ["user", "assistant"]}},
        {"annotations": []},
        {"audience": "children"},
        {"display": "block"},
        {"status": "completed"},
        {"state": {"hidden": 1}},
        {"for": "everyone"},
        {"for": ["user", "model"]},
        {"show": "all"},
        {"stage": "production"},
        {"displayRole": "user"},
        {"metadata": {"kind": "compact"}},
        {"meta": True},
        {"extra": {"hidden": False}},
        {"flags": ["edited"]},
        {"parent_tool_use_id": None},
        {"parentToolUseId": ""},
        {"mode": "reasoning"},
    ]
    for values, bodies in ((hiding_values, []), (open_values, ["Hi."])):
        for value in values:
            message = {"role": "user", "content": "Hi.", **value}
            parts = {"role": "user", "content": [{"type": "text", "text": "Hi.", **value}]}
            for record in (message, parts):
                assert shown_in(read(json.dumps(record), "json")) == bodies, record
                request = {"model": "m", "system": "", "messages": [record]}
                assert shown_in(read(json.dumps(request), "anthropic")) == bodies, record
    for thought in (None, "", "Hm.", "yes", True, 0):
        message = {"role": "assistant", "content": "Hi.", "isHidden": True, "thought": thought}
        assert shown_in(read(json.dumps(message), "json")) == [], thought


def test_a_phase_that_a_table_does_not_read_hides() -> None:
    for phase, bodies in (("commentary", []), ("analysis", []), ("final_answer", ["Hi."]), ("train", ["Hi."])):
        record = {"prompt": [{"role": "user", "content": "Hi.", "phase": phase}], "completion": []}
        assert shown_in(read(json.dumps(record), "rows")) == bodies, phase
        assert shown_in(read(json.dumps(record["prompt"]), "json")) == bodies, phase


def test_a_part_for_another_channel_or_a_message_of_the_system_is_hidden() -> None:
    for value in (
        *({"channel": "analysis"}, {"channel": "thinking"}, {"phase": "commentary"}),
        *({"recipient": "python"}, {"to": "python"}, {"intent": "debug"}, {"intent": ["debug"]}),
    ):
        part = {"role": "assistant", "content": [{"type": "text", "text": "Hi.", **value}]}
        assert shown_in(read(json.dumps(part), "json")) == [], value
    for type in ("system", "developer"):
        for role in ("user", "assistant"):
            assert shown_in(read(json.dumps({"role": role, "type": type, "content": "Hi."}), "json")) == []


def test_a_flag_on_a_choice_or_on_an_object_around_it_hides_the_answer() -> None:
    asked, said = [{"role": "user", "content": "Hi."}], {"role": "assistant", "content": "No."}
    ids = {"id": "1", "traceId": "t", "type": "GENERATION", "startTime": "2026-01-02T03:04:05Z"}
    for flag in ({}, {"hidden": True}, {"internal": True}, {"metadata": {"channel": "analysis"}}, {"deletedOn": 1}):
        choices = [{"index": 0, "message": said, **flag}]
        chunks = [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said, **flag}]}]
        inner = {"content": {"role": "model", "parts": [{"text": "No."}]}, **flag}
        records: list[tuple[str, Any, int]] = [
            ("json", {"choices": choices}, 1),
            ("json", {"request": {"messages": asked}, "response": {"choices": choices}}, 2),
            ("langfuse", {**ids, "input": asked, "output": {"choices": choices}}, 2),
            ("langfuse", {**ids, "input": asked, "output": {"candidates": [inner]}}, 2),
            ("call-log", {"request_body": {"messages": asked}, "response_body": {"choices": choices}}, 2),
            ("call-log", {"request_body": {"messages": asked}, "response_body": chunks}, 2),
            ("gemini", {"candidates": [inner]}, 1),
            ("inspect", {"eval": {}, "samples": [{"id": 1, "messages": [], "output": {"choices": choices}}]}, 1),
        ]
        for format, record, count in records:
            assert len(shown_in(read(json.dumps(record), format))) == count - bool(flag), (format, flag)


def test_a_flag_after_messages_of_the_same_shape_hides() -> None:
    for flag in (
        {"status": "hidden"},
        {"for": "model"},
        {"meta": {"hidden": True}},
        {"extra": {"channel": "analysis"}},
    ):
        name, value = next(iter(flag.items()))
        plain = {"role": "user", "content": "Hi.", name: {} if isinstance(value, dict) else "open"}
        messages = [plain] * 6 + [{"role": "user", "content": "No.", **flag}] + [plain] * 2
        assert shown_in(read(json.dumps(messages), "json")) == ["Hi."] * 8, flag
        assert shown_in(read("\n".join(map(json.dumps, messages)), "json")) == ["Hi."] * 8, flag


@each("name", [*sorted(TABLES.keys() - WITHOUT_OBJECTS), "json"], quick=6, batch=64)
def test_a_kind_of_thought_or_a_tool_as_recipient_on_every_object_hides_everything(name: str) -> None:
    for member, value in (("part_kind", "thinking"), ("recipient", "functions.search"), ("intent", "debug")):
        pattern = rb'"(?:part_)?kind\\?"' if member == "part_kind" else member.encode()
        found = [sample for sample in samples(f"valid/{name}") if not re.search(pattern, sample.text)]
        if not found:
            continue
        sample = max(found, key=lambda sample: len(sample.seen.get("seen", [])))
        added = rb"{\1\"%s\1\":\1\"%s\1\"," % (member.encode(), value.encode())
        assert shown_in(read(re.sub(rb'\{(?=\s*(\\?)")', added, sample.text), name)) == [], member


def test_a_type_that_is_not_a_word_or_is_capitalized_differently_hides() -> None:
    odd: list[Any] = ["REASONING", "Tool_Use", True, {"kind": "message"}, ["message"]]
    others: list[dict[str, Any]] = [{"Type": "thinking"}, {"_type": "system"}, {"KIND": "tool_call"}]
    for member in (*({"type": value} for value in odd), *others):
        message: dict[str, Any] = {"role": "assistant", "content": "Hi.", **member}
        assert shown_in(read(json.dumps(message), "json")) == [], member
        row = {"prompt": [{**message, "role": "user"}], "completion": []}
        assert shown_in(read(json.dumps(row), "rows")) == [], member
    for value in ("message", "Message", "", 1, None):
        message = {"role": "assistant", "content": "Hi.", "type": value}
        assert shown_in(read(json.dumps(message), "json")) == ["Hi."], value


def test_a_message_inside_another_object_hides_by_its_own_members() -> None:
    said = {"role": "user", "content": "Hi."}
    others: list[dict[str, Any]] = [
        *({"role": role} for role in ("system", "tool", "Developer")),
        *({"type": type} for type in ("tool_result", "thinking", "scratchpad", "inner_monologue")),
        *({"source": "system"}, {"hidden": True}, {"phase": "analysis"}),
    ]
    for format in ("json", "cursor"):
        for members, bodies in (({}, ["Hi."]), ({"type": "message"}, ["Hi."]), *((other, []) for other in others)):
            record = {"role": "user", "message": {**said, **members}}
            assert shown_in(read(json.dumps(record), format)) == bodies, (format, members)


def test_every_value_of_a_repeated_member_counts() -> None:
    for members in (
        *('"phase":"commentary","phase":"final_answer"', '"phase":"final_answer","phase":"commentary"'),
        *('"type":"reasoning","type":"message"', '"channel":"final","channel":"analysis"', '"phase":"a","phase":null'),
    ):
        item = '{"role":"assistant","content":[{"type":"output_text","text":"Hi."}],' + members + "}"
        if "final_answer" in members or "null" in members:
            response = '{"object":"response","output":[' + item.replace("{", '{"type":"message",', 1) + "]}"
            assert shown_in(read(response, "responses")) == [], members
        if "null" not in members:
            assert shown_in(read(item, "json")) == [], members


def test_a_header_with_a_repeated_member_still_says_that_the_rest_is_of_another_agent() -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}
    asked = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]}
    codex = json.dumps({"timestamp": "2026-01-02T03:04:05Z", "type": "response_item", "payload": asked})
    droid = json.dumps({"type": "message", "id": "m", "timestamp": "2026-01-02T03:04:05Z", "message": answer})
    for format, start, record in (
        ("codex", '{"timestamp":"2026-01-02T03:04:04Z",%s"payload":{"id":"s","thread_source":"subagent"}}', codex),
        ("droid", '{%s"id":"a","callingSessionId":"p","cwd":"/"}', droid),
        ("pi", '{%s"id":"a","systemPrompt":"Be brief.","task":"Look."}', droid.replace('"id": "m"', '"id":"m"')),
    ):
        type = {"codex": "session_meta", "droid": "session_start", "pi": "session_init"}[format]
        for others in ("", f'"type":"{type}",', '"type":7,', '"type":"text",'):
            for members in (f'"type":"{type}",{others}', f'{others}"type":"{type}",'):
                assert shown_in(read(f"{start % members}\n{record}\n", format)) == [], (format, members)
    assert shown_in(read(f"{codex}\n", "codex")) == shown_in(read(f"{droid}\n", "droid")) == ["Hi."]


def test_chunks_after_a_start_with_a_repeated_role_are_hidden() -> None:
    start = '{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","role":"system",%s"delta":"Be "}'
    more = '{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"brief."}'
    for others in ("", '"role":"assistant",', '"role":"system",', '"role":null,'):
        assert shown_in(read(f"{start % others}\n{more}\n", "ag-ui")) == [], others


def test_an_answer_to_an_unreadable_prompt_does_not_continue_another_conversation() -> None:
    def call(number: int, asked: str, answer: str) -> str:
        said = json.dumps({"role": "assistant", "content": answer})
        times = f'"startTime":"2026-01-02T03:04:0{number}.000Z","traceId":"t","type":"GENERATION"'
        return f'{{"id":"{number}",{times},"input":[{asked}],"output":{said}}}'

    user = '{"role":"user","content":"%s"}'
    first, answer = user % "Hi.", '{"role":"assistant","content":"Hello."}'
    calls = [call(1, first, "Hello."), call(2, f"{first},{answer},{user % 'And now?'}", "Bye.")]
    odd = call(3, '{"role":"user","role":"user","content":"Name this."}', "A title.")
    assert shown_in(read("\n".join([*calls, odd]), "langfuse")) == ["Hi.", "Hello.", "And now?", "Bye."]


def test_an_odd_extra_of_a_roleplay_message_hides_it() -> None:
    cases: list[tuple[Any, list[str]]] = [({}, ["Hi."]), (None, ["Hi."]), ("narrator", []), ([{}], [])]
    for extra, bodies in (*cases, ({"type": "narrator"}, [])):
        message = {"name": "Bot", "is_user": False, "is_system": False, "mes": "Hi.", "extra": extra}
        assert shown_in(read(json.dumps(message), "sillytavern")) == bodies, extra


def test_the_header_of_another_agent_needs_no_known_type() -> None:
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]}
    record = {"type": "message", "id": "m", "timestamp": "2026-01-02T03:04:05Z", "message": answer}
    headers: list[tuple[str, dict[str, Any]]] = [
        ("droid", {"id": "a", "callingSessionId": "p", "cwd": "/"}),
        ("pi", {"id": "a", "systemPrompt": "Be brief.", "task": "Look."}),
        ("pi", {"id": "a", "callingSessionId": "p", "cwd": "/"}),
        ("goose", {"id": "a", "parent_session_id": "p", "working_dir": None}),
    ]
    odd: list[Any] = [7, True, ["session_init"], {"a": 1}, "SESSION_INIT", None]
    for format, header in headers:
        for type in odd:
            lines = [json.dumps({"type": type, **header}), json.dumps(answer if format == "goose" else record)]
            assert shown_in(read("\n".join(lines), format)) == [], (format, type)


def test_an_error_or_an_object_that_cannot_be_read_is_not_shown() -> None:
    errors: list[tuple[Any, list[str]]] = [(False, ["Hi."]), (None, ["Hi."]), (True, []), ([True], []), (1, [])]
    for error, bodies in errors:
        message = {"id": "a", "role": "assistant", "content": "Hi.", "error": error, "timestamp": 1}
        chat = {"chat": {"history": {"currentId": "a", "messages": {"a": {**message, "parentId": None}}}}}
        assert shown_in(read(json.dumps([chat]), "open-webui")) == bodies, error
    for text, bodies in (("Which?", ["Which?"]), ('{"question": "Which?"}', ["Which?"]), ('{ons": ["No."]}', [])):
        ask = {"ts": 1, "type": "ask", "ask": "followup", "text": text}
        assert shown_in(read(json.dumps([ask]), "cline")) == bodies, text


def test_an_author_after_records_of_the_same_shape_hides_the_same_as_before() -> None:
    pairs = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Bye."}]
    asked = [{"part_kind": "user-prompt", "content": "Hi."}]
    records: list[tuple[str, dict[str, Any], int]] = [
        ("rows", {"conversations": pairs}, 2),
        ("rows", {"conversations": pairs * 2, "id": 1}, 4),
        ("rows", {"prompt": "Hi.", "completion": "Bye."}, 0),
        ("rows", {"prompt": [{"role": "user", "content": "Hi."}], "completion": "Bye."}, 1),
        ("pydantic-ai", {"kind": "request", "parts": asked}, 0),
    ]
    for format, record, left in records:
        every = len(shown_in(read(json.dumps({**record, "source": "a"}), format)))
        texts = [json.dumps({"source": f"set {number % 3}", **record}) for number in range(12)]
        last = json.dumps({"source": "system", **record})
        assert len(shown_in(read(last, format))) == left, record
        assert len(shown_in(read("\n".join([*texts, last, texts[0]]), format))) == 13 * every + left, record
