"""Apply the text hooks of a format, which determine the kind of text or split it into runs of different kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from viewer.formats.engine.drafts import Draft
from viewer.formats.tables.model import RecordFormat, Run, Split
from viewer.model.diagnostic import Problem
from viewer.model.messages import Coding, Kind
from viewer.reading.bodies import Body, read_body
from viewer.rules.structure import W_PART_UNKNOWN, W_PLUGIN


class TextHooks:
    """The hooks of a format for one input. A hook that fails hides the text."""

    def __init__(self, format: RecordFormat) -> None:
        self._hooks = format.hooks.renew() if format.hooks.renew else format.hooks
        self._has_reported_end = False
        """True if a disabled plug-in has been reported."""

    def classify(self, draft: Draft) -> None:
        """Let the hook determine the kind of text that counts as said."""
        if not draft.rule.classify or self._hooks.classify is None or draft.kind is not Kind.SAID:
            return
        kind = self._hooks.classify(draft.text)
        draft.kind = Kind.UNKNOWN if kind is None else kind
        if kind is None:
            self._report_failure(draft)

    @property
    def classifies(self) -> bool:
        """True if there is a hook that determines the kind of text."""
        return self._hooks.classify is not None

    def is_said(self, text: str) -> bool:
        """True if text of kind SAID keeps that kind."""
        return self._hooks.classify is None or self._hooks.classify(text) is Kind.SAID

    def splits(self, role: str) -> bool:
        """True if there is a hook that splits a speaker's text."""
        return self._split_of(role) is not None

    def is_whole(self, text: str, role: str) -> bool:
        """True if text of kind SAID is not split and keeps that kind."""
        split = self._split_of(role)
        runs = split(text) if split is not None else None
        return split is None or (runs is not None and _are_whole(text, runs, role))

    def _split_of(self, role: str) -> Split | None:
        answers = self._hooks.split_answer if role == "assistant" else None
        return answers or self._hooks.split

    def runs(self, draft: Draft, read: Callable[[int, int], bytes] | None) -> Iterable[Draft]:
        """Yield the draft itself or, if a hook splits its text, one draft for each run of one kind. `read` returns the
        bytes between two offsets of the record; it is None if they are not available."""
        split = self._split_of(draft.role) if draft.rule.split and draft.role != draft.rule.first_role else None
        if split is None or draft.kind is not Kind.SAID or read is None:
            return [draft]
        body = None if is_one_text(draft) else read_body(tuple(draft.pieces), read)
        text = draft.text if body is None else body.text
        runs = split(text)
        if runs is None:
            draft.kind = Kind.UNKNOWN
            self._report_failure(draft)
            return [draft]
        if _are_whole(text, runs, draft.role):
            return [draft]
        body = body or read_body(tuple(draft.pieces), read)
        return [_run(draft, body, *run) for run in runs]

    def _report_failure(self, draft: Draft) -> None:
        """Report that a plug-in failed on this record, and once that it is disabled."""
        is_disabled = self._hooks.is_disabled()
        if not (is_disabled and self._has_reported_end):
            draft.problems.append(Problem(W_PLUGIN, "disabled" if is_disabled else "failed", *draft.span))
        self._has_reported_end = is_disabled


_AS_WRITTEN = (Coding.PLAIN, Coding.JSON_STRING, Coding.NESTED_TEXT)
"""Codings of strings. A draft with a single piece in one of these codings has the text of that piece."""


def is_one_text(draft: Draft) -> bool:
    """True if a draft consists of a single piece, and no character in its text may be a replacement for another."""
    if len(draft.pieces) != 1 or draft.pieces[0].coding not in _AS_WRITTEN:
        return False
    return draft.texts == [draft.text] and "\ufffd" not in draft.text


def _run(draft: Draft, body: Body, kind: Kind, start: int, end: int, role: str | None = None) -> Draft:
    """Return the draft of a run. A run that names a role is the turn of a speaker."""
    text = body.text
    first = len(text[:start].encode("utf-8", "replace"))
    last = first + len(text[start:end].encode("utf-8", "replace"))
    run = Draft(kind, role or draft.role, body.pieces(first, last), draft.span, draft.rule, draft.channel)
    run.is_text = kind is Kind.CALL and bool(role)
    run.text, run.time_ms, run.time_at, run.thread = text[start:end], draft.time_ms, draft.time_at, draft.thread
    run.channel_word, run.has_unknown_channel = draft.channel_word, draft.has_unknown_channel
    if kind is Kind.UNKNOWN and role is not None:
        run.problems.append(Problem(W_PART_UNKNOWN, None, *draft.span))
    return run


def _are_whole(text: str, runs: Sequence[Run], role: str) -> bool:
    """True if the whole text is a single run that this role said."""
    if len(runs) != 1 or runs[0][0] is not Kind.SAID or runs[0][3:] not in ((), (role,)):
        return False
    return _is_all(text, runs[0][1], runs[0][2])


def _is_all(text: str, start: int, end: int) -> bool:
    """True if the text has only whitespace outside this part."""
    return not text[:start].strip() and not text[end:].strip()
