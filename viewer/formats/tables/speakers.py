"""Split text with several speakers, each named by a label such as `Human:`, into the turns of a conversation."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from viewer.cache import lazy_regex
from viewer.formats.tables.model import Run
from viewer.formats.tables.prompts import prompt_kind
from viewer.model.messages import Coding, Kind, Piece, Span
from viewer.reading.bodies import read_body
from viewer.reading.hidden_spans import hidden_blocks
from viewer.reading.template_marks import MAY_BE_MARK
from viewer.reading.thoughts import thought_spans
from viewer.syntax.agent_text import steps_of

_Turn = tuple[Kind, int, int, str]
_USERS = ("human", "user", "prompter")
_ASSISTANTS = ("assistant", "gpt", "ai", "bot")
_SPOKEN = "|".join((*_USERS, *_ASSISTANTS))
_MORE = r"(?:[ _-]\w{1,20}){0,2}"
_OTHERS = {
    Kind.INSTRUCTION: (rf"(?:system|developer){_MORE}", "instructions?"),
    Kind.CALL: (r"(?:function|tool)[ _-]?(?:calls?|use|inputs?|requests?)", r"actions?(?:[ _-]inputs?)?"),
    Kind.REPLY: (
        rf"(?:functions?|tools?|api){_MORE}",
        r"(?:function|tool)(?:re\w+|outputs?)",
        "observations?",
        "ipython",
    ),
    Kind.THOUGHT: (
        *(r"(?:inner[ _-]|internal[ _-])?(?:thoughts?|thinking|monologue)", "think", "reason(?:ing)?", "analysis"),
        *("scratch[ _-]?pad", "chain[ _-]of[ _-]thoughts?", "cot", "plan(?:ning)?", "reflections?", "critique"),
    ),
    Kind.UNKNOWN: (
        *(rf"(?:internal|hidden|private|environment){_MORE}", "context", "memory", "rejected", r"notes? to self"),
        *("inputs?", "outputs?", "results?", "responses?"),
    ),
}
"""Patterns, by kind, of the labels before text that no user or assistant said."""
_ROLES = {
    Kind.INSTRUCTION: "system",
    Kind.CALL: "assistant",
    Kind.REPLY: "tool",
    Kind.THOUGHT: "assistant",
    Kind.UNKNOWN: "",
}
_OTHER = "|".join(pattern for patterns in _OTHERS.values() for pattern in patterns)
_SUFFIX = r"(?:[ _-](?:message|prompt|text|response|output|result)s?)?"
_UNSPOKEN = (
    "(?:"
    + "|".join(pattern for kind, each in _OTHERS.items() if kind is not Kind.UNKNOWN for pattern in each)
    + f"|{_OTHERS[Kind.UNKNOWN][0]})"
    + _SUFFIX
)
"""A pattern for labels that hide text, whether in capitals or not, wherever they begin a line."""
_START = r"(?:\A|(?<=\n))[ \t]*"
_BEGINS = lazy_regex(rf"\s*(?:\#\#\# ?)?(?i:{_SPOKEN}|system):")
_FORMS = (
    ("###", rf"\#\#\#[ \t]?(?P<label>(?i:{_SPOKEN}|(?:{_OTHER}){_SUFFIX})):", rf"{_START}(?P<label>(?i:{_UNSPOKEN})):"),
    ("upper", rf"{_START}(?P<label>[A-Z][A-Z _-]{{1,40}}):", rf"{_START}(?P<label>(?i:{_UNSPOKEN})):"),
    ("title", rf"{_START}(?P<label>(?i:{_SPOKEN})):", rf"{_START}(?P<label>(?i:{_UNSPOKEN})):"),
)
"""For each label style, a pattern for all labels, and one for labels that hide text whether or not they are in
capitals."""
_LABELS = {name: lazy_regex(f"{first}|{second.replace('label', 'other')}") for name, first, second in _FORMS}
_STEMS = (
    r"th?ou?g|thou?t|think|reaso|reflect|critiqu|observ|action|sys|sytem|instruct|inner|intern|scratch|analys|planning"
    r"|planner|critic\b|supervis|moderat|browser|search result|web search|\benv\b|\bdebug"
    r"|monolog|memor|hidden|private|tool|function|\bapi|python|stdout|stderr|retriev|developer|chain.of|\bcot\b"
    r"|judge\b|reviewer|grader\b|evaluator\b|verifier\b|gedanken?\b|überlegung|pensée|pensamiento|思考|推理|思路"
)
_UNSAID = (
    r"(?:(?:inner|internal)[ _-])?(?:thoughts?|thinking|monologue)|reasoning|scratch[ _-]?pad|observation|critic|judge"
    r"|reviewer"
)
_WORD, _BLANK = r"[^\s:：]{1,20}", r"[ \t\xa0]+"
_HIDDEN_WORD = rf"[^\s:：]{{0,20}}(?:{_STEMS})[^\s:：]{{0,20}}"
_SUSPECT = lazy_regex(
    r"(?:\A|(?<=[\n\r\v\f\x85\u2028\u2029]))[\s\u200b\ufeff*_\#>(){}\[\]-]{0,8}(?P<label>(?i:"
    rf"(?=[^\n\r:：]{{1,200}}[:：])(?:{_WORD}{_BLANK}){{0,2}}{_HIDDEN_WORD}(?:{_BLANK}{_WORD}){{0,2}}[\s*_\])]{{0,4}}[:：]"
    rf"|(?:{_SPOKEN}|agent|model)[^\w\n:：][^\n:：]{{0,40}}\w[^\n:：]{{0,4}}[:：]"
    r"|(?:function|tool)[ _](?:response|call|output|result)s?\b"
    rf"|(?<=\#)[ \t\xa0]*{_HIDDEN_WORD}[ \t]*(?=[\r\n])"
    rf"|(?:{_UNSAID})(?:[ _]\d{{1,3}})?[\s*_]{{0,4}}{_BLANK}[–—-][ \t\xa0]"
    rf"|(?<=\[)(?:{_UNSAID})(?:[ _]\d{{1,3}})?\](?![(:：\[])"
    r"))(?P<other>(?!))?"
)
"""Matches other lines that may begin with a label for unspoken text, in any spelling."""
_STEP = lazy_regex(
    r"(?mi:^)[ \t*_]{0,4}(?i:thought|action(?: input)?|observation|system)(?: \d{1,3})?[ \t*_]{0,4}[:：]"
)
"""Matches the step of an agent in an answer without labels of speakers."""
_MARK_IN_LINE = lazy_regex(r"[^\n]<")
_ASKS_FOR_ANSWER = lazy_regex(rf"\n[ \t]*(?:\#\#\#[ \t]?)?(?i:{'|'.join(_ASSISTANTS)}):\s*\Z")
"""Matches the empty turn of the assistant at the end of a prompt."""
_CAPITALS = lazy_regex(rf"{_START}(?!AI:)(?:{_SPOKEN.upper()}|SYSTEM):")
_PARAGRAPH = lazy_regex(rf"\n[ \t]*\n[ \t]*(?i:{'|'.join(_ASSISTANTS)}):")
_AFTER_PARAGRAPH = lazy_regex(r"\n[ \t]*\n[ \t]*\Z")
_LONGEST_GAP = 64
_END = "<|endoftext|>"
CALL_TAG = lazy_regex(r"(?i)<[ /]?function[ _-]?call\b[^>\n]{0,40}>?")
_KINDS = {kind: lazy_regex("|".join(patterns)) for kind, patterns in _OTHERS.items()}

LABELS = tuple(
    f"{before}{label}:"
    for before in ("", "### ", "###")
    for word in ("human", "user", "system", "assistant")
    for label in (word, word.capitalize(), word.upper())
)
"""The strings with which text with several speakers may begin."""


def prompt_runs(text: str) -> Sequence[Run]:
    """Split a prompt into turns. A prompt with at most one label was typed by the user, unless it is a filled-in
    template."""
    runs = _turns(text)
    if runs and (len(runs) > 1 or runs[0][0] is not Kind.SAID or _ASKS_FOR_ANSWER.search(text)):
        return runs
    return [(prompt_kind(text), 0, len(text))]


def display_runs(text: str) -> Sequence[Run]:
    """Split a printed conversation into turns. `None` is what a program prints for an answer that only has calls."""
    return [
        (Kind.CALL, start, end, role) if text[start:end] == "None" else (kind, start, end, role)
        for kind, start, end, role in _turns(text) or [(Kind.UNKNOWN, 0, len(text), "")]
    ]


def answer_runs(text: str) -> Sequence[Run]:
    """Split an answer that begins with the conversation before it into turns. An answer whose only label is not the
    assistant's stays hidden, because it may be anything."""
    runs = _turns(text)
    if len(runs) > 1:
        return runs
    if runs:
        is_answer = runs[0][0] is Kind.SAID and runs[0][3] == "assistant"
        return [(Kind.SAID, 0, len(text)) if is_answer else (Kind.UNKNOWN, 0, len(text), "")]
    step = _STEP.search(text)
    if step is None:
        return [(Kind.SAID, 0, len(text))]
    start = end_of_steps(text)
    if start:  # the words before the first step are a thought
        step = _STEP.search(text, start)
        end = step.start() if step else len(text)
        return [
            (Kind.UNKNOWN, 0, start, "assistant"),
            *_trimmed(text, Kind.SAID, start, end, "assistant"),
            *_trimmed(text, Kind.UNKNOWN, end, len(text), "assistant"),
        ]
    said = [(Kind.SAID, 0, step.start())] if text[: step.start()].strip() else []
    return [*said, (Kind.UNKNOWN, step.start(), len(text), "assistant")]


def end_of_steps(text: str) -> int:
    """Return where the steps in an answer end, so that only the final answer follows, or 0 if it has no steps."""
    data = text.encode("utf-8", "replace")
    steps = steps_of(data, "assistant")
    return len(data[: steps[-1].end].decode("utf-8", "replace")) if steps else 0


def _turns(text: str) -> list[_Turn]:
    """Split the text into turns. Return no turns if it does not begin with a label. Only text of the user and the
    assistant is shown; everything else stays hidden, even a turn that begins inside a thought."""
    if not _BEGINS.match(text):
        return []
    labels, doubtful = _labels(text)
    if not labels:
        return [(Kind.UNKNOWN, 0, len(text), "")]
    runs: list[_Turn] = []
    if text[: labels[0].start()].strip():
        runs.append((Kind.UNKNOWN, 0, labels[0].start(), ""))
    for label, end in zip(labels, [*(each.start() for each in labels[1:]), len(text)], strict=True):
        kind, role = _speaker(label["label"] or label["other"])
        if label.start() in doubtful:
            kind, role = Kind.UNKNOWN, ""
        if kind is Kind.SAID:
            runs += _turn(text, label.end(), end, role)
        else:
            runs += _trimmed(text, kind, label.end(), end, role)
    return runs


def _labels(text: str) -> tuple[list[re.Match[str]], set[int]]:
    """Return the labels at which a turn begins, and the starts of those that may be part of a thought."""
    first = text.lstrip()
    name = "###" if first.startswith("###") else "upper" if _is_in_capitals(first) else "title"
    bare = _LABELS[name].sub(_lines, text)
    inside = _hidden(bare)
    has_paragraphs = name == "title" and _PARAGRAPH.search(text) is not None
    found: list[re.Match[str]] = []
    taken: set[int] = set()
    for label in _LABELS[name].finditer(text):
        is_inside = _is_in(inside, label.start(), len(text))
        is_turn = not has_paragraphs or label["label"] is None or not found
        if not is_inside and (is_turn or _begins_paragraph(text, label.start())):
            found.append(label)
            taken.update(range(label.start(), label.end()))
    found += [
        label
        for label in _SUSPECT.finditer(text)
        if taken.isdisjoint(range(label.start(), label.end())) and not _is_in(inside, label.start("label"), len(text))
    ]
    spans = _hidden(_MARK_IN_LINE.sub("\n<", bare))
    return sorted(found, key=re.Match.start), {
        label.start() for label in found if _is_in(spans, label.start(), len(text))
    }


def _is_in_capitals(text: str) -> bool:
    """True if the labels are in capitals. `AI` has no other form, so another label decides."""
    return text[:2].isupper() and (not text.startswith("AI:") or _CAPITALS.search(text) is not None)


def _is_in(spans: Sequence[Span], at: int, end: int) -> bool:
    place = bisect_right(spans, (at, end)) - 1
    return place >= 0 and at < spans[place][1]


def _begins_paragraph(text: str, at: int) -> bool:
    return _AFTER_PARAGRAPH.search(text[max(0, at - _LONGEST_GAP) : at]) is not None


def _lines(label: re.Match[str]) -> str:
    """Return as many line breaks as the label has characters, because the text after a label counts as a new line."""
    return "\n" * len(label[0])


def _hidden(text: str) -> list[Span]:
    """Return the spans between marks that hide text, in order. `text` contains line breaks in place of its labels."""
    data = text.replace(_END, " " * len(_END)).encode("utf-8", "replace")
    if not MAY_BE_MARK.search(data):
        return []
    body = read_body((Piece(0, len(data), Coding.PLAIN),), lambda start, end: data[start:end])
    blocks = [(block.start, block.end) for block in hidden_blocks(body, "assistant", in_json=True)]
    spans: list[Span] = []
    for start, end in sorted({*blocks, *thought_spans(body)}):
        if spans and start < spans[-1][1]:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    offsets = [0, *(at for span in spans for at in span)]
    places = [*accumulate(len(data[one:two].decode("utf-8", "replace")) for one, two in pairwise(offsets))]
    return [*zip(places[::2], places[1::2], strict=True)]


def hidden_spans(text: str) -> list[Span]:
    """Return the spans between marks that hide text. `text` contains line breaks in place of its labels."""
    return _hidden(text)


def doubtful_spans(text: str) -> list[Span]:
    """Like `hidden_spans`, but marks inside a line count as well."""
    return _hidden(_MARK_IN_LINE.sub("\n<", text))


def is_in_spans(spans: Sequence[Span], at: int, end: int) -> bool:
    """True if an offset is in one of the spans."""
    return _is_in(spans, at, end)


def suspect_labels(text: str) -> list[int]:
    """Return the offsets of lines that may begin with a label for unspoken text."""
    return [found.start("label") for found in _SUSPECT.finditer(text)]


def _speaker(label: str) -> tuple[Kind, str]:
    word = label.strip().lower()
    if word in _USERS:
        return Kind.SAID, "user"
    if word in _ASSISTANTS:
        return Kind.SAID, "assistant"
    bare = re.sub(rf"{_SUFFIX}\Z", "", word)
    kind = next((kind for kind, names in _KINDS.items() if names.fullmatch(word) or names.fullmatch(bare)), None)
    return kind or Kind.UNKNOWN, _ROLES[kind or Kind.UNKNOWN]


def _turn(text: str, start: int, end: int, role: str) -> list[_Turn]:
    """Return the runs of one turn: the spoken text, the call in it, and what follows the end of the answer."""
    last = text.find(_END, start, end)
    rest = end if last < 0 else last + len(_END)
    last = end if last < 0 else last
    call = CALL_TAG.search(text, start, last)
    said = call.start() if call else last
    runs = _trimmed(text, Kind.SAID, start, said, role)
    if call:
        runs += _trimmed(text, Kind.CALL if role == "assistant" else Kind.UNKNOWN, call.end(), last, role)
    return [*runs, *_trimmed(text, Kind.UNKNOWN, rest, end, role)]


def _trimmed(text: str, kind: Kind, start: int, end: int, role: str) -> list[_Turn]:
    """Return the run without the whitespace around it, or an empty list if there is no other text."""
    inside = text[start:end]
    if not inside.strip():
        return []
    return [(kind, start + len(inside) - len(inside.lstrip()), start + len(inside.rstrip()), role)]
