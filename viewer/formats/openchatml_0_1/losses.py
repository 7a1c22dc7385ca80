"""Losses of a conversion to OpenChatML 0.1, counted while writing and reported as sentences."""

from __future__ import annotations

from collections import Counter
from enum import Enum

from msgspec import Struct

from viewer.formats.writing import Writable


class Loss(Enum):
    """A kind of loss in a message. The value completes the sentence that reports it."""

    CALL_ID = "call IDs have no equivalent and were dropped"
    DEVELOPER = "the role developer was written as system"
    ROLE = "a role that OpenChatML 0.1 lacks was kept as it is"
    PREAMBLE = "a preamble became plain assistant text"
    NOT_SHOWN = "content other than answers, analyses, and calls became a reason block, so it stays hidden"
    SHOWN = "hidden from the user in the source, but OpenChatML 0.1 cannot hide it"
    KIND = "an analysis without a kind became a reason block"
    CHANNEL = "the channel has no equivalent and was dropped"
    INTENT = "the intent has no equivalent and was dropped"
    RECIPIENT = "the recipient has no equivalent and was dropped"
    ATTRIBUTE = "the recipient or intent became an attribute that OpenChatML 0.1 does not define"
    FIELD = "a field with whitespace, `<`, or control characters was dropped"
    TYPE = "the content type has no equivalent and was dropped"
    ARGUMENTS = "arguments that are not JSON make the call unreadable"
    ENDING = "its ending (returned, unfinished, or cut off) has no equivalent"
    SPACE = "whitespace at either end of the body is lost when the file is read again"


class Said(Struct, frozen=True):
    """The properties of a message that a reader recovers from the written part."""

    channel: str | None = None
    intent: str | None = None
    recipient: str | None = None
    type: tuple[str | None, bool] = (None, False)
    ending: str = "end"


class Losses:
    """Counts the messages with each loss."""

    def __init__(self) -> None:
        self._messages: Counter[Loss] = Counter()

    def add(self, *losses: Loss) -> None:
        """Add the losses of one message."""
        self._messages.update(set(losses))

    def add_common(self, message: Writable) -> None:
        """Add the losses that any kind of message can have."""
        if message.call_id is not None:
            self.add(Loss.CALL_ID)
        if message.role == "developer":
            self.add(Loss.DEVELOPER)
        elif message.role not in ("system", "user", "assistant", "tool"):
            self.add(Loss.ROLE)

    def add_unsaid(self, message: Writable, said: Said) -> None:
        """Add a loss for each property of a message that a reader cannot recover from the written part."""
        if message.channel_given not in (None, "final", said.channel):
            self.add(Loss.CHANNEL)
        if message.intent not in (None, said.intent):
            self.add(Loss.INTENT)
        if message.recipient not in (None, said.recipient):
            self.add(Loss.RECIPIENT)
        if message.content_type is not None and (message.content_type, message.constrained) != said.type:
            self.add(Loss.TYPE)
        if message.ending != said.ending:
            self.add(Loss.ENDING)

    def sentences(self) -> list[str]:
        """Return one sentence per loss."""
        return [
            f"{count} message{'' if count == 1 else 's'}: {loss.value}."
            for loss in Loss
            if (count := self._messages[loss])
        ]
