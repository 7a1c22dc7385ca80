"""HTML tables at the end of a page: the problems and, for a developer, the calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viewer.document.values import ShownCall, ShownDiagnostic
from viewer.render.diagnostic import described, full_code
from viewer.render.exports.html_message import SIGNS, anchor
from viewer.render.exports.html_text import Html, closing, element, joined, link, name, opening, words
from viewer.render.number_format import counted, duration
from viewer.rules import RULES


def problem_anchor(position: int) -> str:
    """Return the ID of a row in the table of problems."""
    return f"p{position}"


def problems_html(found: Sequence[ShownDiagnostic], safe: bool) -> Iterator[Html]:
    """Yield the table of problems: one row per problem with its code, message, position, text, and advice."""
    yield opening("section", class_="table", id="problems")
    yield element("h2", words("Problems"))
    if not found:
        yield element("p", words("None."), class_="quiet")
    else:
        heads = ("", "Code", "Message", "What is wrong") if safe else ("", "Code", "Message", "Place", "What is wrong")
        yield joined([opening("table"), _heads(heads), opening("tbody")])
        for position, one in enumerate(found, 1):
            yield _problem(position, one, safe)
        yield joined([closing("tbody"), closing("table")])
    yield joined([closing("section"), Html("\n")])


def _problem(position: int, found: ShownDiagnostic, safe: bool) -> Html:
    rule = RULES[found.code]
    count = f" ×{found.count:,}" if found.count and found.count > 1 else ""
    said = [words(described(found) + count)]
    if not safe and not found.hidden:
        said.append(element("p", words(f"{rule.advice} ({rule.section})"), class_="advice"))
    cells = [
        element("td", element("span", words(SIGNS[found.severity]), class_="sign")),
        element("td", element("code", words(full_code(found.code, found.reason)))),
        element("td", _message(found), class_="figure"),
    ]
    if not safe:
        place = f"{found.line}:{found.column}" if found.line is not None else ""
        cells.append(element("td", words(place), class_="figure"))
    cells.append(element("td", *said))
    return element("tr", *cells, Html("\n"), id=problem_anchor(position), class_=found.severity)


def _message(found: ShownDiagnostic) -> Html:
    if not found.message:
        return words("")
    number = words(f"{found.message}")
    return element("span", number, words(" (hidden)"), class_="quiet") if found.hidden else _to(found.message)


def calls_html(calls: Sequence[ShownCall], open_calls: int) -> Iterator[Html]:
    """Yield the table of calls: one row per call, with links to the call and to its reply."""
    yield opening("section", class_="table", id="calls")
    yield element("h2", words("Calls"))
    yield element("p", words(f"{counted(len(calls), 'call')}, {open_calls:,} open"), class_="quiet")
    heads = ("Id", "Tool", "Call", "Reply", "State", "Latency", "Deadline")
    yield joined([opening("table"), _heads(heads), opening("tbody")])
    for call in calls:
        yield _call(call)
    yield joined([closing("tbody"), closing("table"), closing("section"), Html("\n")])


def _call(call: ShownCall) -> Html:
    state = call.state + (" (inferred)" if call.inferred else "")
    return element(
        "tr",
        element("td", element("code", name(call.call_id)) if call.call_id else words("—")),
        element("td", element("code", name(call.tool))),
        element("td", _to(call.call), class_="figure"),
        element("td", _to(call.reply), class_="figure"),
        element("td", words(state), class_=f"state {call.state}"),
        element("td", words(duration(call.latency_ms) if call.latency_ms is not None else ""), class_="figure"),
        element("td", words(duration(call.deadline_ms) if call.deadline_ms is not None else ""), class_="figure"),
        Html("\n"),
    )


def _to(number: int | None) -> Html:
    return link(anchor(number), words(f"{number}")) if number else words("—")


def _heads(heads: Sequence[str]) -> Html:
    return element("thead", element("tr", *(element("th", words(head), scope="col") for head in heads)))
