"""Cassettes: recorded requests as YAML or JSON read like the same requests in a HAR file, however bodies are stored."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.containers import documents, seen_and_hidden
from tests.support.program import run
from viewer.document.document import open_document
from viewer.model.visibility import END_USER, Audience, Reveal
from viewer.render.json_lines import projection_lines

ASKED = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Is it\n\n 'open' until 10: yes?"}]})
ANSWERED = json.dumps(
    {
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": "Yés, it is.", "reasoning_content": "SECRET_WHY"}}
        ]
    }
)
SAID = ["Is it\n\n 'open' until 10: yes?", "Yés, it is."]
REVEALED = Audience(frozenset({Reveal.ALL}), thread=None)


def bodies(path: Path, audience: Audience = END_USER) -> list[str]:
    found = [json.loads(str(line)) for line in projection_lines(open_document(str(path)).project(audience))]
    return [line["body"].strip() for line in found if line["kind"] == "message"]


def reasons(path: Path) -> set[str | None]:
    found = [finding.diagnostic for finding in open_document(str(path)).findings()]
    return {each.reason for each in found if each.rule.code == "E-STREAM-TRUNCATED"}


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def as_yaml(value: object, **options: Any) -> str:
    return str(yaml.safe_dump(value, allow_unicode=True, sort_keys=True, **options))


def spellings(entries: list[tuple[str, str | None, int]]) -> Iterator[tuple[str, str]]:
    """Yield the name and text of a cassette of each tool with these requests, responses, and status codes."""
    vcr: dict[str, Any] = {
        "interactions": [
            {
                "request": {"body": asked, "headers": {"authorization": ["SECRET_KEY"]}, "method": "POST", "uri": "u"},
                "response": {"body": {"string": answered}, "headers": {}, "status": {"code": code, "message": "x"}},
            }
            for asked, answered, code in entries
        ],
        "version": 1,
    }
    ruby: dict[str, Any] = {
        "http_interactions": [
            {
                "request": {"method": "post", "uri": "u", "body": {"encoding": "UTF-8", "string": asked}},
                "response": {
                    "status": {"code": code, "message": "OK"},
                    "body": {
                        "encoding": "ASCII-8BIT",
                        "base64_string": base64.b64encode((answered or "").encode()).decode(),
                    },
                },
                "recorded_at": "Tue, 01 Nov 2022 04:58:44 GMT",
            }
            for asked, answered, code in entries
        ],
        "recorded_with": "VCR 6.1.0",
    }
    go = [
        {"request": {"body": asked}, "response": {"body": answered, "status": f"{code} X", "code": code}}
        for asked, answered, code in entries
    ]
    nock = [
        {"scope": "https://api.example.com:443", "method": "POST", "body": asked, "status": code, "response": answered}
        for asked, answered, code in entries
    ]
    mocks = [
        {"when": {"path": "/v1", "method": "POST", "body": asked}, "then": {"status": code, "body": answered}}
        for asked, answered, code in entries
    ]
    yield "mock.yaml", "---\n".join(yaml.safe_dump(mock, allow_unicode=True, sort_keys=False) for mock in mocks)
    if all(answered is not None for _, answered, _ in entries):
        yield "trace.httprr", f"httprr trace v1\n{''.join(map(exchange, entries))}"
    if all(answered is None or is_json(answered) for _, answered, _ in entries):
        yield "replay.json", json.dumps({"replay_id": "a/b", "interactions": [*map(replayed, entries)]})
    yield "vcr.yaml", as_yaml(vcr)
    yield "narrow.yaml", as_yaml(vcr, width=20, default_style='"')
    yield "vcr.json", json.dumps(vcr, indent=1)
    yield "ruby.yml", f"---\n{as_yaml(ruby)}"
    yield "ruby.json", json.dumps(ruby)
    yield "go.yaml", f"---\nversion: 2\ninteractions:\n{as_yaml(go)}"
    yield "php.yaml", as_yaml(go)
    yield "nock.json", json.dumps(nock)


def exchange(entry: tuple[str, str | None, int]) -> str:
    """Return an exchange as httprr stores it, with an answer in chunks."""
    asked, answered, code = entry
    chunks = [(answered or "")[at : at + 50] for at in range(0, len(answered or ""), 50)]
    sent = "".join(f"{len(chunk.encode()):x}\r\n{chunk}\r\n" for chunk in [*chunks, ""])
    request = f"POST https://api.example.com/v1 HTTP/1.1\r\nAuthorization: SECRET_KEY\r\n\r\n{asked}"
    response = f"HTTP/1.1 {code} X\r\nTransfer-Encoding: chunked\r\n\r\n{sent}"
    return f"{len(request.encode())} {len(response.encode())}\n{request}{response}"


def is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def replayed(entry: tuple[str, str | None, int]) -> dict[str, Any]:
    """Return an exchange as the client of Gemini stores it."""
    asked, answered, code = entry
    segments = [] if answered is None else [json.loads(answered)]
    return {
        "request": {"method": "post", "body_segments": [json.loads(asked)]},
        "response": {
            "status_code": code,
            "body_segments": segments,
            "sdk_response_segments": [{"text": "SECRET_COPY"}],
        },
    }


@pytest.mark.slow
def test_every_har_sample_reads_the_same_in_a_cassette(tmp_path: Path) -> None:
    count = 0
    for name, har in documents("har").items():
        entries = [
            (each["request"]["postData"]["text"], each["response"]["content"].get("text"), each["response"]["status"])
            for each in har["log"]["entries"]
            if "postData" in each["request"] and "model" in each["request"]["postData"]["text"]
        ]
        seen, _ = seen_and_hidden("har", name)
        if not entries or len(entries) < len(har["log"]["entries"]):
            continue
        for spelled, text in spellings(entries):
            path = written(tmp_path / f"{name} {spelled}", text)
            assert bodies(path) == seen, path
            assert "SECRET_" not in run("show", path).out + run("check", path).out, path
            count += 1
    assert count > 40


def test_a_body_reads_the_same_however_it_is_stored(tmp_path: Path) -> None:
    packed = gzip.compress(ANSWERED.encode())
    encoded = base64.b64encode(packed).decode()
    answers: list[dict[str, Any]] = [
        {"body": ANSWERED},
        {"body": {"string": ANSWERED}},
        {"body": {"string": ANSWERED.encode()}},
        {"body": {"string": packed}, "headers": {"Content-Encoding": ["gzip"]}},
        {"body": {"string": zlib.compress(ANSWERED.encode())}, "headers": {"content-encoding": "deflate"}},
        {"body": {"encoding": "base64", "string": encoded}},
        {"body": {"base64_string": encoded}},
        {"content": ANSWERED},
        {"parsed_body": json.loads(ANSWERED)},
        {"body": json.loads(ANSWERED)},
    ]
    asked = [{"body": ASKED}, {"body": {"string": ASKED}}, {"parsed_body": json.loads(ASKED)}, {"body": ASKED.encode()}]
    for number, answer in enumerate(answers):
        cassette = {"interactions": [{"request": asked[number % len(asked)], "response": answer}], "version": 1}
        path = written(tmp_path / f"{number}.yaml", as_yaml(cassette))
        for tag in ("!!binary", "!binary"):
            path.write_text(path.read_text("utf-8").replace("!!binary", tag), "utf-8")
            assert bodies(path) == SAID, answer
            assert "SECRET_WHY" in bodies(path, REVEALED), answer


def test_unquoted_words_keep_their_meaning(tmp_path: Path) -> None:
    said = (
        "{role: user, content: 'true'}, {role: user, content: A, hidden: true}, {role: user, content: B, hidden: false}"
    )
    asked = f"- request: {{parsed_body: {{model: m, messages: [{said}]}}}}\n  response: {{}}\n"
    path = written(tmp_path / "x.yaml", f"interactions:\n{asked}")
    assert bodies(path) == ["true", "B"]


def test_streamed_calls_with_names_are_separate_calls(tmp_path: Path) -> None:
    deltas: list[dict[str, Any]] = [{"reasoning": "SECRET_WHY"}]
    for number, name in enumerate(("f", "g")):
        calls = ({"id": name, "function": {"name": name, "arguments": ""}}, {"function": {"arguments": "{}"}})
        deltas += [{"tool_calls": [{"index": number, **call}]} for call in calls]
    chunks = [{"id": "c", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    answer = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    items = [{"request": {"body": ASKED}, "response": {"body": answer}}] * 2
    path = written(tmp_path / "x.yaml", as_yaml({"interactions": items}))
    assert run("check", "--strict", path).out == "No problems in 8 messages.\n"
    assert bodies(path, REVEALED)[1:4] == ["SECRET_WHY", "{}", "{}"]


def test_a_request_without_a_model_is_read(tmp_path: Path) -> None:
    asked = json.dumps({"messages": [{"role": "user", "content": [{"text": "Hello"}]}]})
    path = written(tmp_path / "x.yaml", as_yaml({"interactions": [{"request": {"body": asked}, "response": {}}]}))
    assert bodies(path) == ["Hello"]


def test_a_request_that_continues_a_response_does_not_begin_a_transcript(tmp_path: Path) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    reply = {"type": "function_call_output", "call_id": "c", "output": "SECRET_REPLY"}
    entries = [
        ({"model": "m", "input": "Go"}, {"id": "r", "output": [call]}),
        ({"model": "m", "previous_response_id": "r", "input": [reply]}, {"output": [message("Done")]}),
    ]
    items = [{"request": {"body": json.dumps(a)}, "response": {"body": json.dumps(b)}} for a, b in entries]
    path = written(tmp_path / "x.yaml", as_yaml({"interactions": items}))
    assert bodies(path) == ["Go", "Done"]
    assert run("check", "--strict", path).out == "No problems in 4 messages.\n"


def message(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def test_events_of_a_web_socket_are_read(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [
        {"type": "session.created", "session": {"instructions": "SECRET_RULE"}},
        {
            "type": "conversation.item.created",
            "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
        },
        {"type": "response.done", "response": {"status": "completed", "output": [message("Hi.")]}},
    ]
    for pack in (lambda each: each, json.dumps):
        items = [{"kind": "message", "direction": "sent", "data": pack(each)} for each in events]
        path = written(tmp_path / "x.yaml", as_yaml({"version": 1, "interactions": items}))
        assert bodies(path) == ["Hello", "Hi."]
    items[1]["data"] = "not JSON"
    path = written(tmp_path / "x.yaml", as_yaml({"version": 1, "interactions": items}))
    assert (bodies(path), reasons(path)) == (["Hi."], {"part-unread"})


def test_a_hostile_or_damaged_cassette_gives_what_can_be_read(tmp_path: Path) -> None:
    good = as_yaml({"interactions": [{"request": {"body": ASKED}, "response": {"body": {"string": ANSWERED}}}]})
    bomb = "".join(f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 9))
    zipped = base64.b64encode(gzip.compress(bytes(70 * 1024 * 1024), 1)).decode()
    tails = {
        "part-damaged": (
            "- request: {body: [\n",
            "- request: {body: a, body: b}\n",
            "- request: &x {body: *x}\n",
            f"- a0: &a0 x\n{bomb}",
            f"- {'[' * 200}{']' * 200}\n",
            "- &a : [\n",
            "- request: {body: !!binary 'A'}\n",
        ),
        "part-unread": (
            "- request: {body: {base64_string: '////'}}\n",
            f"- response: {{body: {{string: !!binary '{zipped}'}}}}\n",
            "- response: {body: {string: !!binary 'H4sIAAA='}}\n",
        ),
    }
    for reason, texts in tails.items():
        for text in texts:
            path = written(tmp_path / "x.yaml", good + text)
            assert (bodies(path), reasons(path)) == (SAID, {reason}), text[:80]
    for end in range(0, len(good), 7):
        path = written(tmp_path / "x.yaml", good[:end])
        assert set(bodies(path)) <= set(SAID), end


def test_other_files_are_no_cassettes(tmp_path: Path) -> None:
    chat = json.dumps({"messages": [{"role": "user", "content": "interactions:\n- request:\n"}]})
    for name, text in {
        "chat.json": chat,
        "steps.json": json.dumps({"interactions": [{"role": "user", "content": "Hello"}]}),
        "notes.yaml": "interactions: none\n- request\n",
        "list.md": "- one\n- interactions:\n",
    }.items():
        assert open_document(str(written(tmp_path / name, text))).detection.format != "har", name
    assert bodies(tmp_path / "chat.json") == ["interactions:\n- request:"]


def test_a_compressed_trace_is_read_up_to_its_damage(tmp_path: Path) -> None:
    entry = (json.dumps({"model": "m", "prompt": "SECRET", "max_tokens": 9}), '{"completion": "A lark."}', 200)
    trace = f"httprr trace v1\n{exchange(entry) * 40}".encode()
    packed, path = gzip.compress(trace), tmp_path / "trace.httprr.gz"
    for data, shown in ((packed, 40), (packed[:-8], 40), (packed[:20], 0), (b"\x1f\x8b" + b"x" * 50, 0)):
        path.write_bytes(data)
        found = run("show", str(path))
        assert found.out.count("A lark.") == shown
        assert "SECRET" not in found.out
        assert run("check", str(path)).code == (data != packed)
