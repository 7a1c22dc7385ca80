"""The chat templates as data: their frames, roles, and text whose kind is known only at the end of a frame.

One reader, `template_reader.py`, reads all of them. The marks for thoughts, calls, and replies inside a body are the
same for every template: see `viewer/reading/template_marks.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct, field

from viewer.formats.text import template_texts as texts
from viewer.reading.embedded_turn import NEUTRAL


class Speaker(Enum):
    """Whose text a frame contains. The value is the role of the frame's messages."""

    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


Split = Callable[[bytes], list[texts.Run]]
"""A function that splits the text of a frame. It returns kinds and offsets, never text."""


class Held(Struct, frozen=True):
    """Text that is hidden until its frame ends, because its kind is unknown until then."""

    may_be: Callable[[bytes], bool]
    """True as long as the text may be more than plain words."""
    split: Split
    """Splits the text into runs."""


COMMON_ROLES: Mapping[str, Speaker] = {speaker.value: speaker for speaker in Speaker}


class Template(Struct, frozen=True):
    """The frames of one chat template. Marks match exactly."""

    name: str
    starts: Mapping[str, Speaker | None]
    """The marks that begin a frame, each with its speaker; None if the words of the header name the role."""
    ends: tuple[str, ...] = ()
    header_ends: tuple[str, ...] = ()
    """The marks after the words of a header."""
    header_stops: tuple[str, ...] = ()
    """The marks that end a header and begin the text."""
    begins_with_header: bool = False
    """True if the input begins with the words of a header, without a start mark. The words are then the name of a role,
    or the system text if no mark ends the header."""
    layout: tuple[str, ...] = ()
    """Marks that belong to no frame and no text."""
    around_answers: tuple[str, ...] = ()
    """The marks around the text of an answer. They are text in all other frames."""
    roles: Mapping[str, Speaker] = field(default_factory=lambda: COMMON_ROLES)
    has_attributes: bool = False
    """True if the words of a header are attributes, one of which names the role: `role="tool" tool="rain"`."""
    has_controls: bool = False
    """True if a header may contain a JSON object after its role. It is no part of the text."""
    names_tools: bool = False
    """True if header words that are not a role name the tool that replies."""
    open_ended: frozenset[Speaker | None] = frozenset()
    """The speakers whose frames end where the next frame begins; None for unknown speakers."""
    both: frozenset[str] = frozenset()
    """The start marks that also end the previous frame, whichever it is. Those that are also in `ends` close its
    blocks, too."""
    call_roles: frozenset[str] = frozenset()
    """The roles whose frames contain calls and no text."""
    asked_before: Mapping[str, str] = field(default_factory=dict)
    """The start marks of frames with system text that contain a question instead if this mark follows. Their text is
    hidden until then."""
    between: Held | None = None
    """How text after the end of a frame is split. If it is given, such text begins a frame of the user."""
    begins_with: Speaker | None = None
    """The speaker of the text before the first mark; None if no message is expected there."""
    replies_outside: bool = False
    """True if a reply may come between two frames. The text after it is then an answer."""
    unknown: str = rf"<\|(?!{NEUTRAL}\|>)[A-Za-z][A-Za-z0-9_-]{{1,40}}\|>"
    """A pattern for marks that begin the frame of a speaker that the template does not have. Its text is hidden.
    Matches have at most 64 bytes."""
    bracketed: str = ""
    """The same pattern for marks in square brackets, if the template has such marks."""
    unknown_in: frozenset[Speaker | None] = frozenset({Speaker.ASSISTANT})
    """The speakers in whose frames these marks are not text."""
    unknown_in_answers: str = ""
    """A pattern for further such marks, which are text in all frames but answers."""
    lookalikes: tuple[str, ...] = ()
    """Text that looks like a mark of the template."""
    held: Mapping[Speaker, Held] = field(default_factory=dict)
    after_calls: Mapping[str, Held] = field(default_factory=dict)
    """How the text after a block with calls is split, by the name of its marks."""
    replies: Split = texts.replies_as_json
    """The function that splits the frame of a tool."""


_ALL = frozenset((*Speaker, None))
_ANSWER = ("<answer>", "</answer>")

CHATML = Template(
    "chatml",
    starts={"<|im_start|>": None},
    ends=("<|im_end|>",),
    header_ends=("\n", "<|im_sep|>"),
    layout=("<|endoftext|>",),
    roles={**COMMON_ROLES, **dict.fromkeys(("function", "ipython", "tool_response", "environment"), Speaker.TOOL)},
    held=dict.fromkeys((Speaker.ASSISTANT, Speaker.USER), Held(texts.may_be_old_part, texts.old_part)),
)
LLAMA3 = Template(
    "llama3",
    starts={"<|start_header_id|>": None, "<|header_start|>": None},
    ends=("<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|end_of_text|>"),
    header_ends=("<|end_header_id|>", "<|header_end|>"),
    layout=("<|begin_of_text|>",),
    roles={**COMMON_ROLES, "ipython": Speaker.TOOL},
    held={
        Speaker.ASSISTANT: Held(texts.may_be_call, texts.whole_call),
        Speaker.USER: Held(texts.may_list_tools, texts.tools_first),
    },
)
DEEPSEEK = Template(
    "deepseek",
    starts={"<｜User｜>": Speaker.USER, "<｜Assistant｜>": Speaker.ASSISTANT},
    ends=("<｜end▁of▁sentence｜>",),
    layout=("<｜begin▁of▁sentence｜>",),
    open_ended=_ALL - {Speaker.ASSISTANT},
    unknown_in=_ALL,
    unknown="<｜(?!tool)[A-Za-z][A-Za-z0-9_ ▁-]{0,30}｜>",
    unknown_in_answers=rf"<\|(?!{NEUTRAL}\|>)[A-Za-z][A-Za-z0-9_-]{{1,40}}\|>",
    begins_with=Speaker.SYSTEM,
    replies_outside=True,
    lookalikes=("<|User|>", "<|Assistant|>", "<|tool_calls_begin|>", "<|tool_outputs_begin|>"),
)
GEMMA = Template(
    "gemma",
    starts={"<start_of_turn>": None, "<|turn>": None},
    ends=("<end_of_turn>", "<turn|>"),
    header_ends=("\n",),
    layout=("<bos>", "<eos>"),
    roles={**COMMON_ROLES, "model": Speaker.ASSISTANT},
    open_ended=frozenset({Speaker.ASSISTANT}),
    held={Speaker.USER: Held(texts.may_be_fenced_reply, texts.fenced_reply)},
)
GLM = Template(
    "glm",
    starts={
        "<|system|>": Speaker.SYSTEM,
        "<|user|>": Speaker.USER,
        "<|assistant|>": Speaker.ASSISTANT,
        "<|observation|>": Speaker.TOOL,
    },
    ends=("<|endoftext|>",),
    layout=("[gMASK]", "<sop>"),
    open_ended=_ALL,
    unknown_in=_ALL,
    unknown=r"<\|(?!(?:begin|end)_of_|image\||video\||audio\|)[^<>|\s][^<>|\r\n]{0,40}\|>",
    held={Speaker.ASSISTANT: Held(texts.may_be_named_call, texts.named_call)},
)
PHI = Template(
    "phi",
    starts={
        "<|system|>": Speaker.SYSTEM,
        "<|user|>": Speaker.USER,
        "<|assistant|>": Speaker.ASSISTANT,
        "<|tool_response|>": Speaker.TOOL,
    },
    ends=("<|end|>", "<|/tool_response|>"),
    layout=("<|endoftext|>",),
)
COHERE = Template(
    "cohere",
    starts={
        "<|SYSTEM_TOKEN|>": Speaker.SYSTEM,
        "<|USER_TOKEN|>": Speaker.USER,
        "<|CHATBOT_TOKEN|>": Speaker.ASSISTANT,
    },
    ends=("<|END_OF_TURN_TOKEN|>",),
    layout=(
        *("<BOS_TOKEN>", "<EOS_TOKEN>", "<|START_OF_TURN_TOKEN|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>"),
        *("<|START_TEXT|>", "<|END_TEXT|>"),
    ),
    held={Speaker.ASSISTANT: Held(texts.may_be_action, texts.action)},
)
MISTRAL = Template(
    "mistral",
    starts={
        "[INST]": Speaker.USER,
        "[/INST]": Speaker.ASSISTANT,
        "[SYSTEM_PROMPT]": Speaker.SYSTEM,
        "[AVAILABLE_TOOLS]": Speaker.SYSTEM,
        "[MODEL_SETTINGS]": Speaker.SYSTEM,
        "<<SYS>>": Speaker.SYSTEM,
        "<</SYS>>": Speaker.USER,
    },
    ends=("</s>", "[/SYSTEM_PROMPT]", "[/AVAILABLE_TOOLS]", "[/MODEL_SETTINGS]"),
    layout=("<s>",),
    open_ended=frozenset({Speaker.USER}),
    both=frozenset({"<<SYS>>", "<</SYS>>"}),
    replies_outside=True,
)
KIMI = Template(
    "kimi-text",
    starts={"<|im_system|>": None, "<|im_user|>": Speaker.USER, "<|im_assistant|>": Speaker.ASSISTANT},
    ends=("<|im_end|>",),
    header_ends=("<|im_middle|>",),
    layout=("[BOS]", "[EOS]", "[EOT]"),
    roles={"system": Speaker.SYSTEM, "tool_declare": Speaker.SYSTEM, "tool": Speaker.TOOL},
    names_tools=True,
    replies=texts.return_of,
)
KIMI_K3 = Template(
    "kimi-k3",
    starts={"<|open|>message": None},
    ends=("<|close|>message<|sep|>",),
    header_ends=("<|sep|>",),
    layout=("<|open|>response<|sep|>", "<|close|>response<|sep|>", "<|end_of_msg|>", "[BOS]", "[EOS]"),
    has_attributes=True,
    replies=texts.whole_reply,
)
MINIMAX = Template(
    "minimax",
    starts={"]~b]": None},
    ends=("[e~[",),
    header_ends=("\n",),
    layout=("]~!b[",),
    roles={**COMMON_ROLES, "ai": Speaker.ASSISTANT},
    replies=texts.responses,
)
GRANITE = Template(
    "granite",
    starts={"<|start_of_role|>": None},
    ends=("<|end_of_text|>",),
    header_ends=("<|end_of_role|>",),
    roles={
        **COMMON_ROLES,
        **dict.fromkeys(("available_tools", "tools", "documents", "document"), Speaker.SYSTEM),
        "assistant_tool_call": Speaker.ASSISTANT,
        "tool_response": Speaker.TOOL,
    },
    has_controls=True,
    unknown=rf"<\|(?!{NEUTRAL}\|>|start_of_cite\|>)[A-Za-z][A-Za-z0-9_-]{{1,40}}\|>",
    held={Speaker.ASSISTANT: Held(texts.may_be_process, texts.process)},
)
ZEPHYR = Template(
    "zephyr",
    starts={
        **{"<|system|>": Speaker.SYSTEM, "<|user|>": Speaker.USER, "<|assistant|>": Speaker.ASSISTANT},
        **{"<|tool|>": Speaker.TOOL, "<|prompt|>": Speaker.USER, "<|answer|>": Speaker.ASSISTANT},
    },
    ends=("</s>", "<|endoftext|>", "<|endofturn|>"),
    open_ended=_ALL,
    unknown_in=_ALL,
)
OPENCHAT = Template(
    "openchat",
    starts={
        f"{model} {role}:": speaker
        for model in ("GPT4 Correct", "GPT4", "GPT3", "Code", "Math Correct")
        for role, speaker in (
            *(("User", Speaker.USER), ("Assistant", Speaker.ASSISTANT), ("System", Speaker.SYSTEM)),
            *(("Tool", Speaker.TOOL), ("Function", Speaker.TOOL)),
        )
    },
    ends=("<|end_of_turn|>",),
    layout=("<s>",),
    open_ended=frozenset({Speaker.SYSTEM}),
    begins_with=Speaker.SYSTEM,
)
EXAONE = Template(
    "exaone",
    starts={
        **{"[|system|]": Speaker.SYSTEM, "[|user|]": Speaker.USER, "[|assistant|]": Speaker.ASSISTANT},
        "[|tool|]": Speaker.TOOL,
    },
    ends=("[|endofturn|]",),
    layout=("[BOS]",),
    open_ended=frozenset({Speaker.USER}),
    unknown_in=_ALL,
    bracketed=r"\[\|[A-Za-z_]{1,40}\|\]",
)
LING = Template(
    "ling",
    starts={"<role>": None},
    ends=("<|role_end|>",),
    header_ends=("</role>",),
    roles={
        **{"SYSTEM": Speaker.SYSTEM, "HUMAN": Speaker.USER, "ASSISTANT": Speaker.ASSISTANT},
        "OBSERVATION": Speaker.TOOL,
    },
    open_ended=_ALL,
)
HUNYUAN = Template(
    "hunyuan",
    starts={"<｜hy_User｜>": Speaker.USER, "<｜hy_Assistant｜>": Speaker.ASSISTANT},
    ends=(
        "<｜hy_place▁holder▁no▁2｜>",
        "<｜hy_place▁holder▁no▁3｜>",
        "<｜hy_place▁holder▁no▁8｜>",
        "<｜hy_end▁of▁sentence｜>",
    ),
    layout=("<｜hy_begin▁of▁sentence｜>",),
    around_answers=_ANSWER,
    open_ended=_ALL - {Speaker.ASSISTANT},
    unknown="<｜(?!tool|hy_place)[A-Za-z][A-Za-z0-9_ ▁-]{0,30}｜>",
    unknown_in_answers=rf"<\|(?!{NEUTRAL}\|>)[A-Za-z][A-Za-z0-9_-]{{1,40}}\|>",
    begins_with=Speaker.SYSTEM,
)
HUNYUAN_MOE = Template(
    "hunyuan-moe",
    starts={"<|startoftext|>": Speaker.SYSTEM, "<|extra_4|>": Speaker.USER, "<|extra_0|>": Speaker.ASSISTANT},
    ends=("<|eos|>",),
    around_answers=_ANSWER,
    open_ended=_ALL - {Speaker.ASSISTANT},
    asked_before={"<|startoftext|>": "<|extra_0|>"},
    between=Held(texts.always, texts.next_question),
    held={
        Speaker.USER: Held(texts.may_be_labeled, texts.labeled),
        Speaker.ASSISTANT: Held(texts.may_be_labeled, texts.labeled),
    },
)
MINICPM = Template(
    "minicpm",
    starts={"<用户>": Speaker.USER, "<AI>": Speaker.ASSISTANT},
    ends=("</s>",),
    layout=("<s>",),
    open_ended=_ALL,
    begins_with=Speaker.SYSTEM,
)
INTERNLM = Template(
    "internlm",
    starts={"<|System|>:": Speaker.SYSTEM, "<|User|>:": Speaker.USER, "<|Bot|>:": Speaker.ASSISTANT},
    ends=("<eoh>", "<eoa>", "<eosys>", "</s>"),
    layout=("<s>",),
    open_ended=_ALL - {Speaker.ASSISTANT},
    unknown_in=_ALL,
    begins_with=Speaker.SYSTEM,
)
GIGACHAT = Template(
    "gigachat",
    starts={"<|message_sep|>": None},
    ends=("<|message_sep|>",),
    header_ends=("<|role_sep|>",),
    begins_with_header=True,
    layout=("<s>",),
    roles={
        **{"system": Speaker.SYSTEM, "user": Speaker.USER, "assistant": Speaker.ASSISTANT},
        **{"developer system": Speaker.DEVELOPER, "function call": Speaker.ASSISTANT, "function result": Speaker.TOOL},
        **dict.fromkeys(("available functions", "function descriptions"), Speaker.SYSTEM),
        **dict.fromkeys(("user memory", "added files"), Speaker.SYSTEM),
    },
    both=frozenset({"<|message_sep|>"}),
    call_roles=frozenset({"function call"}),
)
MEGREZ = Template(
    "megrez",
    starts={"<|role_start|>": None},
    ends=("<|turn_end|>", "<|endoftext|>"),
    header_ends=("<|role_end|>",),
    roles={**COMMON_ROLES, "human": Speaker.USER, "bot": Speaker.ASSISTANT, "function": Speaker.TOOL},
    open_ended=_ALL - {Speaker.ASSISTANT},
)
DOTS = Template(
    "dots",
    starts={"<|system|>": Speaker.SYSTEM, "<|userprompt|>": Speaker.USER, "<|response|>": Speaker.ASSISTANT},
    ends=("<|endofsystem|>", "<|endofuserprompt|>", "<|endofresponse|>"),
    layout=("<|endoftext|>",),
)
BAICHUAN = Template(
    "baichuan",
    starts={
        **dict.fromkeys(("<reserved_102>", "<reserved_106>", "<C_Q>"), Speaker.USER),
        **dict.fromkeys(("<reserved_103>", "<reserved_107>", "<C_A>"), Speaker.ASSISTANT),
        "<B_SYS>": Speaker.SYSTEM,
    },
    ends=("</s>",),
    layout=("<s>",),
    open_ended=_ALL,
    begins_with=Speaker.SYSTEM,
)
APERTUS = Template(
    "apertus",
    starts={
        **{"<|system_start|>": Speaker.SYSTEM, "<|developer_start|>": Speaker.DEVELOPER},
        **{"<|user_start|>": Speaker.USER, "<|assistant_start|>": Speaker.ASSISTANT},
    },
    ends=("<|system_end|>", "<|developer_end|>", "<|user_end|>", "<|assistant_end|>"),
    layout=("<s>", "</s>", "<|bos|>"),
    replies_outside=True,
    after_calls={"tools_prefix": Held(texts.may_be_outputs, texts.outputs)},
)
SEED_OSS = Template(
    "seed-oss",
    starts={"<seed:bos>": None},
    ends=("<seed:eos>",),
    header_ends=("\n",),
)
SOLAR = Template(
    "solar",
    starts={"<|begin|>": None},
    ends=("<|end|>", "<|flush|>", "<|calls|>"),
    header_ends=("<|content|>",),
    header_stops=("<|think|>", "<|tool_calls|>", "<|tool_response|>"),
)
JAMBA = Template(
    "jamba",
    starts={
        **{"<|bom|><|system|>": Speaker.SYSTEM, "<|bom|><|user|>": Speaker.USER},
        **{"<|bom|><|assistant|>": Speaker.ASSISTANT, "<|bom|><|tool|>": Speaker.TOOL},
    },
    ends=("<|eom|>", "<|endoftext|>"),
    layout=("<|startoftext|>",),
)
NEMOTRON = Template(
    "nemotron",
    starts=dict.fromkeys(("<SPECIAL_10>", "<SPECIAL_11>", "<extra_id_0>", "<extra_id_1>")),
    ends=("<SPECIAL_12>",),
    header_ends=("\n",),
    layout=("<s>",),
    roles={
        **{"System": Speaker.SYSTEM, "User": Speaker.USER, "Assistant": Speaker.ASSISTANT, "Tool": Speaker.TOOL},
    },
    open_ended=_ALL,
    both=frozenset({"<SPECIAL_11>", "<extra_id_1>"}),
)

TEMPLATES: Mapping[str, Template] = {
    each.name: each
    for each in (
        *(CHATML, LLAMA3, DEEPSEEK, GEMMA, GLM, PHI, COHERE, MISTRAL, KIMI, MINIMAX),
        *(GRANITE, ZEPHYR, OPENCHAT, EXAONE, LING, HUNYUAN, HUNYUAN_MOE, MINICPM, GIGACHAT, MEGREZ, DOTS),
        *(BAICHUAN, APERTUS, SEED_OSS, SOLAR, JAMBA, NEMOTRON, KIMI_K3, INTERNLM),
    )
}
