"""Event streams like those of real services, with late details about messages and with unknown events."""

from __future__ import annotations

from tests.support.event_cases import Json, delta, done, lines, reasoning

ITEM = "response.output_item"
TEXT = "response.output_text"


def added(name: str, kind: str = "message", **more: object) -> Json:
    index = more.pop("index", 0)
    return {"type": f"{ITEM}.added", "output_index": index, "item": {"id": name, "type": kind, **more}}


def item_done(name: str, kind: str = "message", **more: object) -> Json:
    index = more.pop("index", 0)
    return {"type": f"{ITEM}.done", "output_index": index, "item": {"id": name, "type": kind, **more}}


def text(value: str, name: str = "m1", part: int = 0, index: int = 0) -> Json:
    return delta(value, f"{TEXT}.delta", item_id=name, output_index=index, content_index=part)


def said(value: str) -> list[Json]:
    return [{"type": "output_text", "text": value, "annotations": []}]


def completed(*items: Json, **more: object) -> Json:
    return {"type": "response.completed", "response": {"id": "r", "output": list(items), **more}}


def chunk(values: Json, finish: str | None = None, **more: object) -> Json:
    return {"id": "c", "choices": [{"index": 0, "delta": values, "finish_reason": finish, **more}]}


LATE = "E-PERM-VISIBILITY late-channel"

LATE_CASES: list[tuple[str, bytes, list[str]]] = [
    (
        "response.done names a hidden channel",
        lines(
            delta("It is", message_id="m1"),
            done("response.done", message_id="m1", channel="analysis"),
            delta(" SECRET", message_id="m1"),
        ),
        [
            f'{LATE} 1 "analysis"',
            "1 assistant end shown: 'It is'",
            'W-STREAM-LATE None 2 {"type": "response.delta", "message_id": "m1", "delta": " SECRET"}',
            "2 assistant analysis end hidden: ' SECRET'",
        ],
    ),
    (
        "response.done without an id names one",
        lines(delta("It is"), done("response.done", channel="analysis"), delta("Next"), done("response.done")),
        [f'{LATE} 1 "analysis"', "1 assistant end shown: 'It is'", "2 assistant end shown: 'Next'"],
    ),
    (
        "output_item.done names one",
        lines(
            added("m1", role="assistant"),
            text("It is"),
            done(f"{TEXT}.done", item_id="m1", content_index=0, text="It is"),
            item_done("m1", role="assistant", channel="analysis", content=said("It is")),
        ),
        ["1 assistant end shown: 'It is'", f'{LATE} 1 "analysis"'],
    ),
    (
        "output_item.done names the phase, the role, or a recipient",
        b"".join(
            lines({"type": "response.created"}, added(name, role="assistant"), text("a", name), item_done(name, **more))
            for name, more in (
                ("m1", {"phase": "commentary"}),
                ("m2", {"role": "tool"}),
                ("m3", {"role": "assistant", "recipient": "functions.f"}),
                ("m4", {"role": "assistant", "intent": "debug"}),
            )
        ),
        [
            f'{LATE} 1 "commentary"',
            "1 assistant end shown: 'a'",
            f'{LATE} 2 "tool"',
            "2 assistant end shown: 'a'",
            f'{LATE} 3 "functions.f"',
            "3 assistant end shown: 'a'",
            f'{LATE} 4 "debug"',
            "4 assistant end shown: 'a'",
        ],
    ),
    (
        "output_item.done says that it was reasoning all along",
        lines(text("a"), item_done("m1", "reasoning", summary=[], content=[])),
        [f'{LATE} 1 "reasoning"', "1 assistant end shown: 'a'"],
    ),
    (
        "output_item.done says that a part was a thought",
        lines(
            added("m1", role="assistant"),
            text("a"),
            text("b", part=1),
            item_done("m1", role="assistant", content=[*said("a"), {"type": "text", "text": "b", "thought": True}]),
        ),
        [
            f'{LATE} 2 "b"',
            "2 assistant end shown: 'b'",
            "1 assistant end shown: 'a'",
            "3 assistant analysis end hidden: 'b'",
        ],
    ),
    (
        "response.completed names a channel, and repeats nothing that was shown",
        lines(text("a"), completed({"id": "m1", "type": "message", "channel": "analysis", "content": said("a")})),
        [f'{LATE} 1 "analysis"', "1 assistant end shown: 'a'"],
    ),
    (
        "a second announcement of an item hides the rest",
        lines(added("m1", role="assistant"), text("a"), added("m1", "reasoning"), text(" SECRET"), completed()),
        [
            f'{LATE} 1 "reasoning"',
            "1 assistant end shown: 'a'",
            'W-RECORD-UNKNOWN None 2 " SECRET"',
            "2 assistant end hidden: ' SECRET'",
        ],
    ),
    (
        "a second announcement of another phase hides the rest",
        lines(
            added("m1", role="assistant", phase="final_answer"),
            text("a"),
            added("m1", role="assistant", phase="commentary"),
            text(" SECRET"),
            completed(),
        ),
        [
            f'{LATE} 1 "commentary"',
            "1 assistant final end shown: 'a'",
            "2 assistant commentary end hidden: ' SECRET'",
        ],
    ),
    (
        "a later final does not bring it back",
        lines(
            text("a"),
            done("response.note", item_id="m1", channel="analysis"),
            delta(" SECRET", f"{TEXT}.delta", item_id="m1", content_index=0, channel="final"),
            completed(),
        ),
        [
            f'{LATE} 1 "analysis"',
            "1 assistant end shown: 'a'",
            'I-RECORD-UNKNOWN None None {"type": "response.note", "item_id": "m1", "channel": "analysis"}',
            "2 assistant final end hidden: ' SECRET'",
        ],
    ),
    (
        "a chunk without text names a channel, and the rest is hidden",
        lines(
            chunk({"role": "assistant", "content": "It is"}),
            chunk({"channel": "analysis"}),
            chunk({"content": " SECRET"}),
            chunk({}, "stop"),
        ),
        [
            f'{LATE} 1 "analysis"',
            "1 assistant end shown: 'It is'",
            "2 assistant analysis end hidden: ' SECRET'",
        ],
    ),
    (
        "a channel that the first chunk names holds for all",
        b"".join(
            lines(*({**each, "id": name} if name else {"choices": each["choices"]} for each in chunks))
            for name, chunks in (
                (name, [chunk({"role": "assistant", "channel": "analysis"}), chunk({"content": "SECRET"})])
                for name in ("c1", None)
            )
        ),
        [
            "E-STREAM-TRUNCATED event-stream 1 ",
            "1 assistant analysis open hidden: 'SECRET'",
            "E-STREAM-TRUNCATED event-stream 2 ",
            "2 assistant analysis open hidden: 'SECRET'",
        ],
    ),
    (
        "an event before the text names the channel",
        lines(done("response.start", message_id="m1", channel="analysis"), delta("SECRET", message_id="m1"), done()),
        [
            'I-RECORD-UNKNOWN None None {"type": "response.start", "message_id": "m1", "channel": "analysis"}',
            "1 assistant analysis end hidden: 'SECRET'",
        ],
    ),
    (
        "what is hidden does not become shown",
        lines(
            added("m1", role="assistant", phase="commentary"),
            text("SECRET"),
            item_done("m1", role="assistant", phase="final_answer", content=said("SECRET")),
        ),
        ["1 assistant commentary end hidden: 'SECRET'"],
    ),
    (
        "a cancelled response gets no more text",
        lines({"type": "response.created"}, {"type": "response.cancel"}, text("SECRET"), text("!"), done("done")),
        [
            "W-STREAM-LATE None 1 " + lines(text("SECRET")).decode().rstrip(),
            "1 assistant end hidden: 'SECRET!'",
        ],
    ),
    (
        "the copy of a cancelled message is late",
        lines(
            text("a"), {"type": "response.cancel", "item_id": "m2"}, item_done("m2", content=said("SECRET"), index=1)
        ),
        [
            "W-STREAM-LATE None 2 " + lines(item_done("m2", content=said("SECRET"), index=1)).decode().rstrip(),
            "E-STREAM-TRUNCATED event-stream 1 ",
            "1 assistant open shown: 'a'",
            "2 assistant end hidden: 'SECRET'",
        ],
    ),
    (
        "text after the done of its part is late; another part is not",
        lines(
            text("a"),
            done(f"{TEXT}.done", item_id="m1", content_index=0),
            text("b", part=1),
            text("SECRET"),
            done(f"{TEXT}.done", item_id="m1", content_index=1),
            done("done"),
        ),
        [
            "1 assistant end shown: 'a'",
            "W-STREAM-LATE None 3 " + lines(text("SECRET")).decode().rstrip(),
            "2 assistant end shown: 'b'",
            "3 assistant end hidden: 'SECRET'",
        ],
    ),
    (
        "parts may alternate",
        lines(text("a"), text("b", part=1), text("c"), item_done("m1", content=[*said("ac"), *said("b")])),
        ["1 assistant end shown: 'ac'", "2 assistant end shown: 'b'"],
    ),
]

HIDDEN_CASES: list[tuple[str, bytes, list[str]]] = [
    (
        "an item with a hidden channel and no deltas",
        lines(item_done("m1", role="assistant", channel="analysis", content=said("SECRET"))),
        ["1 assistant analysis end hidden: 'SECRET'"],
    ),
    (
        "an item of the commentary phase",
        lines(item_done("m1", role="assistant", phase="commentary", content=said("SECRET"))),
        ["1 assistant commentary end hidden: 'SECRET'"],
    ),
    (
        "parts of an item that are not for the user",
        lines(
            item_done(
                "m1",
                role="assistant",
                content=[
                    {"type": "mcp_tool_result", "text": "SECRET"},
                    {"type": "summary_text", "text": "SECRET"},
                    {"type": "text", "text": "SECRET", "thought": True},
                    *said("Hi"),
                ],
            )
        ),
        [
            'W-PART-UNKNOWN None 1 {"type": "mcp_tool_result", "text": "SECRET"}',
            '1 assistant end hidden: \'{"type": "mcp_tool_result", "text": "SECRET"}\'',
            "2 assistant analysis summary end hidden: 'SECRET'",
            "3 assistant analysis end hidden: 'SECRET'",
            "4 assistant end shown: 'Hi'",
        ],
    ),
    (
        "a delta that is flagged as a thought",
        lines(delta("SECRET", thought=True), delta("Hi"), done("done")),
        ["1 assistant analysis end hidden: 'SECRET'", "2 assistant end shown: 'Hi'"],
    ),
    (
        "a chunk that is flagged as a thought, by Google's extension too",
        lines(
            chunk({"content": "SECRET", "extra_content": {"google": {"thought": True}}}),
            chunk({"content": "!", "thought": True}),
            chunk({"content": "Hi"}, "stop"),
        ),
        ["1 assistant analysis end hidden: 'SECRET!'", "2 assistant end shown: 'Hi'"],
    ),
    (
        "chunks whose content is a list of parts",
        lines(
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "SECRET"}]}]}),
            chunk({"content": [{"type": "text", "text": "Hi"}, {"type": "reference", "ids": ["SECRET"]}]}, "stop"),
        ),
        [
            'W-PART-UNKNOWN None 3 {"type": "reference", "ids": ["SECRET"]}',
            '1 assistant analysis end hidden: \'[{"type": "text", "text": "SECRET"}]\'',
            "2 assistant end shown: 'Hi'",
            '3 assistant end hidden: \'{"type": "reference", "ids": ["SECRET"]}\'',
        ],
    ),
    (
        "a refusal begins a line",
        lines(chunk({"content": "Well,"}), chunk({"refusal": "I can't"}), chunk({"refusal": " say."}, "stop")),
        ['1 assistant end shown: "Well,\\nI can\'t say."'],
    ),
    (
        "one thought under several names",
        lines(
            chunk({"reasoning": "why", "reasoning_content": "why", "reasoning_details": [{"text": "why"}]}),
            chunk({"reasoning_details": [{"type": "reasoning.text", "text": "!"}]}, "stop"),
        ),
        ["1 assistant analysis end hidden: 'why!'"],
    ),
    (
        "members of a chunk that nothing maps",
        lines(chunk({"content": "Hi", "scratchpad": "SECRET"}, "stop", message={"content": "SECRET"})),
        [
            'W-PART-UNKNOWN None 2 "SECRET"',
            "1 assistant end shown: 'Hi'",
            '2 assistant end hidden: \'SECRET{"content": "SECRET"}\'',
        ],
    ),
    (
        "an unknown delta",
        lines(
            text("Hi"),
            delta({"stdout": "SECRET"}, "response.shell_call_output_content.delta", item_id="sh1"),
            delta("SECRET", "response.thinking.delta", item_id="t1"),
            done("done"),
        ),
        [
            "W-RECORD-UNKNOWN None 2 "
            + lines(delta({"stdout": "SECRET"}, "response.shell_call_output_content.delta", item_id="sh1"))
            .decode()
            .rstrip(),
            'W-RECORD-UNKNOWN None 3 "SECRET"',
            "1 assistant end shown: 'Hi'",
            "2 assistant end hidden: "
            + repr(
                lines(delta({"stdout": "SECRET"}, "response.shell_call_output_content.delta", item_id="sh1"))
                .decode()
                .rstrip()
            ),
            "3 assistant end hidden: 'SECRET'",
        ],
    ),
    (
        "text of an item that is not a message",
        lines(added("t1", "thinking"), text("SECRET", "t1"), item_done("t1", "thinking"), done("done")),
        ['W-RECORD-UNKNOWN None 1 "SECRET"', "1 assistant end hidden: 'SECRET'"],
    ),
    (
        "text of an item that was not announced where others were",
        lines(added("m1", role="assistant"), text("Hi"), text("SECRET", "m2", index=1), done("done")),
        [
            "1 assistant end shown: 'Hi'",
            "W-RECORD-UNKNOWN None 2 " + lines(text("SECRET", "m2", index=1)).decode().rstrip(),
            "2 assistant end hidden: 'SECRET'",
        ],
    ),
    (
        "until its last event settles that it is a message",
        lines(
            added("m1", role="assistant"),
            text("Hi", "m2", index=1),
            item_done("m2", role="assistant", index=1, content=said("Hi")),
        ),
        ["1 assistant end shown: 'Hi'"],
    ),
    (
        "a part that is announced as reasoning",
        lines(
            added("m1", role="assistant"),
            {"type": "response.content_part.added", "item_id": "m1", "content_index": 0, "part": {"type": "thinking"}},
            text("SECRET"),
            text("Hi", part=1),
            done("done"),
        ),
        [
            'W-RECORD-UNKNOWN None 1 "SECRET"',
            "1 assistant end hidden: 'SECRET'",
            "2 assistant end shown: 'Hi'",
        ],
    ),
    (
        "a role that is not a string",
        lines(delta("SECRET", role=["tool"], message_id="a"), delta("SECRET", role={}, message_id="b"), done("done")),
        [
            'E-PARSE-HEADER role-unknown 1 ["tool"]',
            "E-PARSE-HEADER role-unknown 2 {}",
            "1 array end hidden: 'SECRET'",
            "2 object end hidden: 'SECRET'",
        ],
    ),
    (
        "a recipient that is not a string",
        lines(delta("SECRET", to=["functions.f"]), done("done")),
        ["1 assistant array call hidden: 'SECRET'"],
    ),
    (
        "properties in two objects that contradict each other",
        lines({"event": "response.delta", "role": "tool", "data": {"role": "assistant", "delta": "SECRET"}}),
        [
            'E-PARSE-HEADER not-a-message None "assistant"',
            *(
                f"{word} "
                + lines({"event": "response.delta", "role": "tool", "data": {"role": "assistant", "delta": "SECRET"}})
                .decode()
                .rstrip()
                for word in ("stray after 0:", "W-TEXT-BETWEEN None None")
            ),
        ],
    ),
    (
        "an item with a repeated phase",
        b'{"type":"response.output_item.done","item":{"id":"m","type":"message","phase":"commentary",'
        b'"phase":"final_answer","content":[{"type":"output_text","text":"SECRET"}]}}\n',
        [
            'E-PARSE-HEADER not-a-message None "phase"',
            *(
                f'{word} {{"type":"response.output_item.done","item":{{"id":"m","type":"message","phase":"commentary",'
                '"phase":"final_answer","content":[{"type":"output_text","text":"SECRET"}]}}'
                for word in ("stray after 0:", "W-TEXT-BETWEEN None None")
            ),
        ],
    ),
    (
        "code, commands and their output",
        lines(
            added("ci", "code_interpreter_call"),
            delta("print(1)", "response.code_interpreter_call_code.delta", item_id="ci"),
            {"type": "response.code_interpreter_call_code.done", "item_id": "ci", "code": "print(1)"},
            item_done("ci", "code_interpreter_call", code="print(1)", outputs=[{"type": "logs", "logs": "SECRET"}]),
            item_done("sh", "shell_call_output", call_id="k", output=[{"stdout": "SECRET"}], index=1),
        ),
        [
            "1 assistant commentary call hidden: 'print(1)'",
            '2 assistant end hidden: \'[{"type": "logs", "logs": "SECRET"}]\'',
            'W-RECORD-UNKNOWN None 3 {"id": "sh", "type": "shell_call_output", "call_id": "k", '
            '"output": [{"stdout": "SECRET"}]}',
            '3 assistant k end hidden: \'{"id": "sh", "type": "shell_call_output", "call_id": "k", '
            '"output": [{"stdout": "SECRET"}]}\'',
        ],
    ),
]

FOUND_CASES: list[tuple[str, bytes, list[str]]] = [
    (
        "a lone response.completed",
        lines(completed({"id": "m1", "type": "message", "role": "assistant", "content": said("Hi")})),
        ['I-STREAM-FINAL-ONLY None 1 "Hi"', "1 assistant end shown: 'Hi'"],
    ),
    (
        "the same with reasoning, a call and a refusal",
        lines(
            completed(
                {"id": "r1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "why"}]},
                {"id": "f1", "type": "function_call", "call_id": "k", "name": "f", "arguments": "{}"},
                {"id": "m1", "type": "message", "content": [*said("Hi"), {"type": "refusal", "refusal": "No."}]},
            )
        ),
        [
            'I-STREAM-FINAL-ONLY None 1 "why"',
            'I-STREAM-FINAL-ONLY None 2 "{}"',
            'I-STREAM-FINAL-ONLY None 3 "Hi"',
            'I-STREAM-FINAL-ONLY None 4 "No."',
            "1 assistant analysis summary end hidden: 'why'",
            "2 assistant commentary functions.f k call hidden: '{}'",
            "3 assistant end shown: 'Hi'",
            "4 assistant end shown: 'No.'",
        ],
    ),
    (
        "only the convenience text",
        lines({"type": "response.completed", "response": {"id": "r", "output_text": "Hi"}}),
        ['I-STREAM-FINAL-ONLY None 1 "Hi"', "1 assistant end shown: 'Hi'"],
    ),
    (
        "a response that failed repeats what there was",
        lines(
            {"type": "response.incomplete", "response": {"output": [{"id": "m", "content": "Hi", "role": "assistant"}]}}
        ),
        [
            'I-STREAM-FINAL-ONLY None 1 "Hi"',
            "E-STREAM-TRUNCATED event-stream 1 ",
            "1 assistant open shown: 'Hi'",
        ],
    ),
    (
        "a part that only its done event contains",
        lines(
            text("a"),
            done(f"{TEXT}.done", item_id="m1", content_index=0, text="a"),
            {"type": "response.content_part.done", "item_id": "m1", "content_index": 1, "part": said("b")[0]},
            item_done("m1", content=[*said("a"), *said("b")]),
        ),
        ["1 assistant end shown: 'a'", "2 assistant end shown: 'b'"],
    ),
    (
        "a part that only the item contains, after the done event of another part",
        lines(
            text("a"),
            done(f"{TEXT}.done", item_id="m1", content_index=0),
            item_done("m1", content=said("a") + said("b")),
        ),
        ["1 assistant end shown: 'a'", "2 assistant end shown: 'b'"],
    ),
    (
        "deltas by index, the end by id",
        lines(
            delta("a", f"{TEXT}.delta", output_index=3),
            delta("b", f"{TEXT}.delta", output_index=3),
            item_done("m1", index=3, content=said("ab")),
            completed({"id": "m1", "type": "message", "content": said("ab")}),
        ),
        ["1 assistant end shown: 'ab'"],
    ),
    (
        "a generic message that only its last event contains",
        lines(done("response.done", message_id="m1", text="Hi")),
        ["1 assistant end shown: 'Hi'"],
    ),
    (
        "a reply of the Realtime API",
        lines(
            {
                "type": "response.done",
                "response": {
                    "output": [
                        {
                            "id": "m",
                            "type": "message",
                            "role": "assistant",
                            "content": [{"type": "audio", "transcript": "Hi"}],
                        }
                    ]
                },
            }
        ),
        ['I-STREAM-FINAL-ONLY None 1 "Hi"', "1 assistant end shown: 'Hi'"],
    ),
    (
        "a chat id that two replies share",
        lines(
            chunk({"role": "assistant", "content": "a"}, "stop"),
            chunk({"content": "SECRET"}),
            chunk({"role": "assistant", "content": "b"}, "stop"),
        ),
        [
            "1 assistant end shown: 'a'",
            "W-STREAM-LATE None 2 " + lines(chunk({"content": "SECRET"})).decode().rstrip(),
            "3 assistant end shown: 'b'",
            "2 assistant end hidden: 'SECRET'",
        ],
    ),
    (
        "summary parts",
        lines(
            added("rs", "reasoning"),
            {
                "type": "response.reasoning_summary_part.added",
                "item_id": "rs",
                "summary_index": 0,
                "part": {"text": ""},
            },
            delta("a", "response.reasoning_summary_text.delta", item_id="rs", summary_index=0),
            done("response.reasoning_summary_text.done", item_id="rs", summary_index=0, text="a"),
            {
                "type": "response.reasoning_summary_part.done",
                "item_id": "rs",
                "summary_index": 1,
                "part": {"type": "summary_text", "text": "b"},
            },
            item_done("rs", "reasoning", summary=[{"text": "a"}, {"text": "b"}]),
        ),
        ["1 assistant analysis summary end hidden: 'a'", "2 assistant analysis summary end hidden: 'b'"],
    ),
    (
        "reasoning next to it stays separate",
        lines(reasoning("why", item_id="r1"), text("Hi"), completed()),
        ["1 assistant analysis end hidden: 'why'", "2 assistant end shown: 'Hi'"],
    ),
]
