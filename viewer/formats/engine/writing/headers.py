"""Make headers from drafts: tool names, threads, and headers that many messages of a transcript share."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from viewer.formats.engine.drafts import Draft
from viewer.formats.json.content_parts import ContentPart, part_header
from viewer.model.messages import Channel, Ending, Header, Kind
from viewer.reading.header import full_tool_name

MOST_HEADERS = 256
SPOKEN = ("user", "assistant")
"""The roles whose messages may count as said."""


class DraftHeaders:
    """Makes the headers of messages, one transcript at a time."""

    def __init__(self, *, preambles: bool, started: Callable[[int, str], None] = lambda thread, id: None) -> None:
        """`started` is called with the number and the ID of each new thread."""
        self._started = started
        self._preambles = preambles
        self._tools: dict[str, str] = {}
        self._threads: dict[str, int] = {}
        self._unanswered: dict[str, None] = {}
        """The IDs of calls without a reply."""
        self._headers: dict[tuple[object, ...], Header] = {}
        """The headers of messages without a call ID, by the values that determine them."""

    def start(self) -> None:
        """Begin a transcript. IDs do not link across transcripts."""
        self._tools.clear()
        self._threads.clear()
        self._unanswered.clear()

    def has_call(self, call_id: str | None) -> bool:
        """True if a call with this ID and a tool name has been read."""
        return call_id in self._tools

    def tool_of(self, call_id: str | None) -> str | None:
        """Return the tool of the call with this ID, or None if no such call has been read."""
        return self._tools.get(call_id or "")

    def note_call(self, call_id: str | None, name: str | None) -> None:
        """Remember the tool of a call, and that the call has no reply yet."""
        if call_id:
            if name:
                self._tools[call_id] = full_tool_name(name)
            self._unanswered[call_id] = None

    def note_reply(self, call_id: str | None) -> None:
        """Remember that a call has its reply."""
        self._unanswered.pop(call_id or "", None)

    def take_unanswered(self) -> list[str]:
        """Return the IDs of the calls without a reply and stop waiting for replies to them."""
        unanswered = [*self._unanswered]
        self._unanswered.clear()
        return unanswered

    def of(self, draft: Draft) -> Header:
        """Return the header for the message of a draft, and note a call or reply. Text of an unknown speaker becomes
        unknown."""
        kind = draft.kind
        if kind is Kind.CALL:
            return self._call(draft)
        if kind is Kind.REPLY:
            return self._reply(draft)
        if kind is Kind.SAID and draft.role not in SPOKEN:
            kind = draft.kind = Kind.UNKNOWN
        key = (
            *(kind, draft.role, draft.channel, draft.channel_word, draft.has_unknown_channel, draft.intent),
            *(draft.outcome, self._thread(draft)),
        )
        header = self._headers.get(key)
        if header is None:
            if len(self._headers) >= MOST_HEADERS:
                self._headers.clear()
            made = replace(self._other(draft), kind=kind, outcome=draft.outcome, thread=self._thread(draft))
            header = self._headers[key] = made
        return header

    def of_hidden(self, draft: Draft) -> Header:
        """Return the header of a message that stays hidden until the meaning of the draft is known."""
        if draft.kind is Kind.REPLY:
            return self.of(draft)
        return Header(draft.role, channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)

    def of_marked(self, part: ContentPart, header: Header) -> tuple[Header, Ending]:
        """Return the header and ending of a part between template marks."""
        own, ending = part_header(part, header)
        if own.role == "tool" and own.name is None:
            own = replace(own, name=self._tools.get(own.call_id or ""))
        return own, ending or (Ending.CALL if own.recipient not in (None, "user") else Ending.END)

    def _other(self, draft: Draft) -> Header:
        """Return the header of a message other than a call or reply."""
        kind, role = draft.kind, draft.role
        if kind is Kind.THOUGHT:
            return Header("assistant", channel=Channel.ANALYSIS, channel_given="analysis", intent=draft.intent)
        if kind is Kind.INSTRUCTION:
            return Header("developer" if role == "developer" else "system", channel=Channel.FINAL)
        if kind is Kind.SAID:
            return self._said(draft)
        return Header(role, channel=Channel.COMMENTARY, channel_given="commentary")

    def _said(self, draft: Draft) -> Header:
        if draft.has_unknown_channel:
            return Header(draft.role, channel=None, channel_given=draft.channel_word or "")
        channel = draft.channel or Channel.FINAL
        given = channel.value if draft.channel_word is not None or channel is not Channel.FINAL else None
        is_preamble = channel is Channel.COMMENTARY and self._preambles and draft.role == "assistant"
        return Header(draft.role, channel=channel, channel_given=given, intent="preamble" if is_preamble else None)

    def _reply(self, draft: Draft) -> Header:
        name = draft.name or self._tools.get(draft.call_id or "")
        self.note_reply(draft.call_id)
        return Header(
            "tool",
            full_tool_name(name) if name else None,
            None,
            Channel.FINAL,
            call_id=draft.call_id,
            kind=draft.kind,
            outcome=draft.outcome,
            thread=self._thread(draft),
        )

    def _call(self, draft: Draft) -> Header:
        tool = full_tool_name(draft.name) if draft.name else None
        self.note_call(draft.call_id, draft.name)
        return Header(
            "assistant",
            recipient=tool or "functions.unknown",
            channel=Channel.COMMENTARY,
            channel_given="commentary",
            call_id=draft.call_id,
            content_type=None if draft.is_text else "json",
            constrained=not draft.is_text,
            kind=draft.kind,
            outcome=draft.outcome,
            thread=self._thread(draft),
        )

    def _thread(self, draft: Draft) -> int:
        if draft.kind is Kind.SUBAGENT or draft.thread is not None:
            id = draft.thread or ""
            if id not in self._threads:
                self._threads[id] = len(self._threads) + 1
                self._started(self._threads[id], id)
            return self._threads[id]
        return 0
