"""`show -f` when the format changes: no text is printed twice, and an open message continues."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.document.test_live import Log
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.render.conversation import Conversation
from viewer.render.style import Style
from viewer.sources.changes import Reason

START = "<|start|>assistant<|channel|>final<|message|>"


class Page:
    """The output of `show -f` over several readings of one input."""

    def __init__(self, path: Path, audience: Audience = END_USER) -> None:
        self.log = Log(path)
        self.audience = audience
        self.text = ""
        self.resets: list[Reason] = []
        self.page: Conversation | None = None

    def write(self, text: str) -> None:
        for change in self.log.write(text):
            if change.restarted:
                self._begin(change.reset)
        assert self.page
        self.text += "".join(self.page.grow())

    def _begin(self, reason: Reason | None) -> None:
        before = self.page
        if before and reason:
            self.resets.append(reason)
            self.text += "".join(before.pause())
        projection = self.log.document.project(self.audience)
        self.page = Conversation(projection, 60, Style(), begun=bool(self.text), before=before)

    def end(self) -> str:
        self.log.document.close()
        assert self.page
        self.text += "".join(self.page.end())
        return self.text


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("audience", [END_USER, EVERYTHING])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_no_message_is_printed_twice(tmp_path: Path, audience: Audience, size: int) -> None:
    page = Page(tmp_path / "run.log", audience)
    text = f"<|start|>user<|message|>one<|end|>\n{START}two<|end|>\n<|start|>user<|message|>three<|end|>\n"
    text += f"{START}four <|literal|>five<|endliteral|> six<|end|>\n<|start|>user name=eve<|message|>seven<|end|>"
    for at in range(0, len(text), size):
        page.write(text[at : at + size])
    printed = page.end()
    assert [printed.count(word) for word in ("one", "two", "three", "four", "five", "six", "seven")] == [1] * 7
    if size == 1:
        assert page.resets == [Reason.DETECTED] * len(page.resets) != []


def test_the_message_in_progress_continues(tmp_path: Path) -> None:
    page = Page(tmp_path / "run.log")
    page.write(START + "It is sunny all day, ")
    assert "sunny all" in page.text
    page.write("<|literal|>not<|endliteral|> rainy.<|return|>")
    assert page.resets == [Reason.DETECTED]
    words = [word for word in page.end().split() if word != "▌"]
    assert "It is sunny all day, not rainy." in " ".join(words)
    assert words.count("sunny") == 1


def test_a_message_that_another_format_reads_differently_is_printed_again(tmp_path: Path) -> None:
    page = Page(tmp_path / "run.log")
    page.write(f"<|start|>user<|message|>one<|end|>{START}two <<|end|>")
    page.write("<|start|>user name=eve<|message|>three<|end|>")
    assert page.resets == [Reason.DETECTED]
    printed = page.end()
    assert printed.count("one") == 1
    assert "three" in printed


def test_several_formats_may_win_one_after_another(tmp_path: Path) -> None:
    page = Page(tmp_path / "run.log")
    page.write("<|start|>user<|message|>one<|end|><|start|>assistant<|message|>two ")
    page.write("<|end|><|start|>assistant<|channel|>final<|message|>three ")
    page.write("<|literal|>four<|endliteral|><|end|>")
    assert page.resets == [Reason.DETECTED] * 2
    printed = page.end()
    assert [printed.count(word) for word in ("one", "two", "three", "four")] == [1] * 4
