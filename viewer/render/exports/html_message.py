"""HTML of a shown message (speaker, body, and problems), and parts shared with cards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from viewer.document.projection import Projection
from viewer.document.values import BriefCall, ShownDiagnostic, ShownMessage, ShownStray
from viewer.render.blocks.call_words import call_state, time_words, tool_words
from viewer.render.body import MARKDOWN_TYPES
from viewer.render.diagnostic import described, full_code
from viewer.render.exports.html_body import Kind, body_html
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, link, name, opening, text, words
from viewer.render.exports.steps import PlacedMessage
from viewer.render.head import HeadLink, MessageHead, clock, details_words, head_of, is_call, letter_of
from viewer.render.number_format import duration
from viewer.render.sanitize import SafeText
from viewer.render.style import UNICODE

Places = Callable[[ShownDiagnostic], str]
"""Returns the anchor of a problem in the table of problems."""
SIGNS = {"error": "✖", "warning": "⚠", "info": "ℹ"}
_GOOD = {"ok": "ok", "pending": "quiet"}


def message_html(placed: PlacedMessage, projection: Projection, place: Places) -> Iterator[Html]:
    """Yield a message as an article."""
    message = placed.message
    head = head_of(message, projection.audience, placed.calls)
    yield opening("article", class_=f"message {head.look.value}", id=anchor(message.number))
    yield element("header", _head(head))
    if not head.safe:
        yield details_html(head)
    yield from message_body(message, placed.problems, projection, placed.trim)
    yield from (note_html(found, place) for found in placed.problems)
    yield joined([closing("article"), Html("\n")])


def stray_html(stray: ShownStray) -> Iterator[Html]:
    """Yield text outside any message."""
    yield opening("article", class_="line stray")
    yield element("p", words("Text outside any message"), class_="warning")
    yield from body_html(stray.body, [], Kind.ASIDE, short=True, trim=False)
    yield joined([closing("article"), Html("\n")])


def brief_html(call: BriefCall) -> Html:
    """Return the line of a call at the brief level."""
    state, look = call_state(call, (), UNICODE)
    return element(
        "p",
        element("span", words(f"{UNICODE.call} "), text(tool_words(call.tool)), class_="what tool"),
        element("span", words(state), class_=f"state {look.value}"),
        element("span", words(time_words(call)), class_="time"),
        Html("\n"),
        class_="line brief-call",
    )


def note_html(found: ShownDiagnostic, place: Places) -> Html:
    """Return the note about a problem below its message: the sentence for the audience, the code, and the position if
    disclosed."""
    said = full_code(found.code, found.reason) + (f" {found.line}:{found.column}" if found.line is not None else "")
    count = words(f" ×{found.count:,}") if found.count and found.count > 1 else NOTHING
    number = words(f"#{found.message} ") if found.hidden and found.message else NOTHING
    return element(
        "p",
        element("span", words(SIGNS[found.severity]), class_="sign"),
        number,
        words(f" {described(found)} "),
        link(place(found), words(said)),
        count,
        class_=f"note {found.severity}",
    )


def anchor(number: int) -> str:
    """Return the ID of a message in the page."""
    return f"m{number}"


def number_html(number: int) -> Html:
    """Return the number of a message as a link to it."""
    return link(anchor(number), words(f"#{number}"), class_="number")


def details_html(head: MessageHead) -> Html:
    """Return the header fields that are not in the name line, and links between calls and replies."""
    said: list[Html] = []
    if head.channel != "final" and head.role not in ("user", "system", "developer"):
        said.append(name(head.channel))
    if head.arrow:
        said.append(joined([words("→ "), name(head.arrow)]))
    if head.name and not head.visible:
        said.append(name(head.name))
    if head.call_id:
        said.append(name(head.call_id))
    is_usual = head.visible and not head.details and head.ending in ("end", "return") and not head.time
    shown = "" if is_usual else details_words(head, "·", with_time=True)
    if shown:
        said.append(element("bdi", text(SafeText(shown))))
    said += map(_link, head.links)
    return element("p", joined(said, " · "), class_="details") if said else NOTHING


def message_body(
    message: ShownMessage, problems: Sequence[ShownDiagnostic], projection: Projection, trim: bool
) -> Iterator[Html]:
    """Yield the body of a message."""
    faults = projection.fault_places(message.number, problems)
    yield from body_html(
        message.body, faults, _kind(message, projection.audience.is_safe), short=not message.visible, trim=trim
    )


def _kind(message: ShownMessage, safe: bool) -> Kind:
    if not safe and (message.content_type == "json" or message.role == "tool" or is_call(message)):
        return Kind.JSON
    if message.visible:
        return Kind.PROSE if message.content_type in MARKDOWN_TYPES else Kind.DATA
    return Kind.ASIDE if letter_of(message) in ("A", "C") else Kind.DATA


def _head(head: MessageHead) -> Html:
    """Return the name line: speaker, state, time, and number. For a developer, add a remark if the end user saw the
    message."""
    said = [name(head.speaker)]
    if head.name:
        said += [words(" "), element("span", name(head.name), class_="name")]
    parts = [element("span", *said, class_=f"role {head.look.value}")]
    if head.is_plan:
        parts.append(element("span", words("plan"), class_="tag"))
    if head.cancelled or head.ending == "open":
        parts.append(element("span", words("cancelled" if head.cancelled else "unfinished"), class_="tag"))
    seen = element("span", words("seen"), class_="seen") if head.visible and not head.safe else NOTHING
    time = element("time", words(clock(head.time))) if head.time else NOTHING
    return joined([*parts, element("span", class_="gap"), time, seen, number_html(head.number)])


def _link(call: HeadLink) -> Html:
    """Return a link from a call to its reply or back, with the state and latency."""
    said = f"{call.state}{f' · {duration(call.latency_ms)}' if call.latency_ms is not None else ''}"
    look = (
        f"link {_GOOD.get(call.state, 'warning' if call.state in ('unanswered', 'orphan', 'duplicate') else 'error')}"
    )
    if not call.other:
        return element("span", words(said), class_=look)
    arrow = f"{'reply' if call.is_call else 'call'} {'↓' if call.is_call else '↑'}{call.other}"
    dotted = " inferred" if call.inferred else ""
    return link(anchor(call.other), words(f"{arrow} · {said}"), class_=look + dotted)
