"""Words about the view in an export: its level, what is revealed, and how much is hidden."""

from __future__ import annotations

from viewer.document.rows import Rows
from viewer.document.values import ShownTranscript
from viewer.formats import FORMATS
from viewer.model.visibility import Audience, Level, Reveal
from viewer.render.number_format import counted

_OTHERS = {Reveal.STRAY: "text outside messages", Reveal.UNCLEAR: "unclear messages"}


def badge(audience: Audience) -> str:
    """Return the word that every export starts with, such as `SAFE`."""
    return audience.level.value.upper()


def revealed_names(audience: Audience) -> list[str]:
    """Return the revealed kinds by their names in `--reveal`; empty if the level already implies them."""
    if audience.is_safe:
        return []
    if audience.reveals(Reveal.ALL):
        return [Reveal.ALL.value]
    return [reveal.value for reveal in Reveal if reveal in audience.revealed]


def view_sentence(audience: Audience) -> str:
    """Return a sentence about the content of this view."""
    if audience.level is Level.BRIEF:
        return "What the end user saw, and one line per call: its tool, state, and duration."
    if audience.is_safe:
        return "What the end user saw: user messages, final answers, and flagged preambles."
    if audience.reveals(Reveal.ALL) and audience.thread:
        return "The messages of one sub-agent, including private reasoning and tool data that the end user did not see."
    if audience.reveals(Reveal.ALL):
        return "Everything, including private reasoning and tool data that the end user did not see."
    said = ", ".join(_OTHERS.get(each, each.value) for each in Reveal if each in audience.revealed)
    return f"What the end user saw, and some of what they did not see: {said}."


def counts_words(rows: Rows, audience: Audience) -> str:
    """Return counts such as `12 messages, 21 hidden`. A strict audience gets no hidden count."""
    hidden = rows.hidden_count
    return counted(rows.shown_count, "message") + (f", {absent_words(hidden, audience)}" if hidden else "")


def absent_words(count: int, audience: Audience) -> str:
    """Return a count such as `21 hidden` or, if everything is revealed, `21 in other threads`, because then nothing
    else is omitted."""
    return f"{count:,} {'in other threads' if audience.reveals(Reveal.ALL) else 'hidden'}"


def transcript_words(transcript: ShownTranscript) -> list[str]:
    """Return the title of the format, and the model if disclosed."""
    return [FORMATS.title(transcript.format), *([transcript.model] if transcript.model else [])]
