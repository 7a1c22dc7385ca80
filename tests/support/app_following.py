"""A followed file for tests: write to it, and read the screen after each redraw."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot

from tests.support.running import ROOMY, drawn, press, running, settled, until, view
from viewer.tui.app import ViewOptions
from viewer.tui.main.screen import MainScreen

HEAD = "version: 2.2\n"
QUESTION = "<|start|>user<|message|>Where is the umbrella shop?<|end|>\n"
THOUGHT = "<|start|>assistant<|channel|>analysis<|message|>Plums are a secret.<|end|>\n"
ANSWER = "<|start|>assistant<|channel|>final<|message|>"
CALL = "<|start|>assistant to=functions.find call_id=c1<|channel|>commentary<|constrain|>json<|message|>"
REPLY = '<|start|>tool name=functions.find call_id=c1 to=assistant<|channel|>commentary<|message|>{"ok":true}<|end|>\n'


class Live:
    """The app on a growing file."""

    def __init__(self, pilot: Pilot[int], path: Path) -> None:
        self.pilot = pilot
        self.path = path

    @property
    def main(self) -> MainScreen:
        """The transcript screen. It may not exist yet."""
        return view(self.pilot)

    def append(self, text: str | bytes) -> None:
        """Append to the file."""
        with self.path.open("ab") as file:
            file.write(text.encode() if isinstance(text, str) else text)

    async def write(self, text: str | bytes) -> str:
        """Append, wait for the redraw, and return the screen."""
        self.append(text)
        size = self.path.stat().st_size
        await self.until(lambda: self.main.session.document.size >= size)
        return await self.rest()

    async def rest(self) -> str:
        """Wait until everything that was read is drawn, and return the screen."""
        await settled(self.pilot)
        return drawn(self.pilot)

    async def press(self, *keys: str) -> str:
        """Press keys and return the screen."""
        await press(self.pilot, *keys)
        return drawn(self.pilot)

    async def shows(self, text: str) -> str:
        """Wait until the screen contains this text and return the screen."""
        await self.until(lambda: text in drawn(self.pilot))
        return drawn(self.pilot)

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for a condition; if it is never met, report what is on the screen."""
        try:
            await until(true)
        except AssertionError:
            raise AssertionError(drawn(self.pilot)) from None

    @property
    def title(self) -> str:
        """The first line of the screen."""
        return drawn(self.pilot).splitlines()[0]

    @property
    def conversation(self) -> list[str]:
        """The lines of the transcript pane."""
        return [
            self.main.widgets.transcript.render_line(y).text.rstrip(" │█")
            for y in range(self.main.widgets.transcript.view_height)
        ]


@asynccontextmanager
async def live(
    path: Path,
    text: str | None = None,
    size: tuple[int, int] = ROOMY,
    options: ViewOptions | None = None,
) -> AsyncIterator[Live]:
    """Run the app on a followed file with this content, or without a file."""
    if text is not None:
        path.write_text(text, "utf-8")
    async with running(path, size=size, options=options or ViewOptions(follow=True)) as pilot:
        yield Live(pilot, path)


def chat(turns: int) -> str:
    """Return questions and answers, with reasoning between them."""
    return HEAD + "".join(f"{QUESTION}{THOUGHT}{ANSWER}Answer {turn}.<|return|>\n" for turn in range(1, turns + 1))
