"""HTML cards: calls with their replies, and messages that the end user did not see, on one line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.values import ShownCall, ShownDiagnostic, ShownMessage
from viewer.render.blocks.call_words import call_state, time_words, tool_words
from viewer.render.blocks.cards import (
    MOST_READ,
    CallsOf,
    first_words,
    speaker_of,
)
from viewer.render.blocks.json_rows import arguments_line
from viewer.render.exports.html_message import Places, anchor, details_html, message_body, note_html, number_html
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, link, opening, text, words
from viewer.render.exports.steps import PlacedMessage
from viewer.render.head import head_of
from viewer.render.number_format import byte_size
from viewer.render.style import UNICODE


class Cards:
    """Finds the cards of the messages in a view."""

    def __init__(self, projection: Projection, calls: CallView, problems: Iterable[ShownDiagnostic]) -> None:
        self._projection = projection
        self._calls_of = CallsOf(calls)
        self._problems: dict[int, list[ShownDiagnostic]] = defaultdict(list)
        for found in problems:
            self._problems[found.message or 0].append(found)

    def at(self, number: int) -> ShownCall | None:
        """Return the call whose card is drawn at this message, or None if there is none."""
        call = next((call for call in self._calls_of(number) if call.call == number), None)
        return call if call is not None and not self._projection.headline(number).visible else None

    def holding(self, number: int) -> ShownCall | None:
        """Return the call whose card contains this message as the reply, or None if there is none."""
        for call in self._calls_of(number):
            if call.reply == number and call.call and self._holds(call, call.call, number):
                return call
        return None

    def _holds(self, call: ShownCall, begin: int, number: int) -> bool:
        is_shown = self._projection.selects(begin) and self._projection.selects(number)
        return is_shown and begin != number and self.at(begin) == call and self.at(number) is None

    def reply(self, call: ShownCall) -> ShownMessage | None:
        """Return the reply that is drawn in the card of this call, or None if there is none."""
        held = self.holding(call.reply) if call.reply else None
        return self._projection.message(call.reply) if call.reply and held == call else None

    def problems_of(self, number: int) -> list[ShownDiagnostic]:
        """Return the problems of a message."""
        return self._problems.get(number, [])


def card_html(
    placed: PlacedMessage, call: ShownCall, cards: Cards, projection: Projection, place: Places
) -> Iterator[Html]:
    """Yield the card of a call, including its reply unless that is shown elsewhere."""
    message = placed.message
    reply = cards.reply(call)
    notes = cards.problems_of(call.reply) if reply is not None and call.reply else []
    state, look = call_state(call, [*placed.problems, *notes], UNICODE)
    tool = tool_words(call.tool)
    summary = element(
        "summary",
        element("span", words(f"{UNICODE.call} "), text(tool), class_="what tool"),
        element("span", text(arguments_line(message.body[:MOST_READ])), class_="words", dir="auto"),
        element("span", words(state), class_=f"state {look.value}"),
        element("span", words(time_words(call)), class_="time"),
        element("span", number_html(message.number), _to_reply(call), class_="numbers"),
    )
    yield joined([opening("article", class_="line card", id=anchor(message.number)), opening("details"), summary])
    others = [each for each in placed.calls if each != call or (call.reply and reply is None)]
    yield details_html(head_of(message, projection.audience, others))
    yield from message_body(message, placed.problems, projection, placed.trim)
    yield from (note_html(found, place) for found in placed.problems)
    if reply is not None:
        yield opening("section", class_="reply", id=anchor(reply.number))
        yield element("p", words("reply"), class_="key")
        yield details_html(head_of(reply, projection.audience))
        yield from message_body(reply, notes, projection, placed.trim)
        yield from (note_html(found, place) for found in notes)
        yield closing("section")
    yield joined([closing("details"), closing("article"), Html("\n")])


def _to_reply(call: ShownCall) -> Html:
    if not call.reply:
        return NOTHING
    sign = UNICODE.inferred if call.inferred else UNICODE.to
    return joined([words(sign), link(anchor(call.reply), words(f"{call.reply}"))])


def moved_reply_html(number: int, call: ShownCall) -> Html:
    """Return a mark for the original position of a reply that is shown in a card further up."""
    tool = tool_words(call.tool)
    said = joined([words(f"{UNICODE.reply} reply of "), text(tool), words(f" #{number}")])
    return element("p", link(anchor(call.call or 0), said), Html("\n"), class_="moved")


def aside_html(placed: PlacedMessage, projection: Projection, place: Places) -> Iterator[Html]:
    """Yield a message that the end user did not see, and that is not part of a card, on one line."""
    message = placed.message
    sign, name, look = speaker_of(message, UNICODE)
    size = projection.headline(message.number).body_bytes
    aside = f"{UNICODE.running} open" if message.ending == "open" else byte_size(size)
    summary = element(
        "summary",
        element("span", words(f"{sign} "), text(name), class_=f"what {look.value}"),
        element("span", text(first_words(message.body[:MOST_READ])), class_="words", dir="auto"),
        element("span", words(aside), class_="time"),
        element("span", number_html(message.number), class_="numbers"),
    )
    yield joined([opening("article", class_="line", id=anchor(message.number)), opening("details"), summary])
    yield details_html(head_of(message, projection.audience, placed.calls))
    yield from message_body(message, placed.problems, projection, placed.trim)
    yield from (note_html(found, place) for found in placed.problems)
    yield joined([closing("details"), closing("article"), Html("\n")])
