"""`FORMATS`, the table of all formats that can be read, and `WRITERS`, the table of those that can be written."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from viewer.formats.detect import Detection, detect
from viewer.formats.registry import Entry, LazyRegistry
from viewer.formats.writing import Writer
from viewer.plugged import PLUGGED
from viewer.reading.format import FormatTraits

if TYPE_CHECKING:
    from viewer.formats.tables.model import RecordFormat

__all__ = ["FORMATS", "WRITERS", "Detection", "Writer", "body_of_ids", "detect"]

RECORD_FORMATS = (
    Entry("inspect", "tables.inspect", "INSPECT", "Inspect evaluation log"),
    Entry("atif", "tables.atif", "ATIF", "Agent trajectory (ATIF)"),
    Entry("otel", "tables.otel", "OTEL", "OpenTelemetry traces"),
    Entry("jsonrpc", "tables.jsonrpc", "JSONRPC", "JSON-RPC log (ACP, MCP, A2A)"),
    Entry("codex", "tables.codex", "CODEX", "Codex session"),
    Entry("codex-exec", "tables.codex_exec", "CODEX_EXEC", "Codex exec output"),
    Entry("qwen-code", "tables.qwen_code", "QWEN_CODE", "Qwen Code session"),
    Entry("claude-code", "tables.claude_code", "CLAUDE_CODE", "Claude Code session"),
    Entry("claude-stream", "tables.claude_stream", "CLAUDE_STREAM", "Claude Code output"),
    Entry("anthropic-stream", "tables.anthropic_stream", "ANTHROPIC_STREAM", "Anthropic Messages stream"),
    Entry("responses", "tables.responses", "RESPONSES", "OpenAI Responses"),
    Entry("responses-stream", "tables.responses_stream", "RESPONSES_STREAM", "OpenAI Responses stream"),
    Entry("threads", "tables.threads", "THREADS", "OpenAI Assistants thread"),
    Entry("anthropic", "tables.anthropic", "ANTHROPIC", "Anthropic Messages"),
    Entry("bedrock", "tables.bedrock", "BEDROCK", "Bedrock invocation log"),
    Entry("ollama", "tables.ollama", "OLLAMA", "Ollama"),
    Entry("tap", "tables.tap", "TAP", "Log of ocmlview tap"),
    Entry("completions", "tables.completions", "COMPLETIONS", "Text completions"),
    Entry("rows", "tables.rows", "ROWS", "Training rows"),
    Entry("oasst", "tables.oasst", "OASST", "OpenAssistant messages"),
    Entry("gemini-cli", "tables.gemini_cli", "GEMINI_CLI", "Gemini CLI session"),
    Entry("adk", "tables.adk", "ADK", "ADK session"),
    Entry("gemini", "tables.gemini", "GEMINI", "Gemini API"),
    Entry("gemini-live", "tables.gemini_live", "GEMINI_LIVE", "Gemini Live session"),
    Entry("interactions", "tables.interactions", "INTERACTIONS", "Gemini Interactions API"),
    Entry("opencode", "tables.opencode", "OPENCODE", "OpenCode session"),
    Entry("openhands", "tables.openhands", "OPENHANDS", "OpenHands conversation"),
    Entry("cursor", "tables.cursor", "CURSOR", "Cursor agent transcript"),
    Entry("cursor-chats", "tables.cursor_chats", "CURSOR_CHATS", "Cursor chats"),
    Entry("copilot-cli", "tables.copilot_cli", "COPILOT_CLI", "Copilot CLI session"),
    Entry("chat-replay", "tables.chat_replay", "CHAT_REPLAY", "VS Code chat replay"),
    Entry("kimi", "tables.kimi", "KIMI", "Kimi session"),
    Entry("swe-agent", "tables.swe_agent", "SWE_AGENT", "SWE-agent trajectory"),
    Entry("cline", "tables.cline", "CLINE", "Cline task"),
    Entry("goose", "tables.goose", "GOOSE", "Goose session"),
    Entry("cohere-chat", "tables.cohere_chat", "COHERE_CHAT", "Cohere chat API"),
    Entry("pi", "tables.pi", "PI", "Pi session"),
    Entry("droid", "tables.droid", "DROID", "Droid session"),
    Entry("continue", "tables.continue_dev", "CONTINUE", "Continue session"),
    Entry("amazon-q", "tables.amazon_q", "AMAZON_Q", "Amazon Q and Kiro conversation"),
    Entry("antigravity", "tables.antigravity", "ANTIGRAVITY", "Antigravity transcript"),
    Entry("agents-state", "tables.agents_state", "AGENTS_STATE", "OpenAI Agents run state"),
    Entry("agents-trace", "tables.agents_trace", "AGENTS_TRACE", "OpenAI Agents trace"),
    Entry("agent-framework", "tables.agent_framework", "AGENT_FRAMEWORK", "Microsoft Agent Framework messages"),
    Entry("agno", "tables.agno", "AGNO", "Agno session"),
    Entry("langfuse", "tables.langfuse", "LANGFUSE", "Langfuse traces"),
    Entry("langsmith", "tables.langsmith", "LANGSMITH", "LangSmith runs"),
    Entry("mlflow", "tables.mlflow", "MLFLOW", "MLflow traces"),
    Entry("braintrust", "tables.braintrust", "BRAINTRUST", "Braintrust logs"),
    Entry("opik", "tables.opik", "OPIK", "Opik traces"),
    Entry("pydantic-ai", "tables.pydantic_ai", "PYDANTIC_AI", "Pydantic AI messages"),
    Entry("ai-sdk", "tables.ai_sdk", "AI_SDK", "Vercel AI SDK messages"),
    Entry("ag-ui", "tables.ag_ui", "AG_UI", "AG-UI events"),
    Entry("chatgpt", "tables.chatgpt", "CHATGPT", "ChatGPT data export"),
    Entry("claude-ai", "tables.claude_ai", "CLAUDE_AI", "Claude.ai data export"),
    Entry("open-webui", "tables.open_webui", "OPEN_WEBUI", "Open WebUI chat export"),
    Entry("librechat", "tables.librechat", "LIBRECHAT", "LibreChat conversation"),
    Entry("sillytavern", "tables.sillytavern", "SILLYTAVERN", "SillyTavern chat"),
    Entry("grok", "tables.grok", "GROK", "Grok data export, Grok Build"),
    Entry("zed", "tables.zed", "ZED", "Zed thread"),
    Entry("crush", "tables.crush", "CRUSH", "Crush session"),
    Entry("tau2", "tables.tau2", "TAU2", "tau2-bench results"),
    Entry("lm-eval", "tables.lm_eval", "LM_EVAL", "lm-evaluation-harness samples"),
    Entry("smolagents", "tables.smolagents", "SMOLAGENTS", "smolagents run"),
    Entry("letta", "tables.letta", "LETTA", "Letta messages"),
    Entry("strands", "tables.strands", "STRANDS", "Strands Agents session"),
    Entry("semantic-kernel", "tables.semantic_kernel", "SEMANTIC_KERNEL", "Semantic Kernel chat history"),
    Entry("har", "tables.har", "HAR", "HAR file"),
    Entry("autogen", "tables.autogen", "AUTOGEN", "AutoGen state"),
    Entry("deepeval", "tables.deepeval", "DEEPEVAL", "DeepEval test run"),
    Entry("chat-history", "tables.chat_history", "CHAT_HISTORY", "Chat history"),
    Entry("chat-apps", "tables.chat_apps", "CHAT_APPS", "Chat app"),
    Entry("call-log", "tables.call_log", "CALL_LOG", "Model call log"),
    Entry("garak", "tables.garak", "GARAK", "garak report"),
    Entry("promptfoo", "tables.promptfoo", "PROMPTFOO", "promptfoo results"),
)
"""The formats that are defined by tables, in the order of detection."""

TEMPLATE_FORMATS = tuple(
    Entry(name, "text.template_reader", name.upper().replace("-", "_"), title, marks)
    for name, title, marks in (
        ("chatml", "ChatML template", "<|im_start|> with tool or thought marks"),
        ("llama3", "Llama 3 template", "<|start_header_id|>"),
        ("deepseek", "DeepSeek template", "<｜User｜>, <｜begin▁of▁sentence｜>"),
        ("gemma", "Gemma template", "<start_of_turn>, <|turn>"),
        ("glm", "GLM template", "[gMASK], <|user|> with <|observation|>"),
        ("phi", "Phi template", "<|user|> with <|end|>"),
        ("cohere", "Cohere template", "<|START_OF_TURN_TOKEN|>"),
        ("mistral", "Mistral template", "[INST], [SYSTEM_PROMPT]"),
        ("kimi-text", "Kimi template", "<|im_user|>, <|im_system|>"),
        ("minimax", "MiniMax template", "]~b]"),
        ("granite", "Granite template", "<|start_of_role|> at the start"),
        ("zephyr", "Zephyr and OLMo template", "<|user|> or <|system|> at the start, with </s> or <|assistant|>"),
        ("openchat", "OpenChat template", "GPT4 Correct User: at the start or after <|end_of_turn|>"),
        ("exaone", "EXAONE template", "[|system|], [|user|] at the start"),
        ("ling", "Ling template", "<role>HUMAN</role>, <role>SYSTEM</role> at the start"),
        ("hunyuan", "Hunyuan template", "<｜hy_User｜>, <｜hy_begin▁of▁sentence｜> at the start"),
        ("hunyuan-moe", "Hunyuan A13B template", "<|startoftext|> at the start, with <|extra_0|>"),
        ("minicpm", "MiniCPM template", "<用户> at the start, with <AI>"),
        ("gigachat", "GigaChat template", "user<|role_sep|> at the start or after <|message_sep|>"),
        ("megrez", "Megrez template", "<|role_start|> at the start"),
        ("dots", "dots.llm1 template", "<|userprompt|> at the start or after <|endofsystem|>"),
        ("baichuan", "Baichuan template", "<reserved_106>, <C_Q>, <B_SYS> at the start"),
        ("apertus", "Apertus and nanochat template", "<|system_start|>, <|user_start|> at the start"),
        ("seed-oss", "Seed-OSS template", "<seed:bos> at the start"),
        ("solar", "Solar Open template", "<|begin|>user<|content|>, <|begin|>system<|content|> at the start"),
        ("jamba", "Jamba template", "<|bom|> at the start"),
        ("nemotron", "Nemotron Nano 2 template", "<SPECIAL_10>System, <extra_id_0>System at the start"),
        ("kimi-k3", "Kimi K3 template", "<|open|>message role=… at the start"),
        ("internlm", "InternLM template", "<|User|>: or <|System|>: at the start, with <|Bot|>:"),
    )
)
"""The chat templates. One reader reads all of them."""

SERVER_LOG = Entry(
    "server-log",
    "server.reader",
    "SERVER_LOG",
    "Model server log",
    "Received request, Generated response, llm.prediction.input, id_task with prompt",
)


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def record_formats() -> list[RecordFormat]:
    """Return the tables of all record formats."""
    return [getattr(import_module(f"viewer.formats.{row.module}"), row.attribute) for row in RECORD_FORMATS]


def _traits(value: Any) -> FormatTraits:
    """Return the traits of a format. For a record format, derive them from its table."""
    if isinstance(value, FormatTraits):
        return value
    from viewer.formats.opening import traits  # lazy: most inputs need no table

    return traits(value)


FORMATS: LazyRegistry[FormatTraits] = LazyRegistry(
    Entry(
        "openchatml-2.2",
        "text.openchatml",
        "OPENCHATML_2_2",
        "OpenChatML 2.2",
        "a document header with version 2.2, or call_id=, name=, intent=, the tool role, or <|literal|>",
    ),
    Entry(
        "openchatml-2.0", "text.openchatml", "OPENCHATML_2_0", "OpenChatML 2.0", "a document header with version 2.0"
    ),
    Entry(
        "openchatml-1.x",
        "text.openchatml",
        "OPENCHATML_1_X",
        "OpenChatML 1.x",
        "<|start|>assistant and no channels at all",
    ),
    Entry(
        "openchatml-0.1",
        "openchatml_0_1.reader",
        "OPENCHATML_0_1",
        "OpenChatML 0.1",
        "<|im_start|>, [BOS], <|fim_...|>, <|file_separator|>",
    ),
    Entry(
        "harmony",
        "text.harmony",
        "HARMONY",
        "Harmony",
        "<|start|>, <|channel|> or <|message|> without a document header",
    ),
    Entry(
        "harmony-tokens",
        "tokens.reader",
        "HARMONY_TOKENS",
        "Harmony token IDs",
        "an array of integers, or lines of integers",
    ),
    Entry("chatml-json", "json.chatml", "CHATML_JSON", "ChatML JSON", 'an array of strings and {"token": ...} objects'),
    Entry(
        "json",
        "tables.messages",
        "JSON",
        "JSON messages",
        "one or more objects with role or messages, possibly one per line",
    ),
    Entry(
        "events",
        "tables.events",
        "EVENTS",
        "Event stream",
        "objects with type or event response.*, server-sent events, completion chunks",
    ),
    *TEMPLATE_FORMATS,
    SERVER_LOG,
    *RECORD_FORMATS,
    Entry(
        "vicuna",
        "text.labeled_turns",
        "VICUNA",
        "Vicuna prompt",
        "USER: and ASSISTANT: with </s> or <|endoftext|> after answers",
    ),
    Entry(
        "alpaca",
        "text.labeled_turns",
        "ALPACA",
        "Alpaca prompt",
        "### Instruction: at the start, and ### Response:",
    ),
    Entry("ernie", "text.labeled_turns", "ERNIE", "ERNIE template", "<|begin_of_sentence|> at the start, with User:"),
    Entry("aider", "text.aider", "AIDER", "Aider chat history", "lines that begin with # aider chat started at"),
    Entry(
        "chat-markdown",
        "text.chat_markdown",
        "CHAT_MARKDOWN",
        "ChatGPT chat in Markdown",
        "speaker headings: #### You: and #### ChatGPT:, or ## Prompt: and ## Response:",
    ),
    Entry(
        "specstory",
        "text.specstory",
        "SPECSTORY",
        "SpecStory history",
        "a first line that begins with <!-- Generated by SpecStory, or ## SpecStory",
    ),
    convert=_traits,
    more=lambda name: PLUGGED.table(name),
)
BUILT_IN = frozenset(FORMATS)
"""The names that plug-ins cannot use."""

WRITERS: LazyRegistry[Writer] = LazyRegistry(
    Entry("openchatml-2.2", "text.writer", "WRITE_2_2", ending=".ocml"),
    Entry("openchatml-2.0", "text.writer", "WRITE_2_0", ending=".ocml"),
    Entry("openchatml-0.1", "openchatml_0_1.writer", "WRITE_0_1", ending=".ocml"),
    Entry("harmony", "text.writer", "WRITE_HARMONY", ending=".harmony"),
    Entry("chatml-json", "json.chatml_writer", "WRITE_CHATML_JSON", ending=".json"),
    Entry("json", "json.writer", "WRITE_JSON", ending=".json"),
    Entry("atif", "json.atif_writer", "WRITE_ATIF", ending=".json"),
)


def body_of_ids(data: bytes) -> str:
    """Return the text of a body that is a list of token IDs."""
    from viewer.formats.tokens.reader import body_of_ids as spelled_out

    return spelled_out(data)
