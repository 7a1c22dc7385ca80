"""Tool declarations in the style of TypeScript, as renderers and people write them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.growth import assert_growth
from viewer.syntax.typescript import read_namespaces


def arguments(body: str) -> Any:
    """Return the argument schema of a function with this single parameter."""
    return read_namespaces(f"namespace functions {{\ntype f = (_: {body}) => any;\n}}")["functions.f"]


def field(written: str) -> Any:
    """Return the schema of a type."""
    return arguments(f"{{ a: {written} }}")["properties"]["a"]


GUIDE = """# Instructions

Use a friendly tone. Don't say "namespace.

# Tools

## functions

namespace functions {

// Gets the location of the user.
type get_location = () => any;

// Gets the current weather in the provided location.
type get_current_weather = (_: {
  // The city and state, e.g. San Francisco, CA
  location: string,
  // The temperature unit
  format?: "celsius" | "fahrenheit", // default: celsius
}) => any;

} // namespace functions
"""


def test_the_declarations_of_the_guide_are_closed_objects() -> None:
    assert read_namespaces(GUIDE) == {
        "functions.get_location": {"type": "object", "properties": {}, "additionalProperties": False},
        "functions.get_current_weather": {
            "type": "object",
            "properties": {"location": {"type": "string"}, "format": {"enum": ["celsius", "fahrenheit"]}},
            "additionalProperties": False,
            "required": ["location"],
        },
    }


@each(
    "written, schema",
    [
        ("string", {"type": "string"}),
        ("number", {"type": "number"}),
        ("integer", {"type": "integer"}),
        ("boolean", {"type": "boolean"}),
        ("object", {"type": "object"}),
        ("any", {}),
        ("unknown", {}),
        ("SomethingElse", {}),
        ("string | null", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ("string[]", {"type": "array", "items": {"type": "string"}}),
        ("string[][]", {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
        ("Array<number>", {"type": "array", "items": {"type": "number"}}),
        ("Array<any>", {"type": "array", "items": {}}),
        ("readonly string[]", {"type": "array", "items": {"type": "string"}}),
        ("Record<string, number>", {"type": "object", "additionalProperties": {"type": "number"}}),
        ("{ [key: string]: number }", {"type": "object", "properties": {}, "additionalProperties": {"type": "number"}}),
        ("(string | number)[]", {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
        ("[string, number]", None),
        ('"a" | "b" | null', {"enum": ["a", "b", None]}),
        ("'a' | 'b'", {"enum": ["a", "b"]}),
        ("1 | -2.5 | true", {"enum": [1, -2.5, True]}),
        ("object | object", {"anyOf": [{"type": "object"}, {"type": "object"}]}),
        ("`x-${string}`", {"type": "string"}),
        ('\n | "a" // first\n | "b" /* second */\n', {"enum": ["a", "b"]}),
        ("{\n    }", {"type": "object"}),
        ("() => void", None),
        (
            "Readonly<{ b: string }>",
            {
                "type": "object",
                "properties": {"b": {"type": "string"}},
                "additionalProperties": False,
                "required": ["b"],
            },
        ),
        (
            "Partial<{ b: string }>",
            {"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": False},
        ),
        ("Promise<string>", {}),
        ("Promise<string> | number", {}),
        (
            "{ b: string } & { c?: number }",
            {
                "type": "object",
                "properties": {"b": {"type": "string"}, "c": {"type": "number"}},
                "additionalProperties": False,
                "required": ["b"],
            },
        ),
        (
            "{ b?: string } & { c?: number }",
            {
                "type": "object",
                "properties": {"b": {"type": "string"}, "c": {"type": "number"}},
                "additionalProperties": False,
            },
        ),
        ("{ b: string } & Base", {}),
        ("string | any", {}),
        ("undefined", {"type": "null"}),
    ],
)
def test_a_type_is_read(written: str, schema: object) -> None:
    whole = arguments(f"{{ a: {written} }}")
    if schema is None:
        assert whole == {} or "a" in whole["properties"]
    else:
        assert whole["properties"]["a"] == schema


@pytest.mark.parametrize("written", ["string" + "[]" * 300, "typeof", "9" * 400, "1e999"])
def test_a_function_whose_arguments_cannot_be_read_takes_any(written: str) -> None:
    assert arguments(f"{{ a: {written} }}") == {}


def test_a_list_of_literals_without_parentheses_is_a_list_of_any_of_them() -> None:
    assert field('"a" | "b"[]')["anyOf"][-1] == {"type": "array", "items": {"enum": ["a", "b"]}}


def test_a_bar_that_ends_a_comment_joins_the_next_line() -> None:
    schema = arguments("{\nvalue: string// The name | \nnumber// The id,\nnext?: boolean,\n}")
    assert schema["properties"] == {
        "value": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "next": {"type": "boolean"},
    }


@pytest.mark.parametrize("separator", [",", ";", "\n", ",\n", ";\n", "\n,\n", " // note\n", ", // default: 3\n"])
def test_properties_are_separated_by_anything(separator: str) -> None:
    schema = arguments(f"{{ a: string{separator} b?: number{separator} }}")
    assert list(schema["properties"]) == ["a", "b"]
    assert schema["required"] == ["a"]


def test_names_may_be_quoted_or_hold_marks() -> None:
    schema = arguments("{ \"a b\": string, 'c': string, d-e?: string, $f: string, @g.h: string, readonly i: string }")
    assert list(schema["properties"]) == ["a b", "c", "d-e", "$f", "@g.h", "i"]
    assert schema["required"] == ["a b", "c", "$f", "@g.h", "i"]


def test_a_literal_with_a_backslash_has_two_readings() -> None:
    assert field(r'"C:\new"') == {"enum": ["C:\\new", "C:\new"]}
    assert field(r'"a\d"') == {"enum": ["a\\d"]}


def test_undefined_makes_a_property_optional() -> None:
    schema = arguments("{ a: string | undefined }")
    assert schema["properties"] == {"a": {"type": "string"}}
    assert "required" not in schema


def test_lines_of_a_description_that_run_on_are_not_properties() -> None:
    schema = arguments("{\n// The city,\nor the place (any).\n- one thing\nlocation: string,\n}")
    assert list(schema["properties"]) == ["location"]
    tools = read_namespaces(
        'namespace functions {\n// First.\nIt\'s "open, {"a": {}}.\n\ntype f = () => any;\n// x\ntype g = () => any;\n}'
    )
    assert list(tools) == ["functions.f", "functions.g"]


@pytest.mark.parametrize(
    "broken", ["(_: { a: @@@ }) => any", "(_: { a: string", "42", "{ a: string }", "<T>(_: T) => any"]
)
def test_an_unreadable_type_is_open_and_the_next_tool_is_read(broken: str) -> None:
    tools = read_namespaces(f"namespace functions {{\ntype f = {broken};\n\ntype g = (_: {{ a: string }}) => any;\n}}")
    assert tools["functions.f"] == {}
    assert tools["functions.g"]["required"] == ["a"]


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("(a: string, b?: number) => any", ["a", "b"]),
        ("(city: string) => any", ["city"]),
        ("({ a }: { a: string }) => any", ["a"]),
    ],
)
def test_parameters_by_name_are_properties(written: str, names: list[str]) -> None:
    schema: Any = read_namespaces(f"namespace functions {{ type f = {written}; }}")["functions.f"]
    assert list(schema["properties"]) == names


def test_several_namespaces_and_the_text_around_them() -> None:
    text = """type before = () => any;
namespace browser { type search = (_: {query: string}) => any; type open = (_: {id?: number | string}) => any; }
Some "prose } in between. type between = () => any;
namespace python { type exec = (_: any) => any }
type after = () => any;"""
    assert list(read_namespaces(text)) == ["browser.search", "browser.open", "python.exec"]


def test_nesting_beyond_the_cap_is_open() -> None:
    assert arguments("{ a: " * 70 + "string" + " }" * 70) == {}
    assert arguments("{ a: " * 20 + "string" + " }" * 20)["required"] == ["a"]


HOSTILE = {
    "braces": "namespace x {" + "{" * 300_000,
    "objects": "namespace x { type f = (_: " + "{a:" * 150_000,
    "namespaces": "namespace x {" * 100_000,
    "unclosed comment": "namespace x { type f = (_: /*" + "* /*" * 200_000,
    "unclosed string": 'namespace x { type f = (_: {a: "' + '\\"' * 300_000,
    "quotes": "namespace x {" + '"' * 400_000,
    "bars": "namespace x { type f = (_: {a: " + "string|" * 30_000,
    "parentheses": "namespace x { type f = (_: {a: " + "(" * 300_000,
    "lists": "namespace x { type f = (_: {a: b" + "[]" * 300_000,
    "readonly": "namespace x { type f = (_: {a: " + "readonly " * 100_000,
    "declarations": "namespace x {" + "type f = (_: {a: " * 50_000,
    "prose": "namespace x { type f = (_: {" + "a b\n" * 60_000,
    "patterns": "namespace x { type f = (" + "{" * 300_000,
    "words": "namespace " * 100_000,
    "hidden bars": "namespace x { type f = (_: {" + "a: string // |\n" * 20_000,
    "spaces": "namespace x { type f = (_: {a: string " + " " * 500_000,
}


@pytest.mark.share(test=8)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert_growth(read_namespaces, text, text + text[len(text) // 2 :] * 6, 8, nothing=0.1)


PARTS = [
    "namespace ",
    "x ",
    "{",
    "}",
    "type ",
    "f",
    " = ",
    "(",
    ")",
    "_",
    ":",
    "=> any",
    "string",
    "|",
    "[",
    "]",
    "<",
    ">",
]
PARTS += [
    '"',
    "'",
    "`",
    "\\",
    "//",
    "/*",
    "*/",
    "\n",
    ",",
    ";",
    "?",
    "Array<",
    "1",
    "-",
    "readonly ",
    "&",
    " ",
    "é",
    "=",
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(PARTS), max_size=60).map("".join) | st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    read_namespaces(text)
    read_namespaces(f"namespace functions {{ type f = (_: {text}")


PROPERTIES = (
    *(
        "a: string",
        "b?: number",
        "c_1: boolean[]",
        "d ? : any",
        "e: integer [ ]",
        "readonly: string",
        "readonly f: any",
    ),
    *('g?: "x" | "y"', 'h: | "x"', 'i: "" |\n"//"', "j: 'x'", 'k: "x" | 1', "l: string[][]", "m-n: any", "o: stringy"),
    *("p: { q?: string, r: number }", "s: {}", "t", "u:", "a: any[]", "v: string & any", "w: string<any>", "_: string"),
    *('x: "a\\n"', 'y: "a"[]', "z: string | null", "é: string", "type g = (_: {"),
)
SEPARATORS = (",", ";", "\n", ",\n", " ,", ", // note\n", " // of |\n", "/* , */", " /* } */ ;", "")


def test_simple_properties_are_read_together_as_one_by_one() -> None:
    simple = 0
    for seed in range(1500):
        chance = random.Random(seed)
        parts = [chance.choice(PROPERTIES) + chance.choice(SEPARATORS) for _ in range(chance.randrange(6))]
        text = "{" + chance.choice(("", "\n", "// note\n")) + "".join(parts) + chance.choice(("}", "", " }"))
        declared = f"namespace functions {{\ntype f = (_: {text}) => any;\ntype z = () => any;\n}}"
        apart = declared.replace(": ", ":/**/ ")  # a comment there is read with care, and changes nothing
        found = read_namespaces(declared)
        assert found == read_namespaces(apart), declared
        simple += len(found.get("functions.f", {}).get("properties", {}))  # type: ignore[arg-type]
    assert simple > 1000


def test_equal_and_similar_types_in_a_row_are_told_apart() -> None:
    types = [
        *["() => any"] * 2,
        *["(_: {a: string,}) => any"] * 2,
        *["(_: {a: string, b: number}) => any", "(_: {a: string,}) => any"],
        *["(_: any) => any"] * 2,
        *["(_: ) => any"] * 2,
        "()=> any",
    ]
    together = "".join(f"type f{number} = {one};\n" for number, one in enumerate(types))
    read = read_namespaces(f"namespace n {{ {together} }}")
    for number, one in enumerate(types):
        assert read[f"n.f{number}"] == read_namespaces(f"namespace n {{ type f = {one};\n }}")["n.f"], one
