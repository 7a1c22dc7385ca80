"""Find the secrets in text, with their kinds and positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from math import log2
from typing import Any

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.document.redaction.kinds import BY_NAME, KINDS, SecretKind, Shape
from viewer.document.redaction.readings import Reading, readings
from viewer.document.search.regex import Regex, RegexError
from viewer.errors import ViewerError

_NAME = lazy_regex(r"[a-z][a-z0-9-]{0,31}")
_LEAST_RANDOM = 3.0
"""The minimum entropy, in bits per character, of a key that is recognized only by its name. Repetitive values have
less."""
_LEAST_MIXED = 8
_MOST_MEMORY = 64 * 1024 * 1024
"""The memory limit in bytes for the search for all hints. RE2 clears its cache when it reaches the limit."""
_PLACEHOLDER = lazy_regex(
    r"(?i)x{4,}|\*{3,}|\.{3}|_{4,}|your[_-]|example|changeme|placeholder|redacted|dummy|insert|replace|\bnone\b|\btrue\b"
    r"|\bfalse\b|\bnull\b|process\.env|os\.environ|getenv|1234567|abcdef"
)
"""Values that documentation uses in place of a secret."""
_IDENTIFIER = lazy_regex(
    r"[A-Za-z_][A-Za-z_]*(?:[.-][A-Za-z_]+)*|[A-Z0-9_]+_[A-Z0-9_]+|[a-z0-9]+(?:[_.-][a-z]+)+[0-9]?"
)

_WORD = lazy_regex(r"[A-Z]?[a-z]+|[A-Z][A-Z_]*|[_-]+")


class Secret(Struct, frozen=True, gc=False):
    """A secret in the text."""

    kind: str
    start: int
    end: int
    text: str
    """The secret with its escapes decoded and its gaps removed, so equal secrets have the same text."""


class Finder:
    """Finds secrets of all kinds in the table, and matches of the user's own patterns. Every search takes linear
    time."""

    def __init__(self, custom: Mapping[str, str] | None = None) -> None:
        """Compile the patterns. Raise ViewerError if one is invalid."""
        self._custom = [(name, compiled_pattern(name, pattern)) for name, pattern in (custom or {}).items()]

    def find(self, text: str) -> list[Secret]:
        """Return the secrets in the text, in order and without overlaps."""
        found: list[Secret] = []
        for reading, joins in readings(text):
            for kind in possible_kinds(reading.text):
                if not joins or kind.shape is Shape.TOKEN:
                    found += _matches(reading, kind, joins)
            if not joins:
                for name, regex in self._custom:
                    found += (_secret(reading, name, span) for span in regex.captured(reading.text))
        return _merged(found) if len(found) > 1 else found


def compiled_pattern(name: str, pattern: str) -> Regex:
    """Compile a user's pattern. Raise ViewerError if it or its name is invalid."""
    if not _NAME.fullmatch(name):
        raise ViewerError(
            "a name under `redact` in the settings file may have only lowercase letters, digits, and hyphens"
        )
    try:
        return Regex(pattern, ignores_case=False)
    except RegexError as error:
        raise ViewerError(f"redact.{name} in the settings file: {error.sentence}") from None


def possible_kinds(text: str) -> list[SecretKind]:
    """Return the kinds for which the text contains a hint. One pass searches for all hints."""
    small = text.lower()
    hints, kinds = _hints()
    found = hints.Match(small.encode("utf-8", "surrogatepass")) or ()
    places = {place for hint in found for place in kinds[hint]}
    return [KINDS[place] for place in sorted(places)]


@cache
def _hints() -> tuple[Any, list[list[int]]]:
    """Compile the hints of all kinds. Return the compiled set and, for each hint, the indexes of the kinds that use
    it."""
    import re2  # loading it takes longer than most searches

    kinds: dict[str, list[int]] = {}
    for place, kind in enumerate(KINDS):
        for hint in kind.hints:
            kinds.setdefault(hint, []).append(place)
    options = re2.Options()
    options.max_mem = _MOST_MEMORY
    options.encoding = re2.Options.Encoding.LATIN1
    found = re2.Set.SearchSet(options)
    for hint in kinds:
        found.Add(re2.escape(hint))
    found.Compile()
    return found, list(kinds.values())


@lru_cache(maxsize=256)
def _regex(kind: SecretKind) -> Regex:
    return Regex(kind.pattern, kind.ignores_case)


def _matches(reading: Reading, kind: SecretKind, joins: bool) -> Iterator[Secret]:
    text = reading.text
    accepts = _ACCEPTS.get(kind.name)
    for start, found_end in _regex(kind).captured(text):
        end = _without_next_line(reading, kind, start, found_end) if joins else found_end
        if joins and not reading.is_joined(start, end):
            continue
        if kind.shape is Shape.TOKEN and not _is_whole(reading, start, end, joins):
            continue
        if accepts is not None and not accepts(text, start, end):
            continue
        yield _secret(reading, kind.name, (start, end))


def _without_next_line(reading: Reading, kind: SecretKind, start: int, end: int) -> int:
    """Return the end of a token of variable length, without a word that begins the next line."""
    text = reading.text
    while (last := reading.last_part(end)) > start:
        is_word = _WORD.fullmatch(text, last, end) is not None or text.startswith(("=", ":", "("), end)
        if not is_word or (0, last - start) not in _regex(kind).captured(text[start:last]):
            break
        end = last
    return end


def _secret(reading: Reading, kind: str, span: tuple[int, int]) -> Secret:
    return Secret(kind, *reading.origin(*span), reading.text[slice(*span)])


def _is_whole(reading: Reading, start: int, end: int, joins: bool) -> bool:
    """True if the token is not part of a longer word. In joined text, only words of the original text count."""
    text = reading.text
    if start and text[start - 1].isalnum() and text[start].isalnum() and not reading.begins_at(start):
        return False
    return joins or end == len(text) or not (text[end].isalnum() and text[end - 1].isalnum())


def _is_key(text: str, start: int, end: int) -> bool:
    """True if an assigned value looks random."""
    value = text[start:end]
    if _is_placeholder(value) or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    if end < len(text) and text[end] in "([{":
        return False
    return entropy(value) >= _LEAST_RANDOM


def _is_password(text: str, start: int, end: int) -> bool:
    """True if an assigned value is quoted like a password, or looks like one."""
    value = text[start:end]
    if _is_placeholder(value):
        return False
    kinds = sum((any(map(str.isalpha, value)), any(map(str.isdigit, value)), not value.isalnum()))
    is_quoted = bool(start) and text[start - 1] in "\"'"
    if is_quoted:
        return kinds >= 2 and not value.endswith((":", "=")) and "/" not in value[:1]
    return kinds >= 2 and any(map(str.isdigit, value)) and len(value) >= _LEAST_MIXED and text[end : end + 1] != "("


def _is_placeholder(value: str) -> bool:
    return _PLACEHOLDER.search(value) is not None or _IDENTIFIER.fullmatch(value) is not None


def _is_no_placeholder(text: str, start: int, end: int) -> bool:
    return not _is_placeholder(text[start:end]) and len(set(text[start:end])) > 2


def _is_url_password(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return value.lower() not in ("password", "pass", "passwd", "pwd", "secret", "token") and len(set(value)) > 1


def _is_mixed(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and not _is_placeholder(value)


def _is_address(text: str, start: int, end: int) -> bool:
    """True unless the address looks like a file name, such as `icon@2x.png`."""
    return not text[start:end].lower().endswith((".png", ".jpg", ".svg", ".js", ".py", ".css"))


def _is_separate(text: str, start: int, end: int) -> bool:
    """True if a path begins here, not in the middle of a longer one."""
    return start == 0 or not (text[start - 1].isalnum() or text[start - 1] in "_.~")


_ACCEPTS: dict[str, Callable[[str, int, int], bool]] = {
    "aws-secret": _is_mixed,
    "assigned-key": _is_key,
    "bearer-token": _is_mixed,
    "header-key": _is_mixed,
    "password": _is_password,
    "option-password": _is_mixed,
    "curl-user": _is_no_placeholder,
    "netrc-password": _is_no_placeholder,
    "connection-password": _is_no_placeholder,
    "url-password": _is_url_password,
    "cookie": _is_mixed,
    "openai-key": _is_mixed,
    "huggingface-token": _is_no_placeholder,
    "cargo-token": _is_mixed,
    "fireworks-key": _is_mixed,
    "email": _is_address,
    "home": _is_separate,
}
"""Additional conditions that a match must meet, for some kinds of secrets."""


def entropy(value: str) -> float:
    """Return the entropy in bits per character."""
    size = len(value)
    return -sum(count / size * log2(count / size) for count in map(value.count, set(value)))


def _merged(found: Sequence[Secret]) -> list[Secret]:
    """Join overlapping secrets. The longest secret determines the kind and the text; among equally long ones, the first
    kind in the table wins. Personal data that overlaps a secret is omitted."""
    secrets = _joined([each for each in found if not _is_personal(each)])
    if len(secrets) == len(found):
        return secrets
    people = _joined([each for each in found if _is_personal(each)])
    ends = [each.end for each in secrets]
    alone = []
    for each in people:
        after = bisect_right(ends, each.start)
        if after == len(secrets) or secrets[after].start >= each.end:
            alone.append(each)
    return sorted([*secrets, *alone], key=lambda each: each.start)


def _is_personal(secret: Secret) -> bool:
    kind = BY_NAME.get(secret.kind)
    return kind is not None and kind.shape is Shape.PERSONAL


def _joined(found: Sequence[Secret]) -> list[Secret]:
    made: list[Secret] = []
    best: list[Secret] = []
    for each in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if made and each.start < made[-1].end:
            if each.end - each.start > best[-1].end - best[-1].start:
                best[-1] = each
            made[-1] = Secret(best[-1].kind, made[-1].start, max(made[-1].end, each.end), best[-1].text)
        else:
            made.append(each)
            best.append(each)
    return made
