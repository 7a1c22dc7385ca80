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
    def detected(self) -> str:
        """The part of the conversation that identifies the template: without a system text that no mark begins."""
        return self.whole.removeprefix(self.system) if self.format == "minicpm" else self.whole

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
    Turns(
        "hunyuan",
        "<｜hy_begin▁of▁sentence｜>",
        "SECRET_SYS<｜hy_place▁holder▁no▁3｜>",
        "<｜hy_User｜>TEXT",
        "<｜hy_Assistant｜>THOUGHT<answer>\nTEXT\n</answer><｜hy_place▁holder▁no▁2｜>",
        "<think>\nSECRET_TH\n</think>\n",
        f"<｜hy_Assistant｜>THOUGHT{_CALLS}<｜hy_place▁holder▁no▁2｜>",
        f"<｜hy_User｜>{_REPLIES}",
        "<｜hy_Assistant｜><answer>\nTEXT\n</answer><｜hy_place▁holder▁no▁2｜>",
        "<｜hy_Assistant｜>",
    ),
    Turns(
        "hunyuan-moe",
        "",
        "<|startoftext|>SECRET_SYS<|extra_4|>",
        "<|startoftext|>TEXT<|extra_0|>",
        "THOUGHT<answer>\nTEXT\n</answer><|eos|>",
        "<think>\nSECRET_TH\n</think>\n",
        'THOUGHT<tool_calls>[{"name": "rain", "arguments": {"at": "SECRET_ARG1"}}, '
        '{"name": "time", "arguments": {"at": "SECRET_ARG2"}}]</tool_calls><|eos|>',
        f"{_REPLIES}<|extra_0|>",
        "助手：TEXT<|eos|>",
        "",
    ),
    Turns(
        "minicpm",
        "",
        "SECRET_SYS",
        "<用户>TEXT",
        "<AI>THOUGHTTEXT",
        "<think>\nSECRET_TH\n</think>\n",
        f"<AI>THOUGHT{_CALLS}",
        f"<用户>{_REPLIES}",
        "<AI>TEXT",
        "<AI>",
    ),
    Turns(
        "gigachat",
        "<s>",
        "SECRET_SYS<|message_sep|>",
        "user<|role_sep|>TEXT<|message_sep|>",
        "assistant<|role_sep|>THOUGHTTEXT<|message_sep|>",
        "<think>SECRET_TH</think>",
        'assistant<|role_sep|>THOUGHT<|message_sep|>function call<|role_sep|>{"name": "rain", "arguments": '
        '{"at": "SECRET_ARG1"}}<|message_sep|>function call<|role_sep|>{"name": "time", "arguments": '
        '{"at": "SECRET_ARG2"}}<|message_sep|>',
        "function result<|role_sep|>SECRET_OUT1<|message_sep|>function result<|role_sep|>SECRET_OUT2<|message_sep|>",
        "assistant<|role_sep|>TEXT<|message_sep|>",
        "assistant<|role_sep|>",
    ),
    _framed("megrez", "<|role_start|>ROLE<|role_end|>", "<|turn_end|>", _PLAIN),
    Turns(
        "dots",
        "",
        "<|system|>SECRET_SYS<|endofsystem|>",
        "<|userprompt|>TEXT<|endofuserprompt|>",
        "<|response|>THOUGHTTEXT<|endofresponse|>",
        "<think>\nSECRET_TH\n</think>\n",
        f"<|response|>THOUGHT{_CALLS}<|endofresponse|>",
        f"<|userprompt|>{_REPLIES}<|endofuserprompt|>",
        "<|response|>TEXT<|endofresponse|>",
        "<|response|>",
    ),
    Turns(
        "baichuan",
        "",
        "<B_SYS>SECRET_SYS",
        "<C_Q>TEXT",
        "<C_A>THOUGHTTEXT",
        "<think>\nSECRET_TH\n</think>\n",
        f"<C_A>THOUGHT{_CALLS}",
        f"<C_Q>{_REPLIES}",
        "<C_A>TEXT</s>",
        "<C_A>",
    ),
    Turns(
        "apertus",
        "<s>",
        "<|system_start|>SECRET_SYS<|system_end|>",
        "<|user_start|>TEXT<|user_end|>",
        "<|assistant_start|>THOUGHTTEXT<|assistant_end|>",
        "<|inner_prefix|>SECRET_TH<|inner_suffix|>",
        '<|assistant_start|>THOUGHT<|tools_prefix|>[{"rain": {"at": "SECRET_ARG1"}}, '
        '{"time": {"at": "SECRET_ARG2"}}]<|tools_suffix|>',
        '["SECRET_OUT1", "SECRET_OUT2"]',
        "TEXT<|assistant_end|>",
        "<|assistant_start|>",
    ),
    _framed(
        "seed-oss",
        "<seed:bos>ROLE\n",
        "<seed:eos>",
        _PLAIN,
        thought="<seed:think>SECRET_TH</seed:think>\n",
        calls="<seed:tool_call>\n<function=rain>\n<parameter=at>SECRET_ARG1</parameter>\n</function>\n"
        "</seed:tool_call>\n<seed:tool_call>\n<function=time>\n<parameter=at>SECRET_ARG2</parameter>\n</function>\n"
        "</seed:tool_call>",
        replies="<seed:bos>tool\nSECRET_OUT1<seed:eos><seed:bos>tool\nSECRET_OUT2<seed:eos>",
    ),
    Turns(
        "solar",
        "",
        "<|begin|>system<|content|>SECRET_SYS<|end|>",
        "<|begin|>user<|content|>TEXT<|end|>",
        "THOUGHT<|begin|>assistant<|content|>TEXT<|end|>",
        "<|begin|>assistant<|think|>SECRET_TH<|end|>",
        "THOUGHT<|begin|>assistant<|tool_calls|><|tool_call:begin|>a1<|tool_call:name|>rain<|tool_call:args|>"
        '{"at": "SECRET_ARG1"}<|tool_call:end|><|tool_call:begin|>a2<|tool_call:name|>time<|tool_call:args|>'
        '{"at": "SECRET_ARG2"}<|tool_call:end|><|calls|>',
        "<|begin|>tool<|tool_response|>SECRET_OUT1<|end|><|begin|>tool<|tool_response|>SECRET_OUT2<|end|>",
        "<|begin|>assistant<|content|>TEXT<|end|>",
        "<|begin|>assistant",
    ),
    _framed(
        "jamba",
        "<|bom|><|ROLE|> ",
        "<|eom|>",
        _PLAIN,
        begin="<|startoftext|>",
        calls='<tool_calls>[\n{"name": "rain", "arguments": {"at": "SECRET_ARG1"}},\n'
        '{"name": "time", "arguments": {"at": "SECRET_ARG2"}}\n]</tool_calls>',
        replies="<|bom|><|tool|> SECRET_OUT1<|eom|><|bom|><|tool|> SECRET_OUT2<|eom|>",
    ),
    Turns(
        "kimi-k3",
        "",
        '<|open|>message role="system" type="tool-declare"<|sep|>SECRET_SYS<|close|>message<|sep|><|end_of_msg|>',
        '<|open|>message role="user" name="kim"<|sep|>TEXT<|close|>message<|sep|><|end_of_msg|>',
        '<|open|>message role="assistant"<|sep|>THOUGHT<|open|>response<|sep|>TEXT<|close|>response<|sep|>'
        "<|close|>message<|sep|><|end_of_msg|>",
        "<|open|>think<|sep|>SECRET_TH<|close|>think<|sep|>",
        '<|open|>message role="assistant"<|sep|>THOUGHT<|open|>response<|sep|><|close|>response<|sep|>'
        '<|open|>tools<|sep|><|open|>call tool="rain" index="1"<|sep|><|open|>argument key="at" type="string"<|sep|>'
        "SECRET_ARG1<|close|>argument<|sep|><|close|>call<|sep|>"
        '<|open|>call tool="time" index="2"<|sep|><|open|>argument key="at" type="string"<|sep|>'
        "SECRET_ARG2<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>"
        "<|close|>message<|sep|><|end_of_msg|>",
        '<|open|>message role="tool" tool="rain" index="1"<|sep|>SECRET_OUT1<|close|>message<|sep|><|end_of_msg|>'
        '<|open|>message role="tool" tool="time" index="2"<|sep|>SECRET_OUT2<|close|>message<|sep|><|end_of_msg|>',
        '<|open|>message role="assistant"<|sep|><|open|>response<|sep|>TEXT<|close|>response<|sep|>'
        "<|close|>message<|sep|><|end_of_msg|>",
        '<|open|>message role="assistant"<|sep|>',
    ),
    Turns(
        "internlm",
        "<s>",
        "<|System|>:SECRET_SYS\n",
        "<|User|>:TEXT<eoh>\n",
        "<|Bot|>:THOUGHTTEXT<eoa>\n",
        "<think>\nSECRET_TH\n</think>\n",
        f"<|Bot|>:THOUGHT{_CALLS}<eoa>\n",
        f"<|User|>:{_REPLIES}<eoh>\n",
        "<|Bot|>:TEXT<eoa>\n",
        "<|Bot|>:",
    ),
    Turns(
        "nemotron",
        "",
        "<SPECIAL_10>System\nSECRET_SYS\n",
        "<SPECIAL_11>User\nTEXT\n",
        "<SPECIAL_11>Assistant\nTHOUGHTTEXT\n<SPECIAL_12>\n",
        "<think>\nSECRET_TH\n</think>\n\n",
        '<SPECIAL_11>Assistant\nTHOUGHT<TOOLCALL>[{"name": "rain", "arguments": {"at": "SECRET_ARG1"}}, '
        '{"name": "time", "arguments": {"at": "SECRET_ARG2"}}]</TOOLCALL>\n<SPECIAL_12>\n',
        "<SPECIAL_11>User\n<TOOL_RESPONSE>SECRET_OUT1</TOOL_RESPONSE>\n<TOOL_RESPONSE>SECRET_OUT2</TOOL_RESPONSE>\n",
        "<SPECIAL_11>Assistant\nTEXT\n<SPECIAL_12>\n",
        "<SPECIAL_11>Assistant\n",
    ),
)
"""All templates, in the order of the documentation."""
