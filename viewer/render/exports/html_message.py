"""Message of an exported page: letter in the gutter, speaker and recipient, call links, body and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from viewer.document.projection import Projection
from viewer.document.values import ShownCall, ShownDiagnostic, ShownMessage, ShownStray
from viewer.render.diagnostic import described, full_code
from viewer.render.exports.html_body import body_html
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, link, name, opening, text, words
from viewer.render.exports.steps import Told
from viewer.render.letters import is_call, letter_of, look_of
from viewer.render.message import STOPS, details_of, may_be_json
from viewer.render.number_format import duration
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import StyleRole

Places = Callable[[ShownDiagnostic], str]
"""The anchor of a problem in the table of problems."""
SIGNS = {"error": "✖", "warning": "⚠", "info": "ℹ"}
_GOOD = {"ok": "ok", "pending": "quiet"}
_LONGEST_DETAILS = 400


def message_html(told: Told, projection: Projection, place: Places) -> Iterator[Html]:
    """One article; its head can fold a message that the end user did not see."""
    message, safe = told.message, projection.audience.is_safe
    look = look_of(message)
    yield opening("article", class_=f"message {look.value}", id=anchor(message.number))
    yield element("span", words(letter_of(message)), class_="letter", aria_hidden="true")
    folds = not message.visible
    if folds:
        is_open = {} if look is StyleRole.SYSTEM else {"open": ""}
        yield opening("details", class_="whole", **is_open)
    yield element("summary" if folds else "header", _safe_head(message) if safe else _head(told))
    if not safe:
        yield _details(message)
    yield from _body(told, projection)
    for found in told.problems:
        yield note_html(found, place)
    yield joined([closing("details") if folds else NOTHING, closing("article"), Html("\n")])


def stray_html(stray: ShownStray) -> Iterator[Html]:
    """Text outside any message."""
    yield opening("article", class_="message unknown stray")
    yield element("span", words("·"), class_="letter", aria_hidden="true")
    yield element("header", element("span", words("Text outside any message"), class_="role"))
    yield from body_html(stray.body, [], prose=False, json=False, short=True, trim=False)
    yield joined([closing("article"), Html("\n")])


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


def call_link(number: int, call: ShownCall) -> Html:
    """A link from one end of a call to the other: position, state, and latency."""
    begins = number == call.call
    other = call.reply if begins else call.call
    said = f"{call.state}{f' · {duration(call.latency_ms)}' if call.latency_ms is not None else ''}"
    look = (
        f"link {_GOOD.get(call.state, 'warning' if call.state in ('unanswered', 'orphan', 'duplicate') else 'error')}"
    )
    if not other:
        return element("span", words(said), class_=look)
    arrow = f"{'reply' if begins else 'call'} {'↓' if begins else '↑'}{other}"
    dotted = " inferred" if call.inferred else ""
    return link(anchor(other), words(f"{arrow} · {said}"), class_=look + dotted)


def _safe_head(message: ShownMessage) -> Html:
    """The head for an end user: the speaker."""
    parts = [_role(message)]
    if message.channel == "commentary":
        parts += [element("span", words("plan"), class_="tag"), element("span", words("preamble, user-visible"))]
    if message.cancelled or message.ending == "open":
        parts.append(element("span", words("cancelled" if message.cancelled else "unfinished"), class_="tag"))
    return joined([*parts, element("span", class_="gap"), _time(message), _number(message)])


def _head(told: Told) -> Html:
    """The head for a developer: the whole header, and links between calls and replies."""
    message = told.message
    parts = [_role(message)]
    if message.recipient and (message.role, message.recipient) != ("tool", "assistant"):
        parts.append(element("span", words("→ "), name(message.recipient), class_="to"))
    if message.call_id:
        parts.append(element("span", name(message.call_id), class_="id"))
    parts.append(element("span", class_="gap"))
    parts += [call_link(message.number, call) for call in told.calls]
    if message.visible:
        parts.append(element("span", words("user saw it"), class_="tag seen"))
    parts.append(element("span", name(message.channel_given or message.channel or "no channel"), class_="tag channel"))
    return joined([*parts, _time(message), _number(message)])


def _role(message: ShownMessage) -> Html:
    said = [name(message.role.upper() or "(no role)")]
    if message.name:
        said += [words(" "), element("span", name(message.name), class_="name")]
    return element("span", *said, class_="role")


def _time(message: ShownMessage) -> Html:
    return element("time", words(clock(message.time))) if message.time else NOTHING


def clock(time: str | None) -> str:
    """The time of day of an RFC 3339 time."""
    return time[11:19] if time else ""


def _number(message: ShownMessage) -> Html:
    return link(anchor(message.number), words(f"{message.number}"), class_="number")


def _details(message: ShownMessage) -> Html:
    """Other header fields, and the ending if it is unusual."""
    said = details_of(message)
    if said or is_call(message) or message.ending != "end" or message.cancelled:
        said.append("cancelled" if message.cancelled else STOPS.get(message.ending, f"({message.ending})"))
    shown: SafeText = sanitize_line(" · ".join(said), _LONGEST_DETAILS)
    return element("p", element("bdi", text(shown)), class_="details") if said else NOTHING


def _body(told: Told, projection: Projection) -> Iterator[Html]:
    message = told.message
    json = not projection.audience.is_safe and may_be_json(message)
    faults = projection.fault_places(message.number, told.problems)
    prose = not json and look_of(message) not in (StyleRole.SYSTEM, StyleRole.TOOL)
    yield from body_html(message.body, faults, prose=prose, json=json, short=not message.visible, trim=told.trim)
