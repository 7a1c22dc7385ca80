"""Which stop a message should have."""

from __future__ import annotations

from viewer.model.messages import Channel, Ending, Header
from viewer.reading.header import is_tool
from viewer.reading.text_state import TextGrammar


def is_stop_expected(header: Header, ending: Ending, grammar: TextGrammar) -> bool:
    """Whether a message with this header may end so; of a malformed header nothing is known."""
    if header.malformed:
        return True
    is_call = header.role == "assistant" and is_tool(header.recipient)
    if ending is Ending.CALL:
        return is_call
    if ending is Ending.RETURN:
        return header.role == "assistant" and header.channel is Channel.FINAL and not is_call
    return not (is_call and grammar.closed_by_call)
