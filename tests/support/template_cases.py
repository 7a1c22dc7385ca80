"""One conversation in every chat template: a system text, two turns, a thought, two calls, and two replies."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Turns:
    """How a template writes each part of a conversation."""

    format: str
    begin: str
    system: str
    user: str
    answer: str
    """An answer without calls."""
    thought: str
    """The prefix of an answer or a call with a thought; empty if the template has none."""
    calls: str
    replies: str
    after_replies: str
    """The answer after the replies."""
    prompt: str
    """The end of a prompt."""

    @property
    def whole(self) -> str:
        """The conversation."""
        said = self.answer.replace("TEXT", "It rains.").replace("THOUGHT", "")
        calls = self.calls.replace("THOUGHT", self.thought)
        last = self.after_replies.replace("TEXT", "At noon.").replace("THOUGHT", "")
        first, second = (self.user.replace("TEXT", text) for text in ("How is\n\nthe weather?", "And when?"))
        return f"{self.begin}{self.system}{first}{said}{second}{calls}{self.replies}{last}"


SEEN = ["How is\n\nthe weather?", "It rains.", "And when?", "At noon."]

_CALLS = (
    '<tool_call>\n{"name": "rain", "arguments": {"at": "SECRET_ARG1"}}\n</tool_call>\n'
    '<tool_call>\n{"name": "time", "arguments": {"at": "SECRET_ARG2"}}\n</tool_call>'
)
_REPLIES = "<tool_response>\nSECRET_OUT1\n</tool_response>\n<tool_response>\nSECRET_OUT2\n</tool_response>"


def _framed(format: str, head: str, end: str, roles: dict[str, str], **parts: str) -> Turns:
    """Return a template with the same frame around every turn."""

    def frame(role: str, body: str) -> str:
        return head.replace("ROLE", roles[role]) + body + end

    return Turns(
        format,
        parts.get("begin", ""),
        frame("system", "SECRET_SYS"),
        frame("user", "TEXT"),
        frame("assistant", "THOUGHTTEXT"),
        parts.get("thought", "<think>\nSECRET_TH\n</think>\n\n"),
        frame("assistant", "THOUGHT" + parts.get("calls", _CALLS)),
        parts.get("replies") or frame("tool", _REPLIES),
        frame("assistant", "THOUGHTTEXT"),
        head.replace("ROLE", roles["assistant"]),
    )


_PLAIN = {"system": "system", "user": "user", "assistant": "assistant", "tool": "tool"}

CASES = (
    _framed("chatml", "<|im_start|>ROLE\n", "<|im_end|>\n", _PLAIN | {"tool": "user"}),
    _framed(
        "llama3",
        "<|start_header_id|>ROLE<|end_header_id|>\n\n",
        "<|eot_id|>",
        _PLAIN | {"tool": "ipython"},
        begin="<|begin_of_text|>",
        thought="",
        calls='{"name": "rain", "parameters": {"at": "SECRET_ARG1"}}; '
        '{"name": "time", "parameters": {"at": "SECRET_ARG2"}}',
        replies="<|start_header_id|>ipython<|end_header_id|>\n\nSECRET_OUT1<|eot_id|>"
        "<|start_header_id|>ipython<|end_header_id|>\n\nSECRET_OUT2<|eot_id|>",
    ),
    Turns(
        "deepseek",
        "<｜begin▁of▁sentence｜>",
        "SECRET_SYS",
        "<｜User｜>TEXT",
        "<｜Assistant｜>THOUGHTTEXT<｜end▁of▁sentence｜>",
        "<think>\nSECRET_TH\n</think>\n\n",
        "<｜Assistant｜>THOUGHT<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>rain\n```json\n"
        '{"at": "SECRET_ARG1"}\n```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>time\n```json\n'
        '{"at": "SECRET_ARG2"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
        "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>SECRET_OUT1<｜tool▁output▁end｜>\n"
        "<｜tool▁output▁begin｜>SECRET_OUT2<｜tool▁output▁end｜><｜tool▁outputs▁end｜>",
        "TEXT<｜end▁of▁sentence｜>",
        "<｜Assistant｜>",
    ),
    _framed(
        "gemma",
        "<|turn>ROLE\n",
        "<turn|>\n",
        _PLAIN | {"assistant": "model", "tool": "model"},
        begin="<bos>",
        thought="<|channel>thought\nSECRET_TH<channel|>",
        calls='<|tool_call>call:rain{at:<|"|>SECRET_ARG1<|"|>}<tool_call|>'
        '<|tool_call>call:time{at:<|"|>SECRET_ARG2<|"|>}<tool_call|>',
        replies='<|turn>model\n<|tool_response>response:rain{value:<|"|>SECRET_OUT1<|"|>}<tool_response|>'
        '<|tool_response>response:time{value:<|"|>SECRET_OUT2<|"|>}<tool_response|>',
    ),
    Turns(
        "glm",
        "[gMASK]<sop>",
        "<|system|>\nSECRET_SYS",
        "<|user|>\nTEXT",
        "<|assistant|>\n<think></think>\nTEXT",
        "<think>SECRET_TH</think>\n",
        "<|assistant|>\nTHOUGHT<tool_call>rain\n<arg_key>at</arg_key>\n<arg_value>SECRET_ARG1</arg_value>\n</tool_call>\n"
        "<tool_call>time\n<arg_key>at</arg_key>\n<arg_value>SECRET_ARG2</arg_value>\n</tool_call>",
        f"<|observation|>\n{_REPLIES}",
        "<|assistant|>\n<think></think>\nTEXT",
        "<|assistant|>",
    ),
    _framed(
        "phi",
        "<|ROLE|>",
        "<|end|>",
        _PLAIN,
        calls='<|tool_call|>[{"name": "rain", "arguments": {"at": "SECRET_ARG1"}}, '
        '{"name": "time", "arguments": {"at": "SECRET_ARG2"}}]<|/tool_call|>',
        replies='<|tool_response|>"SECRET_OUT1"<|end|><|tool_response|>"SECRET_OUT2"<|end|>',
    ),
    _framed(
        "cohere",
        "<|START_OF_TURN_TOKEN|><|ROLE_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
        {"system": "SYSTEM", "user": "USER", "assistant": "CHATBOT", "tool": "SYSTEM"},
        begin="<BOS_TOKEN>",
        thought="<|START_THINKING|>SECRET_TH<|END_THINKING|>",
        calls='<|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": "rain", "parameters": {"at": "SECRET_ARG1"}},\n'
        '{"tool_call_id": "1", "tool_name": "time", "parameters": {"at": "SECRET_ARG2"}}\n]<|END_ACTION|>',
        replies="<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|><|START_TOOL_RESULT|>[\n"
        '{"tool_call_id": "0", "results": {"0": "SECRET_OUT1"}},\n{"tool_call_id": "1", "results": '
        '{"0": "SECRET_OUT2"}}\n]<|END_TOOL_RESULT|><|END_OF_TURN_TOKEN|>',
    ),
    Turns(
        "mistral",
        "<s>",
        "[SYSTEM_PROMPT]SECRET_SYS[/SYSTEM_PROMPT]",
        "[INST]TEXT[/INST]",
        "TEXT</s>",
        "[THINK]SECRET_TH[/THINK]",
        'THOUGHT[TOOL_CALLS]rain[CALL_ID]a1[ARGS]{"at": "SECRET_ARG1"}'
        '[TOOL_CALLS]time[CALL_ID]a2[ARGS]{"at": "SECRET_ARG2"}</s>',
        "[TOOL_RESULTS]a1[TOOL_CONTENT]SECRET_OUT1[/TOOL_RESULTS][TOOL_RESULTS]a2[TOOL_CONTENT]SECRET_OUT2"
        "[/TOOL_RESULTS]",
        "TEXT</s>",
        "",
    ),
    Turns(
        "kimi-text",
        "",
        "<|im_system|>system<|im_middle|>SECRET_SYS<|im_end|>",
        "<|im_user|>user<|im_middle|>TEXT<|im_end|>",
        "<|im_assistant|>assistant<|im_middle|><think></think>TEXT<|im_end|>",
        "<think>SECRET_TH</think>",
        "<|im_assistant|>assistant<|im_middle|>THOUGHT<|tool_calls_section_begin|>"
        '<|tool_call_begin|>functions.rain:0<|tool_call_argument_begin|>{"at": "SECRET_ARG1"}<|tool_call_end|>'
        '<|tool_call_begin|>functions.time:1<|tool_call_argument_begin|>{"at": "SECRET_ARG2"}<|tool_call_end|>'
        "<|tool_calls_section_end|><|im_end|>",
        "<|im_system|>rain<|im_middle|>## Return of functions.rain:0\nSECRET_OUT1<|im_end|>"
        "<|im_system|>time<|im_middle|>## Return of functions.time:1\nSECRET_OUT2<|im_end|>",
        "<|im_assistant|>assistant<|im_middle|>TEXT<|im_end|>",
        "<|im_assistant|>assistant<|im_middle|>",
    ),
    _framed(
        "minimax",
        "]~b]ROLE\n",
        "[e~[\n",
        _PLAIN | {"assistant": "ai"},
        begin="]~!b[",
        calls='\n<minimax:tool_call>\n<invoke name="rain">\n<parameter name="at">SECRET_ARG1</parameter>\n</invoke>\n'
        '<invoke name="time">\n<parameter name="at">SECRET_ARG2</parameter>\n</invoke>\n</minimax:tool_call>',
        replies="]~b]tool\n<response>SECRET_OUT1</response>\n<response>SECRET_OUT2</response>[e~[\n",
    ),
    _framed(
        "granite",
        "<|start_of_role|>ROLE<|end_of_role|>",
        "<|end_of_text|>\n",
        _PLAIN,
        thought="<think>SECRET_TH</think>",
        calls='<|tool_call|>[{"name": "rain", "arguments": {"at": "SECRET_ARG1"}}, '
        '{"name": "time", "arguments": {"at": "SECRET_ARG2"}}]',
        replies="<|start_of_role|>tool_response<|end_of_role|>SECRET_OUT1<|end_of_text|>\n"
        "<|start_of_role|>tool_response<|end_of_role|>SECRET_OUT2<|end_of_text|>\n",
    ),
    _framed("zephyr", "<|ROLE|>\n", "</s>\n", _PLAIN | {"tool": "user"}),
    _framed(
        "openchat",
        "GPT4 Correct ROLE: ",
        "<|end_of_turn|>",
        {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"},
        begin="<s>",
    ),
    Turns(
        "exaone",
        "",
        "[|system|]SECRET_SYS[|endofturn|]\n",
        "[|user|]TEXT\n",
        "[|assistant|]THOUGHTTEXT[|endofturn|]\n",
        "<think>\nSECRET_TH\n</think>\n\n",
        f"[|assistant|]THOUGHT{_CALLS}[|endofturn|]\n",
        '[|tool|]<tool_result>{"result": "SECRET_OUT1"}</tool_result>[|endofturn|]\n'
        '[|tool|]<tool_result>{"result": "SECRET_OUT2"}</tool_result>[|endofturn|]\n',
        "[|assistant|]TEXT[|endofturn|]\n",
        "[|assistant|]",
    ),
    _framed(
        "ling",
        "<role>ROLE</role>",
        "<|role_end|>",
        {"system": "SYSTEM", "user": "HUMAN", "assistant": "ASSISTANT", "tool": "OBSERVATION"},
    ),
)
"""All templates, in the order of the documentation."""
