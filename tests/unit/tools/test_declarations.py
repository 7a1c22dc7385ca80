"""Tools declared in a transcript, and arguments checked against them."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.declaring import declared, faults, tool
from tests.support.growth import assert_growth
from viewer.syntax.json_text import read_json
from viewer.tools.declarations import LONGEST_KNOWN, MOST_KNOWN, Declarations, KnownTexts
from viewer.tools.embedded import first_json, json_values

WEATHER = """## functions
namespace functions {
// Gets weather for a city.
type get_current_weather = (_: {
  location: string,
  format?: "celsius" | "fahrenheit", // default: celsius
  where?: { lat: number, lon: number } | null,
  days?: number[],
}) => any;
type now = () => any;
} // namespace functions"""


@each(
    "arguments, expected",
    [
        ('{"location":"Tokyo","format":"celsius"}', []),
        ('{"location":"Tokyo","deadline_ms":500}', []),
        ("{}", [("missing-argument", "before }")]),
        ('{"location":5}', [("wrong-type", "5")]),
        ('{"location":"T","format":"kelvin"}', [("not-in-enum", '"kelvin"')]),
        ('{"location":"T","units":1}', [("unknown-argument", '"units"')]),
        ("[1]", [("not-an-object", "[1]")]),
        ('"Tokyo"', [("not-an-object", '"Tokyo"')]),
        ('{"location":"T","where":null}', []),
        ('{"location":"T","where":7}', [("wrong-type", "7")]),
        (
            '{"location":"T","where":{"lat":"1","z":2} }',
            [("wrong-type", '"1"'), ("unknown-argument", '"z"'), ("missing-argument", "before } }")],
        ),
        ('{"location":"T","days":[1,"2",3]}', [("wrong-type", '"2"')]),
        (
            '{"x":1,"location":false,"format":"é"}',
            [("unknown-argument", '"x"'), ("wrong-type", "false"), ("not-in-enum", '"é"')],
        ),
        ('{"location":1,"location":"T"}', []),
        ('{"location":"T","where":{"lat":1,"lon":2,"deadline_ms":1}}', [("unknown-argument", '"deadline_ms"')]),
        ('{"location":"T","days":[1e999,' + "9" * 5000 + "]}", []),
        ('{"location":"\\ud800","\\ud800":1}', [("unknown-argument", '"\\ud800"')]),
        ('{"location":"T"', []),
        ("", []),
        ("NaN", []),
    ],
)
def test_arguments_are_checked_against_a_typescript_like_declaration(
    arguments: str, expected: list[tuple[str, str]]
) -> None:
    declarations = declared(WEATHER)
    assert faults(declarations, arguments, "functions.get_current_weather") == expected
    assert faults(declarations, arguments, "get_current_weather", base=1000) == expected


def test_a_tool_without_arguments_takes_none() -> None:
    assert faults(declared(WEATHER), "{}", "now") == []
    assert faults(declared(WEATHER), '{"a":1}', "now") == [("unknown-argument", '"a"')]


def test_the_prefix_is_optional_on_both_sides() -> None:
    declarations = declared(WEATHER + '\n{"name":"functions.other","parameters":{}}')
    assert declarations
    assert not Declarations()
    for name in ("get_current_weather", "functions.get_current_weather", "other", "functions.other"):
        assert declarations.knows(name)
    assert not declarations.knows("weather")
    assert faults(declarations, "{}", "weather") == []


def test_two_missing_arguments_are_two_faults_in_one_place() -> None:
    declarations = declared(tool({"type": "object", "required": ["a", "b"]}))
    assert faults(declarations, "{ }") == [("missing-argument", "before }")] * 2


@pytest.mark.parametrize(
    "text",
    [
        tool({"required": ["a"]}),
        json.dumps([{"type": "function", "name": "f", "parameters": {"required": ["a"], "type": "object"}}]),
        json.dumps({"tools": [{"name": "f", "parameters": {"required": ["a"], "type": "object"}}]}, indent=2),
        "It's {x} a \"tool:\n" + json.dumps({"name": "f", "parameters": {"required": ["a"], "$ref": "#"}}) + "\nand {",
        "# Tools\n```json\n"
        + json.dumps({"functions": [{"name": "f", "input_schema": {"type": "object", "required": ["a"]}}]}),
        '{"name":"other","parameters":{}}\n{"name":"f","parameters":{"type":"object","required":["a"],},}',
        "tools:\n  - name: f\n    parameters:\n      type: object\n      required: [a]\n",
        "Use:\n```yaml\n- type: function\n  function: {name: f, parameters: {type: object, required: [a]}}\n```\n",
    ],
)
def test_a_declaration_is_found_in_json_and_yaml(text: str) -> None:
    assert faults(declared(text), '{"b":1}') == [("missing-argument", "before }")]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "You are a helpful assistant.",
        'Answer as {"name": "get_weather", "parameters": {"city": "Tokyo"}}.',
        '{"name": "Tokyo"}',
        '{"arguments": , "name": }',
        "name: Bob\nparameters: none\n",
        '{"title": "FunctionCall", "type": "object", "properties": {"name": {"type": "string"}}}',
    ],
)
def test_other_text_declares_nothing(text: str) -> None:
    assert not declared(text)


def test_a_function_list_of_0_1_declares_tools() -> None:
    declarations = Declarations()
    declarations.read_function_list(
        """
{
"type": "function",
"function": {
"name": "get_stock_fundamentals",
"parameters": {"type": "object", "properties": {"symbol": {"type": "string"}}, "required": ["symbol"]}
}
}
{"name": "bare"}
Use the following schema: {"title": "FunctionCall", "properties": {"name": {"type": "string"}}}
"""
    )
    declarations.read_function_list('For each call return {"arguments": , "name": }')
    assert declarations.knows("get_stock_fundamentals") and declarations.knows("bare")
    assert not declarations.knows("FunctionCall")
    assert faults(declarations, '{"symbol":1}', "functions.get_stock_fundamentals") == [("wrong-type", "1")]


OPENAPI = """openapi: 3.0.0
paths:
  /pizza/{id}/order:
    post:
      operationId: order_pizza
      parameters:
        - {name: id, in: path, required: true, schema: {type: integer, minimum: 5}}
        - {name: dry, in: query, schema: {type: boolean}}
        - {name: token, in: header, required: true, schema: {type: string}}
      requestBody:
        content:
          application/json:
            schema: {$ref: '#/components/schemas/Order'}
  /orders/{number}:
    get:
      parameters:
        - {name: number, in: path, required: true, schema: {type: string, nullable: true}}
components:
  schemas:
    Order:
      type: object
      required: [size]
      additionalProperties: false
      properties:
        size: {type: string, enum: [small, large]}
        count: {enum: [1, 2]}
        toppings: {type: array, items: {type: string}}
"""


@pytest.mark.parametrize(
    "text", [OPENAPI, "# Tools\n\nWhat to use:\n\n" + OPENAPI, f"Tools:\n```yaml\n{OPENAPI}```\nEnd."]
)
def test_openapi_paths_declare_tools(text: str) -> None:
    declarations = declared(text)
    assert faults(declarations, '{"id":7,"size":"large","count":2,"toppings":["x"],"dry":true}', "order_pizza") == []
    assert faults(declarations, '{"id":3,"size":"huge","count":3,"toppings":[1],"z":1,"dry":"no"}', "order_pizza") == [
        ("wrong-type", "3"),
        ("not-in-enum", '"huge"'),
        ("not-in-enum", "3"),
        ("wrong-type", "1"),
        ("unknown-argument", '"z"'),
        ("wrong-type", '"no"'),
    ]
    assert faults(declarations, "{}", "order_pizza") == [("missing-argument", "before }")] * 2
    assert faults(declarations, '{"number":null}', "functions.orders") == []


OLDER = """swagger: "2.0"
paths:
  /a:
    post:
      operationId: order
      parameters:
        - {name: order, in: body, schema: {type: object, required: [size], properties: {size: {type: string}}}}
        - {name: id, in: query, required: "true", type: integer}
        - {$ref: '#/parameters/loop'}
  /b: words
  /c:
    get:
      operationId: find
      parameters:
        - {name: where, in: query, content: {words: 1, application/json: {schema: {type: integer}}}}
        - {name: open, in: query, content: {words: 1}}
    put:
      operationId: find
      parameters: [{name: other, in: query, schema: {type: boolean}}]
  /d:
    put:
      operationId: either
      parameters: [{name: id, in: query, schema: {type: integer}}]
      requestBody: {content: {text/plain: {schema: {anyOf: [{required: [a]}, {required: [b]}]}}}}
  /{only}:
    get: {}
parameters:
  loop: {$ref: '#/parameters/loop'}
"""


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("order", '{"size":"s","id":1}', []),
        ("order", '{"size":1,"id":"x"}', [("wrong-type", "1"), ("wrong-type", '"x"')]),
        ("order", "{}", [("missing-argument", "before }")] * 2),
        ("find", '{"where":1,"open":"x"}', []),
        ("find", '{"other":true}', []),
        ("either", '{"a":1,"id":2}', []),
        ("either", '{"a":1,"id":"x"}', [("wrong-type", '"x"')]),
        ("either", '{"id":2}', [("wrong-type", '{"id":2}')]),
    ],
)
def test_older_documents_and_odd_parameters_are_read(
    name: str, arguments: str, expected: list[tuple[str, str]]
) -> None:
    assert faults(declared(OLDER), arguments, name) == expected


def test_the_validator_is_loaded_only_when_arguments_are_checked() -> None:
    code = "import sys, viewer.tools.declarations; sys.exit('jsonschema_rs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_node_that_has_been_read_is_checked_in_its_place() -> None:
    data = b'  {"arguments": {"location": 5}}'
    node = read_json(data, 100).node
    arguments = node.get("arguments") if node else None
    assert arguments is not None
    found = declared(WEATHER).check_node("get_current_weather", arguments)
    assert [(fault.reason, fault.start, fault.end) for fault in found] == [("wrong-type", 129, 130)]


HOSTILE = {
    "braces": "{" * 200_000 + '"name"',
    "half objects": '{"name":' * 30_000,
    "nested": '{"name" x ' * 30_000 + "}" * 30_000,
    "quotes": '"name" ' + '"\\' * 200_000,
    "arrays": '["name",' * 30_000 + "]" * 30_000,
    "yaml": "paths:\n" + "  a: b\n" * 50_000,
    "yaml blocks": "```yaml\npaths:\n```\n" * 20_000,
    "fences": "```yaml\n" * 50_000,
    "prose": "hello world {x} \n" * 50_000,
    "declarations": '{"name":"a","parameters":{}}\n' * 3_000,
    "lines": "a: b\n" * 50_000 + "paths:\n",
    "starts": "name: b\nx\n" * 50_000,
}


@pytest.mark.share(test=4)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert_growth(declared, text, text * 2, 3, nothing=0.1)


PARTS = [
    "{",
    "}",
    "[",
    "]",
    '"name"',
    '"parameters"',
    ":",
    ",",
    '"',
    "\\",
    "\n",
    "```yaml\n",
    "```\n",
    "paths:",
    "- name: f",
    "  ",
]
PARTS += [
    "namespace x {",
    "type f = ",
    "(_: {a: string}) => any;",
    '{"name":"f","parameters":{}}',
    "é",
    " ",
    "\t",
    "tools:\n",
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PARTS), max_size=50).map("".join) | st.text(max_size=60), st.binary(max_size=40))
def test_no_text_raises(text: str, data: bytes) -> None:
    declarations = declared(text)
    declarations.read_function_list(text)
    for name in ("f", "x.f"):
        declarations.check(name, data, 7)
        declarations.check(name, text.encode(), 7)


def test_texts_of_earlier_transcripts_declare_the_same_tools() -> None:
    known = KnownTexts()
    texts = [f'{{"name": "f", "parameters": {{"required": ["a{number}"]}}}}' for number in range(MOST_KNOWN + 2)]
    for text in (*texts, *reversed(texts), "No tools.", *texts[:3]):
        own, shared = Declarations(), Declarations(known)
        assert own.read(text) is shared.read(text)
        assert own.knows("f") is shared.knows("f")
        assert own.check("f", b"{}", 7) == shared.check("f", b"{}", 7)
        assert len(known) <= MOST_KNOWN


def test_long_texts_with_declarations_are_not_kept() -> None:
    known = KnownTexts()
    assert Declarations(known).read('{"name": "f", "parameters": {}}' + " " * LONGEST_KNOWN)
    assert not known


def test_the_last_declaration_wins_again() -> None:
    known = KnownTexts()
    one, other = (json.dumps({"name": "f", "parameters": {"required": [name]}}) for name in "ab")
    for texts in ((one, other), (other, one), (one, other)):
        declarations = Declarations(known)
        for text in texts:
            declarations.read(text)
        assert declarations.check("f", b"{}", 0)[0].name == ("b" if texts[1] is other else "a")


def test_transcripts_share_a_schema_only_if_it_means_the_same() -> None:
    known = KnownTexts()
    integer, string = ({"type": kind} for kind in ("integer", "string"))
    pointing = {"type": "object", "properties": {"a": {"$ref": "#/defs/a"}}}
    plain = {"type": "object", "properties": {"a": integer}}
    for parameters, defs, value, expected in (
        (pointing, {"a": integer}, 1, True),
        (pointing, {"a": string}, 1, False),
        (plain, {}, 1, True),
        (plain, {"a": string}, 1, True),
        ({**plain, "properties": {"a": {"type": "integer", "maximum": 1}}}, {}, 2, False),
        ({**plain, "properties": {"a": {"type": "integer", "maximum": True}}}, {}, 2, True),
    ):
        declarations = Declarations(known)
        text = json.dumps({"tools": [{"name": "f", "parameters": parameters}], "defs": defs, "number": len(known)})
        assert declarations.read(text)
        assert (
            declarations.accepts(
                "f",
                {"a": value},
            )
            is expected
        ), (parameters, defs)
    first, second = Declarations(known), Declarations(known)
    for number, declarations in enumerate((first, second)):
        declarations.read(json.dumps([{"name": "f", "parameters": plain}, number]))
        declarations.accepts("f", {})
    assert first._schematic("f") is second._schematic("f")


def _containers(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), _containers))
def test_a_whole_text_of_json_has_the_value_of_its_nodes(value: object) -> None:
    for whole in ([value], {"name": value}):
        text = json.dumps(whole).replace("Infinity", "1e999")
        (found,) = first_json(text)
        assert repr(found) == repr(read_json(text.encode()).node.to_python())  # type: ignore[union-attr]
        assert [*json_values(text)] == ([found] if '"name"' in text else [])


def test_faults_do_not_depend_on_how_the_object_is_read() -> None:
    types = "namespace functions {\n"
    types += 'type f = (_: { a: string, b?: number, c?: "x" | "y", d?: { e: boolean, f?: string[], }, }) => any;\n}'
    patterns = {"patternProperties": {"^x": {"type": "integer"}}, "propertyNames": {"maxLength": 3}}
    odd = tool({"type": "object", "properties": {"a": False, "b": True}, **patterns})
    texts = (
        *('{"a": "x"}', "{}", '{"a": 1}', '{"b": 2, "q": [1, {"r": 2}]}', '{"a": null, "c": "z", "d": {}}'),
        *('{"a": "\\u00e9", "d": {"e": 1, "f": ["x", 2], "g": 3}}', ' {"a": 1}', '{"a": 1} ', '{"a": 1, "a": 2}'),
        *(
            '{"a": "x", "b": 1e400}',
            '{"a": "x", "b": -1.5e3}',
            '{"a": "x", "b": ' + "9" * 400 + "}",
            '{"x1": "", "long": 1}',
        ),
        *('{"a": "x", "deadline_ms": 5}', '{"a": "\\ud800"}', "[1]", '"a"', '{"a": "x", "d": [true]}'),
    )
    for declaration in (types, odd):
        declarations = Declarations()
        assert declarations.read(declaration)
        for text in texts:
            data = text.encode()
            assert declarations.check_object("f", data) == declarations.check_valid("f", data, 0), text
