"""Message of an exported page: letter in the gutter, speaker and recipient, call links, body and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from viewer.document.projection import Projection
from viewer.document.values import BriefCall, ShownDiagnostic, ShownStray
from viewer.render.blocks.call_words import state_words, tool_words
from viewer.render.body import may_be_json
from viewer.render.diagnostic import described, full_code
from viewer.render.exports.html_body import body_html
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, link, name, opening, text, words
from viewer.render.exports.steps import PlacedMessage
from viewer.render.head import HeadLink, MessageHead, clock, details_words, head_of, look_of
from viewer.render.number_format import duration
from viewer.render.style import StyleRole

Places = Callable[[ShownDiagnostic], str]
"""The anchor of a problem in the table of problems."""
SIGNS = {"error": "✖", "warning": "⚠", "info": "ℹ"}
_GOOD = {"ok": "ok", "pending": "quiet"}


def message_html(placed: PlacedMessage, projection: Projection, place: Places) -> Iterator[Html]:
    """One article; its head can fold a message that the end user did not see."""
    message = placed.message
    head = head_of(message, projection.audience, placed.calls)
    yield opening("article", class_=f"message {head.look.value}", id=anchor(message.number))
    yield element("span", words(head.letter), class_="letter", aria_hidden="true")
    folds = not message.visible
    if folds:
        is_open = {} if head.look is StyleRole.SYSTEM else {"open": ""}
        yield opening("details", class_="whole", **is_open)
    yield element("summary" if folds else "header", _safe_head(head) if head.safe else _head(head))
    if not head.safe:
        yield _details(head)
    yield from _body(placed, projection)
    for found in placed.problems:
        yield note_html(found, place)
    yield joined([closing("details") if folds else NOTHING, closing("article"), Html("\n")])


def stray_html(stray: ShownStray) -> Iterator[Html]:
    """Text outside any message."""
    yield opening("article", class_="message unknown stray")
    yield element("span", words("·"), class_="letter", aria_hidden="true")
    yield element("header", element("span", words("Text outside any message"), class_="role"))
    yield from body_html(stray.body, [], prose=False, json=False, short=True, trim=False)
    yield joined([closing("article"), Html("\n")])


def brief_html(call: BriefCall) -> Html:
    """The line of a call at the brief level."""
    word, look = state_words(call.state)
    time = call.latency_ms if call.latency_ms is not None else call.observed_ms
    return element(
        "p",
        element("code", name(tool_words(call.tool))),
        element("span", words(word), class_=f"state {_GOOD.get(call.state, look.value)}"),
        element("time", words(duration(time) if time is not None else "")),
        Html("\n"),
        class_="brief-call",
    )


def note_html(found: ShownDiagnostic, place: Places) -> Html:
    """A problem in place: the sentence for the audience, its code, and the position if disclosed."""
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
    """The id of a message in the page."""
    return f"m{number}"


def _link(call: HeadLink) -> Html:
    """A link from one end of a call to the other: position, state, and latency."""
    said = f"{call.state}{f' · {duration(call.latency_ms)}' if call.latency_ms is not None else ''}"
    look = (
        f"link {_GOOD.get(call.state, 'warning' if call.state in ('unanswered', 'orphan', 'duplicate') else 'error')}"
    )
    if not call.other:
        return element("span", words(said), class_=look)
    arrow = f"{'reply' if call.is_call else 'call'} {'↓' if call.is_call else '↑'}{call.other}"
    dotted = " inferred" if call.inferred else ""
    return link(anchor(call.other), words(f"{arrow} · {said}"), class_=look + dotted)


def _safe_head(head: MessageHead) -> Html:
    """The head for an end user: the speaker."""
    parts = [_role(head)]
    if head.is_plan:
        parts += [element("span", words("plan"), class_="tag"), element("span", words("preamble, user-visible"))]
    if head.cancelled or head.ending == "open":
        parts.append(element("span", words("cancelled" if head.cancelled else "unfinished"), class_="tag"))
    return joined([*parts, element("span", class_="gap"), _time(head), _number(head)])


def _head(head: MessageHead) -> Html:
    """The head for a developer: the whole header, and links between calls and replies."""
    parts = [_role(head)]
    if head.arrow:
        parts.append(element("span", words("→ "), name(head.arrow), class_="to"))
    if head.call_id:
        parts.append(element("span", name(head.call_id), class_="id"))
    parts.append(element("span", class_="gap"))
    parts += map(_link, head.links)
    if head.visible:
        parts.append(element("span", words("user saw it"), class_="tag seen"))
    parts.append(element("span", name(head.channel), class_="tag channel"))
    return joined([*parts, _time(head), _number(head)])


def _role(head: MessageHead) -> Html:
    said = [name(head.speaker)]
    if head.name:
        said += [words(" "), element("span", name(head.name), class_="name")]
    return element("span", *said, class_="role")


def _time(head: MessageHead) -> Html:
    return element("time", words(clock(head.time))) if head.time else NOTHING


def _number(head: MessageHead) -> Html:
    return link(anchor(head.number), words(f"{head.number}"), class_="number")


def _details(head: MessageHead) -> Html:
    """Other header fields, and the ending if it is unusual."""
    shown = details_words(head, "·", with_time=True)
    return element("p", element("bdi", text(shown)), class_="details") if shown else NOTHING


def _body(placed: PlacedMessage, projection: Projection) -> Iterator[Html]:
    message = placed.message
    json = not projection.audience.is_safe and may_be_json(message)
    faults = projection.fault_places(message.number, placed.problems)
    prose = not json and look_of(message) not in (StyleRole.SYSTEM, StyleRole.TOOL)
    yield from body_html(message.body, faults, prose=prose, json=json, short=not message.visible, trim=placed.trim)
