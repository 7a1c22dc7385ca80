"""Exports of chat programs (Claude.ai, Open WebUI, LibreChat, SillyTavern): only text that was on screen is shown."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_records import (
    as_document,
    as_lines,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    found,
    kinds,
    left_behind,
    shown,
)
from tests.support.cases import each
from tests.support.program import run
from tests.support.samples import samples
from viewer.formats import detect
from viewer.formats.engine.paths import path
from viewer.syntax.json_text import read_json

FORMATS = ("claude-ai", "open-webui", "librechat", "sillytavern")
TOP = "00000000-0000-4000-8000-000000000000"
Message = dict[str, Any]


def claude(*messages: Message, **more: Any) -> bytes:
    return as_document([{"uuid": "c", "name": "SECRET_NAME", "chat_messages": [*messages], **more}])


def part(text: str) -> Message:
    return {"type": "text", "text": text}


def said(id: str, sender: str, text: str, parent: str | None = None, **more: Any) -> Message:
    return {"uuid": id, "sender": sender, "text": "", "content": [part(text)], "parent_message_uuid": parent, **more}


def web(*messages: Message, **more: Any) -> bytes:
    """Return an Open WebUI export with a chain of messages."""
    chain: list[Message] = [
        {"id": str(at), "parentId": str(at - 1) if at else None, "childrenIds": []} | message
        for at, message in enumerate(messages)
    ]
    history = {"messages": {each["id"]: each for each in chain}, "currentId": chain[-1]["id"]}
    return as_document([{"id": "w", "title": "SECRET_TITLE", "chat": {"history": history, **more}}])


def answer(content: Any, **more: Any) -> Message:
    return {"role": "assistant", "content": content, **more}


def libre(*messages: Message, **more: Any) -> bytes:
    return as_document({"conversationId": "l", "title": "SECRET_TITLE", "messages": [*messages], **more})


def message(id: str, parent: str, text: Any, *, user: Any = False, **more: Any) -> Message:
    return {"messageId": id, "parentMessageId": parent, "isCreatedByUser": user, "sender": "x", "text": text, **more}


def tavern(text: Any, *, user: Any = False, **more: Any) -> Message:
    return {"name": "x", "is_user": user, "is_system": False, "mes": text, "extra": {}, **more}


def test_versions_of_the_first_prompt_are_older_branches() -> None:
    messages = (
        said("h1", "human", "One?", TOP),
        said("a1", "assistant", "1.", "h1"),
        said("h2", "human", "Two?", TOP),
        said("a2", "assistant", "2.", "h2"),
    )
    for newest, order in (("a2", ["One?", "1.", "Two?", "2."]), ("a1", ["Two?", "2.", "One?", "1."])):
        data = claude(*messages, current_leaf_message_uuid=newest)
        assert (shown(data, "claude-ai"), found(data, "claude-ai")) == (order, [])
        assert left_behind(data, "claude-ai") == {1, 2}
    linear = claude(*[each | {"parent_message_uuid": None} for each in messages])
    assert left_behind(linear, "claude-ai") == set()
    lost = claude(
        said("h1", "human", "One?", "gone"), said("h2", "human", "Two?", TOP), said("a", "assistant", "2.", "h2")
    )
    assert found(lost, "claude-ai") == ["W-THREAD-BROKEN/parent-missing"]
    assert left_behind(lost, "claude-ai") == set()


def test_a_nested_tree_is_read_at_every_depth() -> None:
    deepest = message("n60", "n59", "Seen 60.")
    for at in range(59, -1, -1):
        deepest = message(f"n{at}", f"n{at - 1}", f"Seen {at}.", user=at % 2 == 0) | {"children": [deepest]}
    data = libre(deepest | {"parentMessageId": "00000000-0000-0000-0000-000000000000"}, recursive=True)
    assert shown(data, "librechat") == [f"Seen {at}." for at in range(61)]
    assert found(data, "librechat") == []


def test_a_nested_path_yields_parents_before_children() -> None:
    node = read_json(b'{"m":[{"i":1,"c":[{"i":2,"c":[{"i":3}]},{"i":4,"c":{"i":9}}]},{"i":5}]}').node
    assert node is not None
    assert [each.text for each in path("m[].+c.i").all(node)] == ["1", "2", "3", "4", "5"]
    assert path("m[].+c.x").all(node) == []
    assert path("m[].+c").is_in(node)


def test_folded_elements_of_an_answer_are_hidden() -> None:
    thought = '<details type="reasoning" done="true">\n<summary>SECRET_</summary>\n{}\n</details>\n'
    for content, seen in (
        (thought.format("&gt; SECRET_ &lt;/details&gt;") + "Seen.", ["Seen."]),
        (thought.format("> SECRET_\n> </details> SECRET_\n> SECRET_") + "Seen.", ["Seen."]),
        (thought.format("> SECRET_").replace("</details>", ""), []),
        (f"Seen.\n{thought.format('> SECRET_')}Again.", ["Seen.", "Again."]),
        (
            "<details done='true' type='tool_calls' result='SECRET_'><summary>SECRET_</summary></details>Seen.",
            ["Seen."],
        ),
        ("<details type=new>SECRET_</details>Seen.", ["Seen."]),
        ('<DETAILS TYPE="REASONING">SECRET_</DETAILS>Seen.', ["Seen."]),
        ('<details title="a > b" type="reasoning">SECRET_</details>Seen.', ["Seen."]),
        ('<details type="tool_calls" result="a < b SECRET_">SECRET_</details>Seen.', ["Seen."]),
        (thought.format('<details type="tool_calls">SECRET_</details>SECRET_') + "Seen.", ["Seen."]),
        ("<details><summary>More</summary>Seen.</details>", ["<details><summary>More</summary>Seen.</details>"]),
    ):
        data = web({"role": "user", "content": "Q?"}, answer(content))
        assert shown(data, "open-webui") == ["Q?", *seen], content


def test_content_may_be_parts_and_a_chat_may_be_a_list() -> None:
    parts = [part("Seen."), {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]
    data = web({"role": "user", "content": [*parts, {"type": "blob", "text": "SECRET_"}]})
    assert shown(data, "open-webui") == ["Seen.\n[image/png, 3 B]"]
    messages = [{"role": "user", "content": "Q?"}, answer(':\n<details type="reasoning">SECRET_</details>A.')]
    listed = as_document([{"id": "w", "title": "SECRET_", "chat": {"models": ["m"], "messages": messages}}])
    assert detect(listed).format == "open-webui"
    assert shown(listed, "open-webui") == ["Q?", ":", "A."]


def test_the_items_of_an_answer_replace_its_content() -> None:
    items = [
        {"type": "reasoning", "content": [{"type": "output_text", "text": "SECRET_T"}], "summary": None},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "SECRET_R"}]},
        {"type": "open_webui:code_interpreter", "code": "SECRET_C"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Seen."}]},
    ]
    data = web(answer("SECRET_COPY", output=items))
    assert kinds(data, "open-webui")[:3] == [("thought", "SECRET_T"), ("call", "{}"), ("reply", "SECRET_R")]
    assert shown(data, "open-webui") == ["Seen."]
    assert shown(web(answer("Seen.", output=items[:3])), "open-webui") == ["Seen."]


def test_fenced_thoughts_are_hidden() -> None:
    for text, seen in (
        (":::thinking\nSECRET_\n:::\nSeen.", ["Seen."]),
        (":::thinking\nSECRET_\n::: SECRET_\n:::\nSeen.", ["Seen."]),
        (":::thinking\nSECRET_ ::: SECRET_", []),
        ("Seen :::thinking", ["Seen :::thinking"]),
    ):
        assert shown(libre(message("a", "", text)), "librechat") == seen, text
    parts = [
        {"type": "think", "think": ":::SECRET_"},
        {"type": "text", "text": ":::thinking\nSECRET_\n:::\n"},
        part("Seen."),
    ]
    assert shown(libre(message("a", "", "SECRET_", content=parts)), "librechat") == ["Seen."]


def test_errors_of_the_program_are_not_answers() -> None:
    for data, format in (
        (libre(message("a", "", "SECRET_", error=True)), "librechat"),
        (web(answer("SECRET_", error=True)), "open-webui"),
        (web(answer("", error={"content": "SECRET_"})), "open-webui"),
        (web(answer("", error="SECRET_")), "open-webui"),
    ):
        assert (shown(data, format), found(data, format)) == ([], ["W-RUN-ERROR/unknown"]), data


def test_a_flag_that_cannot_be_read_hides() -> None:
    wrong: Any
    for wrong in ("no", 1, {}, None):
        assert shown(libre(message("a", "", "SECRET_", user=wrong)), "librechat") == [], wrong
        assert shown(as_lines(tavern("SECRET_", user=wrong)), "sillytavern") == [], wrong
        if wrong is not None:
            assert shown(as_lines(tavern("SECRET_", is_system=wrong)), "sillytavern") == [], wrong
    for extra in ({"type": "narrator"}, {"isSmallSys": True}, {"isSmallSys": "x"}):
        assert shown(as_lines(tavern("SECRET_", extra=extra)), "sillytavern") == [], extra


def test_a_time_in_words_is_not_a_problem() -> None:
    for time, has_time in (("March 4, 2026 9:10am", False), ("2026-03-04T09:10:00.000Z", True), (1772615400000, True)):
        out = run("show", "--json", "-", stdin=as_lines(tavern("Seen.", send_date=time))).out
        assert ('"time":"2026-03-04T09:10:00Z"' in out) is has_time, time
        assert found(as_lines(tavern("Seen.", send_date=time)), "sillytavern") == []


def test_an_export_of_claude_is_read_from_its_archive(tmp_path: Path) -> None:
    archive_path = tmp_path / "data.zip"
    with zipfile.ZipFile(archive_path, "w") as archive:
        archive.writestr("users.json", json.dumps([{"full_name": "SECRET_USER"}]))
        archive.writestr("conversations.json", claude(said("h", "human", "Seen.")) + b"\n")
    assert "Seen." in run("show", archive_path).out
    assert '"dialect":"claude-ai"' in run("show", "--json", f"{archive_path}:1").out
    assert "claude-ai" in run("view", tmp_path).out


@each("format", FORMATS, quick=4)
def test_samples_are_detected_and_hide_however_they_are_cut(format: str) -> None:
    for sample in samples(f"valid/{format}"):
        data = sample.path.read_bytes()
        assert detect(data).format == format, sample.name
        if sample.base in ("parallel-calls", "unknown-parts", "unknown-members"):
            assert_hidden(data, format)


@pytest.mark.slow
@each("format", FORMATS)
def test_drift_and_other_formats_stay_hidden(format: str) -> None:
    for sample in samples(f"valid/{format}"):
        if sample.base == "parallel-calls":
            text = sample.path.read_text("utf-8")
            is_lines = sample.ending == ".jsonl"
            records = [*map(json.loads, text.splitlines())] if is_lines else [json.loads(text)]
            assert_drift_is_hidden(records, format, lines=is_lines)
    assert_others_are_hidden(format)
