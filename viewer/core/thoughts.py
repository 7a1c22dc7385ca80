"""Thought blocks inside a shown message: which spans the end user never sees."""

from __future__ import annotations

import codecs
import re

from viewer.core.bodies import THOUGHT_KINDS, Body
from viewer.core.messages import Span
from viewer.core.patterns import rarely

_KINDS = "|".join(THOUGHT_KINDS).encode()
_THOUGHT_MARK = rarely(rb"<\|(start|end)_(" + _KINDS + rb")\|>")
_THINK_TAG = rarely(rb"<(/?)think(?:ing)?>", re.IGNORECASE)
_MARKS = (
    *(b"<%s%s>" % (slash, tag) for slash in (b"", b"/") for tag in (b"think", b"thinking")),
    *(b"<|%s_%s|>" % (edge, kind.encode()) for edge in (b"start", b"end") for kind in THOUGHT_KINDS),
)
_BEGINNINGS = {mark[:length] for mark in _MARKS for length in range(1, len(mark))}
_LONGEST_BEGINNING = max(map(len, _BEGINNINGS))


def thought_spans(body: Body) -> list[Span]:
    """The spans of the meant bytes to be cut out of an assistant's message, in order and apart."""
    if b"<" not in body.data:
        return []
    leading = _leading_think(body)
    return _merged([*([leading] if leading else []), *_marked_blocks(body)])


def without_thoughts(body: Body) -> str:
    """The text that is left for the end user."""
    kept = []
    at = 0
    for start, end in thought_spans(body):
        kept.append(body.data[at:start])
        at = end
    kept.append(body.data[at:])
    return b"".join(kept).decode("utf-8", "replace")


def without_thoughts_so_far(body: Body) -> str:
    """The text of a message that still grows: without a mark that has only begun, and without what an opened block
    may still reach. That a text was a thought up to a closing tag that none opened is not known before that tag."""
    spans = _merged([*thought_spans(body), *_opened_think(body)])
    end = len(body.data) - _begun(body.data)
    kept = []
    at = 0
    for start, stop in spans:
        kept.append(body.data[at : min(start, end)])
        at = stop
    kept.append(body.data[at:end])
    certain = b"".join(kept)
    return _decoded_so_far(certain) if certain.strip() else ""  # white space before a block goes with it


def text_so_far(body: Body) -> str:
    """All text of a message that still grows, without a character that has only begun."""
    return _decoded_so_far(body.data)


def _decoded_so_far(data: bytes) -> str:
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


def _begun(data: bytes) -> int:
    """How many bytes at the end may be the beginning of a mark."""
    tail = data[-_LONGEST_BEGINNING:].lower()
    return next((len(tail) - at for at in range(len(tail)) if tail[at:] in _BEGINNINGS), 0)


def _opened_think(body: Body) -> list[Span]:
    """From the first of the blocks that begin the text and are still open to the end: a closing tag may yet come."""
    leading = _leading_think(body)
    if leading is None:
        return []
    opened: list[int] = []
    for tag in _THINK_TAG.finditer(body.data, 0, leading[1]):
        if not body.is_live(*tag.span()):
            continue
        if not tag[1]:
            opened.append(tag.start())
        elif opened:
            opened.pop()
    return [(opened[0], len(body.data))] if opened else []


def _leading_think(body: Body) -> Span | None:
    """Blocks that begin the text; everything up to a closing tag that none opened; to the end when unclosed."""
    tags = [tag for tag in _THINK_TAG.finditer(body.data) if body.is_live(*tag.span())]
    if not tags:
        return None
    if tags[0][1]:
        return 0, tags[0].end()
    ends = _ends_of_blocks(tags, len(body.data))
    cut = 0
    for tag, end in zip(tags, ends, strict=True):
        if tag.start() < cut:
            continue
        if tag[1] or body.data[cut : tag.start()].strip():
            break
        cut = end
    return (0, cut) if cut else None


def _ends_of_blocks(tags: list[re.Match[bytes]], length: int) -> list[int]:
    """For each opening tag where its block ends: at its own closing tag, else at the next one, else at the end."""
    ends = [length] * len(tags)
    unmatched: list[int] = []
    for index, tag in enumerate(tags):
        if not tag[1]:
            unmatched.append(index)
        elif unmatched:
            ends[unmatched.pop()] = tag.end()
    following = length
    waiting = set(unmatched)
    for index in range(len(tags) - 1, -1, -1):
        if tags[index][1]:
            following = tags[index].end()
        elif index in waiting:
            ends[index] = following
    return ends


def _marked_blocks(body: Body) -> list[Span]:
    spans: list[Span] = []
    opened: int | None = None
    for mark in _THOUGHT_MARK.finditer(body.data):
        if not body.is_live(*mark.span()):
            continue
        if mark[1] == b"start":
            opened = mark.start() if opened is None else opened
        elif opened is not None:
            spans.append((opened, mark.end()))
            opened = None
    if opened is not None:
        spans.append((opened, len(body.data)))
    return spans


def _merged(spans: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
