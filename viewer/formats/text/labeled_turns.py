"""Reader of prompts in which words name the speaker: Vicuna (`USER:`, `ASSISTANT:`), Alpaca (`### Instruction:`,
`### Response:`), and ERNIE (`User:`, `Assistant:`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.json.content_parts import part_header, split_content
from viewer.formats.tables.speakers import (
    CALL_TAG,
    doubtful_spans,
    end_of_steps,
    hidden_spans,
    is_in_spans,
    suspect_labels,
)
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Piece
from viewer.reading.format import FormatTraits, Reader, ReadOptions
from viewer.reading.header import full_tool_name
from viewer.reading.recorder import Recorder
from viewer.rules.notes import I_OPEN_PROMPT

_ENDS = lazy_regex(rb"</s>|<\|(?:endoftext|EOT|eot_id|end_of_text)\|>")
"""A pattern for the marks that end an answer. Labels count again directly after such a mark."""
_LONGEST_END = 24
_MOST_SPACE = 4
"""The maximum length of the space after the text before the first label, where later prompts repeat this text."""
_BEGINNING = lazy_regex(r"\s*(?:(?:<s>|<\|begin_of_sentence\|>)\s*)?")
_USER, _ASSISTANT = Header("user", channel=Channel.FINAL), Header("assistant", channel=Channel.FINAL)
_SYSTEM = Header("system", channel=Channel.FINAL, kind=Kind.INSTRUCTION)
_TOOL = Header("tool", channel=Channel.FINAL, kind=Kind.REPLY)
_CALL = Header("assistant", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.CALL)
_NAME = lazy_regex(r"[\"']name[\"']\s{0,8}:\s{0,8}[\"']([\w.-]{1,64})[\"']")
_OTHER = Header("", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)


class Labels(Struct, frozen=True):
    """The labels of one format."""

    speakers: Mapping[str, Header]
    """The header of the text after each label."""
    found: re.Pattern[str]
    """A pattern for all labels at the start of a line, and for those that count after a space."""
    inside: Mapping[str, tuple[str | None, ...]] = {}
    """The labels that also count after a space, each with the labels that may come before it; None for no label."""
    ends: re.Pattern[bytes] = _ENDS
    has_one_answer: bool = False
    """True if every answer ends with a mark, so a segment has one question and one answer. Further labels are text."""


_UPPER = {
    **{"USER": _USER, "HUMAN": _USER, "ASSISTANT": _ASSISTANT, "GPT": _ASSISTANT, "SYSTEM": _SYSTEM},
    **dict.fromkeys(("FUNCTION RESPONSE", "TOOL", "TOOL RESPONSE", "OBSERVATION"), _TOOL),
}
_LINE = r"(?m:^[ \t]*|\A\s*(?:<s>\s*)?)(?P<at>)"
_VICUNA = Labels(
    _UPPER,
    lazy_regex(rf"{_LINE}(?P<label>[A-Z][A-Z _-]{{1,40}}):|(?<=\s)(?P<first>)(?P<inside>USER|ASSISTANT):"),
    {"USER": (None, "SYSTEM"), "ASSISTANT": ("USER", "HUMAN")},
)
_USER_LINE = lazy_regex(r"(?:(?!\sASSISTANT:)[\s\S])*?\nUSER:")
"""Matches text in which a line begins with `USER:` before the first answer. No other place then begins a turn."""
_HEADED = {
    **dict.fromkeys(("Instruction", "Input", "User", "Human", "Question"), _USER),
    **dict.fromkeys(("Response", "Assistant", "Answer", "Output"), _ASSISTANT),
    "System": _SYSTEM,
}
_ALPACA = Labels(
    _HEADED,
    lazy_regex(
        rf"{_LINE}\#\#\# ?(?P<label>{'|'.join(_HEADED)}):|(?<=[^\s\#])(?P<first>)\#\#\# ?(?P<inside>Instruction):"
    ),
    {"Instruction": (None,)},
)


_ERNIE = Labels(
    {"User": _USER, "Assistant": _ASSISTANT},
    lazy_regex(
        r"(?m:^[ \t]*|\A\s*<\|begin_of_sentence\|>\s*)(?P<at>)(?P<label>User|Assistant):|(?!)(?P<first>)(?P<inside>)"
    ),
    ends=lazy_regex(rb"<\|end_of_sentence\|>|</s>"),
    has_one_answer=True,
)


class _Turn(Struct):
    """The text after one label."""

    header: Header
    start: int
    label: int
    """The offset of the label."""
    end: int = 0


class LabeledTurnsReader:
    """Reads segments, each of which ends with a mark after an answer."""

    def __init__(self, record: Recorder, labels: Labels) -> None:
        self._record = record
        self._labels = labels
        self._data = bytearray()
        self._base = 0
        """The offset of the data that has not been read yet."""
        self._searched = 0
        self._lead: str | None = None
        """The text before the first label; None before the first segment."""

    def feed(self, data: bytes) -> None:
        self._data += data
        while found := self._labels.ends.search(self._data, self._searched):
            self._read_segment(found.start(), found.end())
        self._searched = max(self._searched, len(self._data) - _LONGEST_END)

    def close(self) -> None:
        self._read_segment(len(self._data), len(self._data))

    def _read_segment(self, end: int, after: int) -> None:
        """Read the data up to an offset, and skip the mark after it."""
        text = self._data[:end].decode("utf-8", "surrogateescape")
        if text.strip():
            found = self._write(text, is_last=end == after)
            self._lead = found if self._lead is None else self._lead
        del self._data[:after]
        self._base += after
        self._searched = 0

    def _write(self, text: str, *, is_last: bool) -> str:
        """Record the turns of a segment, and return the text before the first label."""
        at, place, lead = 0, 0, ""
        for turn in turns(text, self._labels, self._lead, is_whole=not is_last):
            lead = text[turn.start : turn.end] if turn.header is _SYSTEM and turn.label == turn.start else lead
            place += _size(text[at : turn.label])
            at, label = turn.label, self._base + place
            body = text[turn.start : turn.end]
            first = turn.start + len(body) - len(body.lstrip())
            start = self._base + place + _size(text[at:first])
            end = start + _size(body.strip())
            if start < end:
                self._write_turn(turn.header, label, start, end)
            elif is_last and turn.header is _ASSISTANT and turn.end == len(text):
                self._record.start_if_none(label)
                self._record.report(I_OPEN_PROMPT, None, label, end)
        return lead.strip()

    def _write_turn(self, header: Header, label: int, start: int, end: int) -> None:
        pieces = [Piece(start, end, Coding.PLAIN)]
        for part in split_content(pieces, self._read, "assistant") if header is _ASSISTANT else ():
            found, ending = part_header(part, _ASSISTANT)
            is_call = found.recipient not in (None, "user")
            number = self._record.add(
                found, ending or (Ending.CALL if is_call else Ending.END), (label, end), part.pieces
            )
            for each in part.reports:
                self._record.report(each.rule, each.reason, each.start, each.end, number)
            pieces = []
        if pieces:
            self._record.add(header, Ending.CALL if header.kind is Kind.CALL else Ending.END, (label, end), pieces)

    def _read(self, start: int, end: int) -> bytes:
        return bytes(self._data[start - self._base : end - self._base])


def turns(text: str, labels: Labels, lead: str | None, *, is_whole: bool) -> Iterator[_Turn]:
    """Yield the turns of a segment, in order. `lead` is the text before the first label of the first segment. A whole
    segment ends with an answer. Labels inside thoughts do not count, and text after a label that may be inside a
    thought is unknown."""
    beginning = _BEGINNING.match(text)
    before = beginning.end() if beginning else 0
    found = [*_found(text, labels, before, lead)]
    if labels.has_one_answer:
        has_system = lead is None and bool(found and text[before : found[0].label].strip())
        if has_system and not is_whole:
            found = []  # the last question may be an example
        found = _one_answer(found, has_system=has_system)
    masked = ["\n"] * before + list(text[before:])
    for label in found:
        masked[label.label : label.start] = "\n" * (label.start - label.label)
    bare = "".join(masked)
    hidden, doubtful = hidden_spans(bare), doubtful_spans(bare)
    found = [label for label in found if not is_in_spans(hidden, label.label, len(text))]
    first = found[0].label if found else len(text)
    starts = {_line_start(text, label.label): label.label for label in reversed(found)}
    taken = {start for start, label in starts.items() if not text[start:label].strip()}
    found += [
        _Turn(_OTHER, start, start)
        for start in dict.fromkeys(map(partial(_line_start, text), suspect_labels(text)))
        if start >= first and start not in taken and not is_in_spans(hidden, start, len(text))
    ]
    found.sort(key=lambda label: label.label)
    first = found[0].label if found else len(text)
    if text[before:first].strip():
        is_lead = lead is None or text[before:first].strip() == lead
        yield _Turn(_SYSTEM if is_lead else _OTHER, before, before, first)
    answer = 0
    for at, label in enumerate(found):
        label.end = found[at + 1].label if at + 1 < len(found) else len(text)
        steps = _end_of_steps(text, found, at)
        if steps or is_in_spans(doubtful, label.label, len(text)):
            label.header = _OTHER
        answer = steps or answer
        if label.start <= answer < label.end and not is_in_spans(doubtful, answer, len(text)):
            yield _Turn(label.header, label.start, label.label, answer)
            label = _Turn(_ASSISTANT, answer, answer, label.end)
        yield from _with_calls(text, label)


def _found(text: str, labels: Labels, before: int, lead: str | None) -> Iterator[_Turn]:
    """Yield the labels at the start of the segment or of a line, and those that count after a space: after the text
    before the first label, which later prompts repeat, or after what the user said."""
    by_lines = _USER_LINE.match(text) is not None
    places = range(len(text)) if lead is None else range(0)
    if lead and text.startswith(lead, before):
        places = range(before + len(lead), before + len(lead) + _MOST_SPACE)
    begins = len(text) - len(text.lstrip(" \t\r\n<s>"))
    last: str | None = None
    for found in labels.found.finditer(text):
        word = found["label"] or found["inside"]
        if found["label"] is None:
            is_first = not by_lines and found.start("first") in places
            if last not in labels.inside[word] or (last is None and not is_first):
                continue
        elif word not in labels.speakers and found.start("label") > begins:
            continue
        last = word
        yield _Turn(labels.speakers.get(word, _OTHER), found.end(), found.start("at" if found["label"] else "first"))


def _one_answer(found: list[_Turn], *, has_system: bool) -> list[_Turn]:
    """Return the labels of the question and the answer in a segment. After system text, which may contain examples, it
    is the last question with an answer; otherwise, the first."""
    last = max((at for at, label in enumerate(found) if label.header is _ASSISTANT), default=0)
    end = last if has_system else len(found)
    questions = [at for at, label in enumerate(found[:end]) if label.header is _USER]
    first = (questions[-1] if has_system else questions[0]) if questions else 0
    answer = next((label for label in found[first:] if label.header is _ASSISTANT), None)
    return [*(found[first : first + 1] if questions else ()), *((answer,) if answer else ())]


def _end_of_steps(text: str, found: list[_Turn], at: int) -> int:
    """Return where the steps of an agent end that begin in an answer, or 0 if it has none: the labels below it are
    those of an agent, and the first words are the thought before a call."""
    after = at + 1
    while after < len(found) and found[after].header is _OTHER:
        after += 1
    if found[at].header is not _ASSISTANT or after == at + 1:
        return 0
    start = found[at].start
    steps = end_of_steps(text[start : found[after].label if after < len(found) else len(text)])
    return steps and start + steps


def _line_start(text: str, at: int) -> int:
    """Return the start of the line, so that the marks before a label belong to it."""
    return text.rfind("\n", 0, at) + 1


def _with_calls(text: str, turn: _Turn) -> Iterator[_Turn]:
    """Yield a turn, divided where an answer begins a call."""
    call = CALL_TAG.search(text, turn.start, turn.end) if turn.header is _ASSISTANT else None
    if call is None:
        yield turn
        return
    yield _Turn(turn.header, turn.start, turn.label, call.start())
    name = _NAME.search(text, call.end(), turn.end)
    header = replace(_CALL, recipient=full_tool_name(name[1]) if name else None)
    yield _Turn(header, call.end(), call.start(), turn.end)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


def _traits(name: str, labels: Labels) -> FormatTraits:
    def read(record: Recorder, options: ReadOptions) -> Reader:
        return LabeledTurnsReader(record, labels)

    return FormatTraits(name=name, reader=read, infers_calls=True, thoughts_first=True)


VICUNA = _traits("vicuna", _VICUNA)
ALPACA = _traits("alpaca", _ALPACA)
ERNIE = _traits("ernie", _ERNIE)

_CURIOUS = "A chat between a curious "
_TASK = "Below is an instruction that describes a task"
_NO_PROSE = lazy_regex(r"(?m)^[ \t]*(?:#|```|~~~|[-*>] )")
_FIRST_USER = lazy_regex(r"(?:\A|(?<=\s))USER:")
_AFTER_ANSWER = lazy_regex(r"(?:</s>|<\|endoftext\|>)\s{0,64}(?:USER:|FUNCTION RESPONSE:|ASSISTANT:|\Z)")
_INSTRUCTED = lazy_regex(
    r"\s*### ?(?:System:[\s\S]{0,8192}?\n### ?)?Instruction:[ \t]*\r?\n[\s\S]*?\n[ \t]*### ?Response:"
)
_OF_ERNIE = lazy_regex(r"\s*<\|begin_of_sentence\|>(?:[\s\S]{0,65536}?\n)?User: ?")
_LABEL = "### Instruction:"
_LONGEST_LEAD = 8192


def find_labels(text: str) -> tuple[str, str] | None:
    """Return the format of a text that begins like a prompt, with what it contains, or None for any other text. Text
    about such prompts has headings, lists, or code blocks before them."""
    if _OF_ERNIE.match(text):
        return "ernie", "`<|begin_of_sentence|>` at the start, and `User:`"
    lead = _BEGINNING.match(text)
    bare = text[lead.end() :] if lead else text
    if "### Response:" in bare or "###Response:" in bare:
        has_lead = bare.startswith(_TASK) or ("<|EOT|>" in bare and not _NO_PROSE.search(bare.partition(_LABEL)[0]))
        if _INSTRUCTED.match(bare, max(0, bare.find(_LABEL)) if has_lead else 0):
            return "alpaca", "`### Instruction:` at the start, and `### Response:`"
    found = _FIRST_USER.search(bare, 0, _LONGEST_LEAD)
    answer = bare.find("ASSISTANT:", found.end()) if found else -1
    if found is None or answer < 0 or _NO_PROSE.search(bare[: found.start()]):
        return None
    if bare.startswith(_CURIOUS) or _AFTER_ANSWER.search(bare, answer):
        return "vicuna", "`USER:` and `ASSISTANT:`, with `</s>` or `<|endoftext|>` after answers"
    return None
