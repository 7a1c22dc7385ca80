"""A file that is written while `show -f` prints it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.live_program import NO_EVENTS, Live

HEAD = "version: 2.2\n"
ANSWER = "<|start|>assistant<|channel|>final<|message|>"
SECRET = "plums"
EVENTS = pytest.mark.parametrize("prelude", ["", NO_EVENTS], ids=["events", "polling"])


def said(text: str) -> str:
    return f"<|start|>user<|message|>{text}<|end|>\n"


def append(path: Path, text: str | bytes) -> None:
    with path.open("ab") as file:
        file.write(text.encode() if isinstance(text, str) else text)


def json_of(path: Path, *options: str, prelude: str = "") -> Live:
    return Live("show", "-f", "--json", *options, path, prelude=prelude)
