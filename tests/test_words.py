"""The language of the project: words that never appear, and words that lead to the owning file."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
import re2

from tests.support.program import run
from viewer.cli import COMMANDS

ROOT = Path(__file__).parent.parent

NEVER = (
    *("told", "tells", "stands", "anew", "in force", "so many", "cannot be said", "of one's own", "mend", "mended"),
    *("the person", "whoever", "nor", "beside", "dear", "dialects"),
    *("was left behind", "branches left behind", "abandoned branch", "abandoned branches"),
)
"""Words that read like a translation, or for which STYLE has a better name."""
_NEVER = re.compile(rf"\b(?:{'|'.join(NEVER)})\b", re.IGNORECASE)
_ANYWHERE = re2.compile(rf"(?i)\b(?:{'|'.join(NEVER)})\b")
"""Finds the same words, and is faster in a text that has none."""

SEARCHED = {
    "cache": ["cache.py"],
    "token, cursor": ["reading/cursor.py"],
    "parser": ["reading/parser.py"],
    "state machine": ["tui/main/follow.py"],
    "states": ["reading/states.py"],
    "prefilter": ["checks/prefilter.py"],
    "queue": ["checks/queue.py"],
    "detect": ["formats/detect.py"],
    "truncate": ["sources/followed_file.py"],
    "rotate": ["sources/follow.py"],
    "watch, poll": ["sources/watcher.py"],
    "decompress": ["sources/compressed.py"],
    "snapshot, projection": ["document/projection.py"],
    "backend, NumPy": ["document/backend.py"],
    "disclosure": ["document/disclosure.py"],
    "regex": ["document/search/regex.py"],
    "filter": ["document/filter/grammar.py", "document/filter/predicate.py"],
    "visibility, hidden": ["model/visibility.py"],
    "diagnostic, severity": ["model/diagnostic.py"],
    "sanitize, escape": ["render/sanitize.py"],
    "wrap, width, ellipsis": ["render/width.py"],
    "Markdown": ["render/markdown.py"],
    "JSON Lines": ["render/json_lines.py"],
    "SARIF": ["render/sarif.py"],
    "key, binding": ["tui/keys.py"],
    "session": ["tui/session.py"],
    "worker, background": ["tui/main/read_worker.py", "tui/main/follow_worker.py"],
    "throttle": ["tui/main/throttle.py"],
    "auto-scroll": ["tui/main/stick_to_end.py"],
    "viewport, scroll": ["tui/transcript/scroller.py"],
    "clipboard, OSC 52": ["tui/terminal/clipboard.py"],
    "theme": ["render/theme.py"],
    "exit code": ["cli/exits.py"],
    "signal, Ctrl-C": ["cli/interruption.py"],
    "atomic write": ["atomic_file.py"],
}
"""Search words, and the files whose path or first line must contain them."""


def pages() -> list[Path]:
    named = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*named, *(ROOT / "docs").glob("*.md"), *(ROOT / "viewer").rglob("*.py")]


def found_in(name: str, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines() if _ANYWHERE.search(text) else (), 1):
        if word := _NEVER.search(line):
            yield f"{name}:{number}: {word[0]}: {line.strip()[:100]}"


def test_no_page_and_no_module_has_a_banned_word() -> None:
    assert [each for page in pages() for each in found_in(str(page.relative_to(ROOT)), page.read_text("utf-8"))] == []


def prose_of(source: str) -> Iterator[tuple[int, str]]:
    """Yield the comments and docstrings of a module, with their line numbers. Other literals may be parts of
    transcripts."""
    is_start = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and is_start):
            yield token.start[0], token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            is_start = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


@pytest.mark.slow
def test_no_docstring_and_no_comment_of_a_test_has_a_banned_word() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word[0]}: {text[:100]}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if _NEVER.search(source := path.read_text("utf-8"))
        for number, text in prose_of(source)
        if (word := _NEVER.search(text))
    ]
    assert found == []


def test_a_banned_word_is_found_in_prose_and_not_in_data() -> None:
    source = (
        '"""Stands."""\nNAMES = [\n    "told",  # nor\n]\n"""Beside."""\n\n\ndef mend() -> None:\n    """Anew."""\n'
    )
    assert [(line, bool(_NEVER.search(text))) for line, text in prose_of(source)] == [
        (1, True), (3, True), (5, True), (9, True)
    ]  # fmt: skip


def test_no_help_text_has_a_banned_word() -> None:
    lines = [["--help"], *([name, "--help"] for name in COMMANDS)]
    assert [each for line in lines for each in found_in(" ".join(line), run(*line).out)] == []


def test_a_search_for_a_common_word_finds_the_file() -> None:
    for words, name in ((words, name) for words, names in SEARCHED.items() for name in names):
        path = ROOT / "viewer" / name
        first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").split("\n")[0]
        line = f"{name} {first}".lower().replace("_", " ")
        assert all(word.lower() in line for word in words.split(", ")), f"{name}: {first}"


def notices(source: str) -> Iterator[str]:
    """Yield the literal strings in the first argument of each call of `notify`, with `{}` for each inserted value."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "notify":
            yield from texts_of(call.args[0])


def texts_of(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.IfExp):
        yield from (*texts_of(node.body), *texts_of(node.orelse))
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.Constant):
        yield str(node.value)


NOTES = {"{}: {} ({})", "{}: {}", "{}: {} {} ({})"}
"""Notices that are not sentences: a problem with its code, a file with its reason."""


def is_sentence(text: str) -> bool:
    return text in NOTES or (not text[0].islower() and text.endswith((".", "{}")))


@pytest.mark.slow
def test_a_notice_is_a_sentence() -> None:
    said = [text for path in (ROOT / "viewer" / "tui").rglob("*.py") for text in notices(path.read_text("utf-8"))]
    assert len(said) > 30 and [text for text in said if not is_sentence(text)] == []
    assert [is_sentence(text) for text in ("nothing found", "Nothing found", "{} exists")] == [False, False, False]


def test_every_help_describes_itself_in_the_words_of_the_project() -> None:
    helps = [run("--help").out, *(run(name, "--help").out for name in COMMANDS)]
    assert [text for text in helps if not re.search(r"-h, --help +Show this help\.\n", text)] == []
