"""Helpers for testing panes: projections, lines as text, and an app with one pane."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from textual.app import App, ComposeResult
from textual.message import Message
from textual.widget import Widget

from viewer.document.document import Document, open_document
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.render.style import Line, Style, StyleRole
from viewer.tui.display_state import DisplayState
from viewer.tui.terminal.paint import Painter

SAMPLES = Path(__file__).parents[2] / "samples"
STYLE = Style(wrapped=True)
PLAIN = Style(wrapped=True, ascii=True)
PAINTER = Painter({})
DEBUG = DisplayState().opened().audience
SAFE = END_USER
STRICT = Audience(strict=True)
ALL = EVERYTHING

CALLS = """\
version: 2.2
<|start|>user<|message|>Hi<|end|>
<|start|>assistant<|channel|>analysis<|message|>SECRET thought<|end|>
<|start|>assistant to=functions.f call_id=a<|channel|>commentary<|constrain|>json<|message|>{"deadline_ms":500}<|call|>
<|start|>tool name=functions.f call_id=a to=assistant<|channel|>commentary<|message|>{"ok":true,"provenance":\
{"source":"https://x.example\\u001b]8;;","page":7}}<|end|>
<|start|>assistant<|channel|>final<|message|>Hello  [b]you[/b]<|return|>
<|start|>user<|message|>Bye<|end|>
<|start|>assistant to=functions.g<|channel|>commentary<|constrain|>json<|message|>{}<|call|>
<|start|>tool name=functions.g to=assistant<|channel|>commentary<|message|>{"ok":true}<|end|>
<|start|>assistant<|channel|>final<|message|>Bye.<|return|>
"""


@cache
def tour() -> Document:
    return open_document(str(SAMPLES / "tour.ocml"))


def read(folder: Path, text: str | bytes) -> Document:
    path = folder / "some.ocml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_document(str(path))


def text_of(line: Line) -> str:
    return "".join(part.text for part in line)


def texts(lines: Iterable[Line]) -> list[str]:
    return [text_of(line).rstrip() for line in lines]


def look_of_text(line: Line, text: str) -> StyleRole:
    return next(part.look for part in line if text in part.text)


def screen(app: App[None]) -> str:
    """Return the screen as text."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.ljust(width) for strip in strips[:height])


class OnePane(App[None]):
    """An app with one widget, which records the messages of the widget."""

    CSS = "Screen { layout: vertical; }"

    def __init__(self, pane: Widget) -> None:
        super().__init__()
        self.pane = pane
        self.heard: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.pane

    def on_outline_chosen(self, event: Message) -> None:
        self.heard.append(event)

    on_outline_followed = on_inspector_followed = on_outline_chosen
    on_problems_chosen = on_problems_followed = on_calls_chosen = on_calls_followed = on_outline_chosen
    on_timeline_chosen = on_timeline_followed = on_outline_chosen
