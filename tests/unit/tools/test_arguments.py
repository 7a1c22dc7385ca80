"""Arguments checked against JSON Schemas: faults have positions, hostile schemas cost nothing, nothing is fetched."""

from __future__ import annotations

import json
import socket
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.declaring import declared, faults, tool
from viewer.syntax.json_text import exact_value, read_json
from viewer.tools.arguments import python_value
from viewer.tools.declarations import Declarations


@each(
    "schema, value, expected",
    [
        ({"minimum": 3}, "2", [("wrong-type", "2")]),
        ({"minimum": 3, "exclusiveMinimum": True}, "3", [("wrong-type", "3")]),
        ({"type": "string", "maxLength": 2}, '"abc"', [("wrong-type", '"abc"')]),
        ({"pattern": "^a+$"}, '"b"', [("wrong-type", '"b"')]),
        ({"pattern": "^(?=a)"}, '"b"', []),
        ({"type": "integer"}, "1.0", []),
        ({"type": "integer"}, "1.5", [("wrong-type", "1.5")]),
        ({"type": "integer"}, "true", [("wrong-type", "true")]),
        ({"enum": [1]}, "true", [("not-in-enum", "true")]),
        ({"enum": [1]}, "1.0", []),
        ({"enum": ["1"]}, "1", [("not-in-enum", "1")]),
        ({"const": "a"}, '"b"', [("not-in-enum", '"b"')]),
        ({"type": "string", "enum": ["a"]}, "5", [("wrong-type", "5")]),
        ({"type": "string", "enum": ["a"], "nullable": True}, "null", []),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "5", [("wrong-type", "5")]),
        ({"anyOf": [{"enum": ["a"]}, {"const": "b"}, {"type": "null"}]}, '"c"', [("not-in-enum", '"c"')]),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, "1", [("wrong-type", "1")]),
        (
            {"anyOf": [{"type": "string"}, {"type": "object", "required": ["q"]}]},
            "{}",
            [("missing-argument", "before }}")],
        ),
        ({"anyOf": [{"required": ["p"]}, {"required": ["q"]}]}, "{}", [("wrong-type", "{}")]),
        ({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}, "[1]", [("wrong-type", "1")]),
        ({"allOf": [{"required": ["p"]}, {"required": ["p"]}]}, "{}", [("missing-argument", "before }}")]),
        ({"not": {"type": "string"}}, '"a"', [("wrong-type", '"a"')]),
        ({"if": {"type": "object"}, "then": {"required": ["p"]}}, "{}", [("missing-argument", "before }}")]),
        ({"dependentRequired": {"p": ["q"]}}, '{"p":1}', [("missing-argument", "before }}")]),
        (
            {"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
            '{"xa":1,"y":2}',
            [("wrong-type", "1"), ("unknown-argument", '"y"')],
        ),
        ({"properties": {"p": {}}, "unevaluatedProperties": False}, '{"p":1,"y":2}', [("unknown-argument", '"y"')]),
        ({"propertyNames": {"maxLength": 1}}, '{"p":1,"yy":2}', [("unknown-argument", '"yy"')]),
        ({"additionalProperties": {"type": "string"}}, '{"p":1}', [("wrong-type", "1")]),
        ({"properties": {"p": False}}, '{"p":1}', [("wrong-type", "1")]),
        ({"items": [{"type": "string"}], "additionalItems": False}, '["a",1]', [("wrong-type", "1")]),
        ({"uniqueItems": True}, "[1,1]", [("wrong-type", "[1,1]")]),
        ({"type": "float"}, '"x"', [("wrong-type", '"x"')]),
        ({"type": "no such type", "minimum": "?", "required": True, "properties": []}, "1", []),
        ({"$ref": "#/$defs/Tree"}, '{"kids":[{"kids":[{"v":"x"}]}]}', [("wrong-type", '"x"')]),
        ({"$ref": "#/$defs/Tree", "required": ["v"]}, "{}", [("missing-argument", "before }}")]),
        ({"not": {"$ref": "#/nowhere"}}, "1", []),
        ({"oneOf": [{"$ref": "#/nowhere"}, {"type": "integer"}]}, "1", []),
    ],
)
def test_json_schema_faults_are_at_their_positions(schema: object, value: str, expected: list[tuple[str, str]]) -> None:
    tree = {"type": "object", "properties": {"kids": {"items": {"$ref": "#/$defs/Tree"}}, "v": {"type": "integer"}}}
    whole = {"type": "object", "properties": {"a": schema}, "$defs": {"Tree": tree}}
    assert faults(declared(tool(whole)), f'{{"a":{value}}}') == expected


YAML = """tools:
  - name: f
    parameters:
      type: object
      properties:
        plain: {enum: [1, "true", null, x]}
        whole: {type: integer, enum: [1, 2]}
        flag: {type: boolean, enum: ["true"]}
        none: {type: "null", enum: [~]}
        word: {type: string, enum: ["1"]}
        list: {enum: [[1]]}
        least: {minimum: "2.5", maximum: ["9"]}
        large: {maximum: "1e400", minimum: 99999999999999999999999999999999999999x}
"""


@each(
    "arguments, expected",
    [
        ('{"plain":1}', []),
        ('{"plain":"1"}', []),
        ('{"plain":true}', []),
        ('{"plain":null}', []),
        ('{"plain":"y"}', [("not-in-enum", '"y"')]),
        ('{"whole":2,"flag":true,"none":null,"word":"1"}', []),
        ('{"whole":3}', [("not-in-enum", "3")]),
        ('{"flag":false}', [("not-in-enum", "false")]),
        ('{"word":1}', [("wrong-type", "1")]),
        ('{"least":2}', [("wrong-type", "2")]),
        ('{"least":3,"large":5}', []),
    ],
)
def test_yaml_scalars_may_mean_what_they_look_like(arguments: str, expected: list[tuple[str, str]]) -> None:
    assert faults(declared(YAML), arguments) == expected


@pytest.mark.parametrize(
    ("reference", "value", "expected"),
    [
        ("#/$defs/list/1", '"x"', [("wrong-type", '"x"')]),
        ("#/$defs/list/9", '"x"', []),
        ("#/$defs/list/one", '"x"', []),
        ("#/$defs/with%20space", '"x"', [("wrong-type", '"x"')]),
        ("#/$defs/a~1b", '"x"', [("wrong-type", '"x"')]),
        ("#/$defs/list/1/deeper", '"x"', []),
    ],
)
def test_references_are_followed_through_names_and_lists(
    reference: str, value: str, expected: list[tuple[str, str]]
) -> None:
    whole = {"type": "integer"}
    kept = {"list": [{}, whole], "with space": whole, "a/b": whole}
    schema = {"type": "object", "properties": {"a": {"$ref": reference}}, "$defs": kept}
    assert faults(declared(tool(schema)), f'{{"a":{value}}}') == expected


def test_json_schema_is_open_unless_it_says_otherwise() -> None:
    assert faults(declared(tool({"type": "object", "properties": {}})), '{"a":1}') == []
    closed = declared(tool({"type": "object", "properties": {}, "additionalProperties": False}))
    assert faults(closed, '{"a":1,"deadline_ms":2}') == [("unknown-argument", '"a"')]
    own = declared(tool({"type": "object", "properties": {"deadline_ms": {"type": "string"}}}))
    assert faults(own, '{"deadline_ms":2}') == [("wrong-type", "2")]


def test_nothing_is_fetched_for_a_reference(tmp_path: Path) -> None:
    kept = tmp_path / "schema.json"
    kept.write_text('{"type":"integer"}')
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.3)
        port = server.getsockname()[1]
        references = [f"http://127.0.0.1:{port}/schema.json", kept.as_uri(), "schema.json", "#nowhere"]
        properties = {f"p{number}": {"$ref": reference} for number, reference in enumerate(references)}
        schema = {
            "$id": f"http://127.0.0.1:{port}/",
            "$schema": f"http://127.0.0.1:{port}/meta",
            "properties": properties,
        }
        arguments = json.dumps(dict.fromkeys(properties, "text"))
        assert faults(declared(tool({"type": "object", **schema})), arguments) == []
        with pytest.raises(TimeoutError):
            server.accept()


REPEATED = {"$ref": "#/$defs/a0", "$defs": {f"a{i}": {"anyOf": [{"$ref": f"#/$defs/a{i + 1}"}] * 2} for i in range(60)}}
TWICE = {
    "type": "object",
    "properties": {"a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}},
    "additionalProperties": False,
}
DEEP: dict[str, object] = {"type": "object"}
for _ in range(90):
    DEEP = {"type": "object", "properties": {"a": DEEP}}


@pytest.mark.share(test=3)
@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (REPEATED, "{}"),
        (TWICE, '{"a":' * 150 + "5" + "}" * 150),
        (DEEP, '{"a":' * 90 + "5" + "}" * 90),
        ({"type": "object", "required": [f"r{i}" for i in range(1000)]}, '{"a":[' + "1," * 50_000 + "1]}"),
        ({"type": "object", "properties": {"a": {"items": {"type": "string"}}}}, '{"a":[' + "1," * 50_000 + "1]}"),
        ({"type": "object", "properties": {"a": {"pattern": "^(a+)+$"}}}, '{"a":"' + "a" * 500_000 + '!"}'),
        ({"type": "object", "properties": {f"p{i}": {"pattern": "(a{1000}){1000}"} for i in range(999)}}, '{"p0":"a"}'),
        (
            {"type": "object", "properties": {"a": {"enum": [[i] for i in range(9000)]}}},
            '{"a":[' + "[1]," * 9000 + "1]}",
        ),
    ],
)
def test_hostile_schemas_and_arguments_take_linear_time(schema: dict[str, object], arguments: str) -> None:
    declarations = declared(tool({**schema, "type": "object"}))
    assert declarations
    begin = time.process_time()
    declarations.check("f", arguments.encode(), 0)
    assert time.process_time() - begin < 3


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
WORDS = ["type", "properties", "required", "enum", "items", "anyOf", "oneOf", "not", "if", "then", "$ref", "pattern"]
WORDS += ["minimum", "additionalProperties", "patternProperties", "const", "uniqueItems", "nullable", "paths", "post"]
WORDS += [
    "name",
    "parameters",
    "function",
    "tools",
    "requestBody",
    "content",
    "schema",
    "in",
    "string",
    "object",
    "#",
    "a",
]
KEYS = st.sampled_from(WORDS)
VALUES = st.recursive(
    SCALARS | KEYS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=25
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(VALUES, VALUES)
def test_no_schema_raises(schema: object, arguments: object) -> None:
    declarations = declared(json.dumps({"name": "f", "parameters": {"type": "object", "properties": {"a": schema}}}))
    data = json.dumps({"a": arguments}).encode()
    for fault in declarations.check("f", data, 0):
        assert 0 <= fault.start <= fault.end <= len(data)
    declared(json.dumps(schema))
    declared(json.dumps({"paths": {"/x": {"post": schema, "parameters": schema}, "name": schema}}))
    listed = Declarations()
    listed.read_function_list(json.dumps(schema))


JUDGED: list[dict[str, object]] = [
    {"properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"enum": ["x"]}}}},
    {"properties": {"a": {"type": "number", "minLength": 5}}},
    {"properties": {"a": {"minLength": 5}}},
    {"properties": {"a": {"maxLength": 3}}},
    {"properties": {"a": {"maximum": 5}}},
    {"properties": {"a": {"type": "number"}}, "additionalProperties": False},
    {"properties": {"deadline_ms": {"type": "string"}}, "additionalProperties": False},
    {"type": "array"},
    {"pattern": "^a", "minProperties": 2},
    {"not": {}},
    {},
]
ARGUMENTS = [
    '{"a": "x"}', '{"a": 1}', '{"a": 1.0}', '{"a": 1.5}', '{"a": -0}', '{"a": 1e999}', '{"a": -1e999}',
    '{"a": 1, "a": "x"}',
    '{"a": "x", "a": 1}', '{"a": "\\ud800"}', '{"a": "\\u0061bcde"}', '{"a": "\\ud83d\\ude00"}', '{"a": NaN}',
    '{"a": 1} x',
    '{"a": 1, "deadline_ms": 5}',
    '{"deadline_ms": "5"}', '{"deadline_ms": 5}', "{}", "[]", '{"b": ["x", "y"]}', '{"b": ["x"]}',
    '{"\\ud800": 1, "\\ud801": 2}', '{"a": true}', '{"a": "\\ud83d\\ud83d\\ude00"}',
    '{"a": null}', '{"a": ' + "[" * 250 + "]" * 250 + "}", '{"a": ' + "9" * 5000 + "}",
    '{"a": "x", "c": {}}', '{"a": "\x01"}',
]  # fmt: skip


def test_a_verdict_on_the_value_alone_accepts_nothing_that_has_a_fault() -> None:
    accepted = 0
    for schema in JUDGED:
        declarations = declared(tool(schema))
        for data in [text.encode() for text in ARGUMENTS] + [b'{"a": "\xff\xff\xff\xff"}']:
            value = exact_value(data)
            if isinstance(value, dict) and declarations.accepts("f", value):
                accepted += 1
                assert declarations.check("f", data, 0) == [], (data, schema)
    assert accepted > 50


def test_a_verdict_on_the_value_alone_accepts_what_has_no_fault() -> None:
    declarations = declared(tool({**JUDGED[0], "additionalProperties": False}))
    assert declarations.accepts("f", {"a": "x", "deadline_ms": 5})
    assert not declarations.accepts("f", {"b": "x"})
    assert declarations.accepts("other", {})


def test_an_exact_value_is_that_of_the_nodes() -> None:
    for data in map(str.encode, ARGUMENTS):
        value = exact_value(data)
        reading = read_json(data)
        if value is not None:
            assert reading.node is not None
            assert not reading.faults
            assert value == python_value(reading.node)[0], data
    assert exact_value(b'{"a": "\\ud800"}') is None
    assert exact_value(b'{"a": 1.5, "b": [-0, "\\u0061"]}') == {"a": 1.5, "b": [0, "a"]}
