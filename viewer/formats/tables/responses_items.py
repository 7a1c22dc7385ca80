"""Items and content parts of the OpenAI Responses API, which Codex also stores."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Copies,
    Outcomes,
    PartRule,
    RecordRule,
    When,
    Words,
    flag,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.model.messages import Channel, Kind
from viewer.syntax.json_text import JsonKind

INJECTED_PREFIXES = (
    *("<environment_context>", "<user_instructions>", "<permissions instructions>", "<collaboration_mode>"),
    *("<skill", "<plugin", "<subagent", "<turn_aborted>", "<user_shell_command>", "<user_action>", "<apps"),
    *("<model_switch>", "<INSTRUCTIONS>", "<hook_prompt", "<goal_context", "# AGENTS.md instructions"),
    "Another language model started to solve this problem",
)
"""The beginnings of user items that Codex itself writes."""
_PART_PREFIXES = (*INJECTED_PREFIXES, "<image", "</image>")

_TEXTS = ("input_text", "output_text", "text")
_TEXT = PartRule((is_("type", *_TEXTS),), Kind.SAID, "text")
_OTHER_PARTS = (
    PartRule((is_("type", "refusal"),), Kind.SAID, "refusal", refusal=True, outcome=Outcomes(refused=("refusal",))),
    PartRule((is_("type", "summary_text"),), Kind.THOUGHT, "text", intent="summary"),
    PartRule((is_("type", "reasoning_text"),), Kind.THOUGHT, "text"),
    PartRule((is_("type", "input_image", "input_file", "input_audio", "input_video"),), Kind.SAID, label=True),
    PartRule((is_("type", "output_image"),), Kind.SAID, label=True),
    PartRule((is_("type", "output_audio"), When("transcript", kind=JsonKind.STRING)), Kind.SAID, "transcript"),
)
PARTS = (PartRule((flag("thought"),), Kind.THOUGHT, "text"), _TEXT, *_OTHER_PARTS)
USER_PARTS = (PartRule((is_("type", *_TEXTS), When("text", starts=_PART_PREFIXES)), Kind.INJECTED, "text"), *PARTS)
"""The parts of a user item, some of which Codex adds."""
_SUMMARIES = (PartRule((has("text"),), Kind.THOUGHT, "text", intent="summary"),)
_THOUGHTS = (PartRule((has("text"),), Kind.THOUGHT, "text"),)

PHASES = {"commentary": Channel.COMMENTARY, "final_answer": Channel.FINAL}

_CALLS = {
    "function_call": "arguments",
    "shell_call": "action",
    "local_shell_call": "action",
    "apply_patch_call": "operation",
    "computer_call": "action|actions",
    "web_search_call": "action",
    "file_search_call": "queries",
    "tool_search_call": "arguments",
    "program": "code",
    "mcp_approval_request": "arguments",
    "mcp_call": "arguments",
    "code_interpreter_call": "code",
    "image_generation_call": "revised_prompt|action",
}
"""The member that contains the arguments, by the type of the item."""
_TEXTS_OF_CALLS = frozenset(
    {"custom_tool_call", "code_interpreter_call", "program", "file_search_call", "image_generation_call"}
)
"""The types of calls whose arguments are not a JSON object."""
_REPLIES = (
    *("function_call_output", "custom_tool_call_output", "shell_call_output", "local_shell_call_output"),
    *("apply_patch_call_output", "tool_search_output", "program_output", "mcp_tool_call_output"),
)
_ANSWERED = {
    "mcp_call": "output|error",
    "code_interpreter_call": "outputs|status",
    "file_search_call": "results|status",
    "web_search_call": "status",
    "image_generation_call": "status",
}
"""The member that contains the reply, by the type of an item that is both call and reply. The result itself may be
omitted."""


class Items:
    """The rules for items under a path, which is empty or ends with a dot."""

    def __init__(self, at: str = "", when: tuple[When, ...] = (), **common: Any) -> None:
        self._at = at
        self._when = when
        self._common = common

    def path(self, text: str) -> str:
        """Return these paths, under the path of the items."""
        return "|".join(f"{self._at}{choice}" for choice in text.split("|"))

    def is_(self, *types: str) -> tuple[When, ...]:
        """Return the condition that the item has one of these types."""
        return (*self._when, is_(self.path("type"), *types))

    def rule(
        self, when: tuple[When, ...], kind: Kind | None, role: str = "", body: str = "", **more: Any
    ) -> RecordRule:
        """Return a rule, with the fields that the rules for all items share."""
        return RecordRule(when, kind, role, self.path(body) if body else "", **self._common | more)

    def messages(self, user: dict[str, Any], assistant: dict[str, Any]) -> tuple[RecordRule, ...]:
        """Return the rules for messages, with further fields for each speaker."""
        return tuple(
            rule for when in (self.is_("message"), self._untyped()) for rule in self._messages(when, user, assistant)
        )

    def _untyped(self) -> tuple[When, ...]:
        return (*self._when, lacks(self.path("type")))

    def _messages(
        self, when: tuple[When, ...], user: dict[str, Any], assistant: dict[str, Any]
    ) -> tuple[RecordRule, ...]:
        role = self.path("role")
        is_user, is_assistant = (*when, is_(role, "user")), (*when, is_(role, "assistant"))
        first = self.path("content[0].text|content[0]|content")
        injected = (*is_user, When(first, starts=INJECTED_PREFIXES))
        other_channel = (*is_assistant, has(self.path("channel")), is_not(self.path("channel"), "final"))
        addressed = (*is_assistant, has(self.path("recipient")), is_not(self.path("recipient"), "user"))
        return (
            self.rule(injected, Kind.INJECTED, "user", "content", parts=PARTS, **user),
            self.rule(is_user, Kind.SAID, "user", "content", parts=USER_PARTS, **user),
            self.rule(other_channel, Kind.UNKNOWN, "assistant", "content"),
            self.rule(addressed, Kind.UNKNOWN, "assistant", "content"),
            self.rule(
                is_assistant,
                Kind.SAID,
                "assistant",
                "content",
                parts=PARTS,
                channel=Words(self.path("phase"), PHASES),
                **assistant,
            ),
            self.rule(
                (*when, is_(role, "system", "developer")),
                Kind.INSTRUCTION,
                f"@{role}",
                "content",
                parts=PARTS,
                once=True,
            ),
        )

    def reasoning(self, copy: Copies | None = None) -> RecordRule:
        """Return the rule for thoughts: summaries, plain text, and encrypted thoughts."""
        return self.rule(
            self.is_("reasoning"),
            Kind.THOUGHT,
            "assistant",
            "summary",
            parts=_SUMMARIES,
            copy=copy,
            also=(
                self.rule((), Kind.THOUGHT, "assistant", "content", parts=_THOUGHTS, copy=copy),
                self.rule((), Kind.THOUGHT, "assistant", "encrypted_content", opaque=True),
            ),
        )

    def calls(self) -> tuple[RecordRule, ...]:
        """Return the rules for calls, some of which contain their replies."""
        custom = self.rule(
            self.is_("custom_tool_call"), Kind.CALL, "assistant", "input", **self._names("custom_tool_call")
        )
        return (
            custom,
            *(
                self.rule(self.is_(kind), Kind.CALL, "assistant", body, **self._names(kind), also=self._answer(kind))
                for kind, body in _CALLS.items()
            ),
        )

    def _names(self, kind: str) -> dict[str, Any]:
        return {
            "call_id": self.path("call_id|id"),
            "name": self.path("name"),
            "default_name": kind.removesuffix("_call"),
            "text": kind in _TEXTS_OF_CALLS,
        }

    def _answer(self, kind: str) -> tuple[RecordRule, ...]:
        """Return the rules for the reply in an item that is also a call."""
        if kind not in _ANSWERED:
            return ()
        body = _ANSWERED[kind]
        states = ["in_progress", "searching", "calling", "interpreting", "generating", "incomplete"]
        if kind == "web_search_call":
            states.remove("searching")  # Azure never changes this state
        done = (is_not(self.path("status"), *states),)
        return (
            *(self._image() if kind == "image_generation_call" else ()),
            self.rule(
                (*done, has(self.path(body))),
                Kind.REPLY,
                "tool",
                body,
                call_id=self.path("call_id|id"),
                outcome=Outcomes(
                    ok=(self._is("status=completed"),), failed=(self._is("status=failed"), self._is("error"))
                ),
            ),
        )

    def _image(self) -> tuple[RecordRule, ...]:
        """Return the rule for a generated image, which the user saw."""
        result = When(self.path("result"), kind=JsonKind.STRING)
        return (RecordRule((result,), Kind.SAID, "assistant", self._at.removesuffix("."), label=True, **self._common),)

    def _is(self, test: str) -> str:
        return f"{self._at}{test}"

    def replies(self, copy: Copies | None = None) -> tuple[RecordRule, ...]:
        """Return the rules for replies. Their outcome is in members or in JSON output, never in text."""
        failed = ("status=failed", "status=incomplete", "output.success=false", "output.metadata.exit_code!=0")
        more: dict[str, Any] = {
            "copy": copy,
            "call_id": self.path("call_id|id"),
            "name": self.path("name"),
            "outcome": Outcomes(
                ok=(self._is("output.success=true"), self._is("output.metadata.exit_code=0")),
                failed=(*map(self._is, failed), self._is("output[].outcome.exit_code!=0"), self._is("result.Err")),
                timeout=(self._is("output[].outcome.type=timeout"),),
            ),
        }
        structured = (has(self.path("output.metadata.exit_code")), has(self.path("output.output")))
        return (
            self.rule((*self.is_(*_REPLIES), *structured), Kind.REPLY, "tool", "output.output", **more),
            self.rule(
                (*self.is_(*_REPLIES), has(self.path("output.content"))), Kind.REPLY, "tool", "output.content", **more
            ),
            self.rule(self.is_(*_REPLIES), Kind.REPLY, "tool", "output|result|tools|content", **more),
            self.rule(self.is_("computer_call_output"), Kind.REPLY, "tool", "output", label=True, **more),
            self.rule(
                self.is_("mcp_approval_response"),
                Kind.REPLY,
                "tool",
                "reason|approve",
                call_id=self.path("approval_request_id"),
            ),
        )

    def others(self) -> tuple[RecordRule, ...]:
        """Return the rules for tool declarations, compactions, and items without text."""
        return (
            self.rule(
                self.is_("mcp_list_tools", "additional_tools"), Kind.INSTRUCTION, "developer", "tools|error", once=True
            ),
            self.rule(
                self.is_("compaction", "context_compaction", "compaction_summary"),
                Kind.REPLAYED,
                "system",
                "encrypted_content",
                opaque=True,
            ),
            self.rule(self.is_("item_reference", "ghost_snapshot", "compaction_trigger"), None),
        )
