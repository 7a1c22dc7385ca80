"""Content blocks of the Model Context Protocol, which other protocols and agents also use."""

from __future__ import annotations

from viewer.formats.tables.model import PartRule, When, is_, lacks
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_TEXT = is_("type", "text")

TEXTS = (
    PartRule((_TEXT, lacks("annotations")), Kind.SAID, "text"),
    PartRule((_TEXT, When("annotations", kind=JsonKind.OBJECT), lacks("annotations.audience")), Kind.SAID, "text"),
    PartRule((_TEXT, is_("annotations.audience[0]", "user")), Kind.SAID, "text"),
    PartRule((_TEXT, is_("annotations.audience[1]", "user")), Kind.SAID, "text"),
    PartRule((_TEXT,), Kind.INJECTED, "text"),
)
"""The rules for text. Text whose audience does not include the user is injected."""
