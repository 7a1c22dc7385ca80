"""Print the diff of two transcripts: in one column or two, as totals, or as JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest

from msgspec import Struct

from viewer.document.values import ShownMessage, ShownStray
from viewer.insight.align import Row
from viewer.insight.compared import CALL, REPLY, group_of, tool_of
from viewer.insight.comparison import Change, Comparison, FieldChange, RowKind, Totals
from viewer.insight.json_changes import plain_value
from viewer.insight.text_changes import TextChange
from viewer.render.json_lines import encode
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize, sanitize_line
from viewer.render.style import Line, Part, Printable, Style, StyleRole, trusted
from viewer.render.width import cells, cut, plain_line, wrap

LEAST_FOR_SIDES = 100
"""The minimum width for two columns side by side."""
_CONTEXT = 3
"""How many equal messages to keep around each difference."""
_NEAR = 1
"""How many equal lines to keep around each difference inside a message."""
_MOST_LINES = 8
"""How many lines to show of a message that only one side has."""
_MOST_IDS = 8
_NOISE = 60
"""The maximum number of changed words in a thought for its changes to be listed."""
_NAME = 11
_LONGEST_FIRST = 1000
"""The maximum number of characters that may appear next to a name."""
_MARKS = {RowKind.SAME: " ", RowKind.CHANGED: "~", RowKind.ONLY_A: "-", RowKind.ONLY_B: "+"}
_BRACKETS = {"-": ("[-", "-]"), "+": ("[+", "+]"), "=": ("", "")}
_LOOKS = {"-": StyleRole.ERROR, "+": StyleRole.INFO, "=": StyleRole.PLAIN}
_ROLE_NAMES = {"user": "User", "assistant": "Assistant"}
_TOKEN = re.compile(r"\s+|\S+")
UNIFIED, OLD, NEW = "=-+", "=-", "=+"
"""The kinds of text runs to draw: all of them, only the old text, or only the new text."""


class Drawing(Struct, frozen=True):
    """The settings for drawing rows."""

    style: Style
    width: int
    number_width: int
    by_lines: bool = False
    wraps: bool = True
    """True if lines must be wrapped to the width."""

    @property
    def indent(self) -> int:
        """The column at which details begin."""
        return 2 + self.number_width


def drawing_of(comparison: Comparison, style: Style, width: int, *, wraps: bool = True) -> Drawing:
    """Return the settings for drawing the rows of a comparison at this width."""
    largest = max((str(max(side.number, default=0)) for side in comparison.sides), key=len)
    is_shifted = any(len({*comparison.numbers(row)} - {None}) > 1 for row in comparison.rows)
    number = len(f"#{largest}|#{largest}" if is_shifted else f"#{largest}")
    return Drawing(style, width, max(number + 2, 4), wraps=wraps)


def unified_lines(comparison: Comparison, rows: Iterable[Row | int], drawing: Drawing) -> Iterator[Line]:
    """Yield the rows in one column. A number in `rows` is a count of omitted equal messages."""
    for found in rows:
        if isinstance(found, int):
            yield elision_line(found, drawing)
        else:
            yield from row_lines(comparison, found, drawing)


def side_lines(comparison: Comparison, rows: Iterable[Row | int], drawing: Drawing) -> Iterator[Line]:
    """Yield the rows in two columns."""
    for found in rows:
        if isinstance(found, int):
            yield elision_line(found, drawing)
        else:
            yield from pair_lines(comparison, found, drawing)


def with_context(comparison: Comparison, rows: Sequence[Row]) -> Iterator[Row | int]:
    """Yield the rows. From a long run of equal messages, yield only those near a difference, and the number of omitted
    messages."""
    waiting: list[Row] = []
    is_first = True
    for row in rows:
        if comparison.kind(row) is RowKind.SAME:
            waiting.append(row)
            continue
        yield from _ends(waiting, 0 if is_first else _CONTEXT, _CONTEXT)
        waiting, is_first = [], False
        yield row
    yield from _ends(waiting, 0 if is_first else _CONTEXT, 0)


def _ends(rows: Sequence[Row], first: int, last: int) -> Iterator[Row | int]:
    left_out = len(rows) - first - last
    if left_out <= 1:
        yield from rows
        return
    yield from rows[:first]
    yield left_out
    yield from rows[len(rows) - last :]


def elision_line(count: int, drawing: Drawing) -> Line:
    """Return a line with the number of omitted equal messages."""
    hidden = drawing.style.signs.hidden
    text = drawing.style.words(f"{' ' * drawing.indent}{hidden} {counted(count, 'equal message')} {hidden}")
    return (Part(text, StyleRole.QUIET),)


def row_lines(comparison: Comparison, row: Row, drawing: Drawing) -> Iterator[Line]:
    """Yield a row in one column, with marks for removed and added text."""
    kind = comparison.kind(row)
    items = comparison.items(row) if kind is RowKind.CHANGED else None
    change = comparison.change(row, items, by_lines=drawing.by_lines) if items else None
    item = (items and items[0]) or comparison.item(row)
    head = _head(kind, _number(comparison.numbers(row), kind), item, drawing)
    details = _details(item, kind, change, drawing, UNIFIED)
    yield from _laid_out(head, details, drawing, drawing.width, cuts=change is None)


def pair_lines(comparison: Comparison, row: Row, drawing: Drawing) -> Iterator[Line]:
    """Yield a row in two columns: A on the left, B on the right."""
    width = (drawing.width - 3) // 2
    bar = Part(trusted(" | " if drawing.style.ascii else " │ "), StyleRole.RULE)
    for left, right in pair_cells(comparison, row, drawing, width):
        gap = Part(trusted(" " * max(width - cells_of(left), 0)))
        yield *left, gap, bar, *right


def pair_cells(comparison: Comparison, row: Row, drawing: Drawing, width: int) -> Iterator[tuple[Line, Line]]:
    """Yield the lines of a row in two columns of this width."""
    kind = comparison.kind(row)
    items = comparison.items(row)
    change = comparison.change(row, items, by_lines=drawing.by_lines) if kind is RowKind.CHANGED else None
    columns: list[list[Line]] = []
    for item, number, signs in zip(items, comparison.numbers(row), (OLD, NEW), strict=True):
        if item is None:
            columns.append([])
            continue
        head = _head(kind, f"#{number}", item, drawing)
        details = _details(item, kind, change, drawing, signs)
        columns.append([*_laid_out(head, details, drawing, width, cuts=change is None)])
    left, right = columns
    yield from zip_longest(left, right, fillvalue=())


def _number(numbers: tuple[int | None, int | None], kind: RowKind) -> str:
    a, b = numbers
    if kind is RowKind.ONLY_A or a == b:
        return f"#{a}"
    return f"#{b}" if kind is RowKind.ONLY_B else f"#{a}|#{b}"


def _head(kind: RowKind, number: str, item: ShownMessage | ShownStray, drawing: Drawing) -> list[Part]:
    style = drawing.style
    look = {RowKind.ONLY_A: StyleRole.ERROR, RowKind.ONLY_B: StyleRole.INFO, RowKind.CHANGED: StyleRole.STRONG}
    name = name_of(item, style)
    return [
        Part(trusted(f"{_MARKS[kind]} {number:<{drawing.number_width}}"), look.get(kind, StyleRole.QUIET)),
        Part(SafeText(name + " " * max(_NAME - cells(name), 1)), look.get(kind, StyleRole.PLAIN)),
    ]


def name_of(item: ShownMessage | ShownStray, style: Style) -> SafeText:
    """Name a message by its speaker, channel, or tool."""
    if isinstance(item, ShownStray):
        return trusted("text")
    group = group_of(item)
    if group[0] == CALL:
        return SafeText(style.words("call " if style.ascii else "ƒ ") + style.name(tool_of(item) or "tool"))
    if group[0] == REPLY:
        return trusted("reply")
    if item.role == "assistant" and item.channel != "final":
        return trusted("thought") if item.channel == "analysis" else style.name(item.channel or "no channel")
    return style.name(_ROLE_NAMES.get(item.role, item.role) or "(no role)")


def _details(
    item: ShownMessage | ShownStray, kind: RowKind, change: Change | None, drawing: Drawing, signs: str
) -> list[list[Part]]:
    """Return the logical lines after the name. The first one may be on the same line as the name."""
    if change is None:
        lines = _body_lines(item.body, drawing)
        if kind is RowKind.SAME or len(lines) <= 1:
            return [lines[0]]
        more = len(lines) - _MOST_LINES
        shown = lines[:_MOST_LINES] if more > 1 else lines
        return [*shown, *([[_quiet(f"{counted(more, 'more line')}", drawing)]] if more > 1 else [])]
    found: list[list[Part]] = []
    if change.moved:
        found.append([_quiet("moved", drawing)])
    found += [_named(field, drawing, signs) for field in change.fields]
    for path in change.paths:
        name = path.path.removeprefix(".") or "value"
        note = {"spelling": "only spelled differently", "order": "only in a different order"}.get(path.change, "")
        found.append(_named(FieldChange(name, *path.texts), drawing, signs, note))
    if change.text is not None:
        found += _text_lines(item, change.text, drawing, signs)
    starts_below = bool(change.fields or change.paths) and not change.moved
    return [[], *found] if starts_below else found


def _body_lines(body: str, drawing: Drawing) -> list[list[Part]]:
    text = sanitize(normalize_newlines(body.strip("\n")))
    return [[Part(drawing.style.spell(plain_line(SafeText(line))))] for line in text.split("\n")]


def _quiet(words: str, drawing: Drawing) -> Part:
    return Part(drawing.style.words(words), StyleRole.QUIET)


def _named(field: FieldChange, drawing: Drawing, signs: str, note: str = "") -> list[Part]:
    """Return the name of a field with its old and new value."""
    name = drawing.style.spell(sanitize_line(field.name))
    parts = [Part(SafeText(name + " " * max(_NAME - cells(name), 1)), StyleRole.JSON_KEY)]
    for sign, value in (("-", field.old), ("+", field.new)):
        if value is not None and sign in signs:
            if len(parts) > 1:
                parts.append(Part(trusted(" ")))
            parts += _marked(sign, drawing.style.spell(sanitize_line(value)))
    return [*parts, *([_quiet(f"  {note}", drawing)] if note else [])]


def _marked(sign: str, text: SafeText) -> list[Part]:
    before, after = _BRACKETS[sign]
    return [Part(SafeText(f"{before}{text}{after}"), _LOOKS[sign])]


def _text_lines(item: ShownMessage | ShownStray, change: TextChange, drawing: Drawing, signs: str) -> list[list[Part]]:
    is_thought = isinstance(item, ShownMessage) and group_of(item) == ("assistant", "analysis")
    if is_thought and change.removed + change.added > _NOISE:
        return [[_quiet(f"changed, {round(100 * change.alike)}% alike", drawing)]]
    lines: list[list[Part]] = [[]]
    changed: set[int] = set()
    for run in change.runs:
        if run.sign not in signs:
            continue
        for place, text in enumerate(sanitize(normalize_newlines(run.text)).split("\n")):
            if place:
                lines.append([])
            if run.sign != "=":
                changed.add(len(lines) - 1)
            if text:
                lines[-1] += _marked(run.sign, drawing.style.spell(plain_line(SafeText(text))))
    return [*_near(lines, changed, drawing)]


def _near(lines: list[list[Part]], changed: set[int], drawing: Drawing) -> Iterator[list[Part]]:
    """Yield the changed lines and the lines around them, with an ellipsis for each gap."""
    kept = {place + step for place in changed for step in range(-_NEAR, _NEAR + 1)} or {0}
    is_left_out = False
    for place, line in enumerate(lines):
        if place in kept:
            yield line
        elif not is_left_out:
            yield [_quiet(drawing.style.signs.ellipsis, drawing)]
        is_left_out = place not in kept


def _laid_out(
    head: list[Part], details: list[list[Part]], drawing: Drawing, width: int, *, cuts: bool
) -> Iterator[Line]:
    """Lay out the details: the first one after the head if it fits there, otherwise all of them below. With `cuts`, a
    single detail stays after the head and is truncated."""
    lead = sum(cells(part.text) for part in head)
    first, *rest = details or [[]]
    room = max(width - lead, 10)
    if not rest or cells_of(first) <= room:
        shown = [Part(SafeText(part.text[:_LONGEST_FIRST]), part.look) for part in first]
        is_whole = bool(rest) or cuts
        if is_whole or cells_of(first) <= room or not drawing.wraps:
            yield _stripped([*head, *(_cut(shown, room, drawing) if is_whole else first)])
        else:
            yield _stripped(head)
            rest = [first]
    else:
        yield _stripped(head)
        rest = details
    indent = Part(trusted(" " * drawing.indent))
    for parts in rest:
        lines = flow(parts, max(width - drawing.indent, 10)) if drawing.wraps else [tuple(parts)]
        yield from ((indent, *line) for line in lines)


def _stripped(parts: Sequence[Part]) -> Line:
    """Return the parts without trailing spaces."""
    *before, last = [part for part in parts if part.text]
    return *before, Part(SafeText(last.text.rstrip(" ")), last.look)


def cells_of(parts: Sequence[Part]) -> int:
    """Return the width of parts in cells."""
    return sum(cells(part.text) for part in parts)


def _cut(parts: Sequence[Part], width: int, drawing: Drawing) -> list[Part]:
    """Return the parts that fit on one line. The last one may be truncated."""
    ellipsis = trusted(drawing.style.signs.ellipsis)
    kept: list[Part] = []
    for part in parts:
        size = cells(part.text)
        kept.append(Part(cut(part.text, width, ellipsis), part.look) if size > width else part)
        width -= size
        if width <= 0:
            break
    return kept


def flow(parts: Sequence[Part], width: int) -> Iterator[Line]:
    """Yield lines of at most this width, broken at spaces where possible."""
    line: list[Part] = []
    used = 0
    for part in parts:
        for token in _TOKEN.findall(part.text):
            pieces = [SafeText(token)] if cells(token) <= width else [*wrap(SafeText(token), width)]
            for piece in pieces:
                if used + cells(piece) > width and line:
                    yield tuple(line)
                    line, used = [], 0
                    if piece.isspace():
                        continue
                if line and line[-1].look is part.look:
                    line[-1] = Part(SafeText(line[-1].text + piece), part.look)
                else:
                    line.append(Part(piece, part.look))
                used += cells(piece)
    yield tuple(line)


def summary_words(totals: Totals) -> str:
    """Return the totals in one line."""
    counts = {"same": totals.same, "changed": totals.changed, "only in A": totals.only_a, "only in B": totals.only_b}
    words = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "same")
    if totals.first is None or totals.first == (None, None):
        return words
    a, b = totals.first
    places = [f"{name}#{number}" for name, number in (("A", a), ("B", b)) if number is not None]
    return f"{words} · first difference at {', '.join(places)}"


def renamed_words(renamed: Mapping[str, str]) -> str:
    """Describe the renamed call IDs. The text is not sanitized yet."""
    shown = ", ".join(f"{old} = {new}" for old, new in list(renamed.items())[:_MOST_IDS])
    more = len(renamed) - _MOST_IDS
    return f"{shown}, {more:,} more" if more > 0 else shown


STAT_HEADS = ("channel", "same", "changed", "only A", "only B")


def stat_rows(comparison: Comparison) -> list[tuple[SafeText, int, int, int, int]]:
    """Return the totals of each channel, followed by the overall totals."""
    found = [(trusted(name), totals) for name, totals in sorted(comparison.by_channel().items())]
    found.append((trusted("all"), comparison.totals()))
    return [(name, each.same, each.changed, each.only_a, each.only_b) for name, each in found]


def json_lines(comparison: Comparison, rows: Sequence[Row], file: str | None = None) -> Iterator[Printable]:
    """Yield one object per change, then the summary."""
    for a, b, fields in comparison.transcript_changes:
        yield encode({"kind": "transcript", "a": a, "b": b, "fields": _field_values(fields)}, file)
    for row in rows:
        yield from _row_objects(comparison, row, file)
    if comparison.renamed_ids:
        yield encode({"kind": "call-ids", "map": dict(comparison.renamed_ids)}, file)
    totals = comparison.totals()
    yield encode(
        {
            "kind": "diff-summary",
            "same": totals.same,
            "changed": totals.changed,
            "only_a": totals.only_a,
            "only_b": totals.only_b,
            "first": None if totals.first is None else list(totals.first),
        },
        file,
    )


def _row_objects(comparison: Comparison, row: Row, file: str | None) -> Iterator[Printable]:
    kind = comparison.kind(row)
    a, b = comparison.numbers(row)
    if kind in (RowKind.ONLY_A, RowKind.ONLY_B):
        first, second = comparison.items(row)
        item, side, number = (first, "a", a) if kind is RowKind.ONLY_A else (second, "b", b)
        role, channel = (item.role, item.channel) if isinstance(item, ShownMessage) else (None, None)
        yield encode({"kind": "only", "side": side, "number": number, "role": role, "channel": channel}, file)
        return
    if kind is RowKind.SAME:
        return
    change = comparison.change(row)
    if change.moved:
        yield encode({"kind": "pair", "a": a, "b": b, "change": "moved"}, file)
    if change.fields:
        fields = _field_values(change.fields)
        yield encode({"kind": "pair", "a": a, "b": b, "change": "header", "fields": fields}, file)
    if change.text is not None:
        words = {"removed": change.text.removed, "added": change.text.added}
        yield encode({"kind": "pair", "a": a, "b": b, "change": "text", "words": words}, file)
    if change.paths:
        paths = [
            {
                "path": each.path,
                "change": each.change,
                "old": plain_value(each.old),
                "new": plain_value(each.new),
            }
            for each in change.paths
        ]
        yield encode({"kind": "arguments", "a": a, "b": b, "paths": paths}, file)


def _field_values(fields: Sequence[FieldChange]) -> dict[str, list[str | None]]:
    return {field.name: [field.old, field.new] for field in fields}
