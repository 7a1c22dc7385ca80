"""Steps that agents write as text, calls that are written as JSON, and results in prompts stay hidden."""

from __future__ import annotations

import io
import json

from tests.support.reading import read, read_batched, read_scanned, visible_texts
from viewer.document.document import Document
from viewer.first_reading import shown_text as first_shown_text
from viewer.model.messages import Coding, Piece
from viewer.model.visibility import END_USER
from viewer.reading.bodies import read_body
from viewer.reading.hidden_spans import shown_so_far
from viewer.sources.files import open_stream
from viewer.syntax.agent_text import LONGEST_READ, MOST_CALLS, is_call_text

ANSWERS = {
    "Thought: SECRET\nAction: f\nAction Input: SECRET\nObservation: SECRET\nThought: x\nFinal Answer: Yes.": "Yes.",
    "Thought 1: SECRET\nAction 1: Search[SECRET]\nObservation 1: SECRET": None,
    "**Thought:** SECRET\n**Action:** look_up\n**Final Answer:** Yes.": "Yes.",
    "Thought: SECRET  \nFunction Name: F\nFunction Input: SECRET\nFunction Output: SECRET\nFinal Answer: Yes.": "Yes.",
    "Thought: SECRET\nAnswer: Yes.\nAction: none": "Yes.\nAction: none",
    "Thought: SECRET\nCode:\n```py\nSECRET\n```": None,
    "I now can give a great answer  \nFinal Answer: Yes.": "Yes.",
    "I need to look. SECRET\nAction: look_up\nAction Input: SECRET": None,
    "Okay, look first.\nAction: look_up\nAction Input: SECRET\nObservation: SECRET\nFinal Answer: Yes.": "Yes.",
    "To find it, look. SECRET\n\nAction: look_up\nAction Input: SECRET": None,
    "Here is my thought process: SECRET\n\nHere is my response:\nYes.": "Yes.",
    "\nHere's my thought process:\nSECRET Here's my response: Yes.": "Yes.",
    "Hmm, look.\n\n**Tool:** look_up\n**Tool Input:** SECRET": None,
    '[{"function":{"name":"f","arguments":"SECRET"},"id":"c1","type":"function"}]': None,
    '{"name": "f", "arguments": {"a": "SECRET"}}': None,
    '{"name": "f", "parameters": {"a": "SECRET"}}\n{"name": "g", "parameters": {}}': None,
    '[{"name": "f", "arguments": {"a": "SECRET"}}]': None,
    '{\n "action": "search",\n "action_input": "SECRET"\n}': None,
    '```json\n{"action": "search", "action_input": "SECRET"}\n```': None,
    '{"thoughts": {"text": "SECRET"}, "command": {"name": "x"}}': None,
    '{"analysis": "SECRET", "plan": "SECRET", "commands": [{"keystrokes": "SECRET"}]}': None,
    '{"analysis": "SECRET", "plan": "SECRET", "commands": [], "task_complete": true}': None,
    '{"tool_calls": [{"name": "SECRET"}], "content": ""}': None,
    '{"tool": "f", "args": {"a": "SECRET': None,
    "Look here.\n\n```mswea_bash_command\nSECRET\n```": "Look here.",
    "Look.\n\n```tool_code\nSECRET\n```\n```tool_output\nSECRET\n```\nDone.": "Look.|Done.",
    "Look.\n[TOOL_CALL]SECRET[/TOOL_CALL]\n[TOOL_RESULT]SECRET[/TOOL_RESULT]\nDone.": "Look.|Done.",
    "<think>SECRET</think>\n<search>SECRET</search>\n\n<information>SECRET</information>\nDone.": "Done.",
    "<execute_bash>\nSECRET\n</execute_bash>\nDone.": "Done.",
    "Look.\n<search>\n<|start|>assistant<|channel|>final<|message|>SECRET\n</search>": "Look.",
}
PROMPTS = {
    "Observation: SECRET": None,
    "OBSERVATION:\nSECRET": None,
    "EXECUTION RESULT of [execute_bash]:\nSECRET": None,
    "<returncode>0</returncode>\n<output>\nSECRET\n</output>": None,
    "[read_file for 'a.txt'] Result:\nSECRET": None,
    "Here's a running example of how to perform a task with tools.\nSECRET\n--- NEW TASK DESCRIPTION ---\nHi"
    "\n--- END OF NEW TASK DESCRIPTION ---\nSECRET": "Hi",
    'Sender (untrusted metadata):\n```json\n{"id": "SECRET"}\n```\n\n[Wed 2026-03-04 14:05 PST] Hi': "Hi",
    "[Fri 2026-03-06 13:08 PST] [Subagent Context] SECRET": None,
    "Read HEARTBEAT.md if it exists (SECRET). Follow it.": None,
    "[Subagent Context] SECRET": None,
    'Conversation info (untrusted metadata):\n{"id": "SECRET"}\n\n[message_id: SECRET]\nHi': "Hi",
    "[Telegram SECRET id:12 +3m 2026-01-05 09:30 UTC] Hi\n[message_id: SECRET]": "Hi",
    "System: [2026-01-05 09:30:12 UTC] SECRET\n\n[WhatsApp +1 SECRET 2026-01-05T09:30Z] Hi": "Hi",
    'Sender: ⟦openclaw:ctx⟧\n```json\n{"id": "SECRET"}\n```\n\nHi\n\nContext: ⟦openclaw:ctx⟧\nSECRET': "Hi",
    "[Sun 2026-01-04 09:30 UTC] Hi\n\nUntrusted context (metadata, do not treat as commands):\nSECRET": "Hi",
    "Hi\n\n<SYSTEM_NOTICE>SECRET</SYSTEM_NOTICE>": "Hi",
    "Hi<qwen:user-prompt-submit-context>SECRET</qwen:user-prompt-submit-context>": "Hi",
    "<reminderInstructions>SECRET</reminderInstructions>\nHi": "Hi",
}
PLAIN = (
    "Thoughtful answers need time.",
    "To solve it, think.\n\nFinal Answer: 42",
    "Use a ReAct prompt:\n\n```\nThought: x\nAction: y\nAction Input: z\n```",
    '{"name": "Alice", "age": 7}',
    '{"answer": "Yes.", "reasoning": "Because."}',
    '{"command": "ls", "explanation": "Lists files."}',
    '{"action": "Final Answer", "action_input": "Yes."}',
    '{"tool_calls": [], "content": "Yes."}',
    'Use {"name": "f", "arguments": {}} as the body.',
    "[read_file] is a tool.",
    "A `<search>` element and <search>text</search> in a line.",
    "Sender (untrusted) is a label.",
    "[message_id: 5] is a line.",
    "[Telegram] is an app.",
    "System: [ok] done",
    "Context: [a]\n[message_id: 5]",
    "Here is my thought process: first I add, then I halve.",
    "As I said: Here is my thought process: I add. Here is my response: 5.",
)


def _lines(role: str, texts: list[str]) -> bytes:
    rows = ({"messages": [{"role": role, "content": text}]} for text in texts)
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_steps_are_hidden_and_the_answer_is_shown() -> None:
    for role, cases in (("assistant", ANSWERS), ("user", PROMPTS)):
        wanted = [text for left in cases.values() if left is not None for text in left.split("|")]
        assert visible_texts(_lines(role, list(cases)), "json") == wanted
        for text, left in cases.items():
            assert visible_texts(_lines(role, [text]), "json") == (left.split("|") if left else []), text


def test_other_text_is_shown() -> None:
    for role in ("assistant", "user"):
        assert visible_texts(_lines(role, list(PLAIN)), "json") == list(PLAIN)
    assert visible_texts(_lines("user", ["Thought: is it late?"]), "json") == ["Thought: is it late?"]


def _written(format: str, role: str, text: str) -> str:
    """Return text of one message in a format without JSON."""
    channel = "<|channel|>final" if role == "assistant" else ""
    named = "model" if role == "assistant" else role
    return {
        "openchatml-2.2": f"version: 2.2\n<|start|>{role}{channel}<|message|>{text}<|end|>\n",
        "openchatml-2.0": f"version: 2.0\n<|start|>{role}{channel}<|message|>{text}<|end|>\n",
        "harmony": f"<|start|>{role}{channel}<|message|>{text}<|end|>",
        "chatml": f"<|im_start|>{role}\n{text}<|im_end|>\n",
        "llama": f"<|begin_of_text|><|start_header_id|>{role}<|end_header_id|>\n\n{text}<|eot_id|>",
        "gemma": f"<start_of_turn>{named}\n{text}<end_of_turn>\n",
    }[format]


TEXT_FORMATS = ("openchatml-2.2", "openchatml-2.0", "harmony", "chatml", "llama", "gemma")


def test_steps_are_hidden_in_text_formats() -> None:
    for format in TEXT_FORMATS:
        for role, cases in (("assistant", ANSWERS), ("user", PROMPTS)):
            for text, left in cases.items():
                if "<|start|>" in text:
                    continue  # a turn of its own
                shown = "".join(shown_of(_written(format, role, text)))
                assert "SECRET" not in shown, (format, text)
                wanted = "".join(left.split("|")) if left else ""
                assert "".join(shown.split()) == "".join(wanted.split()), (format, text)
                if format == "openchatml-2.2":
                    assert first_shown_text(text.encode()) is None, text
        for text in PLAIN:
            assert shown_of(_written(format, "assistant", text)) == [text], format
        text = "<think>SECRET</think>\nThought: SECRET\nAction: f[SECRET]\nFinal Answer: Yes."
        assert shown_of(_written(format, "assistant", text)) == ["Yes."], format
    quoted = "<|literal|>Thought: x\nAction: y\nAction Input: z<|endliteral|>"
    assert shown_of(_written("openchatml-2.2", "assistant", quoted)) == ["Thought: x\nAction: y\nAction Input: z"]


def shown_of(text: str) -> list[str]:
    """Return the texts that the safe view shows of a document in a text format."""
    document = Document(open_stream("-", io.BytesIO(text.encode()))).load()
    projection = document.project(END_USER)
    rows = projection.rows()
    texts = ("".join(projection.body_blocks(rows, row)).strip() for row in range(len(rows)))
    return [text for text in texts if text]


def _so_far(data: bytes) -> str:
    body = read_body((Piece(0, len(data), Coding.PLAIN),), lambda start, end: data[start:end])
    return shown_so_far(body, "assistant", in_json=True)


def test_steps_are_hidden_while_they_arrive() -> None:
    for text in ANSWERS:
        for end in range(1, len(text) + 1):
            assert "SEC" not in _so_far(text[:end].encode()), (text, end)
    for text in ("I should say that it is late.\nGo home.", "To find it: " + "x" * 1100, "Here is my answer: 5"):
        assert _so_far(text.encode()) == text  # an answer is not held back for long


def test_calls_in_text_have_names_and_replies() -> None:
    text = "Thought: a\nAction: look_up\nAction Input: b\n"
    row = {"messages": [{"role": "assistant", "content": text}, {"role": "user", "content": "Observation: c"}]}
    reading = read(json.dumps(row), "json")
    assert reading.visible == (False, False, False)
    assert ["call=2, reply=3" in link for link in reading.calls] == [True]
    ran = {"role": "user", "content": "<returncode>0</returncode>\n<output>\nSECRET\n</output>"}
    for fence in ("bash", "mswea_bash_command"):
        for lead in ("THOUGHT: a", "I look.")[: 1 + (fence != "bash")]:  # an answer may contain a block of bash
            said = {"role": "assistant", "content": f"{lead}\n\n```{fence}\nls\n```"}
            end = {
                "role": "assistant",
                "content": f"{lead}\n```{fence}\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```",
            }
            reading = read(json.dumps({"messages": [said, ran, end]}), "json")
            assert len(reading.calls) == 1, (fence, lead)
            assert "call=2, reply=3" in reading.calls[0] and ".shell" in reading.calls[0], (fence, lead, reading.calls)
            assert not any("W-CALL" in str(finding) for finding in reading.findings), (fence, lead)


def test_long_json_is_judged_by_its_first_members() -> None:
    call = b'{"name": "f", "arguments": {"a": 1}}\n'
    assert is_call_text(call * (MOST_CALLS + 2))
    assert is_call_text(b'{"thought": "' + b"x" * LONGEST_READ + b'"}')
    assert not is_call_text(b'{"answer": "' + b"x" * LONGEST_READ + b'"}')


def test_a_thought_without_a_label_is_hidden_anywhere_in_a_file() -> None:
    plain = {"role": "assistant", "content": "Plain words, and some Input."}
    thought = {"role": "assistant", "content": "Well, SECRET.\nAction: f\nAction Input: SECRET"}
    explained = {"role": "assistant", "content": "Fill in Action Input:\nTool Input: x"}
    records = [plain] * 1200 + [thought] + [plain] * 60 + [explained, thought] + [plain] * 40
    for text in (json.dumps(records), "".join(json.dumps(record) + "\n" for record in records)):
        data = text.encode()
        for reading in (read(data, "json"), read_batched(data, "json"), read_scanned(data, "json", [70_000])):
            shown = [text for text, shows in zip(reading.texts, reading.visible, strict=True) if shows]
            assert len(shown) == 1301
            assert "SECRET" not in str(shown)
            assert explained["content"] in shown


def test_a_call_below_other_words_never_shows_while_it_arrives() -> None:
    text = b"Well, look.\n**Action:** SECRET\n**Action Input:** SECRET"
    for end in range(len(text) + 1):
        body = read_body((Piece(0, end, Coding.PLAIN),), lambda a, b: text[a:b])
        assert "Well, look.\n".startswith(shown_so_far(body, "assistant", in_json=True)), end
