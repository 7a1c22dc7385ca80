"""Token usage as providers report it: the names of the numbers, and what each number includes."""

from __future__ import annotations

from viewer.formats.tables.model import Counting, Tokens, When, is_


def anthropic(
    at: str, *, each: str = "", key: str = "", when: tuple[When, ...] = (), counts: Counting = Counting.LAST
) -> Tokens:
    """Return the rule for the token usage of Anthropic. Input tokens exclude cached ones."""
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
    """Return the rule for the token usage of Responses, chat completions, and Codex. Input tokens include cached
    ones."""
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
    """Return the rule for the token usage of Gemini. Output tokens exclude thoughts, and each chunk of a reply repeats
    the numbers so far."""
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
    """Return the rule for the token usage of Gemini CLI. If records have the same ID, only the last one counts."""
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
    """Return the rule for the token usage of OpenCode. Input and output exclude cached and reasoning tokens."""
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
"""The usage of a stream, whose chunks may repeat the numbers so far."""
COMPLETION_TOKENS = (
    openai("usage|response.usage|response.body.usage", key="id", counts=Counting.LAST),
    Tokens("", input=("tokens_evaluated",), output=("tokens_predicted",), when=(When("stop", true=True),)),
)
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
PYDANTIC_AI_TOKENS = tuple(
    Tokens(
        "usage",
        input=("input_tokens|request_tokens",),
        output=("output_tokens|response_tokens",),
        cached=("cache_read_tokens",),
        reasoning=("details.reasoning_tokens",),
        when=(is_("kind", "response"),),
        each=each,
    )
    for each in ("", "messages[]|all_messages[]|new_messages[]|message_history[]")
)
AI_SDK_TOKENS = tuple(
    Tokens(
        at,
        input=("inputTokens|promptTokens",),
        output=("outputTokens|completionTokens",),
        cached=("cachedInputTokens",),
        reasoning=("reasoningTokens",),
        total=("totalTokens",),
        each=each,
    )
    for at, each in (("metadata.usage|messageMetadata.usage", ""), ("metadata.usage", "messages[]"))
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
MESSAGE_TOKENS = (openai("usage|response.usage|response.body.usage|response_obj.usage"),)
"""The usage of chat completions, in the response or next to a request and its response."""
CLINE_TOKENS = Tokens(
    "text",
    input=("tokensIn", "cacheWrites", "cacheReads"),
    output=("tokensOut",),
    cached=("cacheReads",),
    when=(is_("say", "api_req_started"),),
)
GOOSE_TOKENS = Tokens(
    "",
    input=("accumulated_input_tokens|input_tokens",),
    output=("accumulated_output_tokens|output_tokens",),
    total=("accumulated_total_tokens|total_tokens",),
    when=(When("working_dir", present=True),),
    counts=Counting.TOTAL,
)
OPENHANDS_TOKENS = tuple(
    Tokens(
        at,
        input=("prompt_tokens",),
        output=("completion_tokens",),
        cached=("cache_read_tokens",),
        reasoning=("reasoning_tokens",),
        each=each,
        counts=Counting.COUNTER,
    )
    for at, each in (
        ("llm_metrics.accumulated_token_usage", ""),
        ("llm_metrics.accumulated_token_usage", "history[]"),
        ("value.usage_to_metrics.agent.accumulated_token_usage", ""),
        ("value.stats.usage_to_metrics.agent.accumulated_token_usage", ""),
    )
)
"""The usage of OpenHands, which consists of session counters."""
MLFLOW_TOKENS = openai("attributes.mlflow.chat.tokenUsage|attributes.mlflow.spanOutputs.usage")
_OF_MODEL = is_("run_type", "llm", "chat")
LANGSMITH_TOKENS = (
    Tokens("", ("prompt_tokens",), ("completion_tokens",), total=("total_tokens",), when=(_OF_MODEL,)),
    *(
        Tokens(
            at,
            input=("input_tokens",),
            output=("output_tokens",),
            cached=("input_token_details.cache_read",),
            reasoning=("output_token_details.reasoning",),
            total=("total_tokens",),
            when=(_OF_MODEL, When("total_tokens|prompt_tokens", present=False)),
        )
        for at in (
            "outputs.usage_metadata|outputs.generations[0][0].message.kwargs.usage_metadata"
            "|outputs.generations[0][0].message.usage_metadata|outputs.generations[0].message.kwargs.usage_metadata",
        )
    ),
)
