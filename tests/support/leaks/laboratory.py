"""A session: the app on a transcript full of canaries, random actions, and a search of all output."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from textual.pilot import Pilot
from textual.widget import Widget

from tests.support.converting import InMemory
from tests.support.leaks.acting import LISTED, REVEALED, Act, is_brief, is_debug, perform, send_keys, type_ahead
from tests.support.leaks.finder import Leak
from tests.support.leaks.frames import Frames
from tests.support.leaks.planted import Planted, everything
from tests.support.leaks.planted_sessions import SESSION_KINDS
from tests.support.running import drawn, settled
from viewer.document import document
from viewer.document.values import BriefCall
from viewer.model.visibility import BRIEF
from viewer.reading.format import ReadOptions
from viewer.render.strip_controls import OBEYED
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.dialogs.file_end import FileEndScreen
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.transcripts import TranscriptsScreen
from viewer.tui.files import end as file_end
from viewer.tui.files.screen import FilesScreen
from viewer.tui.keys import Scope
from viewer.tui.main import file_end as ends
from viewer.tui.main import read_worker as reading
from viewer.tui.main.screen import MainScreen
from viewer.tui.merged.screen import MergedScreen
from viewer.tui.settings.settings import Settings
from viewer.tui.settings.state_file import StateFile

_WRITING = "a part was written"
UNKNOWABLE = {"only the end of a think block"}
"""Places that are unknowable at first: text turns out to be a thought only when its closing mark arrives.

SECURITY.md documents this. Once the mark has been read, the text is hidden."""
SHORTEST_TYPED = 3
"""The minimum number of letters that are typed to search for a canary."""
LEAVES = 5
"""How many times to try to leave the debug view, because a dialog over it may take the keys."""


@dataclass(frozen=True)
class Escaped:
    """A leak, its surface, and the last action."""

    surface: str
    place: str
    leak: Leak
    after: str


class Recorded(ViewerApp):
    """The app, with a record of everything that it sends anywhere other than to the screen."""

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.sent: list[tuple[str, str]] = []

    def copy_to_clipboard(self, text: str) -> None:
        self.sent.append(("clipboard", text))
        super().copy_to_clipboard(text)

    def notify(self, message: str, *, title: str = "", **more: Any) -> None:
        self.sent.append(("notification", f"{title}\n{message}"))
        super().notify(message, title=title, **more)

    def open_url(self, url: str, *, new_tab: bool = True) -> None:
        self.sent.append(("links", url))

    def deliver_text(self, path_or_file: Any, **more: Any) -> str | None:
        self.sent.append(("deliveries", _content(path_or_file)))
        return None

    def deliver_binary(self, path_or_file: Any, **more: Any) -> str | None:
        self.sent.append(("deliveries", _content(path_or_file)))
        return None


def _content(path_or_file: Any) -> str:
    if isinstance(path_or_file, str | Path):
        return Path(path_or_file).read_text("utf-8", "replace")
    return str(path_or_file.read())


@dataclass
class Session:
    """One run, and what was found in it."""

    planted: Planted
    pilot: Pilot[int]
    folder: Path
    frames: Frames
    searches: bool = True
    """False if nothing is searched for canaries, because the caller compares screens."""
    escaped: list[Escaped] = field(default_factory=list)
    looks: int = 0
    _after: str = "opening"
    _read: dict[str, str] = field(default_factory=dict)
    """The last text of each surface. An unchanged text is not searched again."""
    _copied_in_brief: str = ""
    """The content of the clipboard at the end of the last brief view. It may name tools, even in the safe view."""

    def __post_init__(self) -> None:
        self._finder = self.planted.finder
        names = tool_names(self.planted)
        self._tools, self._cut_tools = whole_or_truncated(names), cut_by_selection(names)
        self._shown: WeakKeyDictionary[Widget, tuple[bool, list[str]]] = WeakKeyDictionary()
        """The last lines of each widget, and whether tool names were allowed. They are not searched again."""
        self.frames.see = self._see

    @property
    def app(self) -> Recorded:
        assert isinstance(self.pilot.app, Recorded)
        return self.pilot.app

    @property
    def has_read(self) -> bool:
        """True if all of the input has been read."""
        return any(
            isinstance(screen, MainScreen) and screen.session.document.is_complete for screen in self.app.screen_stack
        )

    async def do(self, act: Act) -> None:
        """Perform the action, then search everything."""
        if self.app._exit:
            return
        if act.kind == "search":
            self._finder.ignore_typed(str(act.given[1]))
        async for _ in perform(self.pilot, act):
            if act.kind == "debug and back":
                self.app.sent.clear()
            self.look(str(act))
        for _ in range(LEAVES):
            if not is_debug(self.pilot) or self.app._exit:
                break
            await type_ahead(self.pilot, ["escape", "escape", "d"])  # a click on the footer opened it, so go back
            self.look(f"leaving after {act}")

    async def grow(self) -> None:
        """Write the file while it is followed, a few bytes at a time, even in the middle of marks."""
        chance, left = Random(len(self.planted.text)), self.planted.data
        self._after = _WRITING
        with Path("input", "chat.ocml").open("ab", buffering=0) as file:
            while left:
                size = chance.choice((1, 2, 3, 7, 20, 60))
                file.write(left[:size])
                left = left[size:]
                await asyncio.sleep(0.002)
                self.look(_WRITING)
        for _ in range(20):
            await asyncio.sleep(0.05)
            self.look("all was written")

    def look(self, after: str) -> None:
        """Search everything that the app shows, or has sent since the last search.

        Content in the debug view is not a leak, unless the app is sealed, so it has no debug view."""
        self._after = after
        assert not (self.app.options.sealed and (is_debug(self.pilot) or is_brief(self.pilot))), after
        if self.app._exit or not self.searches or is_debug(self.pilot):
            self.app.sent.clear()
            return
        self.looks += 1
        is_listed = is_brief(self.pilot)
        if is_listed:
            self._copied_in_brief = self.app.clipboard
        for surface, text in [*self._words(), *self.app.sent]:
            keeps_tools = is_listed or (surface == "app clipboard" and text == self._copied_in_brief)
            text = self._cut_tools.sub(" ", self._tools.sub(" ", text)) if keeps_tools else text
            if self._read.get(surface) != text:
                self._read[surface] = text
                self._note(surface, self._finder.leaks(text), after)
        self.app.sent.clear()
        self.frames.draw(self.app, again=True)

    def look_at_whole_screen(self, after: str) -> None:
        """Search everything, and the screen across its widgets."""
        self.look(after)
        if self.searches and not self.app._exit and not is_debug(self.pilot):
            self._search("screen", drawn(self.pilot))

    def _see(self, widget: Widget, lines: list[str]) -> bool:
        """Search the lines of a widget in a frame. False if hidden content may be on the screen."""
        if self.app._exit or not self.searches:
            return True
        if is_debug(self.pilot):
            return False
        shown = (is_brief(self.pilot), lines)
        if self._shown.get(widget) != shown:
            self._shown[widget] = shown
            surface = surface_of(widget)
            self._search(surface, "\n".join(lines))
            if surface == "transcript":
                self._search("minimap", "".join(line[-1:] for line in lines))
        return True

    def _search(self, surface: str, text: str) -> None:
        """Search drawn text."""
        if OBEYED.search(text.replace("\n", "")):
            self.escaped.append(Escaped(surface, "any", Leak("", "control", text), self._after))
        text = self._tools.sub(" ", text) if is_brief(self.pilot) else text
        self._note(surface, self._finder.plain(text), self._after)

    def _note(self, surface: str, leaks: Sequence[Leak], after: str) -> None:
        found = (Escaped(surface, self.planted.place_of(leak.canary), leak, after) for leak in leaks)
        self.escaped += [each for each in found if after != _WRITING or each.place not in UNKNOWABLE]

    def _words(self) -> Iterator[tuple[str, str]]:
        """Yield observable state that is not drawn."""
        app, screen = self.app, self.app.screen
        yield "app title", f"{app.title}\n{app.sub_title}"
        yield "app clipboard", app.clipboard
        yield "selection", screen.get_selected_text() or ""
        yield "tooltips", "\n".join(str(widget.tooltip) for widget in screen.walk_children(Widget) if widget.tooltip)
        for each in self.app.screen_stack:
            if isinstance(each, MainScreen):
                yield "search hits", self._hits(each)
                yield "notices", str(each.widgets.status.notice)
            if isinstance(each, TranscriptsScreen) and each._shown.search:
                yield "hits in transcripts", self._hit(each._shown.search, len(each._shown))
            if isinstance(each, MergedScreen) and each.search is not None:
                yield "hits in merged files", self._hit(each.search.query.text, each.search.total)
            if isinstance(each, FilesScreen) and each.catalog.reading.audience.is_safe:
                catalog = each.catalog
                rows = [(catalog.facts(entry), catalog.hit(entry)) for entry in catalog.listing.entries]
                yield "facts of files", f"{rows}\n{each._status.notice}"
                if catalog.search:
                    yield "hits in all files", self._hit(catalog.search.query.text, catalog.searched[0])

    def _hits(self, screen: MainScreen) -> str:
        """Return the canary of a search that has matches. No shown text contains it, so any match is a leak. Shown text
        may contain a prefix of one or two letters."""
        searcher = screen.search.searcher
        return self._hit(searcher.query.text, len(searcher.matches)) if searcher is not None else ""

    def _hit(self, typed: str, count: int) -> str:
        if not count or len(typed) < SHORTEST_TYPED:
            return ""
        return next((word for word in self.planted.canaries if word.startswith(typed)), "")

    def files(self) -> None:
        """Search new files in the folder at the end. The state file must contain only numbers."""
        state = self.folder / "state" / "state.json"
        if state.exists() and not NUMBERS_ONLY.fullmatch(state.read_text("utf-8")):
            self.escaped.append(Escaped("state file", "any text", Leak("", "text", ""), "the end"))
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and "input" not in path.relative_to(self.folder).parts and REVEALED not in path.name:
                surface = "screenshots" if path.suffix == ".svg" else "files"
                text = path.name.encode() + b"\n" + path.read_bytes()
                text = re.sub(self._tools.pattern.encode(), b" ", text) if LISTED in path.name else text
                self._note(surface, self._finder.leaks(text), "the end")


def tool_names(planted: Planted) -> set[str]:
    """Return the tool names that the brief level shows."""
    read = document.Document(InMemory(planted.data), planted.format).load()
    calls = (item for item in read.project(BRIEF).items() if isinstance(item, BriefCall))
    return {call.tool.removeprefix("functions.") for call in calls}


def whole_or_truncated(names: set[str]) -> re.Pattern[str]:
    """Return a pattern for tool names, whole or truncated at the edge of the screen."""
    cuts = {f"{name[:length]}…" for name in names for length in range(1, len(name))}
    return re.compile("|".join(map(re.escape, sorted(names | cuts, key=len, reverse=True))) or "(?!)")


def cut_by_selection(names: set[str]) -> re.Pattern[str]:
    """Return a pattern for the part of a tool name with which a selection ends or begins."""
    lengths = [(name, length) for name in names for length in range(1, len(name))]
    firsts = sorted((name[:length] for name, length in lengths), key=len, reverse=True)
    lasts = sorted((name[length:] for name, length in lengths), key=len, reverse=True)
    if not lengths:
        return re.compile("(?!)")
    return re.compile(rf"(?:{'|'.join(map(re.escape, firsts))})\Z|\A(?:{'|'.join(map(re.escape, lasts))})")


def surface_of(widget: Widget) -> str:
    """Return the name of a part of the screen: the name of the outermost of our widgets around it."""
    screen = widget.screen
    if isinstance(screen, HelpScreen):
        return "help"
    names = [widget, *widget.ancestors]
    for each in names:
        found = NAMES.get(type(each).__name__)
        if found:
            return {"behind": "side pane"}.get(each.id or "", found)
    return "screen"


NUMBERS_ONLY = re.compile(
    r'(?:[\d,:{}\[\]\s]|true|"(?:key|welcome|panes|outline|inspector|problems|files|at|marks|[0-9a-f]{32})")*'
)
"""The content of a state file: names of fields, random hexadecimal names, and numbers."""
NAMES = {
    "TitleBar": "title",
    "Outline": "outline",
    "Transcript": "transcript",
    "Inspector": "inspector",
    "Problems": "problems",
    "Calls": "calls",
    "Timeline": "timeline",
    "CompletionBox": "completion",
    "Prompt": "prompt",
    "StatusLine": "status",
    "KeyFooter": "footer",
    "PaletteScreen": "palette",
    "MarksScreen": "list of marks",
    "WelcomeScreen": "welcome card",
    "ReplayScreen": "replay",
    "TimingScreen": "timing",
    "FilesScreen": "list of files",
    "Toast": "notification",
    "ToastHolder": "notification",
    "ToastRack": "notification",
}


def _with_home(planted: Planted, home: Path, patched: pytest.MonkeyPatch) -> Planted:
    """Store a session of an agent in a home folder and return the transcript with the canaries of both."""
    session = everything("claude-code", 9, SESSION_KINDS)
    path = home / ".claude" / "projects" / "-one" / "one.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(session.data)
    (path.parent / "two.jsonl").write_bytes(planted.data)
    patched.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "APPDATA", "INSPECT_LOG_DIR"):
        patched.delenv(name, raising=False)
    return replace(planted, places=planted.places + session.places)


@asynccontextmanager
async def session(
    planted: Planted,
    folder: Path,
    *,
    size: tuple[int, int] = (120, 40),
    strict: bool = False,
    as_folder: bool = False,
    as_sources: bool = False,
    merged: bool = False,
    slowly: bool = False,
    growing: bool = False,
    brief: bool = False,
    sealed: bool = False,
    at_home: bool = False,
    searches: bool = True,
) -> AsyncIterator[Session]:
    """Run the app on this transcript in a separate folder so that all written files are found."""
    (folder / "input").mkdir(exist_ok=True)
    (folder / "input" / "chat.ocml").write_bytes(b"" if growing else planted.data)
    paths = ["input" if as_folder else "input/chat.ocml"]
    if as_sources or merged:
        (folder / "input" / "other.ocml").write_bytes(planted.data)
        paths += ["input/other.ocml", "input/missing.ocml"] if as_sources else ["input/other.ocml"]
    if at_home:
        paths = []
    patched = pytest.MonkeyPatch()
    patched.chdir(folder)
    planted = _with_home(planted, folder / "input" / "home", patched)
    try:
        preambles = ReadOptions(harmony_preambles=True) if planted.preambles else None
        options = ViewOptions(
            format=planted.format,
            reading=preambles,
            revealed=BRIEF.revealed if brief else frozenset(),
            strict=strict,
            sealed=sealed,
            follow=growing or as_sources,
            merges=merged,
            settings=Settings(scope=Scope.SERVED_SAFE if sealed else Scope.ALL),
        )
        if slowly:
            patched.setattr(document, "PARSED_AT_ONCE", 29)
            patched.setattr(document, "CHECKED_AT_ONCE", 290)
            patched.setattr(reading, "READ_FIRST", 29)
            for name, least in (("LEAST_END", 100), ("ROWS", 3)):  # the end of any file is proven
                patched.setattr(file_end, name, least)
            patched.setattr(ends, "LEAST", 0)
            patched.setattr(reading, "DRAW_AGAIN_SECONDS", 0.0)
            patched.setattr(reading, "DRAW_SHARE", 0)
            patched.setattr(reading, "LOOK_AGAIN_SECONDS", 0.01)
        state = StateFile(folder / "state" / "state.json")
        state.welcomed()
        app = Recorded(paths, options, state=state)
        frames = Frames()
        frames.draw_instead(patched)
        async with app.run_test(size=size) as pilot:
            run = Session(planted, pilot, folder, frames, searches)
            if slowly:
                send_keys(pilot, ["G"])  # shows the proven end of the file
            while slowly and not run.has_read:
                await asyncio.sleep(0 if isinstance(app.screen, FileEndScreen) else 0.001)
                run.look("a part")
            if growing:
                await run.grow()
            await settled(pilot)
            run.look_at_whole_screen("the start")
            yield run
            run.look_at_whole_screen("the end")
        if searches:
            run.files()
    finally:
        patched.undo()
