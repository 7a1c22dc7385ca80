"""Recognize text that a program printed from an object, such as `Response(output='…')`, in several languages."""

from __future__ import annotations

from viewer.cache import lazy_regex

_NAME = r"#?[A-Za-z_][\w.$:]{1,80}(?:\[[^\]\n]{0,80}\])?"
_MEMBER = r"\s*[\"']?[A-Za-z_][\w.-]{0,60}[\"']?\s*"
_CONTAINERS = "dict_keys|dict_values|dict_items|dict|array|deque|defaultdict|frozenset|set|mappingproxy|tensor"
_PRINTED = lazy_regex(
    r"\A[\s\ufeff\"'`]*(?:"
    r"&?[\[({]+\s*(?:[\[({\"'<]|\Z)"  # a list or an object, possibly truncated JSON
    rf"|&?[\[({{]*\{{{_MEMBER}[=:]"
    rf"|[\[(]*{_NAME}(?:\({_MEMBER}=(?!=)|\[{_MEMBER}=|\{{{_MEMBER}[=:])"
    rf"|[\[(]*[A-Z]\w+ (?:\[{_MEMBER}=|\{{{_MEMBER}[=:])"
    r"|[\[(]*(?:\w+\.)*[A-Z]\w+\(\s*(?:[\[({\"'<]|\)\s*\Z|None\b)"
    rf"|[\[(]*(?:{_CONTAINERS})\(\s*[\[({{\"'<]"
    r"|[A-Za-z_]\w{1,60}=(?:None\b|True\b|False\b|null\b|[A-Z]\w*\(|[\[{\"'<])"
    r"|map\[[\w\"]|Array\s*\(|stdClass\b|b[\"'](?=[^\n]*[\"']\s*\Z)|functools\[|<function\b|\#<"
    r"|<[^<>\n]{1,120} at 0x|<(?:class|module|enum|built-in|coroutine|generator|bound) |<[A-Z][\w.]*[ \[(:]"
    r"|Run(?:Result|ResultStreaming):\s*\n[ \t]*-"
    r")"
)


def is_printed_object(text: str) -> bool:
    """True if text begins like an object that a program printed. Such text may contain calls, thoughts, and
    instructions next to the answer."""
    return _PRINTED.search(text) is not None
