"""Simulate the next prompt: what each policy keeps, drops, and changes, and the size of the prompt."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from hashlib import sha256

from msgspec import Struct, field

from viewer.columns.api import Column
from viewer.document.projection import Projection
from viewer.formats.tokens.vocabulary import Encoder
from viewer.insight.chat_view import Change, Refusal, Renderer, instructions
from viewer.insight.harmony_prompt import NEXT, Part, changes, prompt_parts, sampled_parts
from viewer.insight.history import (
    History,
    is_analysis,
    is_assistant,
    is_assistant_final,
    is_call,
    is_final,
    is_reply,
)
from viewer.insight.next_prompt import AMBIGUOUS, HARMONY, NOTES, POLICIES, Policy
from viewer.insight.prefix_cache import Cache, prefix_cache
from viewer.insight.prompt_tokens import begins_message, token_ids
from viewer.model.messages import Ending
from viewer.reading.format import Channels

_TOKEN = re.compile(r"<\|(?:start|channel|message|call|constrain|return|end)\|>")
_LATER = "last-final"
"""The policy with which `HARMONY` is compared to find stale analysis."""


class Outcome(Struct, frozen=True):
    """The result of one policy for a history."""

    policy: Policy
    transcript: int
    after: int
    """The number of the last message in the prompt; 0 if there is none."""
    kept: Sequence[int] = ()
    dropped: Sequence[int] = ()
    cut: int = 0
    """The number of the message before which analysis is dropped."""
    why: dict[int, str] = field(default_factory=dict)
    """The reasons for dropping individual messages, if they differ from the policy's reason."""
    changed: tuple[Change, ...] = ()
    refused: Refusal | None = None
    bytes: int | None = None
    tokens: int | None = None
    sha256: str | None = None
    cache: Cache | None = None
    notes: tuple[str, ...] = ()

    def reason(self, number: int) -> str:
        """Return why a message is dropped."""
        return self.why.get(number, self.policy.why)


def groups(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """Group the names of policies that produce the same prompt, excluding policies that refuse."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.sha256 is not None:
            found.setdefault(outcome.sha256, []).append(outcome.policy.name)
    return list(found.values())


def are_different(outcomes: Sequence[Outcome]) -> bool:
    """True if two policies produce different prompts, or if one refuses and another does not."""
    return len({outcome.sha256 for outcome in outcomes}) > 1


def simulator_before(projection: Projection, number: int, encoder: Encoder | None = None) -> Simulator | None:
    """Return a simulator for the prompt that produced a message, or None if no model wrote the message."""
    history = History(projection, projection.transcript_number(number))
    if not history.holds(number) or not is_assistant(history.header(number)):
        return None
    run = history.run_before(number)
    return Simulator(history.until(run[0] if run else number), run, encoder)


class Simulator:
    """Simulates the prompt after a history, or the prompt that continues a run of assistant messages."""

    def __init__(self, history: History, sampled: Sequence[int] = (), encoder: Encoder | None = None) -> None:
        """`sampled` are the messages after the history that the model has already sampled."""
        self.history = history
        self._sampled = list(sampled)
        self._encoder = encoder
        self._numbers = history.numbers()
        self._analysis = history.all_of(is_analysis)

    @property
    def after(self) -> int:
        """The number of the last message in the prompt."""
        return next(iter(reversed([*self._numbers[-1:], *self._sampled])), 0)

    def parts(self, policy: Policy) -> Iterator[Part]:
        """Yield the parts of the prompt under a policy. A refusal is raised before the first part."""
        refusal = self._refusal(policy)
        if refusal:
            raise refusal
        if policy.template is None:
            return self._ended(prompt_parts(self.history, without(self._numbers, self.dropped(policy))))
        for _ in policy.template(self.history):
            pass
        return self._ended(each for each in policy.template(self.history) if isinstance(each, Part))

    def outcomes(self, policies: Iterable[Policy]) -> list[Outcome]:
        """Return the outcome of each policy. Each body is read once for all policies without a template."""
        steps = self.steps(policies)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                found: list[Outcome] = end.value
                return found

    def steps(self, policies: Iterable[Policy]) -> Generator[None, None, list[Outcome]]:
        """Compute the outcomes in small steps, so that a screen stays responsive, and return them."""
        policies = list(policies)
        gone = {each.name: self.dropped(each) for each in policies if not each.template and not self._refusal(each)}
        sheet = _Sheet(self, list(gone.values()), self._encoder)
        yield from sheet.measure(self)
        outcomes: list[Outcome] = []
        for policy in policies:
            refusal = self._refusal(policy)
            if refusal:
                outcomes.append(self._refused(policy, refusal))
            elif policy.template:
                outcomes.append((yield from self._by_template(policy, policy.template)))
            else:
                outcomes.append(self._plain(policy, gone[policy.name], sheet))
            yield
        return outcomes

    def end(self) -> Iterator[Part]:
        """Yield the end of the prompt, where the model continues."""
        yield Part(0, NEXT)
        history, skipped = self.history, len(NEXT)
        if not self._sampled:
            return
        whole = History(history.projection, history.transcript, self._sampled[-1])
        for part in sampled_parts(whole, self._sampled, is_whole=False):
            yield Part(part.number, part.text[skipped:], part.is_body)
            skipped = 0
        yield Part(0, NEXT)

    def _ended(self, parts: Iterable[Part]) -> Iterator[Part]:
        yield from parts
        yield from self.end()

    def dropped(self, policy: Policy) -> Column:
        """Return the messages that a policy without a template drops."""
        return dropped(policy, self.history, self._analysis)

    def _refusal(self, policy: Policy) -> Refusal | None:
        is_refused = policy.needs_channels and self.history.channels is Channels.NONE
        return Refusal(self.history.first, "needs-channels") if is_refused else None

    def _refused(self, policy: Policy, refusal: Refusal) -> Outcome:
        notes = tuple(_in_order(self._notes()))
        return Outcome(policy, self.history.transcript, self.after, refused=refusal, notes=notes)

    def _plain(self, policy: Policy, numbers: Column, sheet: _Sheet) -> Outcome:
        gone = sheet.gone(numbers)
        notes = {*self._notes(), *self._notes_of(policy, numbers)}
        if sheet.ambiguous - gone:
            notes.add(AMBIGUOUS)
        return Outcome(
            policy,
            self.history.transcript,
            self.after,
            array("I", (*without(self._numbers, numbers), *self._sampled)),
            numbers,
            policy.cut(self.history),
            changed=tuple(each for each in sheet.changed if each.number not in gone),
            bytes=sheet.byte_count(numbers),
            tokens=sheet.token_count(numbers),
            sha256=sheet.checksum(numbers),
            cache=self._cache(policy, gone, sheet),
            notes=tuple(_in_order(notes)),
        )

    def _cache(self, policy: Policy, gone: frozenset[int], sheet: _Sheet) -> Cache | None:
        run = self.history.last_run()
        if not run:
            return None
        before = self.history.until(run[0])
        gone_before = frozenset(dropped(policy, before, self._analysis))
        return prefix_cache(self.history, run, gone_before, gone, sheet.size, list(self.end()), self._encoder)

    def _by_template(self, policy: Policy, template: Renderer) -> Generator[None, None, Outcome]:
        meter = _Meter(self._encoder)
        kept: set[int] = set()
        changed: list[Change] = []

        def text() -> Iterator[Part]:
            for each in template(self.history):
                if isinstance(each, Part):
                    yield each
                else:
                    changed.append(each)

        try:
            for part in self._ended(text()):
                meter.add(part)
                kept.add(part.number)
                yield
        except Refusal as refusal:
            return self._refused(policy, refusal)
        checksum = meter.checksum()
        notes = {*self._notes(), *(each.what for each in changed)}
        if any(_TOKEN.search(block) for each in kept - {0} for block in self.history.blocks(each)):
            notes.add(AMBIGUOUS)
        return Outcome(
            policy,
            self.history.transcript,
            self.after,
            array("I", (*(each for each in self._numbers if each in kept), *self._sampled)),
            array("I", (each for each in self._numbers if each not in kept)),
            why={each.number: each.what for each in changed if each.number not in kept},
            changed=tuple(each for each in changed if each.number in kept),
            bytes=meter.bytes,
            tokens=meter.tokens,
            sha256=checksum,
            notes=tuple(_in_order(notes)),
        )

    def _notes(self) -> Iterator[str]:
        """Yield the notes on the history that apply under every policy."""
        history = self.history
        if instructions(history):
            yield "system-as-written"
        if history.channels is Channels.BY_KIND:
            yield "channels-by-kind"
        if history.count < history.last - history.first + 1:
            yield "left-out"
        if history.count and history.ending(self._numbers[-1]) is Ending.OPEN:
            yield "open-message"
        if history.has_break_out():
            yield "break-out"
        if history.last_of(lambda header: header.malformed):
            yield "malformed"

    def _notes_of(self, policy: Policy, numbers: Column) -> Iterator[str]:
        """Yield notes on what one policy drops."""
        history = self.history
        if policy.cut is POLICIES[HARMONY].cut:
            if len(self.dropped(POLICIES[_LATER])) > len(
                numbers
            ):  # one policy drops a prefix of what the other one drops
                yield "stale-analysis"
            if policy.cut(history) and not is_assistant_final(history.header(history.first_of(is_final))):
                yield "final-by-other-role"
        if any(is_call(header) or is_reply(header) for header in map(history.header, numbers)):
            yield "builtin-vanishes"


def dropped(policy: Policy, history: History, analysis: Column) -> Column:
    """Return the messages that a policy without a template drops: analysis before its cut, with exceptions."""
    cut = policy.cut(history)
    before = analysis[: bisect_left(analysis, cut)]
    kept = policy.exceptions(history, cut) if before else frozenset()
    return array("I", (each for each in before if each not in kept)) if kept else before


def without(numbers: Iterable[int], gone: Iterable[int]) -> Iterator[int]:
    """Yield the numbers that are not in `gone`. Both arguments are in ascending order."""
    rest = iter(gone)
    skipped = next(rest, None)
    for number in numbers:
        if number == skipped:
            skipped = next(rest, None)
        else:
            yield number


def _in_order(notes: Iterable[str]) -> list[str]:
    found = set(notes)
    return [name for name in NOTES if name in found]


class _Sheet:
    """The sizes of the messages of a prompt, and checksums of the prompt without certain messages."""

    def __init__(self, simulator: Simulator, columns: Sequence[Column], encoder: Encoder | None) -> None:
        self._history = simulator.history
        self._encoder = encoder
        self._places = {number: place for place, number in enumerate(simulator.history.numbers())} if columns else {}
        self._bytes, self._tokens = array("Q"), array("Q")
        self.changed: list[Change] = []
        self.ambiguous: set[int] = set()
        """The messages with control tokens as text in their bodies."""
        self._sets = {each.tobytes(): frozenset(each) for each in columns}
        self._hashes = {key: sha256() for key in self._sets}
        self._end_bytes = self._end_tokens = 0

    def gone(self, numbers: Column) -> frozenset[int]:
        """Return the dropped messages as a set."""
        return self._sets[numbers.tobytes()]

    def checksum(self, numbers: Column) -> str:
        """Return the checksum of the prompt without these messages."""
        return self._hashes[numbers.tobytes()].hexdigest()

    def measure(self, simulator: Simulator) -> Iterator[None]:
        """Measure the messages, one per step, and then the end of the prompt."""
        for number in self._places:
            self._measure(number, [self._hashes[key].update for key, gone in self._sets.items() if number not in gone])
            self.changed += [Change(number, what) for what in changes(self._history, number)]
            yield
        parts = [*simulator.end()]
        end = "".join(part.text for part in parts).encode("utf-8", "replace")
        self._end_bytes = len(end)
        self._end_tokens = len(token_ids(parts, self._encoder)) if self._encoder else 0
        for each in self._hashes.values():
            each.update(end)

    def byte_count(self, gone: Iterable[int]) -> int:
        """Return the size of the prompt without these messages."""
        return sum(self._bytes) + self._end_bytes - sum(self._bytes[self._places[each]] for each in gone)

    def token_count(self, gone: Iterable[int]) -> int | None:
        """Return the number of tokens in the prompt without these messages, or None if there is no vocabulary."""
        if self._encoder is None:
            return None
        return sum(self._tokens) + self._end_tokens - sum(self._tokens[self._places[each]] for each in gone)

    def size(self, number: int) -> int:
        """Return the size of a message in tokens, or in bytes without a vocabulary."""
        return (self._tokens if self._encoder else self._bytes)[self._places[number]]

    def _measure(self, number: int, updates: Sequence[Callable[[bytes], None]]) -> None:
        size, parts = 0, []
        for part in prompt_parts(self._history, (number,)):
            if part.is_body and _TOKEN.search(part.text):
                self.ambiguous.add(number)
            data = part.text.encode("utf-8", "replace")
            size += len(data)
            for update in updates:
                update(data)
            if self._encoder is not None:
                parts.append(part)
        self._bytes.append(size)
        if self._encoder is not None:
            self._tokens.append(len(token_ids(parts, self._encoder)))


class _Meter:
    """Measures the size, token count, and checksum of one prompt."""

    def __init__(self, encoder: Encoder | None) -> None:
        self._encoder = encoder
        self._hash = sha256()
        self._waiting: list[Part] = []
        self.bytes = 0
        self.tokens: int | None = None if encoder is None else 0

    def add(self, part: Part) -> None:
        data = part.text.encode("utf-8", "replace")
        self.bytes += len(data)
        self._hash.update(data)
        if self._encoder is not None:
            if begins_message(part):
                self._count()
            self._waiting.append(part)

    def checksum(self) -> str:
        """Return the checksum of the text. Call this only after adding the last part."""
        self._count()
        return self._hash.hexdigest()

    def _count(self) -> None:
        if self._encoder is not None and self.tokens is not None:
            self.tokens += len(token_ids(self._waiting, self._encoder))
        self._waiting.clear()
