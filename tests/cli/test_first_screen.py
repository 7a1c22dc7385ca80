"""The first page before the app is loaded: it has the same text in the same position and is equally safe. Every exit
restores the terminal."""

from __future__ import annotations

import os
import signal
import termios
from pathlib import Path

import pyte
import pytest
from rich.color import Color, ColorSystem

from tests.support.program import ROOT
from tests.support.samples import samples as all_samples
from tests.support.terminal import Terminal, foreign, left_behind
from viewer.cli.first_page import colors_of, nearest_color
from viewer.formats.detect import HEAD
from viewer.render.style import StyleRole
from viewer.render.theme import load_theme, theme_names
from viewer.sources.head import head_of

TOUR = ROOT / "samples" / "tour.ocml"
MINIMAP = " █│✖⚠━"
APP = b"\x1b[?1000h"
"""The first sequence that the app sends to the terminal, before it draws."""
NO_SIZE = {"COLUMNS": "", "LINES": ""}
SIZES = [(120, 40), (100, 24), (80, 24)]
HOSTILE = "\x1b]0;evil\x07 \x1b[31mred \u202ebidi\u202c \x9b31m \x07 end"
STALLED = """
import sys, time
class Stall:
    def find_spec(self, name, path=None, target=None):
        if name == "%s":
            time.sleep(600)
sys.meta_path.insert(0, Stall())
from viewer.entry import main
main()
"""
BROKEN = """
import sys
sys.modules["%s"] = None
from viewer.entry import main
main()
"""


def first_screen(terminal: Terminal, size: tuple[int, int]) -> list[str]:
    """Return the screen before the app drew anything, without trailing spaces."""
    screen = pyte.Screen(*size)
    pyte.ByteStream(screen).feed(bytes(terminal.written).split(APP)[0])
    return [line.rstrip() for line in screen.display]


def wait_for_app(terminal: Terminal) -> None:
    """Wait until the app has drawn over the first page."""
    terminal.wait_until(lambda: APP in terminal.written)
    terminal.wait_for("Help")


def samples() -> list[Path]:
    """Return one sample of each format, and the tour."""
    first = {sample.name.split("/")[1]: sample.path for sample in reversed(all_samples("valid")) if not sample.asked}
    return [TOUR, *(first[name] for name in sorted(first))]


@pytest.mark.share(test=240)
@pytest.mark.parametrize("path", samples(), ids=lambda path: path.stem)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_app_draws_the_same_text_at_the_same_place(path: Path, size: tuple[int, int]) -> None:
    terminal = Terminal([path], size, variables=NO_SIZE)
    wait_for_app(terminal)
    first, then = first_screen(terminal, size), terminal.text().split("\n")
    terminal.press("q")
    assert terminal.end() == 0
    assert first[0].endswith("[SAFE]")
    assert first[0] == then[0]
    for before, after in zip(first[1:-2], then[1:-2], strict=True):
        assert after.rstrip(MINIMAP) == before.rstrip(MINIMAP)
    assert first[-2] == ""  # only the app knows the problems and the position
    assert first[-1].endswith("? Help")
    assert first[-1] == then[-1]
    assert bytes(terminal.written).count(b"\x1b[?1049h") == bytes(terminal.written).count(b"\x1b[?1049l") == 1


@pytest.mark.slow
def test_code_gets_its_colors_after_the_first_frame(tmp_path: Path) -> None:
    path = tmp_path / "code.ocml"
    path.write_text("<|start|>assistant<|channel|>final<|message|>So:\n\n```python\nreturn 1\n```\n<|end|>", "utf-8")
    color = load_theme("dark").looks[StyleRole.CODE_WORD].color
    code = "38;2;{};{};{}".format(*bytes.fromhex(color[1:])).encode() if color else b""
    terminal = Terminal([path], SIZES[0], variables={**NO_SIZE, "COLORTERM": "truecolor"})
    wait_for_app(terminal)
    terminal.wait_until(lambda: code in terminal.written)
    assert "return 1" in terminal.text()
    assert code not in bytes(terminal.written).split(APP)[0]
    terminal.press("q")
    assert terminal.end() == 0


@pytest.mark.slow
def test_a_view_without_messages_says_so_at_once(tmp_path: Path) -> None:
    for name, text, words in (
        (
            "hidden.ocml",
            "version: 2.2\n<|start|>system<|message|>SECRET_<|end|>\n",
            "Nothing to show in the safe view.",
        ),
        ("meta.jsonl", '{"type": "session_meta", "payload": {"id": "a"}}\n', "No messages; 1 metadata record."),
    ):
        path = tmp_path / name
        path.write_text(text)
        terminal = Terminal([path], SIZES[2], variables=NO_SIZE)
        wait_for_app(terminal)
        first, then = first_screen(terminal, SIZES[2]), terminal.text().split("\n")
        terminal.press("q")
        assert terminal.end() == 0
        assert words in [line.strip() for line in first]
        assert [line.rstrip(MINIMAP) for line in first[1:-2]] == [line.rstrip(MINIMAP) for line in then[1:-2]]


@pytest.mark.slow
def test_the_first_page_has_no_hidden_text_and_no_control_sequence(tmp_path: Path) -> None:
    path = tmp_path / "hostile.ocml"
    path.write_text(
        "version: 2.2\n\n<|start|>user<|message|>" + HOSTILE + "<|end|>\n"
        "<|start|>assistant<|channel|>analysis<|message|>thought of it<|end|>\n"
        "<|start|>assistant<|channel|>final<|message|>seen <|start_reason|>cut out<|end_reason|>\n<|return|>\n"
        "<|start|>assistant<|channel|>commentary intent=preamble<|message|>not closed",
        "utf-8",
    )
    terminal = Terminal([path], (100, 24), variables=NO_SIZE)
    wait_for_app(terminal)
    first = "\n".join(first_screen(terminal, (100, 24)))
    before = bytes(terminal.written).split(APP)[0]
    terminal.press("q")
    terminal.end()
    assert "seen" in first
    assert not [words for words in (b"thought", b"cut out", b"not closed") if words in before]
    assert foreign(before) == []


@pytest.mark.slow
@pytest.mark.share(quick=9)
@pytest.mark.parametrize(
    ("number", "key", "code", "module"),
    [
        (signal.SIGTERM, "", 143, "viewer.cli"),
        (signal.SIGHUP, "", 129, "viewer.tui.app"),
        (None, "\x03", 130, "viewer.cli"),
        (None, "\x03", 130, "viewer.tui.app"),
    ],
    ids=["terminated", "hung up", "ctrl+c at once", "ctrl+c"],
)
def test_a_signal_before_the_app_runs_restores_the_terminal(
    number: signal.Signals | None, key: str, code: int, module: str
) -> None:
    terminal = Terminal([TOUR], (100, 24), script=STALLED % module, variables=NO_SIZE)
    terminal.wait_for("Tokyo")
    shown = termios.tcgetattr(terminal.master)[3]
    os.write(terminal.master, b"typed")
    terminal.rest()
    assert not shown & termios.ECHO
    assert termios.tcgetattr(terminal.master)[6][termios.VSUSP] == b"\0"  # Ctrl-Z is a key for the app
    os.write(terminal.master, key.encode())
    terminal_is = os.dup(terminal.master)
    assert terminal.end(number) == code
    assert left_behind(bytes(terminal.written)) == []
    assert b"typed" not in terminal.written
    os.close(terminal_is)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "code"), [("viewer.tui.app", 70), ("viewer.cli.view", 70), ("viewer.cli.exits", 1)])
def test_an_error_while_the_app_loads_restores_the_terminal(module: str, code: int) -> None:
    terminal = Terminal([TOUR], (100, 24), script=BROKEN % module, variables=NO_SIZE)
    assert terminal.end() == code
    written = bytes(terminal.written)
    assert left_behind(written) == []
    assert b"Tokyo" in written
    assert b"ModuleNotFoundError" in written.split(b"\x1b[?1049l")[-1]
    assert b"Tokyo" not in written.split(b"\x1b[?1049l")[-1]


@pytest.mark.share(test=8)
@pytest.mark.parametrize(
    ("arguments", "size"),
    [
        (["-d"], (100, 24)),
        (["--goto", "3"], (100, 24)),
        (["-f"], (100, 24)),
        ([], (50, 24)),
        ([], (100, 12)),
    ],
    ids=["debug", "goto", "follow", "narrow", "low"],
)
def test_other_inputs_wait_for_the_app(arguments: list[str], size: tuple[int, int]) -> None:
    terminal = Terminal([*arguments, TOUR], size, variables=NO_SIZE)
    wait_for_app(terminal)
    before = bytes(terminal.written).split(APP)[0]
    terminal.press("q", "q")
    assert terminal.end() == 0
    assert b"tour" not in before
    assert before.count(b"\x1b[?1049h") == 1


def test_only_the_beginning_of_a_large_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.ocml"
    with path.open("wb") as file:
        file.write(b"<|start|>user<|message|>Hi<|end|>")
        file.truncate(4 * 1024 * 1024 * 1024)
    head = head_of(str(path), HEAD)
    assert head is not None
    assert (head.size, head.is_whole) == (HEAD, False)
    assert head_of(str(TOUR), HEAD) is not None


def test_only_a_plain_file_has_a_head(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "utf-16").write_text("text", "utf-16")
    (tmp_path / "gzip").write_bytes(b"\x1f\x8b\x08\x00 and so on")
    for name in ("pipe", "utf-16", "gzip", "missing", "."):
        assert head_of(str(tmp_path / name), HEAD) is None


@pytest.mark.parametrize("name", theme_names())
def test_the_colors_are_those_of_the_theme_or_none(name: str) -> None:
    colors = colors_of(load_theme(name), exact=True)
    assert (colors is None) == (name in ("plain", "ansi"))
    assert colors is None or colors.page.startswith("38;2;")


def test_the_256_colors_are_those_of_the_app() -> None:
    for red, green, blue in [(16, 21, 28), (95, 212, 230), (0, 0, 0), (255, 255, 255), (120, 121, 119), (250, 5, 99)]:
        taken = Color.from_rgb(red, green, blue).downgrade(ColorSystem.EIGHT_BIT)
        assert taken.number == nearest_color(red, green, blue)
