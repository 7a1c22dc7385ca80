"""The surfaces of the program, each with a leak that is planted into the code that fills it, for the laboratory to
find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from rich.segment import Segment
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tests.support.leaks.acting import IN_LIST, Act
from tests.support.leaks.finder import SHORTEST
from viewer.atomic_file import AtomicFile
from viewer.document.projection import Projection
from viewer.render import page
from viewer.render.blocks.block import BlockLine
from viewer.render.page import BlockMaker
from viewer.render.style import Part, trusted
from viewer.tui import palette as commands
from viewer.tui.app import ViewerApp
from viewer.tui.bars.completion import CompletionBox
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.status_lines import StatusFacts
from viewer.tui.bars.title import TitleBar
from viewer.tui.bottom.problem_lines import ProblemLines
from viewer.tui.dialogs import help
from viewer.tui.dialogs.marks import MarksScreen
from viewer.tui.dialogs.transcript_rows import TranscriptRows
from viewer.tui.files import facts
from viewer.tui.files import reader as files_reader
from viewer.tui.files import screen as list_of_files
from viewer.tui.insight import replay as replay_screen
from viewer.tui.insight import timing as timing_screen
from viewer.tui.insight.replay_bar import ReplayBar
from viewer.tui.main import copy as copying
from viewer.tui.main.presenter import Presenter
from viewer.tui.main.screen_host import ScreenHost
from viewer.tui.merged import screen as merged_screen
from viewer.tui.merged.search import MergedSearch
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.outline_lines import OutlineLines
from viewer.tui.session import Changed
from viewer.tui.settings import state_file
from viewer.tui.terminal import clipboard
from viewer.tui.transcript.minimap import Minimap
from viewer.tui.transcript.transcript import Transcript

Plant = Callable[[pytest.MonkeyPatch, str], None]


@dataclass(frozen=True)
class Surface:
    """A surface on which text leaves the app."""

    name: str
    plant: Plant
    """A function that puts the leak into the code that fills the surface."""
    acts: Sequence[Act] = ()
    """The actions that fill the surface."""
    as_folder: bool = False
    merged: bool = False
    kind: str = ""
    """The kind of the transcript, if the surface needs many transcripts."""
    found_on: str = ""
    """The surface that shows the leak, if it has another name."""


def _instead(owner: Any, name: str, make: Callable[[Any, str], Any]) -> Plant:
    """Replace the code with the result of `make`, which receives the code and the leak."""

    def plant(patched: pytest.MonkeyPatch, leak: str) -> None:
        patched.setattr(owner, name, make(getattr(owner, name), leak))

    return plant


def _finds_first(rows: TranscriptRows, seconds: float) -> bool:
    """Find the first transcript for every search."""
    if rows._searcher is not None:
        rows._found = [1]
    return False


def _returns(change: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    """Return the same code, with a changed result."""
    return lambda code, leak: lambda *given, **more: change(code(*given, **more), leak)


def _also(act: Callable[..., object]) -> Callable[[Any, str], Any]:
    """Return the same code, plus an action with the leak and the arguments of the code."""

    def make(code: Any, leak: str) -> Any:
        def run(*given: Any, **more: Any) -> Any:
            act(leak, *given)
            return code(*given, **more)

        return run

    return make


def _drawn(kind: type[Widget], inside: str = "", id: str = "") -> Plant:
    """Make a widget draw the leak. It is visible in every view, or in the list or head of a pane."""

    def plant(patched: pytest.MonkeyPatch, leak: str) -> None:
        draw = kind.render_lines

        def render_lines(self: Widget, crop: Region) -> list[Strip]:
            names = {type(each).__name__ for each in self.ancestors}
            if (inside and inside not in names) or (id and self.id != id):
                return draw(self, crop)
            return [Strip([Segment(leak)]).adjust_cell_length(crop.width)] * crop.height

        def show(presenter: Presenter, changed: Changed) -> None:
            draw_changed(presenter, changed)
            for widget in presenter._screen.walk_children(Widget):
                if type(widget).__name__ == (inside or kind.__name__) and id in ("", widget.id):
                    for each in (widget, *widget.ancestors) if id else (widget,):
                        if isinstance(each, Widget):
                            each.styles.display = "block"
                    widget.styles.min_height, widget.styles.min_width = 3 if inside else 1, 20

        draw_changed = Presenter.draw
        patched.setattr(kind, "render_lines", render_lines)
        patched.setattr(Presenter, "draw", show)

    return plant


class _ScoreOfEach(dict[int, int]):
    """A score for every message."""

    def __contains__(self, number: object) -> bool:
        return True

    def __missing__(self, number: int) -> int:
        return 100


def _scored(patched: pytest.MonkeyPatch, leak: str) -> None:
    """Give every message in the outline a leak score, and write the leak in its place."""
    make = OutlineLines.__init__
    patched.setattr(
        OutlineLines,
        "__init__",
        lambda self, *given, **more: make(self, *given, **{**more, "leak_scores": _ScoreOfEach()}),
    )
    patched.setattr(OutlineLines, "_leak_parts", lambda self, score: (Part(trusted(leak)),))


def _say(app: ViewerApp, leak: str) -> None:
    app.sub_title = leak


def _tooltip(leak: str, presenter: Presenter, *_: object) -> None:
    presenter._widgets.transcript.tooltip = leak


_NOTIFIES, _KEY_T, _KEY_P = (Act("key", (key,)) for key in "iTp")
_WAY_IN = [Act("key", ("g",))]
_RESIZED = [Act("resize", (100, 30)), Act("resize", (120, 40))]

SURFACES = [
    Surface("transcript", _instead(Projection, "_shown", _returns(lambda shown, leak: replace(shown, body=leak)))),
    Surface(
        "line of a call",
        _instead(page, "brief_parts", _returns(lambda line, leak: (*line, Part(trusted(leak))))),
        [Act("brief and back")],
        found_on="transcript",
    ),
    Surface(
        "boundary",
        _instead(BlockMaker, "_boundaries", lambda code, leak: lambda self, row: [BlockLine((Part(trusted(leak)),))]),
        found_on="transcript",
    ),
    Surface(
        "minimap",
        _instead(Minimap, "piece", lambda code, leak: lambda self, y, *_: Part(trusted(leak[y % len(leak)]))),
    ),
    Surface("title", _instead(TitleBar, "show", lambda code, leak: lambda self, f: code(self, replace(f, model=leak)))),
    Surface("outline", _drawn(LineList, "Outline"), [_KEY_T]),
    Surface("scores of leaks", _scored, [_KEY_T], found_on="outline"),
    Surface(
        "problems", _instead(ProblemLines, "line", lambda code, leak: lambda *_, **__: (Part(trusted(leak)),)), [_KEY_P]
    ),
    Surface("inspector", _drawn(LineList, "Inspector"), _RESIZED),
    Surface("calls", _drawn(LineList, "Calls"), [_KEY_P, *_RESIZED]),
    Surface("timeline", _drawn(LineList, "Timeline"), [Act("key", ("H",))]),
    Surface("completion", _drawn(CompletionBox), _RESIZED),
    Surface("side pane", _drawn(Transcript, id="behind"), _RESIZED),
    Surface("footer", _drawn(KeyFooter), _RESIZED),
    Surface(
        "prompt",
        _instead(Prompt, "note", lambda code, leak: lambda self, words: code(self, leak)),
        [Act("search", ("/", "warm"))],
        found_on="status",
    ),
    Surface(
        "status",
        _instead(StatusLine, "show_notice", lambda code, leak: lambda self, said, *more: code(self, leak, *more)),
        [_NOTIFIES],
    ),
    Surface(
        "notices",
        _instead(ScreenHost, "notify", lambda code, leak: lambda self, said, *more: code(self, said + leak, *more)),
        [Act("key", ("i",))],
    ),
    Surface(
        "help",
        _instead(
            help,
            "help_lines",
            lambda code, leak: lambda *given, **more: [(Part(trusted(leak)),), *code(*given, **more)],
        ),
        [Act("help")],
    ),
    Surface(
        "palette",
        _instead(commands, "palette_key", lambda code, leak: lambda action: f"{code(action)} {leak}"),
        [Act("palette", ("next",))],
    ),
    Surface(
        "replay",
        _instead(replay_screen, "styled_end", lambda code, leak: lambda *given, **options: [(Part(trusted(leak)),)]),
        [Act("replay and back")],
    ),
    Surface(
        "bar of a replay",
        _instead(ReplayBar, "lines", lambda code, leak: lambda *given: [(Part(trusted(leak)),), ()]),
        [Act("replay and back")],
        found_on="replay",
    ),
    Surface(
        "clock of a replay",
        _instead(replay_screen.ReplayScreen, "moment", lambda code, leak: lambda self: leak),
        [Act("replay and back")],
        found_on="replay",
    ),
    Surface(
        "timing",
        _instead(timing_screen, "timing_lines", lambda code, leak: lambda *given, **options: [(Part(trusted(leak)),)]),
        [Act("timing and back")],
    ),
    Surface(
        "list of marks",
        _instead(MarksScreen, "_line", lambda code, leak: lambda *given: (Part(trusted(leak)),)),
        [Act("key", ("J",)), Act("key", ("m",)), Act("key", ("apostrophe",))],
    ),
    Surface(
        "state file",
        _instead(state_file, "key_of", lambda code, leak: lambda *given: leak + code(*given)),
        [Act("key", ("J",)), Act("key", ("m",))],
    ),
    Surface(
        "list of files",
        _instead(list_of_files, "entry_line", lambda code, leak: lambda *given: (Part(trusted(leak)),)),
        as_folder=True,
    ),
    Surface(
        "preview of files",
        _instead(list_of_files, "preview_lines", lambda code, leak: lambda *given, **options: [(Part(trusted(leak)),)]),
        as_folder=True,
        found_on="list of files",
    ),
    Surface("facts of files", _instead(facts, "_title", lambda code, leak: lambda *given: leak), as_folder=True),
    Surface(
        "hits in all files",
        _instead(files_reader, "search_in", lambda code, leak: lambda *given: facts.Hit(1)),
        [Act("search", ("/", "{prefix}"))],
        as_folder=True,
    ),
    Surface(
        "captions of merged files",
        _instead(merged_screen, "status_facts", lambda code, leak: lambda *given: StatusFacts(name=leak)),
        merged=True,
        found_on="status",
    ),
    Surface(
        "hits in merged files",
        _instead(MergedSearch, "total", lambda code, leak: property(lambda self: 1)),
        [Act("search", ("/", "{prefix}"))],
        merged=True,
    ),
    Surface(
        "hits in transcripts",
        _instead(TranscriptRows, "step", lambda code, leak: _finds_first),
        [Act("key", ("enter",)), Act("search", (IN_LIST, "{prefix}"))],
        kind="many rows",
    ),
    Surface(
        "notification",
        _instead(ScreenHost, "notify", _also(lambda leak, self, *_: self.screen.notify(leak))),
        [_NOTIFIES],
    ),
    Surface(
        "app title",
        _instead(ScreenHost, "notify", _also(lambda leak, self, *_: _say(self.screen.app, leak))),
        [_NOTIFIES],
    ),
    Surface("tooltips", _instead(Presenter, "draw", _also(_tooltip))),
    Surface(
        "clipboard",
        _instead(copying, "copy_of", lambda code, leak: lambda *_: clipboard.Copied(leak, "copied")),
        [Act("yank", ("y",))],
    ),
    Surface(
        "app clipboard",
        _instead(ScreenHost, "notify", _also(lambda leak, self, *_: setattr(self.screen.app, "_clipboard", leak))),
        [_NOTIFIES],
    ),
    Surface(
        "selection",
        _instead(
            Transcript,
            "get_selection",
            lambda code, leak: lambda self, selection: (leak, "\n") if isinstance(selection, Selection) else None,
        ),
        [Act("select all")],
    ),
    Surface(
        "search hits",
        _instead(Projection, "body_blocks", lambda code, leak: lambda self, rows, row: iter((leak,))),
        [Act("search", ("/", "{prefix}"))],
    ),
    Surface(
        "screenshots",
        _instead(ViewerApp, "export_screenshot", lambda code, leak: lambda *_, **more: code(*_, **more) + leak),
        [Act("screenshot")],
    ),
    Surface(
        "files",
        _instead(AtomicFile, "write", lambda code, leak: lambda self, text: code(self, text + leak)),
        [Act("export")],
    ),
    Surface(
        "links",
        _instead(ScreenHost, "notify", _also(lambda leak, self, *_: self.screen.app.open_url(leak))),
        [_NOTIFIES],
    ),
    Surface(
        "deliveries",
        _instead(ScreenHost, "notify", _also(lambda leak, self, *_: self.screen.app.deliver_text(_file(leak)))),
        [_NOTIFIES],
    ),
]


def _file(leak: str) -> Path:
    path = Path("input") / "delivered.txt"
    path.write_text(leak, "utf-8")
    return path


def prefixed(act: Act, leak: str) -> Act:
    """Return a search for the start of this leak."""
    return Act(act.kind, tuple(leak[: SHORTEST - 1] if each == "{prefix}" else each for each in act.given))
