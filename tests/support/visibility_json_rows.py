"""Rows for formats without `<|start|>`: a name, text with {} for the body, and whether the body is shown."""

from __future__ import annotations

HARMONY_PREAMBLES = [
    ("commentary", "<|start|>assistant<|channel|>commentary<|message|>{}<|end|>", True),
    ("commentary to a tool", "<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|end|>", False),
    ("commentary that ends in a call", "<|start|>assistant<|channel|>commentary<|message|>{}<|call|>", False),
    ("commentary left open", "<|start|>assistant<|channel|>commentary<|message|>{}", False),
    ("analysis", "<|start|>assistant<|channel|>analysis<|message|>{}<|end|>", False),
    ("tool commentary", "<|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>", False),
]

OLD = [
    ("user", "<|im_start|>user\n{}<|im_end|>", True),
    ("named user", "<|im_start|>user name=Eric\n{}<|im_end|>", True),
    ("assistant", "<|im_start|>assistant\n{}<|im_end|>", True),
    ("assistant left open", "<|im_start|>assistant\n{}", True),
    ("system", "<|im_start|>system\n{}<|im_end|>", False),
    ("tool", "<|im_start|>tool\n{}<|im_end|>", False),
    ("tool output", '<|im_start|>tool\n<|function_output|>\n{"name": "f", "content": "{}"}<|im_end|>', False),
    ("unknown role", "<|im_start|>narrator\n{}<|im_end|>", False),
    ("reason block", "<|im_start|>assistant\n<|start_reason|>{}<|end_reason|>\nx<|im_end|>", False),
    ("reflect block", "<|im_start|>assistant\n<|start_reflect|>{}<|end_reflect|>\nx<|im_end|>", False),
    ("introspect block left open", "<|im_start|>assistant\nx<|start_introspect|>{}<|im_end|>", False),
    ("after a reason block", "<|im_start|>assistant\n<|start_reason|>x<|end_reason|>\n{}<|im_end|>", True),
    ("call", '<|im_start|>assistant\n<|function_call|>\n{"arguments": {"a": "{}"}, "name": "f"}<|im_end|>', False),
    ("user with a reason mark", "<|im_start|>user\n<|start_reason|>{}<|end_reason|><|im_end|>", True),
    ("text between messages", "<|im_start|>user\nx<|im_end|>\n{}\n<|im_start|>user\ny<|im_end|>", False),
    ("header cut off", "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant {}", False),
]

CHATML = [
    ("user", '[{"token":"<|start|>"},"user",{"token":"<|message|>"},"{}",{"token":"<|end_message|>"}]', True),
    ("assistant", '[{"token":"<|start|>"},"assistant",{"token":"<|message|>"},"{}",{"token":"<|end_message|>"}]', True),
    ("system", '[{"token":"<|start|>"},"system",{"token":"<|message|>"},"{}",{"token":"<|end_message|>"}]', False),
    (
        "few-shot user",
        '[{"token":"<|start|>"},"system:example_user",{"token":"<|message|>"},"{}",{"token":"<|end_message|>"}]',
        False,
    ),
    (
        "few-shot user by its slip",
        '[{"token":"<|start|>"},"assistant:example_user",{"token":"<|message|>"},"{}",{"token":"<|end_message|>"}]',
        False,
    ),
    (
        "unknown role",
        '[{"token":"<|start|>"},"narrator",{"token":"<|message|>"},"{}",{"token":"<|end_message|>"}]',
        False,
    ),
    (
        "message token missing",
        '[{"token":"<|start|>"},"user",{"token":"<|end_message|>"},"{}",{"token":"<|end_message|>"}]',
        False,
    ),
]

JSON = [
    ("user", '[{"role":"user","content":"{}"}]', True),
    ("assistant", '[{"role":"assistant","content":"{}"}]', True),
    ("final", '[{"role":"assistant","channel":"final","content":"{}"}]', True),
    ("analysis", '[{"role":"assistant","channel":"analysis","content":"{}"}]', False),
    ("commentary", '[{"role":"assistant","channel":"commentary","content":"{}"}]', False),
    ("flagged preamble", '[{"role":"assistant","channel":"commentary","intent":"preamble","content":"{}"}]', True),
    ("flagged analysis", '[{"role":"assistant","channel":"analysis","intent":"preamble","content":"{}"}]', False),
    ("thinking", '[{"role":"assistant","thinking":"{}","content":"x"}]', False),
    ("reasoning", '[{"role":"assistant","reasoning":"{}","content":"x"}]', False),
    ("reasoning content", '[{"role":"assistant","reasoning_content":"{}","content":"x"}]', False),
    ("system", '[{"role":"system","content":"{}"}]', False),
    ("developer", '[{"role":"developer","content":"{}"}]', False),
    ("tool", '[{"role":"tool","tool_call_id":"a","content":"{}"}]', False),
    ("unknown role", '[{"role":"narrator","content":"{}"}]', False),
    ("unknown channel", '[{"role":"assistant","channel":"Final","content":"{}"}]', False),
    (
        "call",
        '[{"role":"assistant","tool_call":{"id":"a","recipient":"functions.f","arguments":"{}"}}]',
        False,
    ),
    (
        "chat completions call",
        '[{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}]',
        False,
    ),
    ("think block", '[{"role":"assistant","content":"<think>{}</think>x"}]', False),
    ("not a message", '[{"role":"user","content":"x"},{"note":"{}"}]', False),
    (
        "message to a tool",
        '[{"role":"assistant","channel":"commentary","recipient":"functions.f","content":"{}"}]',
        False,
    ),
]

EVENTS = [
    ("delta", '{"type":"response.delta","delta":"{}"}\n{"type":"response.done"}', True),
    ("reasoning delta", '{"type":"response.reasoning_text.delta","delta":"{}"}\n{"type":"response.done"}', False),
    ("summary delta", '{"type":"response.reasoning_summary_text.delta","delta":"{}"}\n{"type":"response.done"}', False),
    (
        "delta on a hidden channel",
        '{"type":"response.delta","channel":"analysis","delta":"{}"}\n{"type":"response.done"}',
        False,
    ),
    (
        "delta after a cancel",
        '{"type":"response.delta","message_id":"m","delta":"x"}\n{"type":"response.cancel","message_id":"m"}\n{"type":"response.delta","message_id":"m","delta":"{}"}',
        False,
    ),
    (
        "arguments delta",
        '{"type":"response.function_call_arguments.delta","delta":"{}"}\n{"type":"response.done"}',
        False,
    ),
    ("chat chunk", '{"choices":[{"delta":{"role":"assistant","content":"{}"}}]}', True),
    ("reasoning chunk", '{"choices":[{"delta":{"role":"assistant","reasoning_content":"{}"}}]}', False),
]
