"""Assemble replies that arrive in blocks, which events announce, extend, and end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct, field

from viewer.formats.engine.deltas import DeltaRun
from viewer.formats.engine.drafts import Draft, StreamStep
from viewer.formats.tables.model import Step
from viewer.model.diagnostic import Problem
from viewer.model.messages import Coding, Ending, Header, Kind, Piece
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.rules.structure import W_RECORD_UNKNOWN, W_STREAM_LATE

MOST_ENDED = 64
"""The maximum number of replies that are kept because a later record may repeat them."""
_GROWING = (Step.GROW, Step.ADD)
_AT_ONCE = frozenset({Kind.CALL, Kind.REPLY})
"""Kinds of blocks that become messages even before they have text."""


class _Block(Struct):
    """A block of a reply: its draft, its text so far, and the number of its message, once it has one."""

    draft: Draft
    end: int
    is_whole: bool = False
    number: int | None = None
    pieces: list[Piece] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        self.texts = ["".join(self.texts)]
        return self.texts[0]


class _Reply(Struct):
    """A reply that arrives in blocks, with the blocks that have been read so far."""

    key: str | None
    end: int
    blocks: dict[str, _Block] = field(default_factory=dict)
    """The open blocks, by key."""
    closed: dict[str, _Block] = field(default_factory=dict)
    unknown: dict[str, _Block] = field(default_factory=dict)
    """Text for blocks that are not open or have another kind, by key."""
    is_announced: bool = False
    is_ended: bool = False
    by_chunks: bool = False
    """True for a reply in chunks, which has no explicit end."""


class BlockStreams:
    """Assembles the replies of one transcript whose text arrives in blocks."""

    def __init__(
        self,
        record: Recorder,
        header: Callable[[Draft], Header],
        emit: Callable[[Draft], int],
        report: Callable[[list[Problem], int], None],
    ) -> None:
        self._record = record
        self._header = header
        self._emit = emit
        self._report = report
        self._replies: dict[str, _Reply] = {}
        """The newest reply of each scope."""
        self._by_key: OrderedDict[str | None, _Reply] = OrderedDict()
        """The newest replies, by key. A later record may repeat one of them."""
        self._chunked: str | None = None
        """The scope of the last record, if it was a chunk."""

    def take(self, step: StreamStep) -> None:
        """Perform the step of one record."""
        if step.step is Step.REPLY:
            self._chunked = None
            self._begin(step)
            return
        if step.follows:
            self._follow(step)
            return
        self._chunked = step.scope if step.by_chunks else None
        reply = self._replies.get(step.scope)
        if reply is None:
            if not step.drafts:
                return
            reply = self._added(step)
        reply.end = step.span[1]
        if step.step is Step.OPEN:
            self._open(reply, step)
        elif step.step in _GROWING:
            if step.step is Step.ADD:
                self._open_silently(reply, step)
            for draft in step.drafts:
                self._grow(reply, step.block, draft)
        elif step.step is Step.CLOSE:
            self._close_block(reply, step.block, step.span[1])
        else:
            self._end(reply)

    @property
    def is_idle(self) -> bool:
        """True if there has been no reply in blocks."""
        return not self._replies and not self._by_key

    def interrupt(self) -> None:
        """Note a record that is not part of a reply in blocks. After it, no chunk can continue the last reply."""
        self._chunked = None

    def _follow(self, step: StreamStep) -> None:
        """Add a chunk without a reply ID to the reply of the previous record, if that was a chunk. Otherwise, hide the
        chunk."""
        reply = self._replies.get(self._chunked) if self._chunked is not None else None
        for draft in step.drafts:
            if reply is not None:
                reply.end = step.span[1]
                self._grow(reply, step.block, draft)
            else:
                self._add_unknown(self._replies.get("") or self._added(step), step.block, draft)

    def grown_by(self, step: StreamStep) -> Piece | None:
        """If a step only adds a piece of text to an open block, return that piece; otherwise, return None."""
        if step.step not in _GROWING or step.follows or len(step.drafts) != 1:
            return None
        draft, reply = step.drafts[0], self._replies.get(step.scope)
        block = reply.blocks.get(step.block) if reply is not None else None
        if block is None or block.number is None or block.is_whole or block.draft.kind is not draft.kind:
            return None
        is_text = len(draft.pieces) == 1 and draft.pieces[0].coding in (Coding.PLAIN, Coding.JSON_STRING)
        return draft.pieces[0] if is_text and not draft.problems else None

    def grow(self, step: StreamStep, run: DeltaRun) -> None:
        """Apply the run of events after a step for which `grown_by` returned a piece: the same step with other text."""
        reply = self._replies[step.scope]
        block = reply.blocks[step.block]
        assert block.number is not None
        reply.end = run.end
        if run.text_end is not None:
            block.end = run.text_end
            self._record.grow(block.number, run.pieces, len(block.pieces))
            block.pieces += run.pieces
            block.texts.append(run.text)

    def repeats(self, draft: Draft) -> bool:
        """True if a block of a draft's reply has the same text or call as the draft."""
        reply = self._by_key.get(draft.key)
        if reply is None and self._by_key:
            newest = next(reversed(self._by_key.values()))
            reply = newest if draft.key is None or newest.key is None else None
        if reply is None:
            return False
        blocks = [*reply.closed.values(), *reply.blocks.values()]
        return any(_is_same(block, draft) for block in blocks)

    def has_said(self, draft: Draft) -> bool:
        """True if a block of any reply that may be repeated has this text and kind."""
        replies = self._by_key.values()
        return any(
            _is_same(block, draft) for reply in replies for block in (*reply.closed.values(), *reply.blocks.values())
        )

    def close(self) -> None:
        """Handle the end of the input or of the transcript. A reply that has not ended is truncated."""
        for reply in self._replies.values():
            if not reply.by_chunks and not reply.is_ended and (reply.is_announced or reply.blocks):
                self._break_off(reply)
            self._end(reply)
        self._replies.clear()
        self._by_key.clear()
        self._chunked = None

    def _begin(self, step: StreamStep) -> None:
        known = self._replies.get(step.scope)
        if known is not None:
            if not known.is_ended:
                self._break_off(known)
            self._end(known)
        reply = self._added(step)
        reply.is_announced = True
        for index, draft in enumerate(step.drafts):
            self._emit(draft)
            reply.closed[f"content {index}"] = _Block(draft, draft.span[1], texts=[draft.text])

    def _added(self, step: StreamStep) -> _Reply:
        reply = self._replies[step.scope] = self._by_key[step.key] = _Reply(step.key, step.span[1])
        reply.by_chunks = step.by_chunks
        self._by_key.move_to_end(step.key)
        while len(self._by_key) > MOST_ENDED:
            self._by_key.popitem(last=False)
        return reply

    def _open(self, reply: _Reply, step: StreamStep) -> None:
        self._close_block(reply, step.block, step.span[0])
        reply.closed.pop(step.block, None)
        if reply.is_ended:
            for draft in step.drafts:
                self._add_unknown(reply, step.block, draft)
            return
        for draft in step.drafts[:1]:
            block = reply.blocks[step.block] = _Block(draft, draft.span[1], step.is_whole)
            if draft.kind in _AT_ONCE or draft.pieces:
                # the initial arguments of a call count only if no others follow
                self._write(block, [] if draft.kind is Kind.CALL else draft.pieces, draft)
        for draft in step.drafts[1:]:
            self._emit(draft)

    def _open_silently(self, reply: _Reply, step: StreamStep) -> None:
        """Begin the step's block if no record has announced it, without writing a message yet."""
        is_new = all(step.block not in known for known in (reply.blocks, reply.closed, reply.unknown))
        if is_new and not reply.is_ended and len(step.drafts) == 1 and step.drafts[0].kind is not Kind.UNKNOWN:
            reply.blocks[step.block] = _Block(step.drafts[0], step.span[1])

    def _grow(self, reply: _Reply, key: str, draft: Draft) -> None:
        block = reply.blocks.get(key)
        is_unknown = block is not None and _is_hidden_by(block.draft.kind, draft.kind)
        fits = block is not None and not block.is_whole and block.draft.kind is draft.kind
        if block is not None and (fits or is_unknown):
            self._write(block, draft.pieces, draft)
        else:
            self._add_unknown(reply, key, draft)

    def _add_unknown(self, reply: _Reply, key: str, draft: Draft) -> None:
        """Hide text that belongs to no open block. All such text with the same key forms one message."""
        block = reply.unknown.get(key)
        if block is None:
            is_late = reply.is_ended or key in reply.closed
            if is_late or not draft.problems:
                draft.problems = [Problem(W_STREAM_LATE if is_late else W_RECORD_UNKNOWN, None, *draft.span)]
            draft.kind = Kind.UNKNOWN
            block = reply.unknown[key] = _Block(draft, draft.span[1])
        self._write(block, draft.pieces, draft)

    def _write(self, block: _Block, pieces: list[Piece], draft: Draft) -> None:
        block.end = draft.span[1]
        if block.number is None:
            if not pieces and block.draft.kind not in _AT_ONCE:
                return
            first = block.draft
            block.number = self._record.open(
                self._header(first), first.span[0], pieces, time_ms=first.time_ms, time_at=first.time_at
            )
            self._report(first.problems, block.number)
        elif pieces:
            self._record.grow(block.number, pieces, len(block.pieces))
        block.pieces += pieces
        block.texts.append(draft.text if pieces else "")

    def _close_block(self, reply: _Reply, key: str, end: int) -> None:
        block = reply.blocks.pop(key, None)
        if block is not None:
            block.end = max(block.end, end)
            reply.closed[key] = block
            self._finish(block)

    def _finish(self, block: _Block, *, is_open: bool = False) -> None:
        if block.number is None:
            return
        is_call = block.draft.kind is Kind.CALL
        pieces = block.pieces or (block.draft.pieces if is_call else [])
        ending = Ending.OPEN if is_open else Ending.CALL if is_call else Ending.END
        self._record.close(block.number, ending, block.end, pieces)

    def _end(self, reply: _Reply) -> None:
        for key in [*reply.blocks]:
            self._close_block(reply, key, reply.end)
        for block in reply.unknown.values():
            self._finish(block)
        reply.unknown.clear()
        reply.is_ended = True

    def _break_off(self, reply: _Reply) -> None:
        """Close the last open block as truncated and report it or, if no block is open, report the end of the reply."""
        numbers = [block.number for block in reply.blocks.values() if block.number is not None]
        number = max(numbers, default=None)
        self._record.start_if_none(reply.end)
        self._record.report(E_STREAM_TRUNCATED, "event-stream", reply.end, reply.end, number)
        for key, block in [*reply.blocks.items()]:
            if block.number is not None and block.number == number:
                del reply.blocks[key]
                self._finish(block, is_open=True)


def _is_hidden_by(block: Kind, added: Kind) -> bool:
    """True if a block of this kind also hides what is added to it: unknown text, or an instruction if the records that
    extend it do not name their author."""
    return block is Kind.UNKNOWN or (block is Kind.INSTRUCTION and added is Kind.SAID)


def _is_same(block: _Block, draft: Draft) -> bool:
    if block.draft.kind is not draft.kind:
        return False
    if draft.call_id is not None:
        return block.draft.call_id == draft.call_id
    return bool(draft.text) and block.text.strip() == draft.text.strip()
