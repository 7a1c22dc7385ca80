"""Flags that hide text in one format hide it in every other format."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Sequence

import pytest

from tests.support.cases import each
from tests.support.reading import read
from tests.support.record_checks import shown_in
from tests.support.samples import samples
from viewer.formats import hiding, tables
from viewer.formats.tables.model import PartRule, RecordFormat, RecordRule
from viewer.model.messages import Kind

OF_ANSWERS = {"is_error", "done", "stop", "partial", "error", "is_audio"}
"""Flags of results, streams, and recordings. By themselves, they hide nothing."""
OF_AUTHORS = {"is_user", "isCreatedByUser"}
"""Flags that tell the user from the assistant."""
WITHOUT_OBJECTS = {"otel", "rows"}
"""Formats with texts that are not inside an object: attributes with numbers in their names, and pairs of texts."""


def table_formats() -> dict[str, RecordFormat]:
    modules = [
        importlib.import_module(f"{tables.__name__}.{each.name}") for each in pkgutil.iter_modules(tables.__path__)
    ]
    found = [value for module in modules for value in vars(module).values() if isinstance(value, RecordFormat)]
    return {format.name: format for format in found}


TABLES = table_formats()


def flags(rules: Sequence[RecordRule | PartRule]) -> Iterator[tuple[str, bool]]:
    """Yield the flags in the conditions of rules, and whether the flagged text is said."""
    for rule in rules:
        yield from flags(rule.also)
        if isinstance(rule, RecordRule):
            yield from flags(rule.rules)
            yield from flags(rule.parts)
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


@each("name", sorted(hiding.FLAGS | hiding.WORDS | hiding.SHOWN), quick=4)
def test_each_flag_hides_a_message_and_a_part(name: str) -> None:
    hidden, open = (False, True) if name in hiding.SHOWN else (True, False)
    for value, bodies in ((hidden, []), (open, ["Hi."]), (None, ["Hi."]), (1, [])):
        message = {"role": "user", "content": "Hi.", name: value}
        parts = {"role": "user", "content": [{"type": "text", "text": "Hi.", name: value}]}
        for record in (message, parts, {"model": "m", "system": "", "messages": [parts]}):
            format = "anthropic" if "messages" in record else "json"
            assert shown_in(read(json.dumps(record), format)) == bodies, (record, format)


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
        {"meta": True},
        {"extra": {"hidden": False}},
        {"flags": ["edited"]},
        {"parent_tool_use_id": None},
        {"parentToolUseId": ""},
    ]
    for values, bodies in ((hiding_values, []), (open_values, ["Hi."])):
        for value in values:
            message = {"role": "user", "content": "Hi.", **value}
            parts = {"role": "user", "content": [{"type": "text", "text": "Hi.", **value}]}
            for record in (message, parts):
                assert shown_in(read(json.dumps(record), "json")) == bodies, record
                request = {"model": "m", "system": "", "messages": [record]}
                assert shown_in(read(json.dumps(request), "anthropic")) == bodies, record


def test_a_phase_that_a_table_does_not_read_hides() -> None:
    for phase, bodies in (("commentary", []), ("analysis", []), ("final_answer", ["Hi."]), ("train", ["Hi."])):
        record = {"prompt": [{"role": "user", "content": "Hi.", "phase": phase}], "completion": []}
        assert shown_in(read(json.dumps(record), "rows")) == bodies, phase
        assert shown_in(read(json.dumps(record["prompt"]), "json")) == bodies, phase


def test_a_part_for_another_channel_or_a_message_of_the_system_is_hidden() -> None:
    for value in ({"channel": "analysis"}, {"channel": "thinking"}, {"phase": "commentary"}):
        part = {"role": "assistant", "content": [{"type": "text", "text": "Hi.", **value}]}
        assert shown_in(read(json.dumps(part), "json")) == [], value
    for type in ("system", "developer"):
        for role in ("user", "assistant"):
            assert shown_in(read(json.dumps({"role": role, "type": type, "content": "Hi."}), "json")) == []


def test_a_flag_after_messages_of_the_same_shape_hides() -> None:
    for flag in ({"status": "hidden"}, {"for": "model"}, {"meta": {"hidden": True}}, {"extra": {"show": False}}):
        name, value = next(iter(flag.items()))
        plain = {"role": "user", "content": "Hi.", name: {} if isinstance(value, dict) else "open"}
        messages = [plain] * 6 + [{"role": "user", "content": "No.", **flag}] + [plain] * 2
        assert shown_in(read(json.dumps(messages), "json")) == ["Hi."] * 8, flag
        assert shown_in(read("\n".join(map(json.dumps, messages)), "json")) == ["Hi."] * 8, flag


@each("name", [*sorted(TABLES.keys() - WITHOUT_OBJECTS), "json"])
def test_a_kind_of_thought_on_every_object_hides_everything(name: str) -> None:
    found = [sample for sample in samples(f"valid/{name}") if not re.search(rb'"(?:part_)?kind\\?"', sample.text)]
    if not found:
        return
    sample = max(found, key=lambda sample: len(sample.seen.get("seen", [])))
    flagged = re.sub(rb'\{(?=\s*(\\?)")', rb'{\1"part_kind\1":\1"thinking\1",', sample.text)
    assert shown_in(read(flagged, name)) == []
