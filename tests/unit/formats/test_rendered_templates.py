"""Official chat templates, rendered and read back.

`OCML_TEMPLATES` names a folder with files `*.jinja`, such as `models/templates` of llama.cpp; none is kept here."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.reading import codes, read
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
"""The marks at the edges, by a part of the name of a file."""
SEEN = ["First?", "One.", "Second?\n\nTwo lines.", "Last."]
UNMARKED = ("SmolLM", "Bielik")
"""Templates that write replies into user frames without a mark of their own."""


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


def rendered(path: Path) -> str | None:
    """The conversation in this template, with the most that it accepts; None if it accepts nothing."""
    jinja2 = pytest.importorskip("jinja2")
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
    environment.filters["tojson"] = lambda value, indent=None, **_: json.dumps(value, indent=indent)
    environment.globals |= {"strftime_now": lambda _: "2026-01-02", "raise_exception": _refuse}
    first, last = next((marks for part, marks in MARKS.items() if part in path.name.lower()), ("", ""))
    schema = {"type": "object", "properties": {"at": {"type": "string", "description": "x"}}, "required": ["at"]}
    function = {"name": "rain", "description": "x", "parameters": schema}
    for calls, as_text in ((2, False), (2, True), (1, False), (1, True)):
        values = {"messages": conversation(calls=calls, as_text=as_text), "bos_token": first, "eos_token": last}
        try:
            template = environment.from_string(path.read_text("utf-8"))
            return str(template.render(**values, tools=[{"type": "function", "function": function}]))
        except (jinja2.TemplateError, TypeError):
            continue
    return None


def _refuse(message: str) -> None:
    raise TypeError(message)


@pytest.mark.skipif(not FOLDER, reason="OCML_TEMPLATES names no folder")
def test_a_rendered_conversation_gives_its_messages() -> None:
    read_back = set()
    for path in sorted(Path(FOLDER).glob("*.jinja")):
        text = rendered(path)
        format = detect(text.encode()).format if text else ""
        if text is None or format not in TEMPLATES or path.name.startswith(UNMARKED):
            continue
        reading = read(text, format)
        seen = [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]
        assert seen == SEEN, path.name
        assert not [code for code in codes(reading) if code.startswith("E-")], path.name
        read_back.add(format)
    assert read_back
