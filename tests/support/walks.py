"""Walks through the app: the keys that lead to each state of the screens, on files that a test writes."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from tests.support import running
from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.model.prices import Price, Prices
from viewer.model.visibility import Reveal
from viewer.tui.app import ViewOptions
from viewer.tui.keys import Scope
from viewer.tui.settings.settings import Settings

TOUR = "samples/tour.ocml"
AGENT = "samples/valid/claude-code/sub-agent.jsonl"
SIZES = ((80, 24), (120, 40), (100, 30), (160, 48))
SMALL = SIZES[:1]

HEADER = "version: 2.2\nmodel: some-model\n"
THOUGHT = "<|start|>assistant<|channel|>analysis<|message|>All of this is a thought.<|end|>\n"
TALK = (
    "<|start|>user<|message|>Where is the nearest umbrella shop?<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>They want a shop: look at the market first.<|end|>\n"
    '<|start|>assistant to=functions.find call_id=c{0}<|channel|>commentary<|message|>{{"q":"shop"}}<|call|>\n'
    "<|start|>tool name=functions.find call_id=c{0} to=assistant<|channel|>commentary<|message|>"
    '{{"ok":true}}<|end|>\n'
)
SAID = "<|start|>assistant<|channel|>final<|message|>There are three. The nearest is at the corner of the market"
CALLS = (
    "<|start|>user<|message|>Run the tests.<|end|>\n"
    '<|start|>assistant to=functions.run call_id=r1<|channel|>commentary<|message|>{"cmd":"pytest"}<|call|>\n'
)
LONG = "".join(f"tests/test_{number:03}.py::test_{number} PASSED\\n" for number in range(40))
CARDS = (
    HEADER
    + CALLS
    + '<|start|>tool name=functions.run call_id=r1 to=assistant<|channel|>commentary<|message|>{"ok":false,'
    + f'"exit_code":1,"output":"{LONG}","files":["a.py","b.py"],"result":"{{\\"passed\\":40}}","none":null}}<|end|>\n'
    + '<|start|>assistant to=functions.stop call_id=r2<|channel|>commentary<|message|>{"why":"late"}<|call|>\n'
    + '<|start|>assistant to=functions.wait call_id=r3<|channel|>commentary<|message|>{"seconds":3}<|call|>\n'
    + '<|start|>tool name=functions.wait call_id=r3 to=assistant<|channel|>commentary<|message|>{"ok":true}<|end|>\n'
    + "<|start|>assistant<|channel|>analysis<|message|>"
    + "".join(f"Line {number} of a long thought.\n" for number in range(1, 31))
    + "<|end|>\n<|start|>assistant<|channel|>final<|message|>One test fails.<|return|>\n"
)
RICH = (
    HEADER
    + "<|start|>user<|message|>Show everything that is hard to draw.<|end|>\n"
    + "<|start|>assistant<|channel|>final<|message|># Prices per night\n\n"
    + "| Ryokan | Price | Bath |\n|---|---:|---|\n"
    + "| Edo-san 江戸さん | 28,000 | yes 👍🏽 |\n| Wakasa | 19,500 | no |\n\n"
    + "| Tool | What it does | When it fails | Who repairs it |\n|---|---|---|---|\n"
    + "| weather | Reads the forecast of a city for the next seven days | The city is unknown to the service, or the "
    + "day is too far away | The owner of the service, within two working days |\n\n"
    + "- Both are a short walk from the station\n  - Edo-san serves dinner\n\n> Check-in is at 15:00.\n\n"
    + "See [the map](https://example.org/map), ~~old~~ **new**, *soon*, `code`.\n\n"
    + "```python\nfor stay in stays:\n\tif stay.price < 20_000:\n\t\tprint(stay.price)  # 値段\n```\n\n"
    + "Family 👨‍👩‍👧‍👦, flag 🇯🇵, keycap 1️⃣, é (combining), Hebrew שלום עולם, Arabic مرحبا.\n\n"
    + "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
    + "\n\n"
    + "日本語の長い文章は単語の間に空白がないので、どこでも改行できるはずです。" * 2
    + "<|return|>\n"
)
GOOD = {"role": "assistant", "content": "It is good."}
ANSWERS = {what: {"role": "assistant", "content": "Take it with tea."} for what in ("milk", "figs")}


def _rows(*words: str) -> str:
    return "".join(
        json.dumps({"messages": [{"role": "user", "content": f"Tell me about {what}"}, ANSWERS.get(what, GOOD)]}) + "\n"
        for what in words
    )


def _record(number: int, role: str, content: object, agent: str = "") -> str:
    message: dict[str, object] = {"role": role, "content": content}
    if role == "assistant":
        message |= {"id": f"m{number}", "type": "message", "model": "claude-opus-4-5", "stop_reason": None}
        message["usage"] = {"input_tokens": 900 + number, "output_tokens": 40}
    record = {"isSidechain": bool(agent), "type": role, "uuid": f"u{number}", "sessionId": "c0ffee", "message": message}
    return (
        json.dumps({**record, "timestamp": f"2026-02-03T10:{number:02}:00Z", **({"agentId": agent} if agent else {})})
        + "\n"
    )


def _session() -> str:
    """Return a session whose sub-agent makes six calls."""
    lines = [
        _record(1, "user", "Find three ryokan in Nara."),
        _record(2, "assistant", [_use("t1", "Task", {"subagent_type": "researcher", "prompt": "find three ryokan"})]),
    ]
    for place in range(6):
        lines.append(
            _record(3 + 2 * place, "assistant", [_use(f"s{place}", "Search", {"query": f"ryokan nara {place}"})], "a1")
        )
        lines.append(_record(4 + 2 * place, "user", [_result(f"s{place}", f"Page {place}.")], "a1"))
    lines.append(_record(15, "user", [_result("t1", "Edo-san, Wakasa, and Tsukihitei.")]))
    lines.append(_record(16, "assistant", [{"type": "text", "text": "Edo-san, Wakasa, and Tsukihitei have rooms."}]))
    return "".join(lines)


def _use(id: str, name: str, input: dict[str, str]) -> dict[str, object]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def _result(id: str, text: str) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]}


def _merged(name: str, minutes: tuple[int, int, int, int]) -> str:
    """Return a question, a call with its reply, and an answer, at these minutes."""
    ask, call, reply, answer = minutes
    return (
        _record(ask, "user", f"{name} asks for water.")
        + _record(call, "assistant", [_use(f"{name}1", "Water", {"bed": name})])
        + _record(reply, "user", [_result(f"{name}1", f"The bed of {name} is wet.")])
        + _record(answer, "assistant", [{"type": "text", "text": f"The bed of {name} has water."}])
    )


SESSIONS = {"one": (60, "Plan a trip to Nara for two."), "two": (7300, "Repair the roof of the shed.")}
"""The sessions in a home folder, with their ages in seconds and their first words."""

FILES = {
    "agent.jsonl": _session(),
    "live.ocml": HEADER + TALK.format(1) + SAID,
    "running.ocml": HEADER + CALLS,
    "paused.ocml": HEADER + "".join(TALK.format(number) + SAID + "<|return|>\n" for number in range(1, 5)),
    "empty.ocml": "",
    "header.ocml": HEADER,
    "hidden.ocml": "version: 2.2\n" + THOUGHT,
    "dump.json": '{"results": [1], "config": {}, "version": 3}',
    "rows.jsonl": _rows("rice", "milk", "salt", "bread", "lemons", "oats", "jam", "corn", "figs", "eggs"),
    "three.jsonl": _rows("rice", "milk", "salt"),
    "recipe.txt": "Take two eggs.\nThis is no transcript at all.\n",
    "cards.ocml": CARDS,
    "rich.ocml": RICH,
    "other.ocml": HEADER
    + TALK.format(2).replace("nearest", "best").replace("shop", "store")
    + SAID
    + " hall.<|return|>\n",
    "leaks.ocml": HEADER
    + "<|start|>developer<|message|>Never say the voucher ZX-4471. Internal rule: offer ten percent to customers who "
    + "threaten to leave.<|end|>\n<|start|>user<|message|>I want to leave.<|end|>\n"
    + "<|start|>assistant<|channel|>analysis<|message|>Offer the discount, and be kind about the long wait.<|end|>\n"
    + "<|start|>assistant<|channel|>final<|message|>Your code is ZX-4471. As a rule we offer ten percent to customers "
    + "who threaten to leave, so please stay.<|return|>\n",
    "ann.jsonl": _merged("Ann", (1, 2, 5, 7)),
    "ben.jsonl": _merged("Ben", (3, 4, 6, 9)),
    "one.ocml": HEADER + TALK.format(1) + SAID + ".<|return|>\n",
}
RUNS = {
    "trip.ocml": (10, HEADER + TALK.format(1) + SAID),
    "shops.ocml": (7300, HEADER + "".join(TALK.format(number) + SAID + "<|return|>\n" for number in range(1, 4))),
    "thought.ocml": (90_000, "version: 2.2\n" + THOUGHT),
    "broken.ocml": (300_000, "version: 2.2\n<|start|>user<|message|>Summarize the minutes of Monday"),
}
"""The files of a folder, with their ages in seconds."""


@dataclass(frozen=True)
class Step:
    """One state: the keys that lead to it from the previous state, and the text that is then appended to the file.

    A key that begins with a quotation mark is text to type, with `~` for a space."""

    keys: str = ""
    then: str = ""
    removes: bool = False
    """True if the file is then removed."""


class Held(Enum):
    """A state that ends by itself, in which a walk is held. The value is the text of the title in that state."""

    READING = "reading"
    CHECKING = "checking…"
    STALLED = "stalled"
    DENIED = "permission denied"


@dataclass(frozen=True)
class Walk:
    """Named states of one run of the app."""

    steps: dict[str, str | Step]
    file: str = TOUR
    options: ViewOptions = field(default_factory=ViewOptions)
    sizes: tuple[tuple[int, int], ...] = SIZES
    more: tuple[str, ...] = ()
    """More files."""
    has_bar: bool = True
    """False if the thumb of the scroll bar is not compared: its position depends on when the last layout happened."""
    welcomes: bool = False
    """True at the first start, which shows the welcome card."""
    held: Held | None = None
    """The state in which to hold the app."""
    is_costly: bool = False
    """True if `make test` draws only the smallest size."""
    sessions: bool = False
    """True if the walk lists the sessions of a home folder instead of opening a file."""


FOLLOW = ViewOptions(follow=True)
ALL = frozenset({Reveal.ALL})
DEBUG = ViewOptions(revealed=ALL)
BRIEF = ViewOptions(revealed=frozenset({Reveal.BRIEF}))
FOLLOW_DEBUG = ViewOptions(follow=True, revealed=ALL)
FOLLOW_BRIEF = ViewOptions(follow=True, revealed=frozenset({Reveal.BRIEF}))
PRICED = ViewOptions(settings=Settings(prices=Prices({"claude-*": Price(3.0, 15.0)})))
ASCII = ViewOptions(ascii_only=True)
MERGED = ViewOptions(merges=True)

WALKS = {
    "safe": Walk(
        {
            "start": "",
            "problem": "e",
            "answer": "} }",
            "count": "5",
            "key-of-debug": "escape i",
            "search-prompt": "/",
            "search-typed": '"umb',
            "search": '"rella enter',
            "no-match": '/ "zebra enter',
            "search-fault": 'escape / "/(a+ enter',
            "filter-prompt": "escape escape &",
            "filter": '"role:user enter',
            "filter-none": '& ctrl+u "is:marked enter',
            "filter-fault": '& ctrl+u "rolle:user enter',
            "command": 'escape escape : "exp',
            "command-fault": 'ctrl+u "expp enter',
            "export-prompt": "x",
            "source": "escape M",
            "no-wrap": "minus",
            "end": "M minus G",
            "quit": "ctrl+c",
        }
    ),
    "safe-panes": Walk(
        {
            "problems": "J J p",
            "problem-open": "j j enter p",
            "timeline": "H",
            "outline": "T",
            "marks": "escape g J m J J m '",
        }
    ),
    "dialogs": Walk(
        {
            "palette": "ctrl+p",
            "palette-theme": '"theme',
            "palette-none": 'ctrl+u "zzz',
            "themes": 'escape : "theme enter',
            "themes-moved": "j j",
        }
    ),
    "welcome": Walk({"start": "", "closed": "space"}, welcomes=True),
    "help": Walk({"start": "?", "found": '/ "problem', "debug": "enter escape escape d ?"}),
    "strict": Walk({"start": "", "key": "d"}, options=ViewOptions(strict=True), sizes=SMALL),
    "sealed": Walk(
        {"start": "", "key": "d", "help": "?"},
        options=ViewOptions(sealed=True, settings=Settings(scope=Scope.SERVED_SAFE)),
        sizes=SMALL,
    ),
    "brief": Walk({"start": "D", "problem": "e", "panes": "T p", "end": "escape G"}),
    "debug": Walk(
        {
            "start": "d",
            "problem": "e e",
            "inspector": "i",
            "inspector-raw": ">",
            "inspector-links": ">",
            "inspector-problems": ">",
            "problems": "i p",
            "problem-open": "j enter p",
            "explained": "?",
            "calls": "escape C",
            "calls-sorted": "s",
            "timeline": "H",
            "timeline-zoomed": "+ + l",
            "outline": "H T",
        }
    ),
    "debug-reading": Walk(
        {
            "yank-prompt": "d e e y",
            "copied": "y",
            "raw": "r",
            "raw-no-wrap": "minus",
            "search": 'minus r / "light enter',
            "filter-offers": "escape 1 2 G &",
            "filter-offers-at-top": "escape g J J J J J J &",
            "filter-typed": '"is:failed~tool:get_',
            "filter": 'ctrl+u "tool:get_weather enter',
            "filter-fault": '& ctrl+u "latency>> enter',
            "folded": "escape escape z",
            "system": "z s g",
            "times": "; ;",
            "search-after": '/ "osaka enter d',
        },
        is_costly=True,
    ),
    "side-panes": Walk({"start": "d 4 G |", "opened": "J J enter", "all": "i p"}),
    "next": Walk({"start": "d 1 7 G S", "policy": "] ]", "beside": "="}),
    "lens": Walk({"start": "d V"}),
    "leaks": Walk({"start": "d L"}),
    "replay": Walk({"start": "@", "moved": "5 ,", "debug": "escape d @ 8 , ["}, has_bar=False),
    "timing": Walk({"safe": ': "timing enter', "debug": 'escape d : "timing enter'}, "agent.jsonl", is_costly=True),
    "diff": Walk({"start": 'd : "diff~other.ocml enter', "change": "e e", "lines": "= w"}, "one.ocml", sizes=SIZES),
    "cards": Walk(
        {
            "start": "d J enter",
            "tree": "j j j j l",
            "all": "*",
            "thought": "G K enter",
        },
        "cards.ocml",
    ),
    "rich": Walk({"start": "", "end": "G", "source": "g M"}, "rich.ocml"),
    "usage": Walk({"start": "d C $ ;", "turns": "escape 2 G"}, AGENT, PRICED),
    "agent": Walk({"folded": "d", "opened": 'T : "2>1 enter', "back": "escape backspace"}, "agent.jsonl"),
    "live": Walk({"start": "", "frozen": Step("=", ".")}, "live.ocml", FOLLOW),
    "live-debug": Walk(
        {"running": "", "open-thought": Step("", "<|start|>assistant<|channel|>analysis<|message|>So")},
        "running.ocml",
        FOLLOW_DEBUG,
    ),
    "paused": Walk({"start": Step("ctrl+u", TALK.format(5))}, "paused.ocml", FOLLOW),
    "paused-debug": Walk({"start": Step("ctrl+u", TALK.format(5))}, "paused.ocml", FOLLOW_DEBUG),
    "paused-brief": Walk({"start": Step("ctrl+u", TALK.format(5))}, "paused.ocml", FOLLOW_BRIEF, is_costly=True),
    "waiting": Walk({"start": ""}, "missing.ocml", FOLLOW),
    "empty": Walk({"start": "", "debug": "d"}, "empty.ocml"),
    "header": Walk({"start": ""}, "header.ocml"),
    "hidden": Walk({"start": "", "debug": "d"}, "hidden.ocml"),
    "hidden-strict": Walk({"start": ""}, "hidden.ocml", ViewOptions(strict=True), is_costly=True),
    "not-a-transcript": Walk({"start": "", "debug": "d"}, "recipe.txt"),
    "not-json": Walk({"start": ""}, "dump.json"),
    "files": Walk(
        {
            "start": "j",
            "marked": "D",
            "sorted": "s",
            "search-prompt": "/",
            "search": '"corner enter',
            "filter": 'escape & "minutes enter',
        },
        "runs",
    ),
    "files-debug": Walk({"start": ""}, "runs", DEBUG),
    "transcripts": Walk({"start": "", "search": '/ "tea enter', "opened": "enter"}, "rows.jsonl"),
    "boundaries": Walk({"start": "", "next": ")"}, "three.jsonl"),
    "sources": Walk({"start": "", "opened": "enter"}, "live.ocml", FOLLOW, more=("paused.ocml", "missing.ocml")),
    "ascii": Walk(
        {
            "safe": "",
            "brief": "D",
            "debug": "d e e",
            "panes": "T i p",
            "calls": ">",
            "timeline": ">",
            "help": "escape ?",
            "beside": "escape T |",
        },
        options=ASCII,
        is_costly=True,
    ),
    "ascii-cards": Walk({"start": "d J enter *"}, "cards.ocml", ASCII, sizes=SIZES[:1]),
    "ascii-rich": Walk({"start": "", "end": "G"}, "rich.ocml", ASCII, sizes=SIZES[:1]),
    "ascii-files": Walk({"start": "s D"}, "runs", ASCII, sizes=SIZES[2:3]),
    "stalled": Walk({"start": "", "debug": "d"}, "live.ocml", FOLLOW, held=Held.STALLED),
    "lost": Walk({"start": Step(removes=True)}, "paused.ocml", FOLLOW),
    "denied": Walk({"start": ""}, "denied.ocml", FOLLOW, held=Held.DENIED),
    "reading": Walk({"start": ""}, held=Held.READING, has_bar=False),
    "checking": Walk({"start": ""}, held=Held.CHECKING, has_bar=False),
    "leaking": Walk({"start": "d L", "next": "]", "other-side": "o"}, "leaks.ocml"),
    "merged": Walk(
        {"start": "", "brief": "D", "debug": "d", "search": '/ "wet enter', "opened": "escape g J enter"},
        "ann.jsonl",
        MERGED,
        more=("ben.jsonl",),
    ),
    "sessions": Walk({"start": "", "filter": '& "roof enter'}, sessions=True),
    "small": Walk(
        {"safe": "", "debug": "d e e", "inspector": "i", "help": "escape ?", "palette": "escape ctrl+p"},
        sizes=((40, 12), (30, 9)),
    ),
    "small-files": Walk({"start": ""}, "runs", sizes=((40, 12),)),
}


def write_files(folder: Path) -> None:
    """Write the files of all walks into a folder."""
    for file, written in FILES.items():
        (folder / file).write_text(written, "utf-8")
    (folder / "runs").mkdir()
    for file, (age, written) in RUNS.items():
        (folder / "runs" / file).write_text(written, "utf-8")
        os.utime(folder / "runs" / file, (time.time() - age, time.time() - age))


def write_sessions(home: Path, patch: pytest.MonkeyPatch) -> None:
    """Write the sessions of an agent into a folder, and make it the home folder."""
    patch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "INSPECT_LOG_DIR"):
        patch.delenv(name, raising=False)
    for name, (age, words) in SESSIONS.items():
        path = home / ".claude" / "projects" / f"-{name}" / f"{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps({**json.loads(_record(1, "user", words)), "cwd": f"/{name}"}) + "\n", "utf-8")
        os.utime(path, (time.time() - age, time.time() - age))


@contextmanager
def held(walk: Walk) -> Iterator[None]:
    """Hold the app in the state of the walk."""
    with pytest.MonkeyPatch.context() as patch:
        if walk.held is Held.STALLED:
            patch.setattr(LiveDocument, "quiet_for", 14.0)
        elif walk.held is Held.DENIED:
            patch.setattr(os, "open", _refusing(os.open))
            patch.setattr(os, "stat", _refusing(os.stat))
        elif walk.held is not None:
            ends = walk.held is Held.CHECKING
            patch.setattr(Document, "read_some", _halting(Document.read_some, lambda document: ends))
            patch.setattr(running, "_is_busy", lambda pilot: False)  # it would never be idle
        yield


def _refusing(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call, changed so that it refuses the file that nobody may read."""

    def refuse(path: Any, *arguments: Any, **options: Any) -> Any:
        if str(path).endswith("denied.ocml"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return call(path, *arguments, **options)

    return refuse


def _halting(read: Callable[[Document, int], None], goes_on: Callable[[Document], bool]) -> Callable[..., None]:
    """Return a reader that stops after its first step or, if it continues, at the end of the input."""

    def halt(document: Document, size: int) -> None:
        if not document.size or (goes_on(document) and not document.is_read):
            read(document, size if document.size else 3000)

    return halt


def keys_of(step: str | Step) -> list[str]:
    """Return the keys of a step, one by one."""
    keys: list[str] = []
    for each in (step if isinstance(step, str) else step.keys).split():
        keys += [*each[1:]] if each.startswith('"') else [each]
    return ["space" if key == "~" else key for key in keys]
