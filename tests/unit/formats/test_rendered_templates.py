"""Official chat templates, rendered and read back.

`OCML_TEMPLATES` names a folder with files `*.jinja`, such as `models/templates` of llama.cpp; none is kept here."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.support.reading import codes, read
from tests.support.record_checks import headers
from viewer.formats import detect
from viewer.formats.text.templates import TEMPLATES

pytestmark = pytest.mark.lab
FOLDER = os.environ.get("OCML_TEMPLATES", "")
MARKS = {
    "deepseek": ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
    "llama": ("<|begin_of_text|>", "<|eot_id|>"),
    "stral": ("<s>", "</s>"),
    "gemma": ("<bos>", "<eos>"),
}
"""The marks at the start and end, by a part of the file name."""
SEEN = ["First?", "One.", "Second?\n\nTwo lines.", "Last."]
UNFRAMED = ("google-gemma-4",)
"""Templates that write an answer after replies outside any frame if its call had text."""
UNMARKED = ("SmolLM", "Bielik")
"""Templates that write replies into user frames without separate marks."""


def conversation(*, calls: int, as_text: bool) -> list[dict[str, Any]]:
    arguments: list[Any] = [{"at": "SECRET_ARG"}, {"at": "SECRET_ARG"}]
    made = [
        {
            "id": f"functions.rain:{number}" if calls == 2 else "a" * 8 + str(number),
            "type": "function",
            "function": {"name": "rain", "arguments": json.dumps(each) if as_text else each},
        }
        for number, each in enumerate(arguments[:calls])
    ]
    replies = [{"role": "tool", "name": "rain", "tool_call_id": each["id"], "content": "SECRET_OUT"} for each in made]
    return [
        {"role": "system", "content": "SECRET_SYS"},
        {"role": "user", "content": "First?"},
        {"role": "assistant", "content": "One.", "reasoning_content": "SECRET_TH"},
        {"role": "user", "content": "Second?\n\nTwo lines."},
        {"role": "assistant", "content": "", "reasoning_content": "SECRET_TH", "tool_calls": made},
        *replies,
        {"role": "assistant", "content": "Last.", "reasoning_content": "SECRET_TH"},
    ]


SHAPES = ((2, False), (2, True), (1, False), (1, True))
"""The number of parallel calls, and whether their arguments are text, with the largest number first."""
Make = Callable[[int, bool], list[dict[str, Any]]]


def rendered(path: Path, make: Make) -> tuple[str, list[dict[str, Any]]] | None:
    """Return the largest conversation that this template accepts, or None if it accepts none."""
    jinja2 = pytest.importorskip("jinja2")
    first, last = next((marks for part, marks in MARKS.items() if part in path.name.lower()), ("", ""))
    schema = {"type": "object", "properties": {"at": {"type": "string", "description": "x"}}, "required": ["at"]}
    function = {"name": "rain", "description": "x", "parameters": schema}
    for calls, as_text in SHAPES:
        messages = make(calls, as_text)
        try:
            text = _template(path).render(
                messages=copy.deepcopy(messages),
                bos_token=first,
                eos_token=last,
                tools=[{"type": "function", "function": function}],
            )
        except (jinja2.TemplateError, TypeError):
            continue
        return str(text), messages
    return None


@cache
def _template(path: Path) -> Any:
    import jinja2  # type: ignore[import-not-found,unused-ignore]

    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = lambda value, indent=None, **_: json.dumps(value, indent=indent)
    environment.globals |= {"strftime_now": lambda _: "2026-01-02", "raise_exception": _refuse}
    return environment.from_string(path.read_text("utf-8"))


def _refuse(message: str) -> None:
    raise TypeError(message)


@pytest.mark.skipif(not FOLDER, reason="OCML_TEMPLATES names no folder")
def test_a_rendered_conversation_gives_its_messages() -> None:
    read_back = set()
    for path in sorted(Path(FOLDER).glob("*.jinja")):
        found = rendered(path, lambda calls, as_text: conversation(calls=calls, as_text=as_text))
        text = found[0] if found else ""
        format = detect(text.encode()).format
        if format not in TEMPLATES or path.name.startswith(UNMARKED):
            continue
        reading = read(text, format)
        seen = [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]
        assert seen == SEEN, path.name
        assert not [code for code in codes(reading) if code.startswith("E-")], path.name
        read_back.add(format)
    assert read_back


WORDS = (
    "It ",
    "rains ",
    "at ",
    "noon",
    ".\n",
    "21 °C",
    "\U0001f600 ",
    "naïve ",
    '"so" ',
    "\\ ",
    "1 < 2 ",
    "\n\n",
    "- a\n",
    "é",
)


def words(chance: random.Random) -> str:
    """Return text that occurs nowhere else."""
    return f"W{chance.getrandbits(40)} {''.join(chance.choices(WORDS, k=chance.randint(1, 9)))}e."


def chance_conversation(chance: random.Random) -> Make:
    """Return a function that makes a random conversation, always the same for one shape."""
    seed = chance.getrandbits(32)

    def make(most: int, as_text: bool) -> list[dict[str, Any]]:
        chance = random.Random(seed)
        messages: list[dict[str, Any]] = [{"role": "system", "content": f"SECRET_{words(chance)}"}]
        for turn in range(chance.randint(1, 3)):
            messages.append({"role": "user", "content": words(chance)})
            thought = {"reasoning_content": f"SECRET_{words(chance)}"} if chance.random() < 0.5 else {}
            count = min(most, chance.randint(0, 2))
            if count:
                made: list[dict[str, Any]] = []
                for number in range(count):
                    arguments = {"at": f"SECRET_{chance.randint(0, 99)}"}
                    function = {"name": "rain", "arguments": json.dumps(arguments) if as_text else arguments}
                    made.append({"id": f"abcdef{turn}{number}a", "type": "function", "function": function})
                said = words(chance) if chance.random() < 0.3 else ""
                messages.append({"role": "assistant", "content": said, "tool_calls": made, **thought})
                messages += (
                    {"role": "tool", "name": "rain", "tool_call_id": each["id"], "content": f"SECRET_{words(chance)}"}
                    for each in made
                )
            messages.append({"role": "assistant", "content": words(chance), **thought})
        return messages

    return make


@pytest.mark.skipif(not FOLDER, reason="OCML_TEMPLATES names no folder")
def test_chance_conversations_give_their_texts_and_links() -> None:
    """Test two hundred conversations for each family of templates."""
    paths: dict[str, list[Path]] = {}
    for path in sorted(Path(FOLDER).glob("*.jinja")):
        found = rendered(path, lambda calls, as_text: conversation(calls=calls, as_text=as_text))
        format = detect(found[0].encode()).format if found else ""
        if format in TEMPLATES and not path.name.startswith(UNMARKED):
            paths.setdefault(format, []).append(path)
    read_back: Counter[str] = Counter()
    for format, found_paths in paths.items():
        for seed in range(200):
            path = found_paths[seed % len(found_paths)]
            made = rendered(path, chance_conversation(random.Random(seed)))
            if made is None:
                continue
            text, messages = made
            if path.name.startswith(UNFRAMED) and any(each.get("tool_calls") and each["content"] for each in messages):
                continue
            reading = read(text, format)
            seen = [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]
            said = [_bare(each["content"]) for each in messages if each["role"] in ("user", "assistant")]
            written = [each for each in said if each in _bare(text)]  # some templates drop the text next to a call
            assert _bare("".join(seen)) == "".join(written), (path.name, seed)
            kinds = Counter(header.kind.value for header in headers(reading))
            count = sum(len(each.get("tool_calls", ())) for each in messages)
            assert {kinds["call"], kinds["reply"]} <= {0, count}, (path.name, seed)
            read_back[format] += 1
    assert set(read_back) == set(paths)


def _bare(text: str) -> str:
    """Return the text without whitespace, which templates trim."""
    return "".join(text.split())
