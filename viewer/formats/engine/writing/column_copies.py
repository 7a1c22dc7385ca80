"""Find messages that repeat each other in records that are written as columns."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy

from viewer.formats.engine.drafts import Draft
from viewer.formats.engine.known.shape_tree import Regs
from viewer.formats.engine.known.shapes import Mix, decoded_text
from viewer.formats.engine.writing.copies import CopyPairs
from viewer.formats.engine.writing.plans import Line, Plan, text_of
from viewer.model.messages import Kind

Texts = Mapping[int, "str | None"]


def copied_draft(plan: Plan, data: bytes | bytearray, base: int, regs: Regs, texts: Texts) -> Draft:
    """Return the draft of the message that other records may repeat, with only the data that matters for copies."""
    line = plan.lines[plan.copied]
    said = line.said
    draft: Draft = copy(line.draft)
    draft.call_id, draft.name = text_of(line.id, texts), text_of(line.name, texts)
    (hole, shift), (other, end) = said.span
    start = base + regs[hole][1] + shift if hole else base + regs[0][0] + shift
    draft.span = start, base + regs[other][1] + end if other else base + regs[0][0] + end
    if draft.kind is not Kind.REPLY:
        draft.text = whole_text(line.text, data, regs)
        same = len(said.texts) == 1 and said.texts[0] == line.text
        draft.texts = [draft.text] if same else [whole_text(mix, data, regs) for mix in said.texts]
    if draft.kind is Kind.SAID:
        draft.pieces = said.pieces_in(data, base, regs[1:], ends_of(base, regs))
    return draft


def takes_copy(copies: CopyPairs, draft: Draft, at: int, number: int) -> int | None:
    """Add the draft of a message. Return the given number, or 0 if an earlier record has the message. Return None
    and change nothing if the writer of drafts must add it, or if the next record may repeat it."""
    partners = copies.partners(draft)
    if partners:
        if not copies.pairs_quietly(draft, partners):
            return None
        copies.note_copy(draft)
        copies.pair(draft, partners)
        return 0
    if not copies.is_settled_alone(draft):
        return None
    copies.note_copy(draft)
    copies.wait(draft, at, number, is_settled=True)
    return number


def whole_text(text: Mix, data: bytes | bytearray, regs: Regs) -> str:
    """Return a text with its holes filled from a record."""
    if isinstance(text, str):
        return text
    parts = text if isinstance(text, tuple) else (text or 0,)
    return "".join(decoded_text(data, *regs[part]) if isinstance(part, int) else part for part in parts)


def ends_of(base: int, regs: Regs) -> list[int]:
    """Return the offsets of the start of a record and of the ends of its holes."""
    return [base + regs[0][0], *[base + end for _, end in regs[1:]]]


def are_alike(first: Plan, second: Plan) -> bool:
    """True if the records of two shapes may form a single message."""
    return _may_be_held(first) and _may_be_held(second) and not second.begins


def _may_be_held(plan: Plan) -> bool:
    """True if the message of a record may be hidden until the next record repeats it."""
    if len(plan.lines) != 1 or plan.lines[0].hidden is None:
        return False
    line: Line = plan.lines[0]
    is_plain = not line.said.problems and line.said.outcome_span is None
    return is_plain and plan.session is None and plan.model is None and not plan.shape.usage
