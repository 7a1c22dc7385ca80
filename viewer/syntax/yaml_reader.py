"""Bounded YAML parser: mappings, lists, and strings, without aliases, anchors, tags, merges, or repeated keys."""

from __future__ import annotations

from msgspec import Struct

from viewer.model.messages import Span
from viewer.syntax.yaml_plain import read_plain

LARGEST = 64 * 1024
"""The maximum size of YAML text in bytes."""
DEEPEST = 32
"""The maximum nesting of mappings and lists."""

MALFORMED = "yaml-malformed"
TOO_LARGE = "yaml-too-large"


class YamlFault(Struct, frozen=True, gc=False):
    """A fault: the reason for E-PARSE-HEADER, and the bytes at fault."""

    reason: str
    start: int
    end: int


class YamlReading(Struct, frozen=True):
    """The value of YAML text, up to the first fault: mappings, lists, and strings."""

    value: object
    faults: tuple[YamlFault, ...]
    span: Span
    """The bytes of the value, without fences and comments around it."""


def read_yaml(data: bytes, base: int = 0) -> YamlReading:
    """Read one YAML document up to its first fault. No input raises an exception."""
    plain = read_plain(data) if len(data) <= LARGEST else None
    if plain is not None:
        return YamlReading(plain.value, (), (base + plain.start, base + plain.end))
    from viewer.syntax.yaml_events import read_events  # few headers need it

    return read_events(data, base)
