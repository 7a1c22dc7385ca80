"""Values of an open card that fold: where they are in its block, and which one the keys go to."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from viewer.render.blocks.block import Block

NO_NODE = -1


def next_node(block: Block, node: int, step: int) -> int | None:
    """Return the value below a value (1) or above it (-1): NO_NODE above the first one, and None if none follows."""
    if not block.bases:  # a long body has no values, and its lines are made on access
        return None
    nodes = [line.node for line in block.lines if line.node >= 0]
    at = bisect_right(nodes, node) if step > 0 else bisect_left(nodes, node) - 1
    if at < 0:
        return None if node < 0 else NO_NODE
    return nodes[at] if at < len(nodes) else None


def line_of_node(block: Block, node: int) -> int | None:
    """Return the line of a value, or None if a value around it is folded."""
    if not block.bases or node < 0:
        return None
    return next((at for at, line in enumerate(block.lines) if line.node == node), None)
