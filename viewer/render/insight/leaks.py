"""Print the leaks of an input: one paragraph per answer, or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.insight.leaks import Answers, Leak, LeakSpan
from viewer.model.messages import Span
from viewer.render.json_lines import encode
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Line, Part, Printable, Style, StyleRole
from viewer.render.width import cut

_KIND_WIDTH = 12
_SOURCE_WIDTH = 16
_LOOKS = {"W-LEAK": StyleRole.WARNING, "I-LEAK": StyleRole.INFO}
LIMITS = "Paraphrases are not found."


class LeakPlaces(Struct, frozen=True):
    """An answer with a leak and the positions of its passages: everything needed to print it."""

    leak: Leak
    body: str
    """The answer as the end user saw it."""
    shown: Sequence[Span | None]
    """The position of each passage in the input; None if it is not known, such as in a body of several pieces."""
    sources: Sequence[Span | None]


def places_of(everything: Projection, shown: Projection, leak: Leak) -> LeakPlaces:
    """Look up the positions of a leak."""
    message = shown.message(leak.message)
    body = message.body if message else ""
    places: list[Span | None] = everything.input_spans(leak.message, [span.shown for span in leak.spans])
    whole = everything.message(leak.message)
    if whole is None or whole.body != body:
        places = [None] * len(leak.spans)
    return LeakPlaces(leak, body, places, [source_place(everything, span) for span in leak.spans])


def leak_lines(found: LeakPlaces, file: str, width: int, style: Style) -> Iterator[Line]:
    """Yield the lines of an answer: its score, and its passages."""
    leak = found.leak
    look = _LOOKS.get(leak.code or "", StyleRole.QUIET)
    share = share_words(leak)
    yield (
        Part(style.name(f"{file}: ")),
        Part(style.words(f"#{leak.message}  leak {leak.score}  "), StyleRole.STRONG),
        Part(style.words(" ".join(filter(None, (leak.code, ", ".join(leak.kinds))))), look),
        Part(style.words(f"  {share}" if share else ""), StyleRole.QUIET),
    )
    for span in leak.spans:
        lead = style.words(f"  {span.kind:<{_KIND_WIDTH}}{source_words(span):<{_SOURCE_WIDTH}}")
        text = style.spell(sanitize_line(" ".join(found.body[slice(*span.shown)].split()), 2000))
        shown = cut(text, max(width - len(lead), 20), style.words("…")) if style.wrapped else text
        yield Part(lead, StyleRole.QUIET), Part(SafeText(shown))


def share_words(leak: Leak) -> str:
    """Describe how much of an answer was copied; empty if nothing was."""
    if not leak.counted:
        return ""
    copied = counted(round(sum(span.words for span in leak.counted)), "word")
    return f"{copied} copied, longest {leak.longest}, {round(100 * leak.copied)}% of #{leak.message}"


def source_words(span: LeakSpan) -> str:
    """Describe where a passage comes from; empty if it has no source."""
    return "" if span.source is None else f"#{span.source.message} {span.source.kind}"


def summary_line(answers: Sequence[Answers], style: Style) -> Line:
    """Return the totals of all inputs."""
    searched = sum(each.searched for each in answers)
    codes = [leak.code for each in answers for leak in each.leaks]
    counts = ", ".join(f"{codes.count(code)} {code}" for code in ("W-LEAK", "I-LEAK"))
    words = f"{counted(searched, 'answer')} searched: {counts}. {LIMITS}"
    return (Part(style.words(words), StyleRole.STRONG),)


def leak_object(found: LeakPlaces, file: str | None) -> Printable:
    """Return an answer as a line of JSON."""
    leak = found.leak
    return encode(
        {
            "kind": "leak",
            "message": leak.message,
            "score": leak.score,
            "code": leak.code,
            "kinds": leak.kinds,
            "copied": round(leak.copied, 2),
            "longest": leak.longest,
            "spans": [*_spans(found)],
        },
        file,
    )


def summary_object(answers: Sequence[Answers]) -> Printable:
    """Return the totals as a line of JSON."""
    codes = [leak.code for each in answers for leak in each.leaks]
    return encode(
        {
            "kind": "leaks-summary",
            "answers": sum(each.searched for each in answers),
            "warnings": codes.count("W-LEAK"),
            "notes": codes.count("I-LEAK"),
        }
    )


def _spans(found: LeakPlaces) -> Iterator[dict[str, object]]:
    for span, place, of_source in zip(found.leak.spans, found.shown, found.sources, strict=True):
        in_body = [len(found.body[:end].encode("utf-8", "replace")) for end in span.shown]
        yield {
            "kind": span.kind,
            "shown": in_body if place is None else list(place),
            **({"in": "body"} if place is None else {}),
            "source": span.source.message if span.source else None,
            "source_kind": span.source.kind if span.source else None,
            "source_span": list(of_source) if of_source else None,
            "words": int(span.words),
        }


def source_place(everything: Projection, span: LeakSpan) -> Span | None:
    """Return the position of a passage's source in the input. Return None if there is no source, or if it has JSON
    escapes or is in several pieces."""
    if span.source is None or span.source_span is None:
        return None
    message = everything.message(span.source.message)
    text = span.source.text[slice(*span.source_span)]
    if message is None or not text:
        return None
    start = span.source_span[0] if message.body == span.source.text else message.body.find(text)
    return None if start < 0 else everything.input_spans(message.number, [(start, start + len(text))])[0]
