"""Token usage as providers report it: the names of the numbers, and what each of them contains."""

from __future__ import annotations

from viewer.formats.tables.model import Counting, Tokens, When, is_


def anthropic(
    at: str, *, each: str = "", key: str = "", when: tuple[When, ...] = (), counts: Counting = Counting.LAST
) -> Tokens:
    """Input tokens exclude those of the cache."""
    return Tokens(
        at,
        input=(
            "input_tokens|inputTokens",
            "cache_creation_input_tokens|cacheWriteInputTokens",
            "cache_read_input_tokens|cacheReadInputTokens",
        ),
        output=("output_tokens|outputTokens",),
        cached=("cache_read_input_tokens|cacheReadInputTokens",),
        each=each,
        key=key,
        when=when,
        counts=counts,
    )


def openai(
    at: str, *, each: str = "", key: str = "", when: tuple[When, ...] = (), counts: Counting = Counting.EACH
) -> Tokens:
    """The tokens of Responses, chat completions, and Codex; input tokens include those of the cache."""
    return Tokens(
        at,
        input=("input_tokens|prompt_tokens",),
        output=("output_tokens|completion_tokens",),
        cached=(
            "cached_input_tokens|input_tokens_details.cached_tokens|prompt_tokens_details.cached_tokens|cached_tokens",
        ),
        reasoning=(
            "reasoning_output_tokens|output_tokens_details.reasoning_tokens|completion_tokens_details.reasoning_tokens",
        ),
        total=("total_tokens",),
        each=each,
        key=key,
        when=when,
        counts=counts,
    )


def gemini(at: str, *, each: str = "", key: str = "") -> Tokens:
    """Thoughts are not among the candidates. Each chunk of a reply repeats the numbers so far."""
    return Tokens(
        at,
        input=("promptTokenCount", "toolUsePromptTokenCount"),
        output=("candidatesTokenCount", "thoughtsTokenCount"),
        cached=("cachedContentTokenCount",),
        reasoning=("thoughtsTokenCount",),
        total=("totalTokenCount",),
        each=each,
        key=key,
        counts=Counting.LAST,
    )


def gemini_cli(each: str) -> Tokens:
    """The tokens of Gemini CLI, in records whose ids may repeat."""
    return Tokens(
        "tokens",
        input=("input", "tool"),
        output=("output", "thoughts"),
        cached=("cached",),
        reasoning=("thoughts",),
        total=("total",),
        each=each,
        key="id",
        counts=Counting.LAST,
    )


def opencode(
    at: str, *, each: str = "", key: str = "", when: tuple[When, ...] = (), counts: Counting = Counting.LAST
) -> Tokens:
    """The tokens of OpenCode. Those of the cache and of reasoning are not among the others."""
    return Tokens(
        at,
        input=("input", "cache.read", "cache.write"),
        output=("output", "reasoning"),
        cached=("cache.read",),
        reasoning=("reasoning",),
        each=each,
        key=key,
        when=when,
        counts=counts,
    )


EVENT_TOKENS = openai("response.usage|usage", key="response.id|id", counts=Counting.LAST)
"""The tokens of a stream: its chunks may repeat the numbers so far."""
OLLAMA_TOKENS = Tokens("", input=("prompt_eval_count",), output=("eval_count",))
_ASKED_MODEL = When("attributes.gen_ai.operation.name", not_equals=frozenset({"invoke_agent", "create_agent"}))
OTEL_TOKENS = (
    Tokens(
        "attributes.gen_ai.usage",
        input=("input_tokens|prompt_tokens",),
        output=("output_tokens|completion_tokens",),
        cached=("cache_read.input_tokens|input_tokens.cached|details.cached_tokens",),
        reasoning=("reasoning.output_tokens|details.reasoning_tokens",),
        total=("total_tokens",),
        when=(_ASKED_MODEL,),
    ),
    Tokens(
        "attributes.llm.token_count",
        input=("prompt",),
        output=("completion",),
        cached=("prompt_details.cache_read",),
        reasoning=("completion_details.reasoning",),
        total=("total",),
        when=(When("attributes.gen_ai.usage", present=False),),
    ),
)
INSPECT_TOKENS = Tokens(
    "model_usage.*",
    input=("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write"),
    output=("output_tokens",),
    cached=("input_tokens_cache_read",),
    reasoning=("reasoning_tokens",),
    total=("total_tokens",),
    each="samples[]",
)
ATIF_TOKENS = (
    Tokens("metrics", ("prompt_tokens",), ("completion_tokens",), ("cached_tokens",), each="steps[]"),
    Tokens(
        "final_metrics",
        ("total_prompt_tokens",),
        ("total_completion_tokens",),
        ("total_cached_tokens",),
        counts=Counting.TOTAL,
    ),
)
LANGFUSE_TOKENS = Tokens(
    "usage",
    input=("input|promptTokens|prompt_tokens",),
    output=("output|completionTokens|completion_tokens",),
    total=("total|totalTokens|total_tokens",),
    when=(is_("type", "GENERATION"),),
)
KIMI_TOKENS = Tokens(
    "payload.token_usage|message.payload.token_usage|usage",
    input=("input_other|input", "input_cache_read", "input_cache_creation"),
    output=("output",),
    cached=("input_cache_read",),
)
COPILOT_TOKENS = Tokens(
    "data",
    input=("inputTokens",),
    output=("outputTokens",),
    cached=("cacheReadTokens",),
    when=(is_("type", "assistant.usage"),),
)
