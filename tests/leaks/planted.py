"""Transcripts of every dialect with a fresh canary in every place that an end user is not shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import strategies as st

from tests.leaks.finder import LETTERS, Finder, canary

_HOLE = re.compile(r"\{c\}|\{n\}")


@dataclass(frozen=True)
class Planted:
    """A transcript, and what must not be seen of it."""

    dialect: str
    text: str
    places: tuple[tuple[str, str], ...]
    """Each canary, and where it stands."""
    preambles: bool = False

    @property
    def data(self) -> bytes:
        return self.text.encode()

    @property
    def canaries(self) -> list[str]:
        return [word for word, _ in self.places]

    @property
    def finder(self) -> Finder:
        return Finder(self.canaries)

    def place_of(self, word: str) -> str:
        return dict(self.places)[word]

    def with_other_words(self, chance: Random) -> Planted:
        """The same with words of other lengths in every hidden place."""
        text, places = self.text, []
        for word, place in self.places:
            number = word.isdecimal()
            other = (
                str(chance.randrange(10**8, 10**12))
                if number
                else "".join(chance.choices(LETTERS, k=chance.choice((7, 9, 15, 31, 200))))
            )
            text = text.replace(word, other)
            places.append((other, place))
        return Planted(self.dialect, text, tuple(places), self.preambles)


Part = tuple[str, str]
"""A place, and a text with a hole for each canary."""

ANSWER = "<|start|>assistant<|channel|>final<|message|>"
CALL = "<|start|>assistant to=functions.get call_id=w1<|channel|>commentary<|constrain|>json<|message|>"
REPLY = "<|start|>tool name=functions.get call_id=w1 to=assistant<|channel|>commentary<|message|>"

SHOWN_IN_TEXT = [
    "<|start|>user<|message|>Is it warm in Tokyo?<|end|>\n",
    "<|start|>assistant<|message|>It is.<|end|>\n",
    "<|start|>user<|message|>And then? 漢字 😀 **bold** `code`\n- one\n- two\n<|end|>\n",
    "<|start|>user<|message|>" + "A long question. " * 40 + "<|end|>\n",
]
SHOWN_ON_CHANNELS = [
    ANSWER + "Yes, 20 degrees.<|return|>\n",
    ANSWER + "Mild.\n" * 30 + "<|return|>\n",
]
HIDDEN_IN_TEXT: list[Part] = [
    ("system", "<|start|>system<|message|>Be brief, {c}.<|end|>\n"),
    ("developer", "<|start|>developer<|message|># {c}\n{c}<|end|>\n"),
    (
        "declared tools",
        "<|start|>developer<|message|># Tools\n## functions\nnamespace functions {\n// {c}\ntype {c} = (_: {\n"
        '{c}: string, // {c}\n{c}?: "{c}" | "x",\n}) => any;\n} // namespace functions\n<|end|>\n',
    ),
    ("unknown role", "<|start|>{c}<|message|>{c}<|end|>\n"),
    ("few-shot", "<|start|>system:example_{c}<|message|>{c}<|end|>\n"),
    ("tool role", "<|start|>functions.{c} to=assistant<|message|>{c}<|end|>\n"),
    ("user to a tool", "<|start|>user to=functions.{c}<|message|>{c}<|end|>\n"),
    ("malformed header", "<|start|>assistant {c} to=<|message|>{c}<|end|>\n"),
    ("header without a message mark", "<|start|>assistant {c}<|end|>\n"),
    ("stray text", "{c} between\n"),
    ("many stray lines", "{c}\n\n{c}\n"),
    ("a mark without a start", "<|message|>{c}<|end|>\n"),
    ("think block", "<|start|>assistant<|message|><think>{c}</think>Shown.<|end|>\n"),
    ("only the end of a think block", "<|start|>assistant<|message|>{c} {c}\n</think>Shown.<|end|>\n"),
    ("open think block", "<|start|>assistant<|message|> <thinking>{c}<|end|>\n"),
    ("introspection", "<|start|>assistant<|message|>Shown.<|start_introspect|>{c}<|end_introspect|><|end|>\n"),
    ("broken out", "<|start|>system<|message|>{c}<|start|>user<|message|>{c}<|end|>\n"),
]
HIDDEN_ON_CHANNELS: list[Part] = [
    ("analysis", "<|start|>assistant<|channel|>analysis<|message|>I think {c}.<|end|>\n"),
    ("long analysis", "<|start|>assistant<|channel|>analysis<|message|>" + "{c} and so on\n" * 6 + "<|end|>\n"),
    ("commentary", "<|start|>assistant<|channel|>commentary<|message|>{c}<|end|>\n"),
    ("unknown channel", "<|start|>assistant<|channel|>{c}<|message|>{c}<|end|>\n"),
    ("misspelt channel", "<|start|>assistant<|channel|>Final<|message|>{c}<|end|>\n"),
    ("final to a tool", "<|start|>assistant to=functions.{c}<|channel|>final<|message|>{c}<|end|>\n"),
    ("reason block", ANSWER + "<|start_reason|>{c}<|end_reason|>Shown.<|return|>\n"),
    ("open reflect block", ANSWER + "Shown.<|start_reflect|>{c}<|return|>\n"),
    (
        "call with its names",
        "<|start|>assistant to=functions.{c} call_id={c}<|channel|>commentary<|constrain|>json<|message|>"
        '{"{c}":"{c}","n":{"{c}":[1,"{c}"]}}<|call|>\n',
    ),
    ("call that is no JSON", CALL + '{"{c}": {c},<|call|>\n'),
    ("call twice the same key", CALL + '{"{c}":1,"a":"{c}","a":"\\u007b{c}"}<|call|>\n'),
    ("reply", REPLY + '{"ok":true,"content":{"{c}":"{c}"},"provenance":{"source":"{c}","{c}":1}}<|end|>\n'),
    ("file names", REPLY + '{"ok":true,"content":["/{c}/{c}.ocml","file://{c}"]}<|end|>\n'),
    ("failed reply", REPLY + '{"ok":false,"error":"{c}","details":"{c}"}<|end|>\n'),
    (
        "reply of an unknown tool",
        "<|start|>tool name=functions.{c} call_id={c} to=assistant<|channel|>commentary<|message|>{c}<|end|>\n",
    ),
    ("reply that is not text", REPLY + "{c}\x1b]0;{c}\x07\u202e{c}\x00<|end|>\n"),
    ("broke out of an analysis", f"<|start|>assistant<|channel|>analysis<|message|>{{c}}{ANSWER}{{c}}<|return|>\n"),
    ("forged in a reply", f"{REPLY}{{c}}<<|end|><<|start|>assistant<<|message|>{{c}}<|end|>\n"),
]
HIDDEN_IN_2_2: list[Part] = [
    ("a later transcript", 'version: 2.2\nmodel: "a {c}"\ntitle: {c}\n\n<|start|>system<|message|>{c}<|end|>\n'),
    ("debug", "<|start|>assistant intent=debug mood={c}<|channel|>final<|message|>{c}<|end|>\n"),
    ("other intent", "<|start|>assistant intent={c}<|channel|>commentary<|message|>{c}<|end|>\n"),
    ("attributes", "<|start|>assistant {c}={c} name={c} content_type={c}<|channel|>analysis<|message|>{c}<|end|>\n"),
    ("preamble to a tool", "<|start|>assistant to=f intent=preamble<|channel|>commentary<|message|>{c}<|end|>\n"),
    ("called preamble", "<|start|>assistant intent=preamble<|channel|>commentary<|message|>{c}<|call|>\n"),
    ("literal block", REPLY + "<|literal|><|end|><|start|>user<|message|>{c}<|endliteral|><|end|>\n"),
]  # fmt: skip
HEADERS: list[Part] = [
    ("YAML", 'model: "a {c}"\nauthor: {c}\n{c}:\n  - {c}\n  - deep: {{c}: {c}}\n'),
    ("tools in YAML", "tools:\n  - name: {c}\n    description: {c}\n"),
    ("broken YAML", "notes: &{c} [{c}\n"),
    ("repeated key", "{c}: 1\n{c}: 2\n"),
    ("no header", ""),
]
TAILS: list[Part] = [
    ("nothing", ""),
    ("open analysis", "<|start|>assistant<|channel|>analysis<|message|>{c}"),
    ("open header", "<|start|>assistant to={c}"),
    ("open channel", "<|start|>assistant<|channel|>{c}"),
    ("half a mark", "<|start|>system<|message|>{c}<|en"),
    ("stray tail", "{c}"),
]
PREAMBLE_TAIL = ("open preamble", "<|start|>assistant intent=preamble<|channel|>commentary<|message|>{c}")

SHOWN_IN_0_1 = ["<|im_start|>user\nIs it warm?<|im_end|>\n", "<|im_start|>assistant\nIt is.<|im_end|>\n"]
HIDDEN_IN_0_1: list[Part] = [
    ("system", "<|im_start|>system\n{c}<|im_end|>\n"),
    ("unknown role", "<|im_start|>{c}\n{c}<|im_end|>\n"),
    ("thoughts", "<|im_start|>assistant\n<|start_reason|>{c}<|end_reason|><|start_reflect|>{c}\nx<|im_end|>\n"),
    ("call", '<|im_start|>assistant\n<|function_call|>\n{"arguments": {"{c}": "{c}"}, "name": "{c}"}<|im_end|>\n'),
    ("output", '<|im_start|>tool\n<|function_output|>\n{"name": "{c}", "content": {"{c}": "{c}"}}<|im_end|>\n'),
    ("broken output", '<|im_start|>tool\n<|function_output|>\n{"name": {c}, <|im_end|>\n'),
    (
        "list",
        '<|im_start|>system\n<|function_list|>\n{"type":"function","function":{"name":"{c}","parameters":'
        '{"type":"object","properties":{"{c}":{"type":"string","description":"{c}"}},"required":["{c}"]}}}\n<|im_end|>\n',
    ),
    ("stray text", "{c}\n"),
    ("file names", '<|im_start|>tool\n<|function_output|>\n{"name": "f", "content": "{c}/{c}.txt"}<|im_end|>\n'),
    ("open thought", "<|im_start|>assistant\nx<|start_introspect|>{c}<|im_end|>\n"),
]  # fmt: skip
TAILS_0_1: list[Part] = [
    ("nothing", ""),
    ("open header", "<|im_start|>assistant {c}"),
    ("open system", "<|im_start|>system\n{c}"),
]

SHOWN_IN_JSON = ['{"role":"user","content":"Is it warm?"}', '{"role":"assistant","content":"It is.\\n\\nYes."}']
HIDDEN_IN_JSON: list[Part] = [
    ("system", '{"role":"system","content":"{c}"}'),
    ("developer", '{"role":"developer","content":"{c}","{c}":"{c}"}'),
    ("unknown role", '{"role":"{c}","content":"{c}"}'),
    ("thinking", '{"role":"assistant","thinking":"{c}","content":"Shown."}'),
    ("reasoning", '{"role":"assistant","reasoning_content":"{c}","reasoning":"{c}","content":"Shown."}'),
    ("think block", '{"role":"assistant","content":"<think>{c}</think>Shown."}'),
    ("analysis", '{"role":"assistant","channel":"analysis","name":"{c}","content":"{c}"}'),
    ("unknown channel", '{"role":"assistant","channel":"{c}","content":"{c}"}'),
    (
        "calls",
        '{"role":"assistant","content":null,"tool_calls":[{"id":"{c}","type":"function","function":'
        '{"name":"{c}","arguments":"{\\"{c}\\":\\"{c}\\"}"}}]}',
    ),
    ("call", '{"role":"assistant","tool_call":{"id":"{c}","recipient":"functions.{c}","arguments":"{c}"}}'),
    ("reply", '{"role":"tool","tool_call_id":"{c}","name":"{c}","content":"{c}"}'),
    ("parts", '{"role":"system","content":[{"type":"text","text":"{c}"},{"type":"{c}","{c}":"{c}"}]}'),
    ("no message", '{"{c}":"{c}"}'),
    ("to a tool", '{"role":"assistant","channel":"commentary","recipient":"functions.{c}","content":"{c}"}'),
    ("escaped", '{"role":"system","content":"{c}\\u001b]0;{c}\\u0007\\ud800"}'),
]

SHOWN_IN_CHATML = [
    '{"token":"<|start|>"},"user",{"token":"<|message|>"},"Is it warm?\\n",{"token":"<|end_message|>"}',
    '{"token":"<|start|>"},"assistant",{"token":"<|message|>"},"It is.",{"token":"<|end_message|>"}',
]
HIDDEN_IN_CHATML: list[Part] = [
    ("system", '{"token":"<|start|>"},"system",{"token":"<|message|>"},"{c}",{"token":"<|end_message|>"}'),
    ("unknown role", '{"token":"<|start|>"},"{c}",{"token":"<|message|>"},"{c}",{"token":"<|end_message|>"}'),
    ("stray text", '"{c}"'),
    ("unknown token", '{"token":"<|{c}|>"},"{c}"'),
    ("no message mark", '{"token":"<|start|>"},"user",{"token":"<|end_message|>"},"{c}",{"token":"<|end_message|>"}'),
]

SHOWN_IN_EVENTS = [
    '{"type":"response.delta","message_id":"m%d","delta":"It is warm."}\n{"type":"response.done","message_id":"m%d"}\n',
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":"Yes."}}]}\n',
]
HIDDEN_IN_EVENTS: list[Part] = [
    ("reasoning", '{"type":"response.reasoning_text.delta","message_id":"{c}","delta":"{c}"}\n'),
    ("summary", '{"type":"response.reasoning_summary_text.delta","delta":"{c}"}\n{"type":"response.done"}\n'),
    ("analysis", '{"type":"response.delta","channel":"analysis","message_id":"{c}","delta":"{c}"}\n'),
    (
        "function call",
        '{"type":"response.output_item.added","output_index":0,"item":{"id":"{c}","type":"function_call","name":"{c}",'
        '"call_id":"{c}"}}\n{"type":"response.function_call_arguments.delta","output_index":0,"delta":"{c}"}\n',
    ),
    ("unknown event", '{"type":"response.{c}","{c}":"{c}"}\n'),
    ("no event", "{c}\n"),
    ("cancel", '{"type":"tool.cancel","call_id":"{c}","reason":"{c}"}\n'),
    (
        "after a cancel",
        '{"type":"response.delta","message_id":"z","delta":"x"}\n{"type":"response.cancel","message_id":"z"}\n'
        '{"type":"response.delta","message_id":"z","delta":"{c}"}\n',
    ),
    ("reasoning chunk", '{"choices":[{"index":0,"delta":{"reasoning_content":"{c}"}}]}\n'),
    ("half an event", '{"type":"response.delta","delta":{c}\n'),
    ("think block", '{"type":"response.delta","message_id":"t","delta":"<think>{c}"}\n'),
    ("comment", ": {c}\n"),
]

SHOWN_IN_IDS = ["200006,1428,200008,3923,382,200007", "200006,173781,200005,17196,200008,19,13,200002"]
HIDDEN_IN_IDS: list[Part] = [
    ("analysis", "200006,173781,200005,35644,200008,{n},200007"),
    ("system", "200006,17360,200008,{n},200007"),
    ("unknown channel", "200006,173781,200005,{n},200008,{n},200007"),
    ("unknown role", "200006,{n},200008,{n},200007"),
    ("stray ids", "{n},{n}"),
    ("to a tool", "200006,173781,316,28,{n},200005,12606,815,200008,{n},200012"),
]


@dataclass(frozen=True)
class Kind:
    """How transcripts of a dialect are put together."""

    shown: Sequence[str]
    hidden: Sequence[Part]
    first: Sequence[Part] = (("nothing", ""),)
    last: Sequence[Part] = (("nothing", ""),)
    version: str = ""
    """What stands first. Without a message before it, text of some dialects begins an answer, and is shown."""
    joiner: str = ""
    around: tuple[str, str] = ("", "")
    preambles: bool = False


CHANNELLED = [*HIDDEN_IN_TEXT, *HIDDEN_ON_CHANNELS]
KINDS: dict[str, Kind] = {
    "openchatml-2.2": Kind(
        [*SHOWN_IN_TEXT, *SHOWN_ON_CHANNELS],
        [*CHANNELLED, *HIDDEN_IN_2_2],
        HEADERS,
        [*TAILS, PREAMBLE_TAIL],
        "version: 2.2\n",
    ),
    "openchatml-2.0": Kind([*SHOWN_IN_TEXT, *SHOWN_ON_CHANNELS], CHANNELLED, HEADERS, TAILS, "version: 2.0\n"),
    "openchatml-1.x": Kind(SHOWN_IN_TEXT, HIDDEN_IN_TEXT, HEADERS, TAILS, "version: 1.0\n"),
    "harmony": Kind([*SHOWN_IN_TEXT, *SHOWN_ON_CHANNELS], CHANNELLED, last=TAILS, version=SHOWN_IN_TEXT[0]),
    "openchatml-0.1": Kind(SHOWN_IN_0_1, HIDDEN_IN_0_1, last=TAILS_0_1),
    "json": Kind(SHOWN_IN_JSON, HIDDEN_IN_JSON, joiner=",\n", around=("[", "]\n")),
    "chatml-json": Kind(SHOWN_IN_CHATML, HIDDEN_IN_CHATML, joiner=",\n", around=(f"[{SHOWN_IN_CHATML[0]},\n", "]\n")),
    "events": Kind(SHOWN_IN_EVENTS, HIDDEN_IN_EVENTS),
    "harmony-tokens": Kind(SHOWN_IN_IDS, HIDDEN_IN_IDS, joiner=",", around=(f"[{SHOWN_IN_IDS[0]},", "]\n")),
}


@st.composite
def transcripts(draw: st.DrawFn, dialects: Sequence[str] = tuple(KINDS)) -> Planted:
    """A transcript of one of these dialects."""
    dialect = draw(st.sampled_from(dialects))
    kind = KINDS[dialect]
    part = st.one_of(st.sampled_from(kind.hidden), st.sampled_from(kind.shown).map(lambda text: ("shown", text)))
    parts = draw(st.lists(part, min_size=3, max_size=14))
    first, last = draw(st.sampled_from(kind.first)), draw(st.sampled_from(kind.last))
    return made_of(dialect, [first, *parts, last], draw(st.integers(0, 2**32)))


def everything(dialect: str, seed: int = 1) -> Planted:
    """A transcript with all that can be hidden in a dialect, and all that is shown."""
    kind = KINDS[dialect]
    shown = [("shown", text) for text in kind.shown]
    between = [part for place, hidden in enumerate(kind.hidden) for part in (hidden, shown[place % len(shown)])]
    return made_of(dialect, [kind.first[0], *between, kind.last[-1]], seed)


def made_of(dialect: str, parts: Sequence[Part], seed: int) -> Planted:
    """These parts, the first of them a document header, with canaries in their holes."""
    kind, chance = KINDS[dialect], Random(seed)
    places: list[tuple[str, str]] = []
    texts = [_filled(place, text, chance, places) for place, text in parts]
    middle = [text.replace("%d", str(number)) for number, text in enumerate(texts[1:-1])]
    body = kind.joiner.join([*middle, *filter(None, texts[-1:])])
    return Planted(dialect, kind.version + texts[0] + kind.around[0] + body + kind.around[1], tuple(places))


def _filled(place: str, text: str, chance: Random, places: list[tuple[str, str]]) -> str:
    def fill(hole: object) -> str:
        word = _fresh(str(getattr(hole, "group")()) == "{n}", chance)  # noqa: B009
        places.append((word, place))
        return word

    return _HOLE.sub(fill, text)


def _fresh(number: bool, chance: Random) -> str:
    return str(chance.randrange(10**9, 10**10)) if number else canary(chance)
