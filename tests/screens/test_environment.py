"""No environment variable makes the app write, draw, press, or reveal anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.terminal import Terminal

SWITCHES = {
    "TEXTUAL": "devtools,debug",
    "TEXTUAL_LOG": "textual.log",
    "TEXTUAL_DEBUG": "1",
    "TEXTUAL_PRESS": "d",
    "TEXTUAL_SCREENSHOT": "0",
    "TEXTUAL_SCREENSHOT_LOCATION": ".",
    "OCMLVIEW_REVEAL": "all",
    "OCMLVIEW_DEBUG": "1",
}


@pytest.mark.slow
def test_switches_do_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SWITCHES.items():
        monkeypatch.setenv(name, value)
    chat = tmp_path / "chat.ocml"
    chat.write_text("<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>analysis<|message|>plums<|end|>")
    terminal = Terminal([chat], folder=tmp_path)
    terminal.wait_for("[SAFE]")
    terminal.press("j", "J")
    assert "[SAFE]" in terminal.text()
    terminal.press("q")
    assert terminal.end() == 0
    assert b"plums" not in terminal.written
    assert [path.name for path in tmp_path.iterdir()] == ["chat.ocml"]
