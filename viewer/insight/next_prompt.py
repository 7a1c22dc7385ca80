"""`POLICIES`, the table of history policies: which messages a server keeps in the next prompt, and in which form."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from viewer.insight.chat_view import Renderer, hf_template, llama_cpp, vllm_chat
from viewer.insight.history import (
    History,
    is_analysis,
    is_answer,
    is_assistant,
    is_assistant_final,
    is_call,
    is_final,
    is_user,
)
from viewer.rules.notes import I_NEXT_AMBIGUOUS

Cut = Callable[[History], int]
"""A function that returns the number of the message before which analysis is dropped."""
Exceptions = Callable[[History, int], frozenset[int]]
"""A function that returns the messages before a cut that are kept anyway."""


def _keep(history: History) -> int:
    return 0


def _drop_all(history: History) -> int:
    return history.last + 1


def _harmony(history: History) -> int:
    """Return the number of the first final message of any role, if the last assistant message is a final; otherwise
    0."""
    return history.first_of(is_final) if _is_turn_over(history) else 0


def _pull_request_96(history: History) -> int:
    return history.last_of(is_assistant_final) if _is_turn_over(history) else 0


def _is_turn_over(history: History) -> bool:
    last = history.last_of(is_assistant)
    return last > 0 and is_final(history.header(last))


def _last_final(history: History) -> int:
    return history.last_of(is_assistant_final)


def _last_user(history: History) -> int:
    return history.last_of(is_user)


def _last_answer(history: History) -> int:
    return history.last_of(is_answer)


def _no_exceptions(history: History, cut: int) -> frozenset[int]:
    return frozenset()


def _pending_calls(history: History, cut: int) -> frozenset[int]:
    """Return the calls without a reply, with the assistant's analysis and calls directly before them."""
    kept: set[int] = set()
    for call in history.unanswered():
        number = call
        while number < cut and number not in kept and number >= history.first:
            header = history.header(number)
            if history.holds(number) and not (is_call(header) or (is_assistant(header) and is_analysis(header))):
                break
            kept.add(number)
            number -= 1
    return frozenset(kept)


class Policy(Struct, frozen=True):
    """How one server or library builds the next prompt."""

    name: str
    wording: str
    """The rule in one sentence."""
    source: str
    date: str
    """The month in which the source code was checked."""
    cut: Cut = _keep
    exceptions: Exceptions = _no_exceptions
    why: str = ""
    """The reason for dropping a message, for machine-readable output."""
    why_words: str = ""
    """The reason in words, with `#` for the number of the message at the cut."""
    template: Renderer | None = None
    """The template of a server that receives chat messages; None for a server that receives Harmony messages."""
    renderer: str = "harmony"
    same_as: str | None = None
    """The name of another policy with the same rule; None if there is none."""
    needs_channels: bool = True
    """True if the policy does not apply to formats without channels."""


_LIBRARY = "openai-harmony 0.0.8, src/encoding.rs:164-222"

POLICIES = {
    policy.name: policy
    for policy in (
        Policy("keep", "Keeps every message.", "baseline", "2026-11", needs_channels=False),
        Policy(
            *("drop-all", "Drops all analysis.", "baseline", "2026-11"),
            cut=_drop_all,
            why="all-analysis",
            why_words="dropped: analysis",
            needs_channels=False,
        ),
        Policy(
            "harmony-0.0.8",
            "Drops analysis before the first final of any role, if the last assistant message is a final.",
            _LIBRARY,
            "2026-11",
            cut=_harmony,
            why="before-first-final",
            why_words="dropped: before first final #",
        ),
        Policy(
            "harmony-pr96",
            "Drops analysis before the last assistant final, if the last assistant message is one.",
            "openai/harmony#96, open since 2026-01-27",
            "2026-11",
            cut=_pull_request_96,
            why="before-last-final",
            why_words="dropped: before last final #",
        ),
        Policy(
            "last-final",
            "Drops analysis before the last assistant final.",
            "OpenAI cookbook, gpt-oss/handle-raw-cot; Harmony guide; vLLM auto_drop_analysis_messages",
            "2026-11",
            cut=_last_final,
            why="before-last-final",
            why_words="dropped: before last final #",
        ),
        Policy(
            "last-user",
            "Drops analysis before the last user message.",
            "Ollama's gpt-oss template ($lastUserIdx); openai/codex#2461; cookbook reasoning_items",
            "2026-11",
            cut=_last_user,
            why="before-last-user",
            why_words="dropped: before last user message #",
        ),
        Policy(
            "openchatml-2.2",
            "Drops analysis before the last answer, except before a call that waits for its reply.",
            "OpenChatML 2.2, sections 7 and 12",
            "2026-11",
            cut=_last_answer,
            exceptions=_pending_calls,
            why="before-last-answer",
            why_words="dropped: before last answer #",
        ),
        Policy("openchatml-2.0", "Keeps every message.", "OpenChatML 2.0, sections 3 and 7", "2026-11", same_as="keep"),
        Policy(
            "vllm-responses",
            "Drops analysis as harmony-0.0.8 does, so analysis stays while a call waits for its reply.",
            "vllm-project/vllm#45048, the behavior before that change",
            "2026-11",
            cut=_harmony,
            why="before-first-final",
            why_words="dropped: before first final #",
            same_as="harmony-0.0.8",
        ),
        Policy(
            "hf-template",
            "Renders chat messages with the gpt-oss template: one call per message, and no thinking from finished "
            "turns.",
            "openai/gpt-oss chat_template.jinja",
            "2026-11",
            why="not-rendered",
            why_words="not rendered",
            template=hf_template,
            renderer="hf-template",
        ),
        Policy(
            "llama.cpp",
            "Renders chat messages as hf-template does, but omits the content of messages that have both calls and "
            "thinking.",
            "llama.cpp, common_chat_params_init_gpt_oss; llama.cpp#19701, #15417",
            "2026-11",
            why="not-rendered",
            why_words="not rendered",
            template=llama_cpp,
            renderer="hf-template",
        ),
        Policy(
            "vllm-chat",
            "Converts chat messages to Harmony, then drops analysis before the last final.",
            "vLLM parser/harmony_utils.py; vllm-project/vllm#27653, #35884, #45048",
            "2026-11",
            why="not-rendered",
            why_words="not rendered",
            template=vllm_chat,
            renderer="vllm-chat",
        ),
    )
}
"""All policies, in the order in which they are printed."""

AMBIGUOUS = I_NEXT_AMBIGUOUS.code
"""The name of the note that is also a diagnostic."""
NOTES = {
    "stale-analysis": "harmony-0.0.8 keeps analysis that last-final drops.",
    "builtin-vanishes": "A call to a built-in tool, or its reply, is on the analysis channel and is dropped with it.",
    "final-by-other-role": "A final from another role comes first, so harmony-0.0.8 drops less.",
    "second-call-lost": "The template renders one call per message; the others are lost.",
    "reply-renamed": "The template attributes a reply to another tool.",
    "preamble-to-analysis": "The template turns a preamble with a call into analysis.",
    "re-encoded": "The template JSON-encodes a reply, or arguments that are already a string, a second time.",
    "renamed": "A built-in tool becomes a function.",
    "empty-final": "A turn with only analysis becomes an empty final.",
    "to-final": "A message on another channel becomes a final.",
    "system-as-written": "System and developer text is used as written; a server builds it from its arguments.",
    "channels-by-kind": "The format has no channels; the kind of each message determines its channel.",
    "left-out": "Records that no model receives, other agents, and superseded branches are not part of the prompt.",
    "open-message": "The last message is unfinished; the prompt closes it.",
    "break-out": "A message begins inside an unclosed one; the library keeps it inside.",
    "malformed": "A header is malformed; the reference library refuses the transcript.",
    AMBIGUOUS: "A body contains control tokens as text; in the prompt, nothing distinguishes them from real ones.",
}
"""The text of each note."""

REFUSALS = {
    "needs-channels": "the format has no channels",
    "content-and-thinking": "a message with calls has both content and thinking",
    "channel-in-text": "a message body contains channel tokens",
    "reply-without-call": "a reply has no call before it",
}
"""The reasons why a policy refuses a transcript."""

HARMONY = "harmony-0.0.8"
