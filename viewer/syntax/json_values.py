"""JSON values other than strings, kept as source text."""

from __future__ import annotations


class JsonText(str):
    """The source text of a number, a constant, an object, or an array; never equal to the same text as a string."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsonText) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
