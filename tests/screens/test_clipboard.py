"""Copies: what each one contains, and that the safe view copies only safe text."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from textual.app import App

from tests.support.running import press, running, said
from tests.support.transcripts import END_USER, EVERYTHING, STRICT, document_of, view
from viewer.model.visibility import Audience
from viewer.render.json_lines import projection_lines
from viewer.tui.app import ViewOptions
from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.terminal.clipboard import MOST_BYTES, Copied, What, copy, copy_of, forget, raw_copied


def text_of(what: What, number: int, folder: Path, audience: Audience = EVERYTHING) -> str:
    copied = copy_of(what, document_of(folder).project(audience), number, number)
    assert isinstance(copied, Copied)
    return copied.text


def test_each_kind_of_copy_has_its_text(tmp_path: Path) -> None:
    assert text_of(What.TEXT, 6, tmp_path) == "Yes: 20 degrees.\nIt is WARM."
    assert text_of(What.CALL_ID, 5, tmp_path) == "c1"
    assert text_of(What.RAW, 3, tmp_path).startswith("<|start|>assistant<|channel|>analysis<|message|>They")
    header = text_of(What.HEADER, 5, tmp_path)
    assert header.splitlines()[:4] == ["role: tool", "name: functions.weather", "to: assistant", "channel: commentary"]
    assert "call_id: c1" in header


def test_json_is_the_line_of_the_machine_output(tmp_path: Path) -> None:
    lines = list(projection_lines(document_of(tmp_path).project(EVERYTHING)))
    assert [text_of(What.JSON, number, tmp_path) for number in range(1, 9)] == [
        line for line in lines if line.startswith('{"kind":"message"')
    ]


@pytest.mark.parametrize("audience", [END_USER, STRICT])
def test_the_safe_view_copies_only_text(tmp_path: Path, audience: Audience) -> None:
    projection = document_of(tmp_path).project(audience)
    others = [what for what in What if what is not What.TEXT]
    assert {copy_of(what, projection, number, number) for what in others for number in (1, 2)} == {DEBUG_ONLY}
    assert text_of(What.TEXT, 2, tmp_path, audience) == "Is it warm in Tokyo? Warm, I mean."
    assert copy_of(What.TEXT, projection, 3, 3) == "This message is hidden."


def test_the_notice_says_debug(tmp_path: Path) -> None:
    document = document_of(tmp_path)
    notices = [copy_of(What.TEXT, document.project(audience), 7, 7) for audience in (END_USER, EVERYTHING)]
    assert [notice.notice for notice in notices if isinstance(notice, Copied)] == [
        "Copied the text of #7 (7 characters).",
        "DEBUG: Copied the text of #7 (7 characters).",
    ]


async def test_the_notice_of_a_strict_view_counts_shown_messages_only(tmp_path: Path) -> None:
    path = tmp_path / "chat.ocml"
    path.write_text("version: 2.2\n\n<|start|>system<|message|>Be kind.<|end|>\n<|start|>user<|message|>Hi<|end|>\n")
    async with running(path, options=ViewOptions(strict=True)) as pilot:
        await press(pilot, "y", "y")
        assert said(pilot) == "Copied the text of #1 (2 characters)."


def test_nothing_to_copy_and_too_much(tmp_path: Path) -> None:
    assert copy_of(What.CALL_ID, document_of(tmp_path).project(EVERYTHING), 2, 2) == "This message has no call ID."
    text = "version: 2.2\n\n<|start|>user<|message|>" + "x" * (MOST_BYTES + 1) + "<|end|>\n"
    projection, _ = view(document_of(tmp_path, text))
    assert copy_of(What.TEXT, projection, 1, 1) == "The message is too large to copy. Export it instead."


def test_characters_hidden_in_text_stay_only_in_raw_copies(tmp_path: Path) -> None:
    body = "a\x1b]52;c;x\x07b\u200bc\u202ed\r\ne\U000e0041f\x9bg"
    text = f"version: 2.2\n\n<|start|>user<|message|>{body}<|end|>\n"
    projection, _ = view(document_of(tmp_path, text), EVERYTHING)
    plain, raw = (copy_of(what, projection, 1, 1) for what in (What.TEXT, What.RAW))
    assert isinstance(plain, Copied) and plain.text == "a]52;c;xbcd\nef\ufffdg"
    assert isinstance(raw, Copied) and "a]52;c;xb\u200bcd\ne\U000e0041f\ufffdg" in raw.text
    assert raw_copied("👩\u200d👧\ufeff") == "👩\u200d👧\ufeff"


async def test_osc_52_and_forgetting() -> None:
    app: App[object] = App()
    async with app.run_test():
        written: list[str] = []
        assert app._driver is not None
        app._driver.write = written.append  # type: ignore[method-assign, assignment]
        copy(app, "é\ud800")
        assert written == [f"\x1b]52;c;{base64.b64encode('é?'.encode()).decode()}\a"]
        assert app.clipboard == "é?"
        forget(app)
        assert (app.clipboard, len(written)) == ("", 1)
