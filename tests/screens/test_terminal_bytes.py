"""The bytes sent to the terminal: no hostile text, and every ending restores the terminal."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.running import drawn, press, running
from tests.support.terminal import Terminal, foreign, left_behind, unfinished
from viewer.tui.app import ViewerApp
from viewer.tui.terminal.output_guard import OutputGuard

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07",
    "title": "\x1b]0;evil title\x07",
    "link": "\x1b]8;;http://evil.example\x1b\\here\x1b]8;;\x1b\\",
    "reset": "\x1bc\x1b[?1049l\x1b[2J\x1b[H",
    "device": "\x1bP+q544e\x1b\\\x1b_evil\x1b\\\x1b^evil\x1b\\",
    "c1": "\x9b31m\x9d0;evil\x9c\x85\x90",
    "c0": "bell\x07 back\x08 tab\x0bform\x0cso\x0esi\x0f sub\x1a",
    "del and nul": "del\x7f nul\x00 end",
    "bidi": "\u202eevil\u202c \u2066in\u2069 \u200fmark \u061c",
    "zero width": "zero\u200bwidth\u2060\ufeff\u200djoin\u00ad",
    "tags": "tag\U000e0041\U000e0042\U000e007f",
    "separators": "line\u2028paragraph\u2029",
    "non-characters": "non\ufffe\uffff\ufdd0",
    "action": "[@click=app.quit]x[/] [@click='app.bell']y[/]",
    "closing": "[/nope] [/] [bold red]b[/bold red]",
    "emoji code": ":smile: :warning:",
    "links": "[link=http://evil.example]x[/link] [y](javascript:alert(1)) http://evil.example",
    "lone cr": "shown\rover",
    "marks": "e" + "\u0301" * 40,
    "braces": "{evil} ${HOME} %s \\x1b[31m \\e[31m $(id)",
}
ALL = " ".join(HOSTILE.values())
HEADERS = [text for text in HOSTILE.values() if "<" not in text]
SAFE_KEYS = [
    "T",
    "p",
    "e",
    "w",
    "enter",
    "G",
    "g",
    "J",
    "J",
    "yy",
    "?",
    "escape",
    "ctrl+p",
    "escape",
    "/evil\r",
    "n",
    "escape",
]
DEBUG_KEYS = [
    "d",
    "s",
    "p",
    "G",
    "g",
    "C",
    "r",
    "r",
    "i",
    "i",
    "|",
    "|",
    *["tab"] * 5,
    "J",
    "J",
    "J",
    "yr",
    "yj",
    "yh",
    "yc",
    "z",
]
RUN = """
import sys
from viewer.tui.app import ViewOptions, run_app
from viewer.tui.terminal.output_guard import OutputGuard
code = run_app(sys.argv[2:], ViewOptions())
open(sys.argv[1], "w").write(str(OutputGuard.caught))
sys.exit(code)
"""
BREAKS = """
import asyncio, atexit, sys, threading
from viewer.cli.exits import ended
from viewer.tui.app import ViewerApp, ViewOptions, run_app
from viewer.tui.main.follow_worker import FollowWorker
from viewer.tui.main.screen import MainScreen
from viewer.tui.transcript.transcript import Transcript
def breaks(self, *given):
    SECRET = "a local: the umbrella"
    raise ValueError("Two questions in one: " + SECRET)
async def breaks_later(self, *given):
    breaks(self)
if sys.argv[1] == "worker":
    FollowWorker.toggle_follow = lambda self: self._host.screen.run_worker(breaks_later(self))
elif sys.argv[1] == "timer":
    FollowWorker.toggle_follow = lambda self: self._host.screen.set_timer(0.01, lambda: breaks(self))
elif sys.argv[1] == "drawing":
    FollowWorker.toggle_follow = lambda self: (setattr(Transcript, "render_line", breaks),
                                               setattr(Transcript, "render_lines", breaks),
                                               self._host.viewport.refresh())
elif sys.argv[1] == "compose":
    MainScreen.compose = breaks
elif sys.argv[1] == "mount":
    MainScreen.on_mount = breaks
elif sys.argv[1] == "unmount":
    MainScreen.on_unmount = breaks
elif sys.argv[1] == "thread":
    FollowWorker.toggle_follow = lambda self: threading.Thread(target=breaks, args=(self,)).start()
elif sys.argv[1] == "task":
    FollowWorker.toggle_follow = lambda self: asyncio.get_running_loop().call_soon(breaks, self)
elif sys.argv[1] == "exit":
    atexit.register(breaks, None)
elif sys.argv[1] == "destructor":
    Broken = type("Broken", (), {"__del__": breaks})
    FollowWorker.toggle_follow = lambda self: (Broken(), self._host.screen.app.exit(1, 1))
elif sys.argv[1] == "after":
    ViewerApp.run = lambda self, run=ViewerApp.run: (run(self), breaks(self))
else:
    FollowWorker.toggle_follow = breaks
sys.exit(ended(lambda: run_app(sys.argv[2:], ViewOptions())))
"""


def hostile_chat() -> str:
    """Return hostile text in every place of a transcript."""
    parts = ['version: 2.2\nmodel: "\\e]0;evil\\a [/nope] x"\n"\\e[31m": "\\x9b31m"\n']
    for number, text in enumerate(HEADERS):
        name = text.replace(" ", "\u00a0").replace("\n", "")
        body = f'{{"x":"{text}","y":1'
        parts.append(
            f"<|start|>user name={name}<|message|>{text}<|end|>\n"
            f"<|start|>assistant<|channel|>analysis<|message|>{text}\n# {text}\n<|end|>\n"
            f"<|start|>assistant to=functions.{name} call_id={name}{number} k={name}"
            f"<|channel|>commentary<|constrain|>json<|message|>{body}}}<|call|>\n"
            f"<|start|>tool name=functions.{name} call_id={name}{number} to=assistant"
            f'<|channel|>commentary<|constrain|>json<|message|>{{"ok":true,"content":"{text}","provenance":{{"source":"{text}"}}}}<|end|>\n{text}\n'
            f"<|start|>{name}<|channel|>{name}<|message|>{text}<|end|>\n"
            f"<|start|>assistant intent=preamble<|channel|>commentary<|message|>{text}<|end|>\n"
            f"<|start|>assistant<|channel|>final<|message|># {text}\n- **{text}**\n```{text}\n{text}\n```\n<|return|>\n"
        )
    return "".join(parts)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "evil\x1b]0;evil\x07 [bold]\u202e\x9b31m"
    folder.mkdir()
    path = folder / "evil\x1b]52;c;ZXZpbA==\x07[@click=app.quit]x.ocml"
    path.write_bytes(hostile_chat().encode() + b"<|start|>user<|message|>bad \xff\xed\xa0\x80\xc0\x80\x9b31m<|end|>\n")
    return path


@pytest.mark.share(test=2)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
def test_no_byte_of_a_hostile_transcript_reaches_the_terminal(
    hostile: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    caught = tmp_path / "caught"
    terminal = Terminal([caught, hostile], size, RUN)
    terminal.wait_for("[SAFE]")
    terminal.press(*SAFE_KEYS)
    terminal.press(*[" "] * 12)
    terminal.press(*DEBUG_KEYS)
    assert "[DEBUG]" in terminal.text()
    terminal.press("r", *[" "] * 12, "r", *["n", "e", "w", "o", "O", "%"], *[" "] * 40, "d", "G", "escape", "q")
    assert terminal.end() == 0
    written = bytes(terminal.written)
    assert foreign(written) == []
    assert b"\x1b]52;c;ZXZpbA==" not in written
    assert b"\x1b[31m" not in written
    assert left_behind(written) == []
    assert caught.read_text() == "0"


@pytest.mark.slow
def test_the_list_of_a_hostile_folder_is_harmless(hostile: Path) -> None:
    (hostile.parent / "x\x1b[31m\u202e.ocml").write_text("version: 2.2\n", "utf-8")
    terminal = Terminal([hostile.parent])
    terminal.wait_for("evil")
    terminal.press("x", "escape", "enter", "d", "q")
    terminal.press("escape", "q")
    assert terminal.end() in (0, 1)
    assert foreign(bytes(terminal.written)) == []


def test_a_control_sequence_is_emulated_when_all_of_it_has_been_read() -> None:
    for sequence in (b"\x1b[<1;2M", b"\x1b[?2026$p", b"\x1b[1;31m", b"\x1b7"):
        for length in range(1, len(sequence)):
            assert unfinished(b"ab" + sequence[:length]) == sequence[:length]
        assert unfinished(b"ab" + sequence) == unfinished(sequence + b"cd") == b""


@each("sort", HOSTILE)
def test_the_parser_of_these_tests_sees_each_hostile_text(sort: str) -> None:
    harmless = {"colour", "clipboard", "action", "closing", "emoji code", "links", "lone cr", "marks", "braces"}
    assert bool(foreign(HOSTILE[sort].encode())) != (sort in harmless)


@pytest.mark.share(test=4)
@pytest.mark.parametrize("keys", [[], ["d", "s"], ["d", "r"], ["d", "vertical_line"]])
async def test_the_output_guard_has_nothing_to_catch(
    hostile: Path, keys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutputGuard, "caught", 0)
    async with running(hostile, keys=keys) as pilot:
        for _ in range(8):
            assert "\x1b" not in drawn(pilot)
            await press(pilot, "space", "J")
        await press(pilot, "p", "T", "i", "tab", "tab", "tab", "tab", "C")
        pilot.app.export_screenshot()
        assert OutputGuard.caught == 0


@pytest.mark.share(test=2)
@pytest.mark.parametrize("keys", [[], ["d"]])
async def test_markup_and_links_do_nothing(tmp_path: Path, keys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "markup.ocml"
    texts = [HOSTILE[sort] for sort in ("action", "closing", "emoji code", "links")]
    path.write_text("version: 2.2\n" + "".join(f"<|start|>user<|message|>{text}<|end|>\n" for text in texts), "utf-8")
    opened: list[str] = []
    monkeypatch.setattr(ViewerApp, "open_url", lambda app, url, **more: opened.append(url))
    async with running(path, keys=keys) as pilot:
        text = drawn(pilot)
        for literal in ("[@click=app.quit]x[/]", "[/nope] [/]", ":smile:", "[link=http://evil.example]x[/link]"):
            assert literal in text
        for line, row in enumerate(text.splitlines()):
            if any(word in row for word in ("@click", "nope", "smile", "evil")):
                for column in range(4, 60, 9):
                    await pilot.click(offset=(column, line))
        assert pilot.app._exit is False
        assert opened == []


@pytest.mark.share(test=3)
@pytest.mark.parametrize(
    ("sent", "codes"),
    [
        (None, {0}),
        (signal.SIGTERM, {143, -15}),
        (signal.SIGHUP, {129, -1}),
        (signal.SIGINT, {130, -2}),
    ],
)
@pytest.mark.parametrize("keys", [[], ["d", "e"]])
def test_every_exit_restores_the_terminal(sent: signal.Signals | None, codes: set[int], keys: list[str]) -> None:
    terminal = Terminal(["samples/tour.ocml"])
    terminal.wait_for("[SAFE]")
    terminal.press(*keys)
    if sent is None:
        terminal.press("q")
    code = terminal.end(sent)
    written = bytes(terminal.written)
    assert left_behind(written) == []
    assert foreign(written) == []
    assert code in codes
    assert_nothing_is_left(written)


@pytest.mark.share(test=12)
@pytest.mark.parametrize(
    "place",
    [
        *("handler", "worker", "timer", "drawing", "compose", "mount", "unmount"),
        *("thread", "task", "exit", "destructor", "after"),
    ],
)
def test_a_crash_shows_no_text_of_the_transcript(place: str) -> None:
    terminal = Terminal([place, "samples/tour.ocml"], script=BREAKS)
    if place not in ("compose", "mount"):
        terminal.wait_for("[SAFE]")
        terminal.press("d", "q" if place in ("unmount", "exit", "after") else "F")
    code = terminal.end()
    written = bytes(terminal.written)
    assert left_behind(written) == []
    assert foreign(written) == []
    assert_nothing_is_left(written)
    if place == "destructor":  # Python continues, and nothing is printed while the app runs
        assert code == 1
    else:
        assert code == 70
        assert "ValueError" in written[written.rfind(b"\x1b[?1049l") :].decode()


def assert_nothing_is_left(written: bytes) -> None:
    """Check that the normal screen contains no word of the transcript."""
    left = written[max(written.rfind(b"\x1b[?1049l"), 0) :].decode("utf-8", "replace")
    for words in ("umbrella", "Tokyo", "Two questions", "a local", "get_weather", "SECRET"):
        assert words not in left
