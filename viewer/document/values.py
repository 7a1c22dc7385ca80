"""What a view is given: values made for one audience, from which nothing hidden can be reached."""

from __future__ import annotations

from viewer.model.diagnostic import fill_in
from viewer.model.messages import Span
from viewer.rules import RULES
from viewer.values import frozen

LATE_BY = "The reply arrived {seconds:.1f} s after the deadline."


@frozen
class ShownTranscript:
    """One transcript of the input; `header` is None unless something is revealed."""

    number: int
    dialect: str
    version: str | None
    model: str | None
    header: dict[str, object] | None


@frozen
class ShownMessage:
    """A message that the audience may see; places are None for the end user."""

    transcript: int
    number: int
    turn: int
    role: str
    name: str | None
    recipient: str | None
    channel: str | None
    channel_given: str | None
    intent: str | None
    call_id: str | None
    content_type: str | None
    constrained: bool
    ending: str
    body: str
    """What the author meant, without the spans that are cut out for the end user. Not yet safe for a terminal."""
    span: Span | None
    body_span: Span | None
    line: int | None
    time: str | None
    visible: bool
    """What the safe view would do."""
    cancelled: bool
    extra: dict[str, str]
    message_kind: str = "said"
    """What the message is: `said`, `thought`, `call`, `reply`, `instruction`, or `unknown`."""
    is_value: bool = False
    """The body is the source text of JSON values that are not strings."""
    source_text: str | None = None
    """The body with its escapes and literal blocks, in OpenChatML 2.2."""


@frozen
class ShownStray:
    """Text outside any message; only for an audience that asked for it."""

    transcript: int
    after: int
    span: Span
    body: str


@frozen
class HiddenRun:
    """Messages that stand here and are not shown; never made for a strict audience."""

    transcript: int
    count: int


@frozen
class ShownDiagnostic:
    """A diagnostic; of a hidden message the end user is told code, severity and number alone."""

    code: str
    reason: str | None
    severity: str
    message: int | None
    hidden: bool
    """It belongs to something that this audience does not see."""
    span: Span | None
    line: int | None
    column: int | None
    count: int | None
    value: str | None = None
    """The offending value; only where all is revealed. Not yet safe for a terminal."""
    delay_ms: int | None = None
    """How long after the deadline a reply arrived."""

    @property
    def sentence(self) -> str:
        """The text without the offending value; for an end user the safe sentence."""
        return fill_in(self.template)

    @property
    def template(self) -> str:
        """The text as it is in the table."""
        rule = RULES[self.code]
        if self.hidden or self.span is None:
            return rule.safe
        if self.delay_ms is not None:
            return LATE_BY.format(seconds=self.delay_ms / 1000)
        return rule.template(self.reason)


@frozen
class ShownCall:
    """A call and its reply; only for an audience that sees tools."""

    transcript: int
    call_id: str | None
    tool: str
    call: int | None
    reply: int | None
    state: str
    inferred: bool
    latency_ms: int | None
    deadline_ms: int | None
    observed_ms: int | None = None
    """The time from call to reply as observed while following; not in machine output."""
    relinked: bool = False
    """While following: it was reported with another reply before."""


Item = ShownMessage | ShownStray | HiddenRun


@frozen
class Headline:
    """One message as a list of messages tells of it, without its body."""

    number: int
    turn: int
    seen: bool
    """This audience sees the message; of others a developer is told the role alone, an end user nothing."""
    role: str
    name: str | None = None
    recipient: str | None = None
    channel: str | None = None
    intent: str | None = None
    call_id: str | None = None
    ending: str | None = None
    visible: bool = False
    """The end user saw it."""
    body_bytes: int = 0
    time: str | None = None
