"""Pairs of calls and their replies, gathered so that the call ledger can add them in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.index.calls import CallLedger


class CallPairs:
    """Consecutive calls and replies. Each reply answers one of the calls, by ID or, if both lack an ID, by tool.

    Such a pair affects no other entry of the ledger: its ID is new or, in a pair without an ID, no earlier call without
    an ID awaits a reply of the same tool. A call or reply that does not fit is refused and changes nothing."""

    def __init__(self, ledger: CallLedger, *, in_turn: bool) -> None:
        """`in_turn` is True if the first pair belongs to the current turn of the ledger."""
        self._ledger = ledger
        self._in_turn = in_turn
        self.calls: list[int] = []
        self.replies: list[int] = []
        self.tools: list[str] = []
        self.ids: list[str | None] = []
        """Call, reply, tool, and call ID of each pair. The reply is 0 until it arrives."""
        self.order: list[int] = []
        """The indices of the pairs, in the order of their replies."""
        self.are_noted = False
        """True if replies without an ID are reported."""
        self._open: dict[str, int] = {}
        self._open_by_tool: dict[str, int] = {}
        self._seen: set[str] = set()

    def begin_turn(self) -> None:
        self._in_turn = False

    @property
    def are_whole(self) -> bool:
        """True if every call has its reply."""
        return not self._open and not self._open_by_tool

    def add_call(self, number: int, tool: str, bare_tool: str, call_id: str | None) -> bool:
        """Add a call, or return False to refuse it. `bare_tool` is the name that linking compares."""
        if call_id is None:
            if bare_tool in self._open_by_tool or (self._in_turn and self._ledger.awaits_reply(bare_tool)):
                return False
            self._open_by_tool[bare_tool] = len(self.calls)
        else:
            if call_id in self._seen or self._ledger.knows(call_id):
                return False
            self._seen.add(call_id)
            self._open[call_id] = len(self.calls)
        self.calls.append(number)
        self.replies.append(0)
        self.tools.append(tool)
        self.ids.append(call_id)
        return True

    def add_reply(self, number: int, bare_tool: str, call_id: str | None) -> bool:
        """Add a reply, or return False to refuse it."""
        if call_id is None:
            pair = self._open_by_tool.pop(bare_tool, None) if bare_tool else None
        else:
            pair = self._open.pop(call_id, None)
        if pair is None:
            return False
        self.replies[pair] = number
        self.order.append(pair)
        return True

    def cut(self, calls: int) -> None:
        """Keep only the first `calls` calls. All of these have replies; the dropped ones have none."""
        del self.calls[calls:], self.replies[calls:], self.tools[calls:], self.ids[calls:], self.order[calls:]
