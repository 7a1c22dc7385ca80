"""The served view in headless Chromium: it works, loads nothing from elsewhere, and reveals nothing."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pyte
import pytest

from tests.support.browser import Browser, browser, found
from tests.support.running import TOUR

pytestmark = [pytest.mark.slow, pytest.mark.skipif(found() is None, reason="there is no Chromium on this machine")]
SIZES = ((1200, 760), (390, 844))


@contextmanager
def served(*options: str) -> Iterator[str]:
    """Run a server and yield its link."""
    words = [sys.executable, "-m", "viewer", "serve", *options, TOUR]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield re.findall(r"http://\S+", process.stdout.readline())[0]
        finally:
            process.terminate()
            process.wait()


def screen(tab: Browser) -> str:
    """Return what the terminal of the page has received since it was opened, as text."""
    drawn = pyte.Screen(300, 100)
    stream = pyte.ByteStream(drawn)
    for frame in tab.frames:
        stream.feed(base64.b64decode(frame))
    return "\n".join(line.rstrip() for line in drawn.display).strip()


def press(tab: Browser, key: str) -> None:
    tab.ask("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
    tab.ask("Input.dispatchKeyEvent", type="keyUp", key=key)


def shows(tab: Browser, words: str) -> str:
    tab.wait_until(lambda: words in screen(tab), f"{words!r} is not on the screen")
    return screen(tab)


def picture(tab: Browser, size: tuple[int, int]) -> bytes:
    tab.ask("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
    return base64.b64decode(tab.ask("Page.captureScreenshot", format="png")["data"])


@pytest.mark.lab
def test_the_page_works_and_asks_nobody_else() -> None:
    with browser(found() or "") as tab, served() as link:
        base = link.partition("/?")[0]
        picture(tab, SIZES[0])
        seen = tab.visit(link)
        assert "Starting…" in seen.text
        first = shows(tab, "turn 1 of 5")
        assert "[SAFE]" in first and "tour.ocml" in first
        tab.wait_until(lambda: bool(tab.value("document.body.classList.contains('-first-byte')")), "no first byte")
        pictures = [picture(tab, size) for size in SIZES]
        assert all(each.startswith(b"\x89PNG") and len(each) > 8000 for each in pictures), list(map(len, pictures))
        picture(tab, SIZES[0])
        press(tab, "d")
        refused = shows(tab, "not available in the served view")
        assert "[SAFE]" in refused and "[DEBUG]" not in refused
        press(tab, "?")
        assert "debug" not in shows(tab, "previous, next turn")
        press(tab, "?")
        press(tab, "}")
        shows(tab, "turn 2 of 5")
        place = "location.hash"
        tab.wait_until(lambda: str(tab.value(place)) not in ("", "#f=1&m=3"), "the place is not in the address")
        before = tab.value(place)
        assert re.fullmatch(r"#f=1&m=[0-9]+", str(before))
        press(tab, "/")
        for letter in "Osaka":
            press(tab, letter)
        shows(tab, "Osaka")
        seen = tab.visit(base, reloads=True)
        shows(tab, "turn 2 of 5")
        assert tab.value(place) == before
        assert [
            each for each in seen.requests if not each.startswith((base, base.replace("http", "ws"), "data:"))
        ] == []
        assert [each for each in seen.complaints if each != "Runtime.consoleAPICalled" and "WebGL" not in each] == []
        assert tab.value("window.open('/x')") is None


@pytest.mark.lab
def test_a_page_whose_session_is_idle_says_so() -> None:
    with browser(found() or "") as tab, served("--idle", "1s") as link:
        tab.visit(link)
        style = "getComputedStyle(document.querySelector('.closed')).display"
        tab.wait_until(lambda: tab.value(style) == "flex", "the page does not say that its session ended")
        assert tab.value("document.getElementById('why').textContent") == "Session ended. Reload to continue."
