"""Read the TypeScript-like types in rendered tool declarations as JSON Schemas.

Objects are closed, and `field?` is not required. Renderers continue a description below its comment, hide a `|` in a
comment, and write `"a" | "b"[]` for a list of either. All of this is read as intended."""

from __future__ import annotations

import math
import re

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.syntax.json_string import strict_body

Schema = dict[str, object]

_SINGLE = frozenset({"string", "number", "integer", "boolean", "array"})
NAME = r"[A-Za-z_$][\w$.-]{0,255}"
DEEPEST = 64

_SKIPPED = r"(?>\s++|//[^\n]*+|/\*(?>[^*]|\*(?!/))*+(?:\*/)?)*+"
_TRIVIA = lazy_regex(_SKIPPED)
_HIDDEN_BAR = lazy_regex(r"[ \t]*+//(?=[^\n]*\|[ \t\r]*(?:\n|$))[^\n]*+")
_WORD = lazy_regex(NAME)
_READONLY = lazy_regex(r"(?>readonly\s++)*+")
_QUOTED = r"""(?:"((?>[^"\\\n]|\\.)*+)"|'((?>[^'\\\n]|\\.)*+)')"""
_STRING = lazy_regex(_QUOTED)
_TEMPLATE = lazy_regex(r"`(?>[^`\\]|\\.)*+`", re.DOTALL)
_NUMBER = lazy_regex(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")
_PROPERTY = lazy_regex(rf"""(?:readonly\s+)?(?:{_QUOTED}|([^\s:?"'{{}}()\[\]|,;<>]{{1,256}}))\s*+(\?)?\s*+:""")
_INDEX = lazy_regex(r"(?:readonly\s+)?\[\s*\w{1,64}\s*(?::[^\]\n]{1,256}|in\s[^\]\n]{1,256})\]\s*\??\s*:")
_PROSE = lazy_regex(r"[^\n}]*+(?:\n|$)")
_TOOL = lazy_regex(rf"type\s{{1,64}}{NAME}\s{{0,64}}=(?![=>])")
_LITERAL = r'"[^"\\\n]*+"'
_SIMPLE_PROPERTY = lazy_regex(
    rf"""{_SKIPPED}([A-Za-z_]\w{{0,63}})\s*+(\?)?\s*+:\s*+"""
    rf"""(?>(string|number|integer|boolean|any)(\[\])?|({_LITERAL}(?>\s*+\|\s*+{_LITERAL})*+))\s*+(?>[,;]|(?=\}}))"""
)
"""A property with a basic type, a list of it, or alternative words, up to the separator after it."""
_LITERALS = lazy_regex(r'"([^"\\\n]*+)"')
_PARAMETER = lazy_regex(r"(?:\.\.\.)?([\w$]{1,256}|[{\[][^{}()\[\]]{0,1024}[}\]])\s*+(\?)?\s*+:")

_NAMED: dict[str, Schema] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "bigint": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "object": {"type": "object"},
    "array": {"type": "array"},
    "true": {"enum": [True]},
    "false": {"enum": [False]},
}
_ABSENT = frozenset({"undefined", "void"})
_FREE = frozenset({"any", "unknown"})
_LISTS = frozenset({"Array", "ReadonlyArray"})
_CLOSING = frozenset("})],;")
_KEYWORDS = frozenset({"keyof", "typeof", "infer", "new", "extends", "is"})


class UnreadableError(Exception):
    """The text is not a readable type."""


class Reader:
    """Reads types from a position in the text. `position` is valid even after a failure."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position
        self.braces = 0
        self._depth = 0
        self._trivia = (-1, -1)
        """The bounds of the trivia that was last skipped."""

    def function(self) -> Schema:
        """Read `(_: {...}) => any` and return the schema of its arguments."""
        self._expect("(")
        parameters: list[Parameter] = []
        while not self._take(")"):
            parameters.append(self._parameter())
            self._take(",")
        self._expect("=>")
        return arguments(parameters)

    def _parameter(self) -> Parameter:
        found = self._match(_PARAMETER)
        return Parameter(found[1], found[2] is not None, self._type())

    def _type(self) -> Type:
        """Read alternatives separated by `|`, which may also precede the first one."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise UnreadableError
        self._take("|")
        alternatives = [self._intersection()]
        while self._bar():
            alternatives.append(self._intersection())
        self._depth -= 1
        return union(alternatives)

    def _bar(self) -> bool:
        """Read a `|`, even at the end of a comment above the next alternative. Return False if there is none."""
        if hidden := _HIDDEN_BAR.match(self.text, self.position):
            self.position = hidden.end()
            return True
        return self._take("|")

    def _intersection(self) -> Type:
        self._take("&")
        parts = [self._postfix()]
        while self._take("&"):
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else together(parts)

    def _postfix(self) -> Type:
        """Read a type and any `[]` after it."""
        self.position = self._next()
        if self._at("r"):
            self._match(_READONLY)
        bare = not self._at("(")
        inner = self._primary()
        lists = 0
        while self._list_mark():
            lists += 1
            if lists > DEEPEST:
                raise UnreadableError
            inner = Type({"type": "array", "items": inner.schema}, listed=inner.schema if bare else None)
        return inner

    def _list_mark(self) -> bool:
        start = self.position
        if self._take("[") and self._take("]"):
            return True
        self.position = start
        return False

    def _primary(self) -> Type:
        if self._at("{"):
            return self._object()
        if self._at("["):
            return self._tuple()
        if self._at("("):
            return self._parentheses()
        return self._literal() or self._reference()

    def _literal(self) -> Type | None:
        if self._at_word():
            return None
        if found := _STRING.match(self.text, self.position):
            self.position = found.end()
            return Type({"enum": _readings(found)})
        if found := _TEMPLATE.match(self.text, self.position):
            self.position = found.end()
            return Type({"type": "string"})
        if found := _NUMBER.match(self.text, self.position):
            self.position = found.end()
            return Type({"enum": [_number(found[0])]})
        return None

    def _reference(self) -> Type:
        name = self._match(_WORD)[0]
        if name in _KEYWORDS:
            raise UnreadableError
        if name in _ABSENT:
            return Type({"type": "null"}, absent=True)
        if self._take("<"):
            return self._generic(name)
        if name in _FREE:
            return Type({})
        return Type(dict(_NAMED[name])) if name in _NAMED else Type({}, known=False)

    def _generic(self, name: str) -> Type:
        """Read `Array<T>`, `Record<K, T>`, and similar types."""
        last = self._type().schema
        while self._take(","):
            last = self._type().schema
        self._expect(">")
        if name in _LISTS:
            return Type({"type": "array", "items": last})
        if name == "Record":
            return Type({"type": "object", "additionalProperties": last})
        if name == "Readonly":
            return Type(last)
        if name == "Partial":
            return Type({key: value for key, value in last.items() if key != "required"})
        return Type({}, known=False)

    def _tuple(self) -> Type:
        self._expect("[")
        items: list[Schema] = []
        while not self._take("]"):
            items.append(self._type().schema)
            self._take(",")
        return Type({"type": "array", "prefixItems": items, "maxItems": len(items), "minItems": len(items)})

    def _parentheses(self) -> Type:
        self._expect("(")
        inner = self._type()
        self._expect(")")
        return Type(inner.schema, inner.known, inner.absent)

    def _object(self) -> Type:
        """Read `{ name: type, … }`. Separators may be missing, and lines without a property are skipped as prose."""
        self._expect("{")
        self.braces += 1
        properties: dict[str, Schema] = {}
        required: list[str] = []
        others: Schema | bool = False
        while True:
            self._simple_properties(properties, required)
            if self._take("}"):
                break
            if self._take(",") or self._take(";"):
                continue
            if found := _PROPERTY.match(self.text, self.position):
                self._property(found, properties, required)
            elif found := _INDEX.match(self.text, self.position):
                self.position = found.end()
                others = self._type().schema
            else:
                self._prose()
        self.braces -= 1
        return Type(self._closed(properties, required, others))

    def _simple_properties(self, properties: dict[str, Schema], required: list[str]) -> None:
        """Read consecutive simple properties, which most declarations consist of. Reading them one by one takes four
        times as long and has the same result."""
        if self._depth >= DEEPEST:
            return
        while found := _SIMPLE_PROPERTY.match(self.text, self.position):
            self.position = found.end()
            name, optional, basic, is_list, words = found.groups()
            schema: Schema = {"enum": _LITERALS.findall(words)} if words else dict(_NAMED.get(basic, {}))
            properties[name] = {"type": "array", "items": schema} if is_list else schema
            if optional is None:
                required.append(name)

    def _property(self, found: re.Match[str], properties: dict[str, Schema], required: list[str]) -> None:
        self.position = found.end()
        value = self._type()
        names = [found[3]] if found[3] is not None else _readings(found)
        for name in names:
            properties[name] = value.schema
        if found[4] is None and value.known and not value.absent and len(names) == 1:
            required.append(names[0])

    def _closed(self, properties: dict[str, Schema], required: list[str], others: Schema | bool) -> Schema:
        """Return the schema of an object. An empty object inside another one accepts any members, because renderers
        write an arbitrary nested object as `{}`."""
        if not properties and others is False and self.braces:
            return {"type": "object"}
        schema: Schema = {"type": "object", "properties": properties, "additionalProperties": others}
        if required:
            schema["required"] = list(dict.fromkeys(required))
        return schema

    def _prose(self) -> None:
        """Skip a line that continues the description above it."""
        found = _PROSE.match(self.text, self.position)
        if found is None or found.end() == self.position or _TOOL.match(self.text, self.position):
            raise UnreadableError
        self.position = found.end()

    def _next(self) -> int:
        """Return the position after any trivia, and remember it, because the text there is often compared with several
        marks."""
        if self.position not in self._trivia:
            found = _TRIVIA.match(self.text, self.position)
            self._trivia = self.position, found.end() if found else self.position
        return self._trivia[1]

    def _at_word(self) -> bool:
        return self.text[self.position : self.position + 1].isalpha()

    def _at(self, mark: str) -> bool:
        return self.text.startswith(mark, self.position)

    def _take(self, mark: str) -> bool:
        """Consume the mark and return True if it is next. Otherwise, skip trivia only before an end or a separator."""
        end = self._next()
        if self.text.startswith(mark, end):
            self.position = end + len(mark)
            return True
        if mark in _CLOSING:
            self.position = end
        return False

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            raise UnreadableError

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self.text, self.position)
        if found is None:
            raise UnreadableError
        self.position = found.end()
        return found


def _readings(found: re.Match[str]) -> list[str]:
    """Return quoted text both as written and, if that differs, with its escapes decoded, because renderers do not
    escape text."""
    raw = found[1] if found[1] is not None else found[2]
    if "\\" not in raw:
        return [raw]
    decoded = strict_body(raw if found[1] is not None else raw.replace("\\'", "'").replace('"', '\\"'))
    return [raw] if decoded is None else [raw, decoded]


def _number(text: str) -> int | float:
    if text.lstrip("-").isdigit():
        return int(text)
    value = float(text)
    if math.isinf(value):
        raise UnreadableError
    return value


# Combine types into schemas.


class Type(Struct, frozen=True):
    """A type: its schema, and properties that a schema does not express."""

    schema: Schema
    known: bool = True
    """False if the type cannot be determined, for example because it is declared elsewhere."""
    absent: bool = False
    """True if `undefined` is one of the alternatives."""
    listed: Schema | None = None
    """The schema of the items, if the type was written as `T[]` without parentheses."""


class Parameter(Struct, frozen=True):
    """A parameter of a function."""

    name: str
    optional: bool
    type: Type


def arguments(parameters: list[Parameter]) -> Schema:
    """Return the schema of the arguments: an object with the parameters as properties, or the schema of the only
    parameter, unless that is a named scalar, enum, or array."""
    if len(parameters) == 1:
        only = parameters[0]
        single = "enum" in only.type.schema or only.type.schema.get("type") in _SINGLE
        if not single or not only.name.isidentifier() or only.name == "_":
            return only.type.schema
    schema: Schema = {
        "type": "object",
        "properties": {parameter.name: parameter.type.schema for parameter in parameters},
        "additionalProperties": False,
    }
    required = [each.name for each in parameters if not each.optional and not each.type.absent and each.type.known]
    return {**schema, "required": required} if required else schema


def union(alternatives: list[Type]) -> Type:
    """Return the union of types. Literals are combined in one `enum`."""
    if len(alternatives) == 1:
        return alternatives[0]
    absent = any(each.absent for each in alternatives)
    present = [each for each in alternatives if not each.absent]
    if not all(each.known for each in present):
        return Type({}, known=False, absent=absent)
    schemas = [each.schema for each in present]
    if present and present[-1].listed is not None:
        schemas[-1] = {"type": "array", "items": _any_of([*schemas[:-1], present[-1].listed])}
    return Type(_any_of(schemas), absent=absent)


def _any_of(schemas: list[Schema]) -> Schema:
    values: list[object] = []
    others: list[Schema] = []
    for schema in schemas:
        if not schema:
            return {}
        literal = schema.get("enum")
        if isinstance(literal, list):
            values += literal
        else:
            others.append(schema)
    if values and {"type": "null"} in others:
        others = [schema for schema in others if schema != {"type": "null"}]
        values.append(None)
    everything: list[Schema] = [{"enum": values}, *others] if values else others
    if not everything:
        return {"type": "null"}
    return everything[0] if len(everything) == 1 else {"anyOf": everything}


def together(parts: list[Type]) -> Type:
    """Return the intersection of types: closed objects are merged, and with anything else the result is unknown."""
    properties: dict[str, object] = {}
    required: list[str] = []
    for part in parts:
        own, names = part.schema.get("properties"), part.schema.get("required", [])
        if not isinstance(own, dict) or part.schema.get("additionalProperties") is not False:
            return Type({}, known=False)
        properties |= own
        required += names if isinstance(names, list) else []
    schema: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return Type({**schema, "required": list(dict.fromkeys(required))} if required else schema)
