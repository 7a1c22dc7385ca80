"""Leak detection: hidden text that reached the user, with its source, kind, and score. Paraphrases are not found."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.document.projection import Projection
from viewer.document.values import MessageText, ShownMessage
from viewer.insight.hidden.rare_strings import Rare, rare_strings_of
from viewer.insight.hidden.word_keys import WordKeys
from viewer.insight.hidden.word_sequences import SEED, Words, words_of
from viewer.insight.json_changes import json_container
from viewer.insight.leak_sources import Grams, Passage, Source
from viewer.insight.words import word_spans
from viewer.model.messages import Span

SOURCES = ("analysis", "system", "developer", "arguments", "tool")
USUAL_SOURCES = frozenset(SOURCES) - {"tool"}
"""The default sources. Tool replies are not included, because they are meant to be passed on."""
LEAST_WORDS = 8
"""The default minimum length of a passage in words."""
WARNING, NOTE = 60, 20
"""The minimum scores of W-LEAK and I-LEAK."""
_LONGEST_FOR_WARNING = 12
"""The minimum length in words of one passage for W-LEAK, unless the answer contains a secret or reasoning-like
wording."""
_BLOCK = 1 << 17
"""The number of characters after which a batch of text is split into words."""
_FULL = 40
"""The number of copied words that suffice for the full score."""
_OFTEN = 3
"""The number of answers that must share a passage for it to be boilerplate."""
_WEIGHTS = {"system": 1.0, "developer": 1.0, "analysis": 0.8, "arguments": 0.5, "tool": 1.0}
_INSTRUCTIONS = ("system", "developer")
_META_SCORE = 0.6

META = lazy_regex(
    r"\b(?:the user (?:asks|asked|wants|is asking|says|said|requests|requested|might|probably)"
    r"|(?:the|my|our|this) system prompt"
    r"|according to (?:the |our |my )?(?:policy|policies|instructions|guidelines)"
    r"|(?:we|i) (?:need|have|should|must) (?:to )?"
    r"(?:answer|respond|reply|produce|output|comply|refuse|decide|call|check)"
    r"|der nutzer (?:fragt|will|möchte)|l'utilisateur (?:demande|veut)|el usuario (?:pregunta|quiere))\b"
    r"|^\W*we (?:need|have) to\b|^(?-i:analysis(?=[A-Z]))|assistantfinal|assistantcommentary|commentary to=\w"
    r"|用户(?:问|想|要求|需要|希望)|系统提示|ユーザーは|ユーザーが(?:求め|尋ね)|システムプロンプト"
    r"|사용자가 (?:묻|원)|시스템 프롬프트",
    re.IGNORECASE,
)
"""Wording that is typical of reasoning."""
_META_SIGNS = (
    *("we n", "we h", "we s", "we m", "we ſ", "the user ", "i need", "i have", "i should", "i must", "system prompt"),
    *("according to", "analysis", "assistantf", "assistantc", "commentary to", "der nutzer"),
    *("l'utilisateur", "el usuario", "用户", "系统提示", "ユーザーが", "ユーザーは", "システム", "사용자", "시스템"),
)
"""All reasoning-like wording contains one of these strings. Few answers do, so this avoids the full search, which is
slow."""
_ASCII_META_SIGNS = tuple(sign for sign in _META_SIGNS if sign.isascii())

_LONGEST_META = 40
"""The maximum length of a `META` match in ASCII, except at the start of a text, where other characters may precede
it."""

Work = Callable[[], None]


class LeakSpan(Struct, frozen=True):
    """A passage of an answer that comes from hidden text. Spans are character offsets in the bodies."""

    kind: str
    """`secret`, `meta`, `copied`, `draft`, `relayed`, or `boilerplate`."""
    shown: Span
    source: Source | None
    """The hidden text; None for reasoning-like wording, which needs no source."""
    source_span: Span | None
    words: float
    grams: frozenset[int] = frozenset()
    """The word sequences of the passage, for finding it in other answers."""

    @property
    def weight(self) -> float:
        """The weight of the passage in the score; 0 unless it was copied."""
        return _WEIGHTS[self.source.kind] if self.kind == "copied" and self.source else 0.0


class Leak(Struct, frozen=True):
    """An answer that contains hidden text."""

    message: int
    words: int
    """The number of words in the answer."""
    spans: Sequence[LeakSpan]
    least_words: int = LEAST_WORDS

    @property
    def counted(self) -> list[LeakSpan]:
        """The copied passages of at least `least_words` words."""
        return [span for span in self.spans if span.weight and span.words >= self.least_words]

    @property
    def score(self) -> int:
        """The score, from 0 to 100."""
        found = {span.kind for span in self.spans}
        if "secret" in found:
            return 100
        copied = sum(span.words * span.weight for span in self.counted) / _FULL
        return round(100 * max(_META_SCORE if "meta" in found else 0.0, min(1.0, copied)))

    @property
    def code(self) -> str | None:
        """The code of the diagnostic for the score, or None if the score is too low for one."""
        score = self.score
        is_long = self.longest >= _LONGEST_FOR_WARNING or any(span.kind in ("secret", "meta") for span in self.spans)
        if score >= WARNING and is_long:
            return "W-LEAK"
        return "I-LEAK" if score >= NOTE else None

    @property
    def kinds(self) -> list[str]:
        """The kinds that contribute to the score, worst first."""
        found = {span.kind for span in self.spans if span.kind in ("secret", "meta")}
        found |= {"copied"} if self.counted else set()
        return [kind for kind in ("secret", "copied", "meta") if kind in found]

    @property
    def longest(self) -> int:
        """The length of the longest counted passage in words, or 0 if there is none."""
        return int(max((span.words for span in self.counted), default=0))

    @property
    def copied(self) -> float:
        """The share of the answer's words that are in counted passages, at most 1."""
        return min(1.0, sum(span.words for span in self.counted) / self.words) if self.words else 0.0


class Answers(Struct, frozen=True):
    """The number of searched answers of one input, and the answers that contain hidden text."""

    searched: int
    leaks: Sequence[Leak]


def find_leaks(
    everything: Projection,
    shown: Projection,
    sources: frozenset[str] = USUAL_SOURCES,
    least_words: int = LEAST_WORDS,
    work: Work = lambda: None,
) -> Answers:
    """Compare each answer with the hidden text before it.

    `shown` is the end user's view of the same input. Boilerplate is not yet known at this point; see
    `mark_boilerplate`."""
    state, hidden = _State(0, 0, sources), _Hidden(sources)
    leaks: list[Leak] = []
    searched = 0
    keys = WordKeys()
    for texts in _in_blocks(_read(everything, shown, sources, work)):
        bodies = [text.body for text in texts]
        split = [*zip(texts, words_of(bodies, keys), rare_strings_of(bodies), strict=True)]
        hidden.prepare((text, words) for text, words, _ in split)
        for text, words, rare in split:
            state = state.at(text.message)
            if text.kind:
                state.hide(text, words, rare)
            elif text.kind is None:
                if text.role == "assistant":
                    searched += 1
                    spans = state.search(text.body, words, rare, hidden.of_answer(words))
                    leaks += [Leak(text.message.number, len(words), spans, least_words)] if spans else []
                state.show(text.role, text.body, words, rare)
    return Answers(searched, leaks)


class _Text(Struct, frozen=True, dict=True):
    """The text of a message, or of its hidden part."""

    message: MessageText
    role: str
    kind: str | None
    """The kind of the text as a source: None for shown text, and empty for text that is not compared."""
    body: str

    @cached_property
    def source(self) -> Source:
        """The body of the message, as a source of leaks."""
        return Source(self.message.number, self.kind or "", self.body)


def _read(everything: Projection, shown: Projection, sources: frozenset[str], work: Work) -> Iterator[_Text]:
    """Yield the hidden and shown text of each message, in order."""
    rows = everything.rows()
    heads: dict[int, ShownMessage] = {}
    on_screen = _InOrder(shown.texts(shown.rows()))
    for text in everything.texts(rows):
        work()
        head = heads.get(text.kind)
        if head is None:
            head = heads[text.kind] = everything.unread(rows, text.row)
        seen = on_screen.body(text.number) if head.visible else None
        if seen is None:
            kind = kind_of_source(head)
            is_compared = kind in sources or kind == "tool"
            yield _Text(text, head.role, kind if is_compared else "", _compared_text(text.body) if is_compared else "")
            continue
        is_part = seen != text.body and seen.strip() != text.body.strip() and seen.strip() in text.body
        if is_part and "analysis" in sources:
            yield _Text(text, head.role, "analysis", _compared_text(text.body.replace(seen.strip(), "\n", 1)))
        yield _Text(text, head.role, None, seen)


def _in_blocks(texts: Iterator[_Text]) -> Iterator[list[_Text]]:
    """Yield batches of text that are split into words together."""
    block: list[_Text] = []
    characters = 0
    for text in texts:
        block.append(text)
        characters += len(text.body)
        if characters >= _BLOCK:
            yield block
            block, characters = [], 0
    yield block


class _InOrder:
    """Looks up the text of messages by ascending message number."""

    def __init__(self, texts: Iterator[MessageText]) -> None:
        self._texts = texts
        self._next = next(texts, None)

    def body(self, number: int) -> str | None:
        """Return the text of a message, or None if there is none."""
        while self._next is not None and self._next.number < number:
            self._next = next(self._texts, None)
        return self._next.body if self._next is not None and self._next.number == number else None


def mark_boilerplate(answers: Sequence[Answers]) -> list[Answers]:
    """Mark a copied passage as boilerplate if at least three answers across all inputs share it, and drop answers whose
    score is then 0."""
    counts = Counter[int]()
    for leak in _all_leaks(answers):
        counts.update(frozenset().union(*(span.grams for span in leak.spans)))
    return [
        Answers(each.searched, [leak for leak in (_marked(found, counts) for found in each.leaks) if leak.score])
        for each in answers
    ]


def _all_leaks(answers: Sequence[Answers]) -> Iterator[Leak]:
    for each in answers:
        yield from each.leaks


def _marked(leak: Leak, counts: Counter[int]) -> Leak:
    spans = [
        replace(span, kind="boilerplate") if span.kind == "copied" and _is_frequent(span, counts) else span
        for span in leak.spans
    ]
    return replace(leak, spans=spans)


def _is_frequent(span: LeakSpan, counts: Counter[int]) -> bool:
    return 2 * sum(counts[gram] >= _OFTEN for gram in span.grams) > len(span.grams)


_KINDS = {"thought": "analysis", "call": "arguments", "reply": "tool", "injected": "system", "subagent": "tool"}


def kind_of_source(message: ShownMessage) -> str:
    """Return the kind of a hidden message as a source. Return an empty string for copies of the conversation and
    program notices."""
    if message.message_kind == "instruction":
        return "developer" if message.role == "developer" else "system"
    if message.message_kind in ("replayed", "notice"):
        return ""
    return _KINDS.get(message.message_kind, "analysis")


def _compared_text(body: str) -> str:
    """Return the part of hidden text to compare: the strings of a JSON object or array, or else the whole text."""
    value = json_container(body)
    return body if value is None else "\n\n".join(_strings(value))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, str):
        yield value


class _Hidden:
    """The word sequences of hidden text: the instructions of a transcript, and the thoughts and replies of a turn.

    Texts that are read together are indexed together, and their answers are searched together, because each call to
    NumPy costs more than comparing a few words."""

    def __init__(self, sources: frozenset[str]) -> None:
        self._sources = sources
        self._transcript = self._turn = -1
        self._instructions, self._thoughts, self._replies = Grams(), Grams(), Grams()
        self._of_answers: dict[Words, tuple[Grams, Grams, Grams]] = {}

    def prepare(self, texts: Iterable[tuple[_Text, Words]]) -> None:
        """Index the hidden texts among these texts, and announce the answers among them."""
        newest = self._instructions, self._thoughts, self._replies
        for text, words in texts:
            if text.message.transcript != self._transcript:
                self._transcript, self._turn = text.message.transcript, -1
                self._instructions = _begun(self._instructions, newest[0])
            if text.message.turn != self._turn:
                self._turn = text.message.turn
                self._thoughts = _begun(self._thoughts, newest[1])
                self._replies = _begun(self._replies, newest[2])
            if text.kind:
                self._grams(text.kind).add(text.source, words)
            elif text.kind is None and text.role == "assistant":
                self._of_answers[words] = self._replies, self._instructions, self._thoughts
                for grams in self._of_answers[words]:
                    grams.expect(words)

    def _grams(self, kind: str) -> Grams:
        if kind == "tool" and kind not in self._sources:
            return self._replies
        return self._instructions if kind in _INSTRUCTIONS else self._thoughts

    def of_answer(self, words: Words) -> tuple[Grams, Grams, Grams]:
        """Return the indexes of the replies, instructions, and thoughts that precede an answer."""
        return self._of_answers.pop(words)


def _begun(grams: Grams, before: Grams) -> Grams:
    """Return an index for new hidden text. An index from before these texts is replaced, so the text of earlier turns
    is not kept; a newer index is reused."""
    if grams is before:
        return Grams()
    grams.begin()
    return grams


class _State:
    """The state before a message: the rare strings of hidden text, and the text that may be repeated."""

    def __init__(self, transcript: int, turn: int, sources: frozenset[str]) -> None:
        self._transcript, self._turn, self._sources = transcript, turn, sources
        self._instruction_secrets: dict[str, list[tuple[Source, Span]]] = {}
        self._allowed = set[int]()
        """Word sequences that the user or a tool wrote."""
        self._answered = set[int]()
        """Word sequences of earlier answers."""
        self._allowed_texts = set[str]()
        """The rare strings in the allowed and answered sequences, and reasoning-like wording that the user wrote."""
        self._begin_turn(turn)

    def _begin_turn(self, turn: int) -> None:
        self._turn = turn
        self._secrets: dict[str, list[tuple[Source, Span]]] = {}

    def at(self, message: MessageText) -> _State:
        """Return the state before this message, which may begin a new turn or transcript."""
        if message.transcript != self._transcript:
            return _State(message.transcript, message.turn, self._sources)
        if message.turn != self._turn:
            self._begin_turn(message.turn)
        return self

    def show(self, role: str, text: str, words: Words, rare: Sequence[Rare]) -> None:
        """Allow an answer to repeat what the user wrote or has seen. `rare` are the rare strings of the text."""
        self._allow(words, rare, self._allowed if role == "user" else self._answered)
        if role == "user":
            self._allowed_texts.update(found[0].lower() for found in _meta_wording(text))

    def _allow(self, words: Words, rare: Iterable[Rare], known: set[int]) -> None:
        known.update(words.origins)
        self._allowed_texts.update(text for text, _ in rare)

    def hide(self, text: _Text, words: Words, rare: Sequence[Rare]) -> None:
        """Record the rare strings of hidden text as secrets. If tool text is not searched for, answers may repeat it
        instead."""
        if text.kind == "tool" and text.kind not in self._sources:
            self._allow(words, rare, self._allowed)
            return
        secrets = self._instruction_secrets if text.kind in _INSTRUCTIONS else self._secrets
        for found, span in rare:
            if text.kind != "analysis" or not found.isdigit():  # skip numbers that the model computed
                secrets.setdefault(found, []).append((text.source, span))

    def search(
        self, text: str, words: Words, rare: Sequence[Rare], hidden: tuple[Grams, Grams, Grams]
    ) -> list[LeakSpan]:
        """Return the passages of an answer that come from hidden text, in order. `rare` are its rare strings, and
        `hidden` are the replies, instructions, and thoughts."""
        replies, instructions, thoughts = hidden
        spans = [*self._find_secrets(rare), *self._find_meta(text)]
        covered = bytearray(len(words))
        for passage in replies.passages(words, covered):
            spans.append(_span("relayed", passage, words))
            covered[passage.first : passage.end] = b"\1" * (passage.end - passage.first)
        words.cover(self._allowed, covered)
        answered: bytearray | None = None
        for grams in (instructions, thoughts):
            for passage in grams.passages(words, covered):
                if answered is None:
                    answered = bytearray(len(words))
                    words.cover(self._answered, answered)
                kind = "draft" if passage.source.is_draft(*passage.source_span) else "copied"
                if 2 * sum(answered[passage.first : passage.end]) > passage.end - passage.first:
                    kind = "boilerplate"
                spans.append(_span(kind, passage, words))
                covered[passage.first : passage.end] = b"\1" * (passage.end - passage.first)
        return sorted(spans, key=lambda span: span.shown)

    def _find_secrets(self, rare: Sequence[Rare]) -> Iterator[LeakSpan]:
        for found, span in rare:
            if found in self._allowed_texts:
                continue
            for source, place in (*self._instruction_secrets.get(found, ()), *self._secrets.get(found, ())):
                if not source.is_draft(*place):
                    yield LeakSpan("secret", span, source, place, 1)
                    break

    def _find_meta(self, text: str) -> Iterator[LeakSpan]:
        for found in _meta_wording(text):
            if found[0].lower() not in self._allowed_texts:
                yield LeakSpan("meta", found.span(), None, None, len(word_spans(found[0])))


def _span(kind: str, passage: Passage, words: Words) -> LeakSpan:
    places, hashes = words.seeds
    first, end = places.searchsorted((passage.first, passage.end - SEED + 1)).tolist()
    grams = frozenset(hashes[first:end].tolist())
    return LeakSpan(kind, passage.shown, passage.source, passage.source_span, passage.words, grams)


def _meta_wording(text: str) -> Iterator[re.Match[str]]:
    """Yield the wording that is typical of reasoning. The slow search runs only near strings that such wording
    contains."""
    lowered = text.lower()
    if not lowered.isascii():
        return META.finditer(text) if any(map(lowered.__contains__, _META_SIGNS)) else iter(())
    signs = sorted(_places_of(lowered, _ASCII_META_SIGNS))
    return _meta_wording_near(text, signs) if signs else iter(())


def _places_of(text: str, strings: Iterable[str]) -> Iterator[int]:
    for each in strings:
        at = text.find(each)
        while at >= 0:
            yield at
            at = text.find(each, at + 1)


def _meta_wording_near(text: str, signs: Sequence[int]) -> Iterator[re.Match[str]]:
    """Yield the wording at the start of the text, and the wording that contains one of the signs at these offsets."""
    at_start = META.match(text)
    if at_start:
        yield at_start
    start = at_start.end() if at_start else 0
    for place, sign in enumerate(signs):
        if not place or sign > signs[place - 1] + 2 * _LONGEST_META:
            first = max(start, sign - _LONGEST_META)
        if place + 1 == len(signs) or signs[place + 1] > sign + 2 * _LONGEST_META:
            for found in META.finditer(text, first, sign + 2 * _LONGEST_META):
                yield found
                start = found.end()
