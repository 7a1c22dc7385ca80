"""Lens screen: how each text format reads each run of bytes. Debug view only."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.insight.lens.readings import READERS, Reading, readings
from viewer.insight.lens.rows import Rank, RowTable, blocks
from viewer.insight.lens.words import SHORT_NAMES, cell_words, sentence
from viewer.render.number_format import counted
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import screen_title
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.insight.pace import Pace
from viewer.tui.insight.work_screen import failure_words
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.key_line import key_line
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.list_keys import add_list_keys
from viewer.tui.terminal.paint import Painter

WIDE = 100
"""The minimum width for showing all formats; below it, two of them are shown."""
_HEADS = ("title", "heads", "verdicts", "sentence", "keys")
_CLASSES = {"title": "-bar", "keys": "-bar"}
"""The classes of fixed lines. `_HEADS` lists these lines from top to bottom; the rows come after the second one."""
_BYTES, _CELL = 18, 11
_SOURCE = 200
"""How many characters of the source a row shows."""


class LensScreen(DismissOnce[int | None]):
    """Lens screen; returns the number of a message to go to, or None."""

    DEFAULT_CSS = """
    LensScreen { layout: vertical; }
    LensScreen > LineList { height: 1fr; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "disagreement(1)", show=False),
        Binding("E", "disagreement(-1)", show=False),
        Binding("left_square_bracket", "other(-1)", show=False),
        Binding("right_square_bracket", "other(1)", show=False),
        Binding("enter,l", "choose", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(
        self, painter: Painter, printing: Style, document: Document, *, actions: Sequence[Action] = ACTIONS
    ) -> None:
        """`actions` are the actions of the main screen."""
        super().__init__()
        add_list_keys(self._bindings, actions, "lens")
        self._printing = printing
        self._document = document
        self._chosen = READERS.index(document.detection.format)
        self._other = len(READERS) - 1 if self._chosen != len(READERS) - 1 else self._chosen - 1
        self._readings: tuple[Reading, ...] = ()
        self._rows = RowTable()
        self._notice = ""
        self._failure = ""
        """The reason why the file could not be read."""
        self._heads = {name: HeadLine(painter, id=f"lens-{name}", classes=_CLASSES.get(name)) for name in _HEADS}
        self._list = LineList(painter, id="lens-rows")

    def compose(self) -> ComposeResult:
        """Yield a title, the formats, the rows, the verdicts, a sentence about the row, and the keys."""
        for name, head in self._heads.items():
            yield head
            if name == "heads":
                yield self._list

    def on_mount(self) -> None:
        self._heads["title"].show(lambda width: [self._title(width)])
        self._heads["heads"].show(lambda width: [self._line("", "bytes", list(SHORT_NAMES.values()), "source", width)])
        self._heads["verdicts"].show(lambda width: [self._verdicts(width)])
        self._heads["sentence"].show(lambda width: [self._sentence(width)])
        self._heads["keys"].show(lambda width: [_keys(is_wide=width >= WIDE)])
        self.run_worker(self._read(), name="lens", exclusive=True)

    def on_resize(self, event: events.Resize) -> None:
        """Show as many formats as fit."""
        self._refresh()

    async def _read(self) -> None:
        pace = Pace()
        try:
            found = await pace.finish(readings(self._document))
        except ViewerError as error:
            self._failure = failure_words(error)
            self._refresh()
            return
        for block in blocks(found):
            self._rows.add(block)
            await pace.pause()
        self._readings = found
        self._list.show(len(self._rows), self._row, self._rows.apart[0] if self._rows.apart else 0)
        self._refresh()

    def action_move(self, rows: int) -> None:
        """Move by this many rows."""
        self._go_to(max(0, min(self._list.cursor + rows, len(self._rows) - 1)))

    def action_page(self, pages: int) -> None:
        """Move by a page."""
        self.action_move(pages * max(1, self._list.size.height - 1))

    def action_disagreement(self, step: int) -> None:
        """Go to the next or previous disagreement about visibility."""
        here = self._list.cursor
        later = [row for row in self._rows.apart if (row - here) * step > 0]
        if later:
            self._go_to(later[0] if step > 0 else later[-1])
        elif self._readings:
            self._say("No more disagreements." if self._rows.apart else "The readers agree on what is shown.")

    def action_other(self, step: int) -> None:
        """Choose the second format to show on a narrow screen."""
        others = [place for place in range(len(READERS)) if place != self._chosen]
        self._other = others[(others.index(self._other) + step) % len(others)]
        self._refresh()

    def action_choose(self) -> None:
        """Go to the row's message in the chosen format's reading."""
        row = self._rows[self._list.cursor] if self._rows else None
        cell = row.cells[self._chosen] if row else None
        if cell is None:
            self._say("There is no message here.")
        else:
            self.dismiss(cell.message.number)

    def action_back(self) -> None:
        """Return to the transcript."""
        self.dismiss(None)

    def on_key(self) -> None:
        """Clear the notice when a key is pressed."""
        if self._notice:
            self._say("")

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self._go_to(event.row)

    def _go_to(self, row: int) -> None:
        self._list.move_to(row)
        self._heads["sentence"].refresh()

    def _say(self, notice: str) -> None:
        self._notice = notice
        self._heads["sentence"].refresh()

    def _refresh(self) -> None:
        for widget in self._heads.values():
            widget.refresh()
        self._list.refresh()

    def _columns(self, width: int) -> list[int]:
        """Return the positions of the shown formats."""
        return list(range(len(READERS))) if width >= WIDE else [self._chosen, self._other]

    def _title(self, width: int) -> Line:
        chosen = SHORT_NAMES[READERS[self._chosen]]
        other = f" and {SHORT_NAMES[READERS[self._other]]}" if width < WIDE else ""
        count = f"{counted(len(self._rows.apart), 'disagreement')} on visibility"
        words = (
            f"  {chosen} (chosen){other} · {count if self._readings else 'not read' if self._failure else 'reading'}"
        )
        name = Part(self._printing.name(PurePath(self._document.name).name), StyleRole.TITLE)
        return screen_title(
            [name, Part(self._printing.words(words), StyleRole.QUIET)], "", "debug", width, self._printing
        )

    def _line(self, sign: str, places: str, cells: list[str], source: str, width: int) -> Line:
        style = self._printing
        columns = [cells[place] for place in self._columns(width)]
        lead = f"{sign:1} {places:<{_BYTES}}" + "".join(f"{cell:<{_CELL}}" for cell in columns)
        look = StyleRole.ERROR if sign else StyleRole.PLAIN
        room = max(1, width - len(lead) - 1)
        return Part(style.name(lead), look), Part(
            fitted(style.spell(sanitize_line(source)), room, style), StyleRole.QUIET
        )

    def _row(self, place: int, width: int) -> Line:
        row = self._rows[place]
        sign = self._printing.signs.error if row.rank is Rank.VISIBILITY else ""
        places = f"{row.span[0]:,}-{row.span[1]:,}"
        source = self._document.quotes.excerpt(row.span[0], min(row.span[1], row.span[0] + _SOURCE))
        return self._line(sign, places, [cell_words(cell) for cell in row.cells], source, width)

    def _verdicts(self, width: int) -> Line:
        return self._line("", "verdict", [each.verdict for each in self._readings] or [""] * len(READERS), "", width)

    def _sentence(self, width: int) -> Line:
        if self._notice:
            return (Part(trusted(f" {self._notice}"), StyleRole.INFO),)
        if self._failure:
            why = self._printing.spell(sanitize_line(f" {self._failure}"))
            return (Part(fitted(why, width, self._printing), StyleRole.ERROR),)
        place = self._list.cursor
        if not self._readings or not 0 <= place < len(self._rows) or self._rows[place].rank is not Rank.VISIBILITY:
            return ()
        row = self._rows[place]
        words = f" {row.span[0]:,}: {sentence(row, self._readings)}"
        return (Part(fitted(self._printing.name(words), width, self._printing), StyleRole.INFO),)


def _keys(*, is_wide: bool) -> Line:
    keys = [("e E", "Disagreement"), *([] if is_wide else [("[ ]", "Other reader")]), ("enter", "Go"), ("esc", "Back")]
    return key_line(keys)
