"""Hooks that divide the text of a user record: what a program adds in tags, and what the user typed."""

from __future__ import annotations

import re

from viewer.model.messages import Kind

Runs = list[tuple[Kind, int, int]]

_INJECTED_TAGS = (
    *("system-reminder", "command-name", "command-message", "command-args", "command-contents"),
    *("local-command-stdout", "local-command-stderr", "local-command-caveat", "bash-input", "bash-stdout"),
    *("bash-stderr", "user-prompt-submit-hook", "post-tool-use-hook", "ide_opened_file", "ide_selection"),
    *("ide_diagnostics", "task-notification", "teammate-message"),
)
_ELEMENT = re.compile(rf"<({'|'.join(_INJECTED_TAGS)})(?=[\s>/])[^>]*>")
_FIRST_ELEMENT = re.compile(r"\s*<([A-Za-z][\w:-]*[-_:][\w:-]*)(?:\s[^>]*)?>")
_CAVEAT = "Caveat: "
_INTERRUPTED = "[Request interrupted by user"
_REFERENCED = re.compile(r"--- Content from referenced files ---")
_END_OF_REFERENCED = re.compile(r"^--- End of content ---$", re.MULTILINE)
_TAG = re.compile(r"<([A-Za-z][\w:-]*)(?:\s[^<>]*)?>")


def claude_tags(text: str) -> Runs:
    """Divide the text of a user record: elements that the program adds, and what the user typed."""
    bare = text.lstrip()
    if bare.startswith(_CAVEAT):
        return [(Kind.INJECTED, 0, len(text))]
    if bare.startswith(_INTERRUPTED):
        return [(Kind.NOTICE, 0, len(text))]
    first = _FIRST_ELEMENT.match(text)
    if first and text.rstrip().endswith(f"</{first[1]}>") and first[1] not in _INJECTED_TAGS:
        return [(Kind.INJECTED, 0, len(text))]
    runs: Runs = []
    at = 0
    while found := _ELEMENT.search(text, at):
        _add_said(runs, text, at, found.start())
        closing = f"</{found[1]}>"
        end = text.find(closing, found.end())
        at = end + len(closing) if end >= 0 else len(text)
        runs.append((Kind.INJECTED, found.start(), at))
    _add_said(runs, text, at, len(text))
    return runs


def gemini_tags(text: str) -> Runs:
    """The same, with the files that an `@path` in the prompt adds."""
    found = _REFERENCED.search(text)
    if found is None:
        return claude_tags(text)
    ends = [end.end() for end in _END_OF_REFERENCED.finditer(text, found.end())]
    stop = ends[-1] if ends else len(text)
    before, after = claude_tags(text[: found.start()]), claude_tags(text[stop:])
    middle = [(Kind.INJECTED, found.start(), stop)]
    return [*before, *middle, *((kind, start + stop, end + stop) for kind, start, end in after)]


def cursor_tags(text: str) -> Runs:
    """Divide the text of a user record: only `<user_query>` outside any other element was typed, if there is one."""
    runs: Runs = []
    at = 0
    while found := _TAG.search(text, at):
        closing = f"</{found[1]}>"
        end = text.find(closing, found.end())
        if end >= 0 and found[1] == "user_query":
            _add_injected(runs, text, at, found.start())
            _add_said(runs, text, found.end(), end)
            at = end + len(closing)
        else:
            stop = end + len(closing) if end >= 0 else found.end()
            _add_injected(runs, text, at, stop)
            at = stop
    _add_injected(runs, text, at, len(text))
    has_query = any(kind is Kind.SAID for kind, _, _ in runs) or "<user_query" in text
    return runs if has_query or text.lstrip().startswith("<") else [(Kind.SAID, 0, len(text))]


def _add_injected(runs: Runs, text: str, start: int, end: int) -> None:
    if not text[start:end].strip():
        return
    if runs and runs[-1] == (Kind.INJECTED, runs[-1][1], start):
        start = runs.pop()[1]
    runs.append((Kind.INJECTED, start, end))


def _add_said(runs: Runs, text: str, start: int, end: int) -> None:
    said = text[start:end]
    if said.strip():
        runs.append((Kind.SAID, start + len(said) - len(said.lstrip()), start + len(said.rstrip())))
