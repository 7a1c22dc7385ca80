"""The quick tables catch every mistake in safety code: each condition that is negated, dropped, or forced is found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from types import ModuleType

import pytest
from rich.segment import Segment
from textual.color import Color

from tests.support.mutants import Mutant, mutants, standing_for, unchanged
from tests.unit.model.test_visibility import (
    CASES,
    KIND_CASES,
    LEVELS,
    LISTED,
    MESSAGE_KINDS,
    MORE_KINDS,
    OF_ANOTHER_AGENT,
)
from tests.unit.render.test_safe_text import EMOJI, LINES, TABLE
from tests.unit.syntax.test_characters import FOUND, SHOWN

VISIBILITY = "viewer.model.visibility"
CHARACTERS = "viewer.syntax.characters"
SAFE_TEXT = "viewer.render.sanitize"
BARRIER = "viewer.tui.terminal.output_guard"
NET = "viewer.render.strip_controls"

_ENDS = [plane + last for plane in range(0x20000, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF) if plane != 0xE0000]
EVERY = " ".join(map(chr, [*range(0x20000), *range(0xE0000, 0xF0000), *_ENDS]))
"""All code points of the planes in which any code point has a mark, and the last two of every other plane."""
MARKED = {"␡": 2, "␤": 3, "⇢": 5, "⇠": 6, "⇄": 4, "·": 4195, "\ufffd": 2147}
"""The number of characters shown as each mark, including the mark."""
PICTOGRAPHS = 1595
"""The number of code points below U+20000 that a selector turns into an emoji."""

_BEYOND = "not data.isascii() and MAY_HIDE.search(data) is not None: "
_NO_CHANNEL = "header.role not in ('user', 'assistant') or header.channel is None"
HARMLESS = {
    "_PLAIN.fullmatch(text): never": "plain ASCII is also translated, into itself",
    "not _JOINING.search(text): never": "text without joiners is also split at its emoji",
    "text.isascii(): never": "ASCII has no marks to count, and as many bytes as characters",
    "kind_of: " + _NO_CHANNEL + ": without header.channel is None": "for the type checker: the table has no such row",
    "not may_hide(data): never": "a prefilter; whatever it rejects has nothing hidden",
    "_LONE_RETURN.search(data): always": "the same prefilter, which rejects less",
    **{_BEYOND + done: "the same prefilter, which rejects less" for done in ("always", "or for and")},
    _BEYOND + "without not data.isascii()": "the same prefilter: ASCII does not match",
    _BEYOND + "without MAY_HIDE.search(data) is not None": "the same prefilter, which rejects less",
    "any((OBEYED.search(segment.text) for segment in segments)): always": "a prefilter for the same search",
    "not cut.isprintable(): always": "a name without such characters is rebuilt",
    "item[-1] <= '\\uffff': always": "the class contains everything beyond U+FFFF anyway, as one range",
    "count: always": "a segment in which nothing was replaced is rebuilt",
}
"""Shortcuts: without them, the result is the same but takes longer. A test proves this for each."""


PANES = {"ANALYSIS": "ANALYSIS", "COMMENTARY": "COMMENTARY", "TOOL": "COMMENTARY"}
"""The pane of hidden messages by their kind."""


def wrong_in_visibility(made: dict[str, ModuleType]) -> Iterator[object]:
    """Yield the rows of the message table for which the module gives a wrong result."""
    rule = made[VISIBILITY]
    every = list(rule.Reveal)
    for message, reason, kind in [*CASES, *KIND_CASES]:
        shown = reason.startswith("Visible")
        yield rule.is_user_safe(message) is shown or (message, "safe")
        yield rule.reason_of(message) == reason or (message, "reason")
        yield rule.kind_of(message).name == kind.name or (message, "kind")
        pane = "CONVERSATION" if shown else PANES.get(kind.name, "CONVERSATION")
        yield rule.pane_of(message).name == pane or (message, "pane")
        yield rule.END_USER.sees(message) is shown or (message, "end user")
        for asked in every:
            seen = rule.Audience(frozenset({asked})).sees(message)
            yield seen is (shown or asked.name in (kind.name, "ALL")) or (message, asked)
    for asked in every:
        audience = rule.Audience(frozenset({asked}))
        yield audience.is_safe is (asked.name == "BRIEF") or ("is_safe", asked)
        yield audience.sees_stray is (asked.name in ("STRAY", "ALL")) or ("stray", asked)
        yield audience.sees_unlisted is (asked.name in ("UNCLEAR", "ALL")) or ("unlisted", asked)
        yield audience.sees_thoughts is (asked.name in ("ANALYSIS", "ALL")) or ("thoughts", asked)
    yield rule.END_USER.is_safe is True or "the end user is safe"
    for message, is_call, is_reply in LISTED:
        listed = rule.is_listed_call(message), rule.is_listed_reply(message)
        yield listed == (is_call, is_reply) or (message, "listed")
    for given, level, is_safe, sees_lines in LEVELS:
        revealed = frozenset(rule.Reveal[each.name] for each in given.revealed)
        audience = rule.Audience(revealed, given.strict, given.thread)
        facts = audience.level.name, audience.is_safe, audience.sees_call_lines
        yield facts == (level.name, is_safe, sees_lines) or (given, "level")
    for sealed, strict, thread, reveal in product((False, True), (False, True), (None, 0, 1), (None, *every)):
        asked = rule.Audience(frozenset([reveal] if reveal else ()), strict, thread, sealed)
        for is_strict, its_thread in product((False, True), (None, 0)):
            under = rule.Audience(strict=is_strict, thread=its_thread, sealed=True)
            is_narrower = (strict or not is_strict) and its_thread in (None, thread)
            yield under.admits(asked) is (sealed and reveal is None and is_narrower) or (under, asked)
        yield rule.Audience(strict=strict, thread=thread).admits(asked) is True or ("not sealed", asked)
    other, reason = OF_ANOTHER_AGENT, "Hidden: sub-agent"
    yield (rule.is_user_safe(other), rule.reason_of(other)) == (False, reason) or (other, "another agent")
    for words in (("SUBAGENT",), ("UNCLEAR",), ("SUBAGENT", "UNCLEAR"), ("ALL",)):
        seen = rule.Audience(frozenset(rule.Reveal[word] for word in words)).sees(other)
        yield seen is (len(words) == 2 or words == ("ALL",)) or (other, words)
    for thread, message, seen in ((0, CASES[0][0], True), (1, CASES[0][0], False), (0, other, False)):
        yield rule.Audience(frozenset(), thread=thread).sees(message) is seen or (message, thread)
    everything = frozenset({rule.Reveal.ALL})
    yield rule.Audience(everything, thread=1).sees(other) is True or (other, "its thread")
    kinds = [(message, name) for (message, _, _), name in zip(CASES, MESSAGE_KINDS, strict=True)]
    kinds += [(message, message.header.kind.value) for message, _, _ in KIND_CASES]
    for message, name in [*kinds, *MORE_KINDS]:
        yield rule.message_kind(message) == name or (message, "message kind")


def wrong_in_text(made: dict[str, ModuleType]) -> Iterator[object]:
    """Yield the wrong rows of the text tables, and then the wrong code points."""
    text = made[SAFE_TEXT]
    for given, shown, copy in TABLE:
        yield text.sanitize(given) == shown or given
        yield text.sanitize_copy(given) == copy or given
    for given, limit, line in LINES:
        yield text.sanitize_line(given, limit) == line or given
    for emoji in EMOJI:
        yield (text.sanitize(f"a{emoji}b"), text.sanitize_copy(emoji)) == (f"a{emoji}b", emoji) or emoji
    shown = text.sanitize(EVERY)[::2]
    counts = {mark: shown.count(mark) for mark in MARKED}
    yield counts == MARKED or counts


def wrong_in_characters(made: dict[str, ModuleType]) -> Iterator[object]:
    """Yield the wrong rows of the table of hidden characters, and a wrong number of code points that are emoji."""
    characters = made[CHARACTERS]
    for text in SHOWN:
        yield list(characters.find_hidden_characters(text.encode(), 7)) == [] or text
    for text, found in FOUND:
        yield list(characters.find_hidden_characters(text.encode())) == found or text
    for name, longest, shown in NAMES:
        yield characters.plain_name(name, longest) == shown or (name, longest)
    kept = re.findall(characters.EMOJI, _SELECTED)
    yield sum(emoji[-1:] == "\ufe0f" for emoji in kept) == PICTOGRAPHS or ("emoji", len(kept))
    yield from wrong_in_text(made)


NAMES = (
    ("report.pdf", 10, "report.pdf"),
    ("report.pdf", 9, "report.p…"),
    (" a b ", 10, "a b"),
    ("résumé", 6, "résumé"),
    ("a\tb\nc", 10, "a b c"),
    ("a\u2028b\u3000c", 10, "a b c"),
    ("a\x07b", 10, "ab"),
    ("a\u202eb\u200bc", 10, "abc"),
    ("a\udc80b", 10, "ab"),
    ("a\ue000b", 10, "ab"),
    ("a\u0378b", 10, "ab"),
)
"""Names with their longest length and their plain form: one for each category without a glyph, and for spaces."""


_SELECTED = "".join(f"{chr(code)}\ufe0f " for code in range(0x20, 0x20000) if not 0xD800 <= code < 0xE000)


SEGMENTS = (
    ("plain", False, "plain", 0),
    ("a\x1bb", False, "a\ufffdb", 1),
    ("\u202e\x9b", False, "\ufffd" * 2, 2),
    ("é 東 █│", False, "é 東 █│", 0),
    ("plain", True, "plain", 0),
    ("a\x1bb", True, "a?b", 1),
    ("\u202e\x9b\n", True, "???", 3),
    ("é 東 █│─", True, "? ?? #|-", 0),
    ("e\u0301 ☀\ufe0f.", True, "e ??.", 0),
)
"""For each text: whether the terminal is limited to ASCII, the expected output, and the number of counted faults."""


def wrong_in_barrier(made: dict[str, ModuleType]) -> Iterator[object]:
    """Check the output guard on segments, some of which it should change. Yield True, or the text if the result is
    wrong."""
    module = made[BARRIER]
    for given, ascii_only, expected, caught in SEGMENTS:
        barrier = module.OutputGuard(ascii_only)
        module.OutputGuard.caught = 0
        segments = barrier.apply([Segment("x"), Segment(given)], Color(0, 0, 0))
        yield ("".join(part.text for part in segments), module.OutputGuard.caught) == (f"x{expected}", caught) or given


def wrong_in_net(made: dict[str, ModuleType]) -> Iterator[object]:
    """Check the same text on the first page, which draws its lines in ASCII, and after the output guard."""
    for given, ascii_only, expected, _ in SEGMENTS:
        shown = made[NET].strip_controls(given, ascii_only)
        yield shown == (expected if "█" not in given or not ascii_only else "? ?? ???") or given
    yield from wrong_in_barrier(made)


GUARDED: dict[str, tuple[Callable[[dict[str, ModuleType]], Iterator[object]], tuple[str, ...]]] = {
    VISIBILITY: (wrong_in_visibility, ()),
    SAFE_TEXT: (wrong_in_text, ()),
    CHARACTERS: (wrong_in_characters, (SAFE_TEXT,)),
    BARRIER: (wrong_in_barrier, ()),
    NET: (wrong_in_net, (BARRIER,)),
}


@cache
def mutants_of(module: str) -> list[Mutant]:
    """Return the mutants of a module, created on demand."""
    return mutants(module)


def is_caught(mutant: Mutant) -> bool:
    """True if a row is wrong, or the module is unusable."""
    look, users = GUARDED[mutant.module]
    try:
        with standing_for(mutant, *users) as made:
            return any(said is not True for said in look(made))
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, re.error):
        return True


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("module", GUARDED)
def test_the_unchanged_program_has_no_wrong_row(module: str) -> None:
    look, users = GUARDED[module]
    with standing_for(unchanged(module), *users) as made:
        assert [said for said in look(made) if said is not True] == []


@pytest.mark.share(test=7)
@pytest.mark.slow
@pytest.mark.parametrize("module", GUARDED)
def test_every_mutant_is_caught(module: str) -> None:
    survived = [str(each) for each in mutants_of(module) if not is_caught(each) and not _harmless(each)]
    assert survived == []


@pytest.mark.slow
def test_mutants_listed_as_harmless_are_harmless() -> None:
    """A row that fails here has a mutant that a table catches after all, or that no longer exists. Remove it."""
    made = [mutant for module in GUARDED for mutant in mutants_of(module)]
    for words in HARMLESS:
        named = [mutant for mutant in made if mutant.words.endswith(words)]
        assert named, words
        assert not any(is_caught(mutant) for mutant in named), words


def _harmless(mutant: Mutant) -> bool:
    return any(mutant.words.endswith(words) for words in HARMLESS)


def test_there_are_mutants_of_every_condition() -> None:
    counts = Counter({module: len(mutants_of(module)) for module in GUARDED})
    assert counts[VISIBILITY] > 100
    assert counts[SAFE_TEXT] > 40
    assert counts[CHARACTERS] > 100
