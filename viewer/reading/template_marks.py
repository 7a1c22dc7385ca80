"""Marks of chat templates inside a body: thought blocks, tool calls, and tool replies.

Every reader hides what these marks enclose, so safety does not depend on the detected format. Marks are bounded: at
most `LONGEST_FOLD` bytes are held back while a body is growing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from functools import lru_cache

from msgspec import Struct

from viewer.cache import lazy_literals, lazy_regex
from viewer.model.messages import Span


class MarkKind(Enum):
    """The kind of content that a pair of marks encloses."""

    THOUGHT = "thought"
    CALL = "call"
    REPLY = "reply"


class MarkPair(Struct, frozen=True):
    """One row of the table: how a block opens and closes."""

    name: str
    kind: MarkKind
    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    """The marks that close the block. If empty, the block extends to the end of the message."""
    in_line: bool = True
    """True if an opening mark is recognized anywhere, not only at the start of a line or directly after another
    mark."""
    shared_close: bool = False
    """True if the closing mark is also a token of the frame, so it has no meaning without an open block."""
    kept: int = 0
    """The number of bytes at the end of an opening mark that already belong to the content."""
    tool: str = ""
    """The tool that the mark calls, if it is always the same one."""


_PARTS = ("process", "content", "block", "step", "steps", "trace")
_TAG_WORDS = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "reason", "reflection", "reflect", "scratchpad"),
    *("plan", "planning", "critique", "rationale", "brainstorm", "brainstorming", "ponder", "pondering"),
    *("contemplation", "deliberation"),
    *("antthinking", "antml:thinking", "antml:reasoning", "seed:think", "cot", "analysis", "monologue"),
    *("思考", "思考过程", "思维链", "思维过程", "推理过程", "推理", "思考中", "内心独白", "內心獨白", "考え", "생각"),
    "thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b",  # Aider
)
_TAG_PAIRS = (
    (
        ("inner", "internal", "private", "hidden"),
        (
            *("monologue", "thought", "thoughts", "thinking", "reasoning", "reflection", "dialogue", "voice"),
            *("scratchpad", "analysis", "notes", "plan", "deliberation"),
        ),
    ),
    (("my", "model", "agent", "assistant", "ai", "ant"), ("thoughts", "thinking", "reasoning", "monologue")),
    (("think", "thinking", "thought", "thoughts", "reasoning", "analysis", "reflection", "cognitive"), _PARTS),
    (("deep", "redacted"), ("think", "thinking", "thought", "reasoning")),
    (("longcat", "deep"), ("think",)),
    (("self",), ("reflection", "reflect", "critique", "criticism", "talk", "correction")),
    (("think",), ("aloud", "fast", "slow")),
    (("thought", "reasoning"), ("chain",)),
    (("scratch", "think"), ("pad",)),
    (("chain_of", "chain-of", "chainof"), ("thought", "thoughts", "reasoning")),
)
"""Words that together name a tag, with `_`, `-`, or nothing between them."""
THINK_TAGS = (
    *_TAG_WORDS,
    *(
        f"{one}{edge}{two}"
        for first, second in _TAG_PAIRS
        for one in first
        for two in second
        for edge in ("_", "-", "")
    ),
)
"""The names of tags around thoughts, in lower case: those that models write, and those that chat programs collapse."""

LOOSE_TAGS = frozenset(
    {
        *("plan", "planning", "critique", "rationale", "brainstorm", "brainstorming", "ponder", "pondering"),
        *("contemplation", "deliberation"),
    }
)
"""Names of tags around thoughts that are text unless they are closed, because they also have other meanings."""
_FOLDED_TYPES = ("tool_calls", "code_interpreter")
"""The types of folded elements that contain calls. Other folded elements with a type contain thoughts."""


_TOKEN_WORDS = (
    *("think", "thinking", "thought", "thoughts", "reasoning", "cot", "scratchpad", "reasoning_content", "analysis"),
    *("reflection", "monologue", "inner_monologue", "inner_thoughts", "chain_of_thought", "THINK", "THINKING"),
    *("THOUGHT", "REASONING"),
)


def _token_pairs() -> tuple[MarkPair, ...]:
    """Return the pairs for control tokens that name a thought in one of the usual ways."""
    return tuple(
        MarkPair(
            f"token-{word}",
            MarkKind.THOUGHT,
            (f"<|{word}|>", *(f"<|{edge}_{word}|>" for edge in _OPEN_EDGES), f"<|{word}_start|>", f"<|{word}_begin|>"),
            (f"<|/{word}|>", *(f"<|{edge}_{word}|>" for edge in ("end", "end_of")), f"<|{word}_end|>"),
        )
        for word in _TOKEN_WORDS
    )


_OPEN_EDGES = ("begin", "begin_of", "start", "start_of")

MARK_PAIRS = (
    MarkPair(
        "think",
        MarkKind.THOUGHT,
        tuple(f"<{tag}" for tag in THINK_TAGS),
        tuple(f"</{tag}>" for tag in THINK_TAGS),
        in_line=False,
    ),
    MarkPair("THINK", MarkKind.THOUGHT, ("[THINK]", "[think]"), ("[/THINK]", "[/think]"), in_line=False),
    MarkPair("kimi-think", MarkKind.THOUGHT, ("◁think▷",), ("◁/think▷",)),
    MarkPair("k3-think", MarkKind.THOUGHT, ("<|open|>think<|sep|>",), ("<|close|>think<|sep|>",)),
    MarkPair("START_THINKING", MarkKind.THOUGHT, ("<|START_THINKING|>",), ("<|END_THINKING|>",)),
    MarkPair("gemma-channel", MarkKind.THOUGHT, ("<|channel>",), ("<channel|>",)),
    *_token_pairs(),
    MarkPair("inner_prefix", MarkKind.THOUGHT, ("<|inner_prefix|>",), ("<|inner_suffix|>",)),
    MarkPair("unused16", MarkKind.THOUGHT, ("[unused16]",), ("[unused17]",)),
    MarkPair("unused94", MarkKind.THOUGHT, ("<unused94>",), ("<unused95>",)),
    MarkPair("details", MarkKind.THOUGHT, ('<details type="reasoning"',), ("</details>",), shared_close=True),
    MarkPair("tool_call", MarkKind.CALL, ("<tool_call>",), ("</tool_call>",)),
    MarkPair("tool_calls", MarkKind.CALL, ("<tool_calls>",), ("</tool_calls>",)),
    MarkPair("function_calls", MarkKind.CALL, ("<function_calls>",), ("</function_calls>",)),
    MarkPair("claude-calls", MarkKind.CALL, ("<antml:function_calls>",), ("</antml:function_calls>",)),
    MarkPair("seed-call", MarkKind.CALL, ("<seed:tool_call>",), ("</seed:tool_call>",)),
    MarkPair("longcat-call", MarkKind.CALL, ("<longcat_tool_call>",), ("</longcat_tool_call>",)),
    MarkPair("TOOLCALL", MarkKind.CALL, ("<TOOLCALL>",), ("</TOOLCALL>",)),
    MarkPair("TOOL_REQUEST", MarkKind.CALL, ("[TOOL_REQUEST]",), ("[END_TOOL_REQUEST]",)),
    MarkPair("unused11", MarkKind.CALL, ("[unused11]",), ("[unused12]",)),
    MarkPair("tools_prefix", MarkKind.CALL, ("<|tools_prefix|>",), ("<|tools_suffix|>",)),
    MarkPair("step-calls", MarkKind.CALL, ("<｜tool_calls_begin｜>",), ("<｜tool_calls_end｜>",)),
    MarkPair(
        "details-call",
        MarkKind.CALL,
        tuple(f'<details type="{type}"' for type in _FOLDED_TYPES),
        ("</details>",),
        shared_close=True,
    ),
    MarkPair("functools", MarkKind.CALL, ("functools[{",), kept=len("[{")),
    MarkPair("action", MarkKind.CALL, ("Action:\n```json",), ("```",), shared_close=True),
    MarkPair(
        "fence-command",
        MarkKind.CALL,
        ("```mswea_bash_command",),
        ("```",),
        shared_close=True,
        tool="shell",
    ),
    MarkPair(
        "fence-call",
        MarkKind.CALL,
        ("```tool_code", "```tool_call", "```tool_use"),
        ("```",),
        shared_close=True,
    ),
    MarkPair("TOOL_CALL", MarkKind.CALL, ("[TOOL_CALL]",), ("[/TOOL_CALL]",)),
    MarkPair("function", MarkKind.CALL, ("<function=",), ("</function>",), kept=len("<function=")),
    MarkPair(
        "lfm-call",
        MarkKind.CALL,
        ("<|tool_call_start|>", "<|tool_call_begin|>"),
        ("<|tool_call_end|>",),
    ),
    MarkPair("phi-call", MarkKind.CALL, ("<|tool_call|>",), ("<|/tool_call|>",)),
    MarkPair("gemma-call", MarkKind.CALL, ("<|tool_call>",), ("<tool_call|>",)),
    MarkPair("python_tag", MarkKind.CALL, ("<|python_tag|>",), ("<|eom_id|>", "<|eot_id|>"), shared_close=True),
    MarkPair("solar-calls", MarkKind.CALL, ("<|tool_calls|>",), ("<|calls|>",)),
    MarkPair("tool_start", MarkKind.CALL, ("<|tool_start|>",), ("<|tool_end|>",)),
    MarkPair("python_start", MarkKind.CALL, ("<|python_start|>",), ("<|python_end|>",)),
    MarkPair("START_ACTION", MarkKind.CALL, ("<|START_ACTION|>",), ("<|END_ACTION|>",)),
    MarkPair("TOOL_CALLS", MarkKind.CALL, ("[TOOL_CALLS]",), ("</s>",), shared_close=True),
    MarkPair("deepseek-calls", MarkKind.CALL, ("<｜tool▁calls▁begin｜>",), ("<｜tool▁calls▁end｜>",)),
    MarkPair("deepseek-call", MarkKind.CALL, ("<｜tool▁call▁begin｜>",), ("<｜tool▁call▁end｜>",)),
    MarkPair("step-tool-call", MarkKind.CALL, ("<｜tool_call_begin｜>",), ("<｜tool_call_end｜>",)),
    *(
        MarkPair("deepseek-dsml", MarkKind.CALL, (f"<｜DSML｜{name}>",), (f"</｜DSML｜{name}>",))
        for name in ("function_calls", "tool_calls")
    ),
    MarkPair("step-call", MarkKind.CALL, ("<steptml:toolcall>",), ("</steptml:toolcall>",)),
    MarkPair("internlm-call", MarkKind.CALL, ("<|action_start|>",), ("<|action_end|>",)),
    MarkPair("gemma-function-call", MarkKind.CALL, ("<start_function_call>",), ("<end_function_call>",)),
    MarkPair("gemma-function-reply", MarkKind.REPLY, ("<start_function_response>",), ("<end_function_response>",)),
    MarkPair("kimi-calls", MarkKind.CALL, ("<|tool_calls_section_begin|>",), ("<|tool_calls_section_end|>",)),
    MarkPair("k3-calls", MarkKind.CALL, ("<|open|>tools<|sep|>",), ("<|close|>tools<|sep|>",)),
    MarkPair("minimax-call", MarkKind.CALL, ("<minimax:tool_call>",), ("</minimax:tool_call>",)),
    MarkPair("tool_response", MarkKind.REPLY, ("<tool_response>",), ("</tool_response>",)),
    MarkPair("TOOL_RESPONSE", MarkKind.REPLY, ("<TOOL_RESPONSE>",), ("</TOOL_RESPONSE>",)),
    MarkPair("function_results", MarkKind.REPLY, ("<function_results>",), ("</function_results>",)),
    MarkPair("lfm-reply", MarkKind.REPLY, ("<|tool_response_start|>",), ("<|tool_response_end|>",)),
    MarkPair("phi-reply", MarkKind.REPLY, ("<|tool_response|>",), ("<|/tool_response|>",)),
    MarkPair("gemma-reply", MarkKind.REPLY, ("<|tool_response>",), ("<tool_response|>",)),
    MarkPair(
        "output",
        MarkKind.REPLY,
        ("<|output_start|>", "<|tool_output_start|>"),
        ("<|output_end|>", "<|tool_output_end|>"),
    ),
    MarkPair("START_TOOL_RESULT", MarkKind.REPLY, ("<|START_TOOL_RESULT|>",), ("<|END_TOOL_RESULT|>",)),
    MarkPair("fence-reply", MarkKind.REPLY, ("```tool_output", "```tool_result"), ("```",), shared_close=True),
    MarkPair("TOOL_RESULT", MarkKind.REPLY, ("[TOOL_RESULT]",), ("[/TOOL_RESULT]",)),
    MarkPair("TOOL_RESULTS", MarkKind.REPLY, ("[TOOL_RESULTS]",), ("[/TOOL_RESULTS]",)),
    MarkPair("deepseek-replies", MarkKind.REPLY, ("<｜tool▁outputs▁begin｜>",), ("<｜tool▁outputs▁end｜>",)),
    MarkPair("deepseek-reply", MarkKind.REPLY, ("<｜tool▁output▁begin｜>",), ("<｜tool▁output▁end｜>",)),
    MarkPair("observation", MarkKind.REPLY, ("<|observation|>",), ("<|assistant|>", "<|user|>"), shared_close=True),
)
"""All pairs. Marks must match exactly, except that tags of thoughts and of folded elements ignore case and may have
attributes."""

THINK_PAIRS = MARK_PAIRS[:2]
"""The pairs that `viewer/reading/thoughts.py` reads in a body. Readers of frames treat them like all other pairs."""

_PAIR_PATTERNS = (f"(?:{'|'.join(first)})[_-]?(?:{'|'.join(second)})" for first, second in _TAG_PAIRS)
THINK_TAG = b"(?i:" + "|".join((*_TAG_WORDS, *_PAIR_PATTERNS)).encode() + b")"
"""A pattern for the name of any tag around a thought, ignoring case."""
_THINK_MARK = rb"(?<=<)(?!/?(?i:%s)[\s>])(?:/%s\s?>|%s(?=[\s>]))" % (
    "|".join(sorted(LOOSE_TAGS)).encode(),
    THINK_TAG,
    THINK_TAG,
)
"""A pattern for a tag around a thought, after its `<`. Other spellings of a tag have a meaning only inside a body: see
`viewer/reading/thoughts.py`."""

LONGEST_ATTRIBUTES = 4096
"""The maximum length in bytes of the attributes of a tag."""
_LONGEST_SUMMARY = 80
_ATTRIBUTES = rb"[^<>]{0,%d}" % LONGEST_ATTRIBUTES
_CALL_TYPE = rb"[\s/]%s?(?<=[\s\"'/])type\s{0,8}=\s{0,8}[\"']?(?:%s)" % (
    _ATTRIBUTES,
    "|".join(_FOLDED_TYPES).encode(),
)
_NAMED = rb"(?=[\s/]%s?(?:(?<=[\s\"'/])type\s{0,8}=|think|thought|reason))" % _ATTRIBUTES
_PLAIN_TAG = rb"(?=%s+>)(?>[^<>\"']|\"[^\"<>]*+\"|'[^'<>]*+')*+>" % _ATTRIBUTES
_SUMMARY = (
    rb"(?=%s+>\s{0,64}<summary(?:\s[^<>]{0,256})?>[^A-Za-z]{0,24}(?:[A-Za-z']{1,12}[^A-Za-z]{1,12}){0,2}"
    rb"(?:think|thought|reasoning|chain.of.thought))" % _ATTRIBUTES
)
FOLDED = rb"(?:%s|%s|(?=[\s/])(?!%s)|%s)" % (_CALL_TYPE, _NAMED, _PLAIN_TAG, _SUMMARY)
"""A pattern for what follows the name of a folded element that hides its content, ignoring case. It has a type, or its
attributes or its summary mention thoughts, or its tag is incomplete or has unbalanced quotes, so it is ambiguous."""
_FOLD_MARK = rb"(?<=<)(?i:/details\s?>|details(?:%s|[\s/>]))" % FOLDED
_HEADS = tuple(dict.fromkeys(tag[:4] for tag in THINK_TAGS))
"""The first four letters of each tag name."""
_BRACKETED = (
    *("think", "thought", "reason", "scratch", "cot]", "inner", "chain", "analys", "reflect", "plan]", "planning"),
    *("criti", "judge]", "verifier]", "evaluator]", "monologue", "internal", "deliberation"),
)
"""The beginnings of words that mark a thought in square brackets."""
WIDE_OPENS = ("＜", "﹤", "【", "〔", "〖", "⟨", "◁")
WIDE_ENDS = ("＞", "﹥", "】", "〕", "〗", "⟩", "▷")
"""Other brackets around tag names. Brackets that some languages use to quote titles are excluded."""
_TAG_OPENS = ("<", "</", "< ")
THINK_SIGNS = (
    *(f"{opening}{head}".encode() for opening in _TAG_OPENS for head in _HEADS),
    *(f"{bracket}{word}".encode() for bracket in ("[", "[/") for word in _BRACKETED),
    *(opening.encode() for opening in WIDE_OPENS),
    *(b"</ ", b"< /", b"&lt;", b"&amp;lt;", b"&amp;#", b"&#60;", b"&#0", b"&#x3c;", b"003c", b":::"),
)
"""Signs of thoughts: every tag around a thought, in any spelling, starts with one of these, ignoring case."""
_UNDECIDED = lazy_regex(
    rb"<details(?:[\s/]%s|(?:[\s/]%s)?>\s{0,64}(?:<[a-z]{0,7}|<summary(?:\s[^<>]{0,256})?(?:>[\s\S]{0,%d})?)?)"
    % (_ATTRIBUTES, _ATTRIBUTES, _LONGEST_SUMMARY)
)
LONGEST_FOLD = LONGEST_ATTRIBUTES + 512
"""The maximum number of bytes that are held back until it is known whether a folded element hides its content."""
_SPELLED = tuple(pair for pair in MARK_PAIRS if pair.name not in ("think", "details", "details-call"))
_FOLD_PAIRS = tuple(pair for pair in MARK_PAIRS if pair.name in ("details", "details-call"))
_SPELLINGS = tuple(spelling.encode() for pair in _SPELLED for spelling in (*pair.opens, *pair.closes))
ESCAPABLE_MARKS = tuple(dict.fromkeys(spelling for spelling in _SPELLINGS if spelling.startswith(b"<|")))
"""Marks that OpenChatML 2.2 escapes with a doubled `<`."""


def any_of(spellings: Iterable[bytes], *others: bytes) -> bytes:
    """Return a pattern for these spellings. It starts with a set of bytes, which the engine finds quickly.

    `others` are patterns for what comes after the first byte."""
    rests = _by_first(spellings)
    return _any_of(rests, [*others, *_branches(rests)])


def token_or_mark(spellings: Iterable[bytes], *others: bytes) -> bytes:
    """Return a pattern for these spellings or a mark, like `any_of`. `others` are patterns for what comes after the
    first byte, each with a look-behind for that byte; they match only where nothing else does."""
    rests, marks = _by_first(spellings), _by_first(_SPELLINGS)
    return _any_of([*rests, *marks], [*_branches(rests), _THINK_MARK, _FOLD_MARK, *_branches(marks), *others])


def _by_first(spellings: Iterable[bytes]) -> dict[bytes, set[bytes]]:
    rests: dict[bytes, set[bytes]] = {}
    for spelling in spellings:
        rests.setdefault(spelling[:1], set()).add(spelling[1:])
    return rests


def _branches(rests: dict[bytes, set[bytes]]) -> list[bytes]:
    return [b"(?<=" + re.escape(first) + b")" + _tree(rest) for first, rest in rests.items()]


def _any_of(firsts: Iterable[bytes], branches: Iterable[bytes]) -> bytes:
    return b"[" + b"".join(map(re.escape, dict.fromkeys(firsts))) + b"](?:" + b"|".join(branches) + b")"


def _tree(endings: set[bytes]) -> bytes:
    """Return a pattern for the longest of these strings. It reads each shared prefix only once."""
    rests: dict[bytes, set[bytes]] = {}
    for ending in sorted(endings - {b""}):
        rests.setdefault(ending[:1], set()).add(ending[1:])
    branches = [re.escape(first) + _tree(rest) for first, rest in rests.items()]
    if len(branches) == 1 and b"" not in endings:
        return branches[0]
    return b"(?:" + b"|".join(branches) + (b")?" if b"" in endings else b")") if branches else b""


MARK = lazy_regex(
    lambda: any_of(_SPELLINGS, _THINK_MARK, _FOLD_MARK), signs=(*_SPELLINGS, *THINK_SIGNS, b"<details", b"</details")
)
"""A pattern for a mark. At the end of incomplete text, the match may still change: see `begun`."""
LONGEST_MARK = max(map(len, _SPELLINGS))


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def _beginnings() -> frozenset[bytes]:
    """Return all beginnings of marks, in lower case where case does not matter."""
    names = (*THINK_TAGS, "details")
    tags = (f"<{name}" for name in names), (f"</{name}{space}" for name in names for space in " \t\r\n")
    return frozenset(
        [spelling[:length] for spelling in _SPELLINGS for length in range(1, len(spelling))]
        + [tag[:length] for each in tags for tag in map(str.encode, each) for length in range(1, len(tag) + 1)]
    )


_LONGEST_BEGINNING = max(LONGEST_MARK, len("</ ") + max(len(tag.encode()) for tag in THINK_TAGS))
_FIRST_BYTES = frozenset(byte for mark in (*_SPELLINGS, b"<") for byte in (mark[:1] + mark[:1].upper()))

ADDED_TAGS = (
    *("system-reminder", "system_reminder", "environment_details", "environment_context", "user_instructions"),
    *("user-prompt-submit-hook", "local-command-stdout", "local-command-stderr", "local-command-caveat"),
    *("task-notification", "teammate-message", "subagent_notification", "codex_internal_context", "session_context"),
    *("info-msg", "system_notice", "system-notice", "qwen:user-prompt-submit-context", "hook_context", "editorcontext"),
    *("reminderinstructions", "environment_info", "workspace_info", "additional_metadata", "user_settings_change"),
    *("extra_info", "runtime_information", "repository_instructions", "attached_files", "manually_added_selection"),
    *("open_and_recently_viewed_files", "cursor_rules_context", "explicit_instructions", "state_snapshot"),
    *("turn_aborted", "command-name", "command-message", "command-args", "bash-stdout", "bash-stderr"),
    *("ide_selection", "ide_opened_file", "ide_diagnostics", "new-diagnostics", "post-tool-use-hook"),
)
"""The names of elements that agents add to the prompts of their users."""
CALL_TAGS = (
    *("tool_use", "tool_result", "tool_results", "tool_output", "tool_outputs", "tool_code", "function_call"),
    *("function_response", "function_result", "function_output", "invoke", "execute_command", "read_file"),
    *("write_to_file", "replace_in_file", "apply_diff", "insert_content", "search_and_replace", "search_files"),
    *("list_files", "list_code_definition_names", "browser_action", "use_mcp_tool", "access_mcp_resource"),
    *("edit_file", "codebase_search", "update_todo_list", "execute_bash", "execute_ipython", "execute_browse"),
    *("keystrokes", "search", "information", "search_query", "search_results", "interpreter"),
)
"""The names of elements that contain calls and results in the answers of agents without a template. An element is
hidden only if it begins a line outside a code fence and is closed."""

MARK_SIGNS = (
    *THINK_SIGNS,
    *(b"<invoke", b"<execute_c", b"<read_file", b"<write_to_", b"<replace_in_", b"<apply_diff", b"<insert_c"),
    *(b"<list_", b"<browser_a", b"<use_mcp_", b"<access_mcp_", b"<edit_file", b"<codebase_", b"<update_t"),
    *(b"<system-r", b"<system_r", b"<environment_", b"<user_inst", b"<user-prompt-", b"<local-comm", b"<task-not"),
    *(b"<teammate-", b"<subagent_not", b"<codex_int", b"<session_cont", b"<info-msg", b"<system_n", b"<system-n"),
    *(b"<qwen:user-", b"<hook_cont", b"<editorcont", b"<reminderinst", b"<workspace_i", b"<additional_m"),
    *(b"<user_settings", b"<extra_info", b"<runtime_inf", b"<repository_in", b"<attached_fi", b"<manually_a"),
    *(b"<open_and_rec", b"<cursor_rules", b"<explicit_ins", b"<state_snap", b"<turn_abort", b"<command-"),
    *(b"<bash-std", b"<ide_sel", b"<ide_open", b"<ide_diag", b"<new-diag", b"<post-tool", b"<execute_b"),
    *(b"<execute_i", b"<keystrokes", b"<search", b"<information", b"<interpreter"),
    *(
        b"<steptml:",
        b"</steptml:",
        b"<start_function_",
        b"<end_function_",
        b"<toolcall>",
        b"</toolcall>",
        b"<details",
        b"</details",
        b"<unused",
        b"[unused",
        b"<special_",
        b"<reserved",
        b"<extra_id_",
        b"[end_tool_",
        b"```json",
        b"```mswea",
        b"```tool_",
        b"[{",
    ),
    *(b"<|", b"<tool_", b"</tool_", b"<func", b"</func", b"<minimax:", b"</minimax:"),
    *("<｜".encode(), "</｜".encode(), b"<channel", b"[TOOL_", b"[/TOOL_"),
)
"""Signs of marks: every mark contains one of these, ignoring case."""
_BAR, _LONGEST_SIGN = b"<|", 6
TEXT_SIGNS = (
    *(sign for sign in MARK_SIGNS if sign != _BAR),
    *sorted({one[:_LONGEST_SIGN].lower() for one in (*_SPELLINGS, b"<|channel|>") if one.startswith(_BAR)}),
)
"""Signs for text outside JSON: every mark and every embedded turn contains one of these, ignoring case. They do not
include `<|`, because it is part of many other tokens in code."""
TOKEN_SIGNS = (
    b"<turn",
    b"<s>",
    b"</s>",
    b"<start_of",
    b"<end_of",
    b"[INST",
    b"[/INST",
    b"[SYS",
    b"[/SYS",
    b"[AVAIL",
    b"[/AVAIL",
    b"[MODEL_",
    b"[/MODEL_",
    b"[gM",
    b"[e~[",
    b"]~b]",
)
"""Signs of frame tokens: every token of a chat template that is not a mark contains one of these."""
_SIGNS = (*MARK_SIGNS, *TOKEN_SIGNS)
MAY_BE_MARK = lazy_literals(lambda: any_of(_SIGNS), _SIGNS)
"""A pattern that matches every body that may have hidden parts, except stripped turns. It is used by prefilters."""


def searches(spellings: Iterable[bytes]) -> dict[bytes, re.Pattern[bytes]]:
    """Return patterns that together match where one of these spellings begins, ignoring case.

    There is one pattern for each first byte, because the engine searches for a single byte ten times faster than for a
    set of bytes."""
    rests: dict[bytes, set[bytes]] = {}
    for spelling in spellings:
        rests.setdefault(spelling[:1].lower(), set()).add(spelling[1:].lower())
    return {
        first: lazy_regex(re.escape(first) + b"(?:" + b"|".join(map(re.escape, sorted(rest))) + b")", re.IGNORECASE)
        for first, rest in rests.items()
    }


class Mark(Struct, frozen=True):
    """One mark in a body."""

    start: int
    end: int
    opens: MarkPair | None
    closes: tuple[MarkPair, ...]
    """The pairs that the mark closes. Pairs may share a closing mark."""
    nests: tuple[MarkPair, ...] = ()
    """The pairs with an open block that this mark nests one level deeper."""


def _roles() -> dict[bytes, tuple[MarkPair | None, tuple[MarkPair, ...]]]:
    opened = {spelling.encode(): pair for pair in _SPELLED for spelling in pair.opens}
    closed: dict[bytes, list[MarkPair]] = {}
    for pair in _SPELLED:
        for spelling in pair.closes:
            closed.setdefault(spelling.encode(), []).append(pair)
    return {spelling: (opened.get(spelling), tuple(closed.get(spelling, ()))) for spelling in _SPELLINGS}


_ROLES = _roles()


def read_mark(found: re.Match[bytes]) -> Mark:
    """Return the mark that the pattern `MARK` matched."""
    return mark_of(found[0], found.span())


def mark_of(text: bytes, span: Span) -> Mark:
    """Return the mark with this spelling at this offset."""
    known = _ROLES.get(text)
    if known is not None:
        opens, closes = known
        return Mark(*span, opens, closes, (opens,) if opens else ())
    name = text.lower()
    if name.startswith(b"</details"):
        return Mark(*span, None, _FOLD_PAIRS)
    if name.startswith(b"<details"):
        thought, call = _FOLD_PAIRS
        is_plain = len(name) == len(b"<details") + 1
        is_call = len(name) > len(b"<details") + 1
        return Mark(*span, None if is_plain else call if is_call else thought, (), _FOLD_PAIRS)
    think = MARK_PAIRS[0]
    return Mark(*span, None, (think,)) if name.startswith(b"</") else Mark(*span, think, (), (think,))


def is_fold(mark: Mark) -> bool:
    """True for a tag of a folded element."""
    return _FOLD_PAIRS in (mark.closes, mark.nests)


def begun(data: bytes) -> int:
    """Return the number of bytes at the end that may begin a mark."""
    folded = data[-LONGEST_FOLD:].lower()
    at = folded.rfind(b"<details")
    if at >= 0 and _UNDECIDED.fullmatch(folded, at):
        return len(folded) - at
    tail = data[-_LONGEST_BEGINNING:]
    for at, first in enumerate(tail):
        if first in _FIRST_BYTES and (tail[at:] in _beginnings() or tail[at:].lower() in _beginnings()):
            return len(tail) - at
    return 0
