"""HTML export: one printable file with a light and a dark theme, without scripts or requests. It begins with the level
of the view."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

from viewer import __version__
from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.values import Boundary, BriefCall, HiddenRun, ShownDiagnostic, ShownStray
from viewer.model.visibility import Audience, Reveal
from viewer.render.exports.html_cards import Cards, aside_html, card_html, moved_reply_html
from viewer.render.exports.html_contents import contents_html, turn_anchor
from viewer.render.exports.html_message import SIGNS, brief_html, message_html, note_html, stray_html
from viewer.render.exports.html_tables import calls_html, problem_anchor, problems_html
from viewer.render.exports.html_text import NOTHING, Html, closing, element, joined, link, name, opening, text, words
from viewer.render.exports.palette import custom_properties
from viewer.render.exports.steps import PlacedMessage, Step, TurnBegins, disclosed_problems, steps_of
from viewer.render.exports.view_words import badge, counts_words, revealed_names, transcript_words, view_sentence
from viewer.render.head import clock
from viewer.render.number_format import counted
from viewer.render.page import hidden_words
from viewer.render.sanitize import sanitize, sanitize_line
from viewer.render.title import boundary_words, outline
from viewer.resources import bundled

_LONGEST_HEADER_LINE = 400


def html_page(projection: Projection, title: str, home: str = "") -> Iterator[str]:
    """Yield the page in pieces, about one per message. `home` is the index page of the site, if any."""
    rows = projection.rows()
    yield "<!doctype html>\n"
    problems = disclosed_problems(projection)
    yield ""  # lets the app redraw its screen, because building long lists takes time
    calls = projection.calls()
    yield ""
    page = _Page(projection, title, rows, problems, calls)
    yield opening("html", lang="en", class_=badge(projection.audience).lower())
    yield page.head()
    yield opening("body")
    yield page.banner(home)
    yield joined(
        [opening("nav", aria_label="Contents"), opening("details", open=""), element("summary", words("Turns"))]
    )
    yield from contents_html(projection, page.rows)
    yield page.links_to_tables()
    yield joined([closing("details"), closing("nav"), Html("\n"), opening("main")])
    yield from page.conversation()
    yield from page.tables()
    yield joined([page.footer(), closing("main"), closing("body"), closing("html"), Html("\n")])


class _Page:
    """Builds the parts of one page."""

    def __init__(
        self,
        projection: Projection,
        title: str,
        rows: Rows,
        problems: list[ShownDiagnostic],
        calls: CallView,
    ) -> None:
        self.rows = rows
        self._projection = projection
        self._audience = projection.audience
        self._safe = projection.audience.is_safe
        self._title = title
        self._problems = problems
        self._calls = calls
        self._places: dict[ShownDiagnostic, str] = {}
        for position, found in enumerate(self._problems, 1):
            self._places.setdefault(found, problem_anchor(position))
        self._cards = Cards(projection, calls, problems)
        self._in_section = False
        self._last = 0
        """The number of the message that was yielded last."""

    def head(self) -> Html:
        """Return the document head: a policy that forbids all requests, and the name of the view."""
        view = " ".join([badge(self._audience), *revealed_names(self._audience)])
        style = style_sheet(self._audience)
        return element(
            "head",
            opening("meta", charset="utf-8"),
            opening("meta", http_equiv="Content-Security-Policy", content=policy(style)),
            opening("meta", name="viewport", content="width=device-width, initial-scale=1"),
            opening("meta", name="color-scheme", content="light dark"),
            opening("meta", name="referrer", content="no-referrer"),
            opening("meta", name="robots", content="noindex, nofollow"),
            opening("meta", name="generator", content=f"ocmlview {__version__}"),
            opening("meta", name="ocmlview-view", content=view),
            element("title", words(f"{badge(self._audience)} · "), text(sanitize_line(self._title))),
            element("style", style),
            Html("\n"),
        )

    def banner(self, home: str) -> Html:
        """Return the line that stays at the top: level, name, and counts."""
        first = next(iter(self._projection.transcripts()), None)
        said = transcript_words(first) if first else []
        mark = badge(self._audience)
        revealed = revealed_names(self._audience)
        return element(
            "header",
            element("strong", words(mark), class_="badge"),
            element("span", words(f"reveals {', '.join(revealed)}"), class_="reveals") if revealed else NOTHING,
            element("a", words("All transcripts"), href=home) if home else NOTHING,
            element("h1", name(self._title)),
            element("span", joined([name(each) for each in said], " · "), class_="about"),
            element("span", class_="gap"),
            element("span", words(counts_words(self.rows, self._audience)), class_="counts"),
            link("problems", self._tally(), class_="tally"),
            class_="banner",
        )

    def _tally(self) -> Html:
        severities = [found.severity for found in self._problems]
        counts = [(severity, severities.count(severity)) for severity in ("error", "warning")]
        counted_words = [
            element("span", words(f"{SIGNS[severity]} {count:,}"), class_=severity)
            for severity, count in counts
            if count
        ]
        return joined(counted_words, " ") if counted_words else words("no problems")

    def links_to_tables(self) -> Html:
        """Return links to the tables, as the end of the table of contents."""
        links = [element("li", link("problems", words(f"Problems ({len(self._problems):,})")))]
        if self._calls:
            links.append(element("li", link("calls", words(f"Calls ({len(self._calls):,})"))))
        return element("ul", *links, class_="tables")

    def conversation(self) -> Iterator[Html]:
        """Yield transcripts and turns as sections, and messages as articles."""
        yield element("p", words(view_sentence(self._audience)), class_="view")
        if not len(self.rows):
            yield element("p", words("There is nothing to show."), class_="quiet")
        run, faulty = 0, set[int | None]()
        for step in steps_of(self._projection, self._problems, self._calls):
            if run and isinstance(step, ShownDiagnostic) and step.hidden:
                faulty.add(step.message)
                continue
            if run:
                yield self._hidden(run, len(faulty))
            run, faulty = (step.count, set()) if isinstance(step, HiddenRun) else (0, set())
            if not run:
                yield from self._step(step)
        if run:
            yield self._hidden(run, len(faulty))
        yield self._end_section()

    def _hidden(self, count: int, faulty: int) -> Html:
        """Return a note with the number of messages hidden here. The table at the end of the page lists their
        problems."""
        said = element(
            "p",
            words(f"┄ {hidden_words(count, faulty, elsewhere=self._audience.reveals(Reveal.ALL))} ┄"),
            Html("\n"),
            class_="hidden-run",
        )
        return joined([self._begin_section(None), said])

    def _step(self, step: Step) -> Iterator[Html]:
        if isinstance(step, Boundary):
            yield joined([self._end_section(), self._transcript(step)])
        elif isinstance(step, TurnBegins):
            yield joined([self._end_section(), self._begin_section(step)])
        else:
            yield self._begin_section(None)
            yield from self._item(step)

    def _item(self, step: PlacedMessage | ShownStray | HiddenRun | BriefCall | ShownDiagnostic) -> Iterator[Html]:
        if isinstance(step, PlacedMessage):
            yield from self._message(step)
            self._last = step.message.number
        elif isinstance(step, ShownStray):
            yield from stray_html(step)
        elif isinstance(step, HiddenRun):
            yield self._hidden(step.count, 0)
        elif isinstance(step, BriefCall):
            yield brief_html(step)
        else:
            yield note_html(step, self._place)

    def _message(self, placed: PlacedMessage) -> Iterator[Html]:
        """Return the HTML of a message: an article if the end user saw it, otherwise a card or a line."""
        number = placed.message.number
        if placed.message.visible:
            return message_html(placed, self._projection, self._place)
        held = self._cards.holding(number)
        if held is not None:
            return iter(() if held.call == self._last else (moved_reply_html(number, held),))
        call = self._cards.at(number)
        if call is not None:
            return card_html(placed, call, self._cards, self._projection, self._place)
        return aside_html(placed, self._projection, self._place)

    def _place(self, found: ShownDiagnostic) -> str:
        return self._places.get(found, "problems")

    def _transcript(self, boundary: Boundary) -> Html:
        transcript, (number, *rest) = boundary.transcript, boundary_words(boundary)
        said = joined([words(number.capitalize()), *map(name, rest)], " · ")
        title = element("h2", said, class_="transcript") if boundary.count > 1 else NOTHING
        if not transcript.header or not self._audience.reveals(Reveal.SYSTEM):
            return title
        lines = "\n".join(sanitize_line(line, _LONGEST_HEADER_LINE) for line in outline(transcript.header, 0))
        shown = element("div", text(sanitize(lines)), class_="text data", dir="auto")
        return joined([title, element("details", element("summary", words("Document header")), shown, class_="header")])

    def _begin_section(self, turn: TurnBegins | None) -> Html:
        """Begin a section for a turn or, unless a section is open, one without a title."""
        if turn is None:
            begun = NOTHING if self._in_section else opening("section", class_="turn")
        else:
            here = turn_anchor(turn.transcript, turn.number)
            time = element("time", words(clock(turn.time))) if turn.time else NOTHING
            title = element("h2", link(here, words(f"turn {turn.number}")), time)
            begun = joined([opening("section", class_="turn", id=here), title, Html("\n")])
        self._in_section = True
        return begun

    def _end_section(self) -> Html:
        was, self._in_section = self._in_section, False
        return joined([closing("section"), Html("\n")]) if was else NOTHING

    def tables(self) -> Iterator[Html]:
        """Yield the table of problems, and the table of calls if the audience sees them."""
        yield from problems_html(self._problems, self._safe)
        if self._calls:
            yield from calls_html(self._calls, sum(call.state == "pending" for call in self._calls))

    def footer(self) -> Html:
        """Return the footer, which repeats the name of the view for printed pages."""
        said = f"{badge(self._audience)} view. {view_sentence(self._audience)} Made by ocmlview {__version__}."
        notes = counted(len(self._problems), "problem")
        return element("footer", words(f"{said} {notes}."))


def policy(style: Html) -> str:
    """Return a content security policy that forbids everything except this style sheet."""
    digest = b64encode(sha256(style.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def style_sheet(audience: Audience) -> Html:
    """Return the style sheet with its colors. It contains no external text."""
    css = bundled("render", "exports", "page.css").read_text("utf-8")
    light, night = custom_properties(night=False), custom_properties(night=True)
    inks = f":root{{{light}}}@media screen and (prefers-color-scheme:dark){{:root{{{night}}}}}"
    sheet = f'@page{{@bottom-left{{content:"{badge(audience)}";font:bold 9px sans-serif}}}}'
    return Html(f"\n{inks}\n{css}{sheet}\n")
