"""Foldable values of an open card: their lines in the card's block, and the next or previous value."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from viewer.render.blocks.block import Block

NO_NODE = -1


def next_node(block: Block, node: int, step: int) -> int | None:
    """Return the next (1) or previous (-1) value: NO_NODE before the first one, and None after the last one."""
    if not block.bases:  # a long body has no values, and its lines are computed on access
        return None
    nodes = [line.node for line in block.lines if line.node >= 0]
    at = bisect_right(nodes, node) if step > 0 else bisect_left(nodes, node) - 1
    if at < 0:
        return None if node < 0 else NO_NODE
    return nodes[at] if at < len(nodes) else None


def line_of_node(block: Block, node: int) -> int | None:
    """Return the line of a value, or None if no line shows it."""
    if not block.bases or node < 0:
        return None
    return next((at for at, line in enumerate(block.lines) if line.node == node), None)
