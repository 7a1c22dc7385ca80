"""Recognize text that a program printed from an object, such as `Response(output='…')`, in several languages."""

from __future__ import annotations

from viewer.cache import lazy_regex

_NAME = r"#?[^\W\d][\w.$:]{0,80}(?:\[[^\]\n]{0,80}\])?"
_MEMBER = r"\s*[\"']?[A-Za-z_][\w.-]{0,60}[\"']?\s*"
_CONTAINERS = "dict_keys|dict_values|dict_items|dict|array|deque|defaultdict|frozenset|set|mappingproxy|tensor"
_WORD = r"(?:None|True|False|null|nil)"
_START = r"[\s\u200b-\u200f\u2060\ufeff\"'`]*"
_HIDDEN_MEMBER = (
    r"[\"'](?i:thoughts?|thinking|reason(?:ing)?|scratchpad|monologue|critique|reflection|tool_calls)[\"']\s*:"
)
_NAMED = lazy_regex(
    rf"\A{_START}(?:(?i:(?:final )?(?:result|output|answer|response))[:=]\s*(?=[A-Z]\w*\())?"
    r"(?:(?:struct|class|record) )?(?:"
    rf"[\[(]*{_NAME}(?:\({_MEMBER}=(?!=)|\[{_MEMBER}=|\{{{_MEMBER}[=:])"
    rf"|[\[(]*[A-Z]\w+ (?:\({_MEMBER}=[\"'\[{{]|\[{_MEMBER}=|\{{{_MEMBER}[=:])"
    rf"|[\[(]*(?:\w+\.)*[A-Z]\w+\(\s*(?:[\[({{\"'<]|\)\s*\Z|{_WORD}\b|-?\d[\w.]*\s*,|[A-Z]\w*\s?[\[({{])"
    rf"|[\[(]*(?:{_CONTAINERS})\(\s*[\[({{\"'<]"
    rf"|\(\s*(?:{_WORD}\s*,|-?\d+\s*,\s*[\"'])"
    r"|map\[[\w\"]|Array\s*\("
    r")"
)
"""Matches the start of an object with a name, or of a tuple. A sentence about an object may begin in the same way."""
_PRINTED = lazy_regex(
    rf"\A{_START}(?:"
    r"[&%]?[\[({]+\s*(?:[\[({\"'<]|\Z)"  # a list or an object, possibly truncated JSON
    rf"|[&%]?[\[({{]*\{{{_MEMBER}[=:]"
    r"|&\{|\{\s*:[A-Za-z]|\{(?=[^{}\n]*(?:<nil>|\[\]|map\[)[^\n]*\}\s*\Z)"
    r"|[A-Za-z_]\w{1,60}=(?:None\b|True\b|False\b|null\b|[A-Z]\w*\(|[\[{\"'<])"
    r"|object\([\w\\]+\)\#\d|array\(\d+\)\s*\{|string\(\d+\) \""
    r"|[\w.$]{1,80}@[0-9a-f]{5,16}(?:[\[({]|\s*\Z)"
    r"|stdClass\b|b[\"'](?=[^\n]*[\"']\s*\Z)|functools\[|<function [\w.<]|\#<"
    r"|<[^<>\n]{1,120} at 0x|<(?:class|module|enum|built-in|coroutine|generator|bound) |<[A-Z][\w.]*[ \[(:]"
    r"|Run(?:Result|ResultStreaming):\s*\n[ \t]*-"
    rf"|(?<=```)\w{{1,12}}\s*\n\s*[\[{{][^`]*?{_HIDDEN_MEMBER}"
    r")"
)
"""Matches the start of any other printed object."""
_HIDDEN = (
    "(?:inner_|internal_)?(?:thoughts?|thinking|reasoning|monologue)|reasoning_content|scratchpad|chain_of_thought"
    "|critique|reflection|tool_calls|tool_input|system_prompt"
)
_INSIDE = lazy_regex(
    rf"(?<![`\w.])[A-Z]\w{{0,60}}\((?:[^()`]{{0,200}}?[\s,])?(?:{_HIDDEN})\s?=(?!=)"
    r"|(?<![`\w.])(?:AI|System|Human|Tool|Function)Message(?:Chunk)?\(\s*content=|(?<![`\w.])(?:ToolCall|AgentFinish|AgentAction)\(\w+="
    rf"|(?<!`)[{{,]\s*[\"'](?:{_HIDDEN})[\"']\s*:"
    rf"|(?<![\w`])\((?:{_HIDDEN})=[\"'\[{{]|<[A-Z]\w{{0,60}}\s[^<>`]{{0,200}}?\b(?:{_HIDDEN})="
)
"""Matches an object with a hidden member anywhere in a text, unless it is quoted as code."""
_KEYS = lazy_regex(
    rf"\A{_START}(?:(?:---|!!python\S{{1,80}}|&\w{{1,20}})\s*\n\s*)?(?:- )?[a-z_][\w-]{{0,60}}[ \t]?[:=](?:\s|(?=\w))"
)
"""Matches a text that begins with a member in lower case, as YAML and the text format of Protocol Buffers do."""
_HIDDEN_KEY = lazy_regex(
    rf"(?m:^)[ \t]{{0,40}}(?:- )?(?:(?:{_HIDDEN})[ \t]?[:=](?!\w*\()"
    r"|role[ \t]?[:=][ \t]?[\"']?(?:assistant|system|tool|user|model)\b)"
)
_PROTOBUF = lazy_regex(rf"\A{_START}[a-z_]\w{{0,60}}\s?\{{\s")
_PROTOBUF_TEXT = lazy_regex(r"\b(?:text|thought|role|author|content)\s?:\s?(?:true\b|\"(?![^\"\n]*\"\s*;))")
_TOKEN = lazy_regex(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(?P<open>[\[({])|(?P<close>[\])}])")
_SENTENCE = lazy_regex(
    r"[`'\"]{0,3}(?:[,;][ ]|[ ])(?:[a-z]+(?![\w=(:.\[{])|[=<>+*/≈≤≥-][ ]?[\w(])|[`'\"]{0,3}[.:!?][ ][^\W\d_]+[ ][a-z]"
)
"""Matches the rest of a sentence that begins with an object."""
_LONGEST = 200


def is_printed_object(text: str) -> bool:
    """True if text begins like an object that a program printed, or contains such an object with a thought or a call.
    Such text may contain calls, thoughts, and instructions next to the answer."""
    if _PRINTED.search(text) is not None or _INSIDE.search(text) is not None:
        return True
    if _KEYS.search(text) is not None and _HIDDEN_KEY.search(text) is not None:
        return True
    if _PROTOBUF.search(text) is not None and _PROTOBUF_TEXT.search(text) is not None:
        return True
    found = _NAMED.search(text)
    return found is not None and not _is_in_sentence(text)


def _is_in_sentence(text: str) -> bool:
    """True if a sentence goes on after the first object in the text."""
    depth = 0
    for token in _TOKEN.finditer(text[:_LONGEST]):
        depth += (token["open"] is not None) - (token["close"] is not None)
        if token["close"] is not None and depth <= 0 and text[token.end() : token.end() + 1] not in ("[", "(", "{"):
            return _SENTENCE.match(text, token.end()) is not None
    return False
