"""Markdown export: a parser finds our headings, lists, and fences, but no markup from transcript text."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tests.support.cases import each
from tests.support.samples import Sample, samples
from tests.unit.render.exports.exported import AUDIENCES, export, project_text, projected
from tests.unit.render.exports.test_html_page import HOSTILE, hostile_text
from viewer.document.values import ShownMessage
from viewer.model.visibility import END_USER
from viewer.render.exports.markdown_page import code, escaped, fenced
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize

BLOCKS = {
    "blockquote_close", "blockquote_open", "bullet_list_close", "bullet_list_open", "fence", "heading_close",
    "heading_open", "inline", "list_item_close", "list_item_open", "paragraph_close", "paragraph_open",
}  # fmt: skip
INLINE = {
    "code_inline", "em_close", "em_open", "hardbreak", "softbreak", "strong_close", "strong_open", "text",
    "text_special",
}  # fmt: skip
BREAKING_OUT = ("```\nout\n````", "~~~\nout", "`" * 7, "# no heading", "- [ ] no task", "a|b")


def tokens(text: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).parse(text)


def foreign(text: str) -> list[str]:
    """Return the tokens in the page that the exporter never writes."""
    found: list[str] = []
    for token in tokens(text):
        found += [token.type] if token.type not in BLOCKS else []
        found += [child.type for child in token.children or () if child.type not in INLINE]
    return found


@pytest.mark.slow
@each("sample", samples(), ids=lambda sample: sample.name, quick=64, test=40)
def test_a_page_has_only_headings_lists_and_fences(sample: Sample) -> None:
    for audience in AUDIENCES.values():
        assert foreign(export(projected(sample, audience), "md")) == []


@each("sample", samples(), ids=lambda sample: sample.name, quick=144, test=8)
def test_each_fence_holds_one_body(sample: Sample) -> None:
    shown = projected(sample, END_USER)
    fences = [token.content for token in tokens(export(shown, "md")) if token.type == "fence"]
    bodies = [sanitize(normalize_newlines(item.body)) for item in shown.items() if isinstance(item, ShownMessage)]
    assert [fence.strip("\n") for fence in fences] == [body.strip("\n") for body in bodies if body.strip("\n")]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("bad", [*HOSTILE, *BREAKING_OUT])
def test_hostile_text_cannot_escape_its_fence(bad: str, tmp_path: Path) -> None:
    for audience in AUDIENCES.values():
        made = export(project_text(tmp_path / "chat.ocml", hostile_text(bad), audience), "md", bad)
        assert foreign(made) == []
        headings = [token.content for token in tokens(made) if token.type == "inline" and token.level == 1]
        assert not [words for words in headings if words.startswith(("no heading", "<h1>"))]


@pytest.mark.parametrize("given", ["plain", "`", "a`b", "``", " x ", "`x", "<b>&", "a\nb", "|", "\\"])
def test_a_name_is_a_code_span(given: str) -> None:
    children = tokens(f"### {code(given)} x")[1].children or []
    assert [child.type for child in children] == ["code_inline", "text"]


@pytest.mark.parametrize("words", ["a *b* _c_ `d` <e> &amp; [f](g) ![h](i) |j| ~~k~~ #l", "1 < 2"])
def test_our_own_words_are_plain(words: str) -> None:
    children = tokens(f"- {escaped(words)}")[3].children or []
    assert {child.type for child in children} <= {"text", "text_special"}
    assert "".join(child.content for child in children) == words


def test_a_fence_is_longer_than_any_inside() -> None:
    assert fenced(SafeText("````"), "text") == "`````text\n````\n`````\n"
    assert fenced(SafeText("x\n"), "json") == "```json\nx\n```\n"
