"""Decide which rules of a table apply to a record or a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from viewer.formats.engine.paths import IDS, Path, Step, each_at, is_id, path
from viewer.formats.printed_objects import is_printed_object
from viewer.formats.tables.model import When
from viewer.syntax.json_lines import LazyNode, kind_of
from viewer.syntax.json_text import JsonKind, JsonNode

_SPACE = " \t\r\n\f\v"


class _Rule(Protocol):
    @property
    def when(self) -> tuple[When, ...]: ...


Rule = TypeVar("Rule", bound=_Rule)


class Unreadable(Exception):  # noqa: N818 - not an error: different readers would understand the record differently
    """A condition cannot be decided, because it depends on a flag that is not a Boolean or on a repeated key."""


def first_rule(rules: tuple[Rule, ...], node: JsonNode) -> Rule | None:
    """Return the first rule whose conditions all hold, or None if there is none."""
    return next(holding(rules, node), None)


def holding(rules: tuple[Rule, ...], node: JsonNode) -> Iterator[Rule]:
    """Yield the rules whose conditions all hold, in order."""
    if type(node) is LazyNode:
        return _lazily_holding(rules, node.value)
    if node.decoded is not None:
        return _lazily_holding(rules, node.decoded)
    if node.is_empty:
        return iter(_for_empty(rules, node))
    return (each.rule for each in _among_nodes(rules, node) if all_hold(each.when, node))


def holding_each(rules: tuple[Rule, ...], node: JsonNode) -> Iterator[Rule]:
    """Like `holding`, but skip no rule, so the first one that looks up a repeated key raises `Unreadable`."""
    if not rules:
        return iter(())
    if type(node) is LazyNode:
        return _lazily_holding(rules, node.value)
    if node.decoded is not None:
        return _lazily_holding(rules, node.decoded)
    return (each for each in rules if all_hold(each.when, node))


def _lazily_holding(rules: tuple[Rule, ...], value: Any) -> Iterator[Rule]:
    for each in _among(rules, value):
        for test in each.tests:
            if not test(value):
                break
        else:
            yield each.rule


def all_hold(conditions: tuple[When, ...], node: JsonNode) -> bool:
    """True if all conditions hold."""
    if not conditions:
        return True
    value = node.value if type(node) is LazyNode else node.decoded
    if value is not None or type(node) is LazyNode:
        return all(test(value) for test in _tests(conditions))
    return all(holds(condition, node) for condition in conditions)


def holds(when: When, node: JsonNode) -> bool:
    """True if a condition holds. Raise `Unreadable` if it cannot be decided."""
    if type(node) is LazyNode:
        return _test(when)(node.value)
    if node.decoded is not None:
        return _test(when)(node.decoded)
    value = _value(path(when.path), node)
    if when.true is not None and not _is_flag(value, when.true):
        return False
    if when.present is not None and (value is not None) is not when.present:
        return False
    if when.kind is not None and (value is None or value.kind is not when.kind):
        return False
    word = value.text if value is not None and value.kind in (JsonKind.STRING, JsonKind.NUMBER) else None
    if when.equals and word not in when.equals:
        return False
    if when.not_equals and word in when.not_equals:
        return False
    if when.ends and (word is None or not word.endswith(when.ends)):
        return False
    if when.only and (value is None or not _has_only(value, when.only)):
        return False
    if when.not_starts and word is not None and word.lstrip(_SPACE).startswith(when.not_starts):
        return False
    if when.printed is not None and (word is not None and is_printed_object(word)) is not when.printed:
        return False
    return not when.starts or (word is not None and word.lstrip(_SPACE).startswith(when.starts))


def may_hold(conditions: tuple[When, ...], node: JsonNode) -> bool:
    """True unless a condition certainly fails. If a key is repeated, one matching value is enough."""
    return all(_may_hold(condition, node) for condition in conditions)


def _may_hold(when: When, node: JsonNode) -> bool:
    try:
        return holds(when, node)
    except Unreadable:
        return not when.equals or any(value.text in when.equals for value in each_at(when.path, node))


def _has_only(value: JsonNode, known: frozenset[str]) -> bool:
    keys = [member.key for member in value.members]
    return known.issuperset(keys) and len(set(keys)) == len(keys)


def _is_flag(value: JsonNode | None, wanted: bool) -> bool:
    if value is None or value.kind is JsonKind.FALSE:
        return not wanted
    if value.kind is not JsonKind.TRUE:
        raise Unreadable
    return wanted


def _value(at: Path, node: JsonNode) -> JsonNode | None:
    for steps in at.choices:
        found: JsonNode | None = node
        for step in steps:
            if isinstance(step, str) and found is not None and found.kind is JsonKind.OBJECT:
                found = _only_member(found, step)
            else:
                found = _item(found, step) if isinstance(step, int) and found is not None else None
            if found is None:
                break
        if found is not None and found.kind is not JsonKind.NULL:
            return found
    return None


def _only_member(node: JsonNode, key: str) -> JsonNode | None:
    if key == IDS:
        return next((member.value for member in node.members if is_id(member.key)), None)
    found: JsonNode | None = None
    for member in node.members:
        if member.key == key:
            if found is not None:
                raise Unreadable
            found = member.value
    return found


def _item(node: JsonNode, at: int) -> JsonNode | None:
    return node.items[at] if -len(node.items) <= at < len(node.items) else None


# Conditions on decoded values, compiled once.

Test = Callable[[Any], bool]
Read = Callable[[Any], Any]
FEWEST_DIVIDED = 3
"""Rules are split only if that saves testing at least this many of them."""
FEWEST_STRUCTURAL = 6
"""The minimum number of conditions on the structure of a value for which the cache of structures is used."""
MOST_MEMBERS = 64
"""The maximum number of members of an object with a cached structure."""
MOST_STRUCTURES = 256
"""The maximum number of value structures to cache for one set of rules."""


class _Choice(Generic[Rule]):
    """Rules, split by the word that they require at a path."""

    def __init__(self, rules: Sequence[_Tested[Rule]], at: str) -> None:
        self.path = path(at)
        assert self.path.read is not None
        self.read = self.path.read
        self._rules = rules
        self._at = at
        self._words = {word for rule in rules for word in _needed(rule, at)[1]}
        self._branches: dict[str | None, _Divided[Rule]] = {}
        """The rules for each word so far. The key None is for all words that no rule requires."""

    def branch(self, word: str | None) -> _Divided[Rule]:
        """Return the rules that may apply to a record with this word."""
        known = self._branches.get(word)
        if known is None:
            word = word if word in self._words else None
            known = self._branches.get(word)
        if known is None:
            known = self._branches[word] = _divided(_with(self._rules, self._at, word))
        return known


class _Tested(Struct, Generic[Rule]):
    """A rule, and the conditions that remain to be tested."""

    rule: Rule
    when: tuple[When, ...]
    tests: tuple[Test, ...] = ()
    """The conditions as tests of decoded values."""


class _Leaf(Generic[Rule]):
    """Rules that no word splits further. Which of them apply to a value depends on its structure and a few tests.
    Conditions on the presence or kind of members are decided once for all values with the same member names and
    types."""

    def __init__(self, rules: Sequence[_Tested[Rule]]) -> None:
        self.rules = tuple(_Tested(rule.rule, rule.when, tuple(map(_test, rule.when))) for rule in rules)
        self._places = [_structural(rule.when) for rule in rules]
        paths = {rule.when[place].path for rule, places in zip(rules, self._places, strict=True) for place in places}
        read = [(path(at).read or partial(_lazy_value, path(at)), path(at)) for at in sorted(paths)]
        self._inner = [reader for reader, at in read if at.keys is None or any(len(keys) != 1 for keys in at.keys)]
        """Functions that read those of the tested values that are not direct members."""
        self._is_worth_it = sum(map(len, self._places)) >= FEWEST_STRUCTURAL
        self._known: dict[object, tuple[_Tested[Rule], ...]] = {}

    def among(self, value: Any) -> tuple[_Tested[Rule], ...]:
        """Return the rules that may apply to a value, with the tests that remain."""
        if not self._is_worth_it or type(value) is not dict or len(value) > MOST_MEMBERS:
            return self.rules
        key = (*value, *map(type, value.values()), *(type(read(value)) for read in self._inner))
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= MOST_STRUCTURES:
                self._known.clear()
            known = self._known[key] = tuple(self._remaining(value))
        return known

    def _remaining(self, value: Any) -> Iterator[_Tested[Rule]]:
        for rule, places in zip(self.rules, self._places, strict=True):
            if all(rule.tests[place](value) for place in places):
                tests = tuple(test for place, test in enumerate(rule.tests) if place not in places)
                yield _Tested(rule.rule, rule.when, tests)


def _structural(conditions: tuple[When, ...]) -> frozenset[int]:
    """Return the indexes of the conditions that depend only on the types of the values. None of these conditions comes
    after a flag, which may be unreadable."""
    found: set[int] = set()
    for place, when in enumerate(conditions):
        if when.true is not None:
            break
        is_plain = when == When(when.path, present=when.present, kind=when.kind)
        if is_plain and when.path and when.kind not in (JsonKind.TRUE, JsonKind.FALSE):
            found.add(place)
    return frozenset(found)


_Divided = _Choice[Rule] | _Leaf[Rule]


def _divided(rules: Sequence[_Tested[Rule]]) -> _Divided[Rule]:
    """Split rules by the member for which most of them require a word, if that saves tests."""
    counts: dict[str, int] = {}
    for rule in rules:
        for at in {when.path for when in rule.when if _needed(rule, when.path)[0] >= 0}:
            counts[at] = counts.get(at, 0) + 1
    best = max(counts, key=counts.__getitem__, default="")
    if counts.get(best, 0) < FEWEST_DIVIDED:
        return _Leaf(rules)
    return _Choice(rules, best)


def _with(rules: Sequence[_Tested[Rule]], at: str, word: str | None) -> list[_Tested[Rule]]:
    """Return the rules that may apply to a record with this word, without their conditions on the word."""
    found: list[_Tested[Rule]] = []
    for rule in rules:
        place, needed = _needed(rule, at)
        if place < 0:
            found.append(rule)
        elif word in needed:
            found.append(_Tested(rule.rule, rule.when[:place] + rule.when[place + 1 :]))
    return found


def _needed(rule: _Tested[Rule], at: str) -> tuple[int, frozenset[str]]:
    """Return the index of the condition that limits this member to certain words, and those words.

    The index is -1 if there is none. No flag may precede the condition, because an unreadable flag decides first."""
    for place, when in enumerate(rule.when):
        if when.true is not None:
            break
        if when.path == at and when.equals and when == When(at, equals=when.equals) and path(at).read is not None:
            return place, when.equals
    return -1, frozenset()


_FOR_EMPTY: dict[int, tuple[object, tuple[object, ...]]] = {}
"""The rules that apply to an object without members, by the identity of the tuple of all rules. Each entry keeps that
tuple alive, so its identity stays unique."""
_COMPILED: dict[int, tuple[object, object]] = {}
"""The compiled conditions and rules, by identity instead of by value, because hashing them takes longer."""


def _among(rules: tuple[Rule, ...], value: Any) -> tuple[_Tested[Rule], ...]:
    """Return the rules that may apply to a decoded value, each with the tests that remain."""
    found = _divisions(rules)
    while type(found) is _Choice:
        word = found.read(value)
        found = found.branch(word if isinstance(word, str) else None)
    return found.among(value)  # type: ignore[no-any-return]


def _among_nodes(rules: tuple[Rule, ...], node: JsonNode) -> tuple[_Tested[Rule], ...]:
    """Return the rules that may apply to a value, each with the conditions that remain. If a key is repeated in the
    value, return all rules."""
    found = _divisions(rules)
    while type(found) is _Choice:
        try:
            value = _value(found.path, node)
        except Unreadable:
            return tuple(_Tested(rule, rule.when) for rule in rules)
        is_word = value is not None and value.kind in (JsonKind.STRING, JsonKind.NUMBER)
        found = found.branch(value.text if value is not None and is_word else None)
    return found.rules  # type: ignore[no-any-return]


def _for_empty(rules: tuple[Rule, ...], node: JsonNode) -> tuple[Rule, ...]:
    """Return the rules whose conditions hold for an object without members."""
    known = _FOR_EMPTY.get(id(rules))
    if known is None:
        known = _FOR_EMPTY[id(rules)] = rules, tuple(rule for rule in rules if all_hold(rule.when, node))
    return known[1]  # type: ignore[return-value]


def _divisions(rules: tuple[Rule, ...]) -> Any:
    known = _COMPILED.get(id(rules))
    if known is None:
        known = _COMPILED[id(rules)] = rules, _divided([_Tested(rule, rule.when) for rule in rules])
    return known[1]


def _tests(conditions: tuple[When, ...]) -> tuple[Test, ...]:
    known = _COMPILED.get(id(conditions))
    if known is None:
        known = _COMPILED[id(conditions)] = conditions, tuple(map(_test, conditions))
    return known[1]  # type: ignore[return-value]


def _test(when: When) -> Test:
    known = _COMPILED.get(id(when))
    if known is None:
        known = _COMPILED[id(when)] = when, _compiled_test(when)
    return known[1]  # type: ignore[return-value]


def _compiled_test(when: When) -> Test:
    at = path(when.path)
    if at.read is None:
        return partial(_holds_for, when, partial(_lazy_value, at))
    if when.equals and when == When(when.path, equals=when.equals):
        return _one_of(at.read, when.equals)
    if when.true is not None and when == When(when.path, true=when.true):
        return _flag(at.read, when.true)
    if when.present is not None and when == When(when.path, present=when.present):
        return _present(at.read, when.present)
    return partial(_holds_for, when, at.read)


def _one_of(read: Read, words: frozenset[str]) -> Test:
    def test(value: Any) -> bool:
        word = read(value)
        return isinstance(word, str) and word in words

    return test


def _flag(read: Read, wanted: bool) -> Test:
    def test(value: Any) -> bool:
        found = read(value)
        if found is None or found is False:
            return not wanted
        if found is not True:
            raise Unreadable
        return wanted

    return test


def _present(read: Read, wanted: bool) -> Test:
    def test(value: Any) -> bool:
        return (read(value) is not None) is wanted

    return test


def _holds_for(when: When, read: Read, given: Any) -> bool:
    """Like `holds`, for a decoded value."""
    value = read(given)
    if when.true is not None and not _flag(_itself, when.true)(value):
        return False
    if when.present is not None and (value is not None) is not when.present:
        return False
    if when.kind is not None and (value is None or kind_of(value) is not when.kind):
        return False
    word = value if isinstance(value, str) else None
    if when.equals and word not in when.equals:
        return False
    if when.not_equals and word in when.not_equals:
        return False
    if when.ends and (word is None or not word.endswith(when.ends)):
        return False
    if when.only and (value is None or not (type(value) is not dict or when.only.issuperset(value))):
        return False
    if when.not_starts and word is not None and word.lstrip(_SPACE).startswith(when.not_starts):
        return False
    if when.printed is not None and (word is not None and is_printed_object(word)) is not when.printed:
        return False
    return not when.starts or (word is not None and word.lstrip(_SPACE).startswith(when.starts))


def _itself(value: Any) -> Any:
    return value


def _lazy_value(at: Path, given: Any) -> Any:
    for steps in at.choices:
        found = given
        for step in steps:
            found = _lazy_step(found, step)
            if found is None:
                break
        if found is not None:
            return found
    return None


def _lazy_step(value: Any, step: Step) -> Any:
    if isinstance(step, int):
        return value[step] if type(value) is list and -len(value) <= step < len(value) else None
    if step == IDS:
        return next((value[name] for name in value if is_id(name)), None) if type(value) is dict else None
    return value.get(step) if type(value) is dict else None
