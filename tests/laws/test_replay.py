"""The view at a byte equals the live view after exactly these bytes, and no safe moment depends on hidden text."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from zlib import crc32

import pytest

from tests.support.cases import each
from tests.support.chance_documents import chance_document
from tests.support.program import run
from tests.support.samples import Sample, samples
from viewer.document import document as document_module
from viewer.document.document import Document, open_document
from viewer.document.live import LiveDocument
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.insight.replay import player as player_module
from viewer.insight.replay import window
from viewer.insight.replay.arrivals import Arrivals
from viewer.insight.replay.player import Player, go_to, go_to_event
from viewer.insight.replay.timeline import At, Timeline
from viewer.insight.replay.timing import time_transcript
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.render.conversation import styled_end
from viewer.render.style import Line, Style
from viewer.sources.follow import FollowSource
from viewer.sources.replay.recorded_times import TimeRecorder, read_recorded_times

SAMPLES = [
    sample
    for folder in ("valid", "broken")
    for sample in samples(folder)
    if not sample.is_compressed and "utf-16" not in sample.name  # their offsets refer to different text
]
DECLARED_LATER = {
    "broken/E-PERM-VISIBILITY-cot-in-final.7.ocml",
    "broken/W-COPY-DIFFERS.jsonl",
    "valid/responses-stream/corrected-text.sse",
    *(
        f"valid/{template}/thought-without-its-mark.txt"
        for template in ("glm", "kimi-text", "phi", "granite", "zephyr", "openchat", "exaone", "ling")
    ),
}
"""Samples in which a later part hides or replaces text that the live view showed for a moment. The safe replay never
shows it."""


def seen(projection: Projection) -> list[object]:
    return [*projection.items(), *projection.diagnostics()]


def opened(sample: Sample) -> Document:
    return open_document(str(sample.path), format=sample.asked)


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=0, test=18, batch=200)
def test_the_view_at_a_byte_equals_the_live_view_of_these_bytes(sample: Sample, tmp_path: Path) -> None:
    compare(sample, tmp_path, [crc32(sample.name.encode()) % sample.path.stat().st_size])


@pytest.mark.lab
@pytest.mark.parametrize("part", range(8))
def test_the_views_at_fifty_bytes_equal_the_live_views(part: int, tmp_path: Path) -> None:
    for sample in SAMPLES[part::8]:
        compare(sample, tmp_path, Random(sample.name).choices(range(sample.path.stat().st_size + 1), k=50))


@pytest.mark.lab
@pytest.mark.parametrize("part", range(8))
def test_the_views_of_random_documents_equal_the_live_views(part: int, tmp_path: Path) -> None:
    late = 0
    for number in range(part, 2000, 8):
        chance = Random(number)
        data, format = chance_document(chance)
        whole, file = tmp_path / "whole", tmp_path / "growing"
        whole.write_bytes(data)
        document = open_document(str(whole), format=format)
        for audience in (EVERYTHING, END_USER):
            player = Player(document, audience)
            for at in sorted(chance.choices(range(len(data) + 1), k=2)):
                file.write_bytes(data[:at])
                live = LiveDocument(FollowSource(str(file)), format).load()
                player.seek(at)
                if seen(player.view()) != seen(live.project(audience)):
                    assert audience.is_safe, (number, at)
                    assert declared_later(live, document), (number, at)
                    late += 1
                live.following.close()
    assert late < 60


def declared_later(live: LiveDocument, document: Document) -> bool:
    """True if the live view shows text that the whole document hides."""
    now, then = (each.project(END_USER, withholds=False) for each in (live, document))
    return hides_more(then, now)


def hides_more(then: Projection, now: Projection) -> bool:
    """True if a later view does not show text that an earlier one shows."""
    texts = {item.number: item.body for item in then.items() if isinstance(item, ShownMessage)}
    shown = [item for item in now.items() if isinstance(item, ShownMessage)]
    return any(not texts.get(item.number, "").startswith(item.body.rstrip()) for item in shown)


SCHEDULED = (
    *("openchatml-2.2", "openchatml-2.0", "harmony", "chatml", "kimi"),
    *("events", "responses-stream", "anthropic-stream", "claude-code", "codex"),
)


@pytest.mark.share(quick=0, test=3)
@pytest.mark.parametrize("format", SCHEDULED)
def test_a_recorded_schedule_shows_the_same_text_at_each_recorded_time(format: str, tmp_path: Path) -> None:
    found = [each for each in SAMPLES if each.name.startswith(f"valid/{format}/") and each.name not in DECLARED_LATER]
    found.sort(key=lambda each: (each.path.stat().st_size < 8000, each.path.stat().st_size), reverse=True)
    sample = next(each for each in found if not opened(each).tally.cut)  # text with hidden parts arrives as a whole
    data, file, times = sample.path.read_bytes(), tmp_path / "growing", tmp_path / "times"
    chance, now, seen_then = Random(format), 1_000_000, []
    recorder = TimeRecorder(str(times), lambda: now)
    file.touch()
    live = LiveDocument(FollowSource(str(file)), sample.asked)
    while live.size < len(data):
        now += chance.choice((10, 40, 300, 5000))
        with file.open("ab") as growing:
            growing.write(data[live.size : live.size + chance.randint(1, len(data) // 8)])
        recorder.arrive(live.load().size)
        seen_then.append((now, [texts_of(live.project(audience)) for audience in (EVERYTHING, END_USER)]))
    recorder.close()
    recorded = read_recorded_times(str(times), len(data))
    for which, audience in enumerate((EVERYTHING, END_USER)):
        document = opened(sample)
        timeline, player = Timeline(Arrivals(document, audience, recorded), audience), Player(document, audience)
        stated = [timeline.arrivals.times[row] for row in timeline.rows]
        for moment, texts in seen_then[:-1]:
            if audience.is_safe:
                go_to_event(player, timeline, bisect_right(stated, moment) - 1)
            elif stated[0] <= moment <= stated[-1]:
                go_to(player, timeline, At(ms=moment - stated[0]))
            else:
                continue
            assert texts_of(player.view()) == texts[which], (sample.name, moment, audience.is_safe)


def texts_of(projection: Projection) -> list[str]:
    shown = [item.body for item in projection.items() if isinstance(item, ShownMessage)]
    return [text.strip() for text in shown if text.strip()]


def compare(sample: Sample, folder: Path, places: Sequence[int]) -> None:
    document, data, file = opened(sample), sample.path.read_bytes(), folder / "growing"
    audiences = (EVERYTHING, END_USER)
    players = [Player(document, audience) for audience in audiences]
    for at in places:
        file.write_bytes(data[:at])
        live = LiveDocument(FollowSource(str(file)), sample.asked).load()
        for player, audience in zip(players, audiences, strict=True):
            player.seek(0)
            player.seek(at)
            is_same = seen(player.view()) == seen(live.project(audience))
            assert is_same or (audience.is_safe and declared_later(live, document)), (sample.name, at, audience.is_safe)
        live.following.close()


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=0, test=72)
def test_every_event_is_on_the_screen_and_one_forward_and_one_back_is_the_same(sample: Sample) -> None:
    document = opened(sample)
    for audience in (EVERYTHING, END_USER):
        timeline, player = Timeline(Arrivals(document, audience), audience), Player(document, audience)
        for event in range(min(len(timeline), 4)):
            go_to_event(player, timeline, event)
            is_at_end = player.at == document.size  # text without an end mark appears when the next one begins
            assert is_at_end or player.shows(timeline.number(event), 0), (sample.name, event)
        if len(timeline) > 2:
            go_to_event(player, timeline, 1)
            before = seen(player.view())
            go_to_event(player, timeline, 2)
            go_to_event(player, timeline, 1)
            assert seen(player.view()) == before, sample.name


@pytest.mark.parametrize("audience", [END_USER, EVERYTHING], ids=["safe", "debug"])
def test_the_last_event_shows_a_complete_file_as_complete(audience: Audience, tmp_path: Path) -> None:
    lines = [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": "Why?"}},
        {
            "type": "assistant",
            "uuid": "u2",
            "parentUuid": "u1",
            "message": {"id": "m1", "role": "assistant", "content": [{"type": "text", "text": "Because."}]},
        },
    ]
    path = tmp_path / "a.jsonl"
    common = {"sessionId": "s", "version": "2.0.31", "cwd": "/p", "isSidechain": False}
    path.write_text("".join(json.dumps({**line, **common}) + "\n" for line in lines), "utf-8")
    document = open_document(str(path), format="claude-code")
    timeline, player = Timeline(Arrivals(document, audience), audience), Player(document, audience)
    go_to_event(player, timeline, len(timeline) - 1)
    assert seen(player.view()) == seen(document.project(audience))


CHAT = (
    "<|start|>user<|message|>Question {0}?<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>Thought {0}.<|end|>\n"
    "<|start|>assistant to=functions.look call_id=c{0}<|channel|>commentary<|constrain|>json<|message|>{{}}<|call|>\n"
    "<|start|>tool name=functions.look call_id=c{0}<|channel|>commentary<|message|>Found {0}.<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|><think>Hm {0}.</think>Answer {0}.<|return|>\n"
)
TOOLS = "<|start|>system<|message|>namespace functions {{ type look = () => any; }}<|end|>\n"


OFTEN_WHOLE = {"claude-code"}
"""Formats whose records name the record before them, so a window can begin only with a turn."""


def of_event_stream(turn: int) -> list[object]:
    """Return the events of a turn, with a thought between the deltas of an answer."""
    texts = [
        ("analysis", f"Thought {turn}, "),
        ("final", f"Answer {turn} "),
        ("analysis", "more."),
        ("final", "is yes."),
    ]
    return [
        {
            "type": "response.delta",
            "message_id": f"{channel}{turn}",
            "channel": channel,
            "delta": text,
            "ts": turn + 1e9,
        }
        for channel, text in texts
    ]


def of_claude_code(turn: int) -> list[object]:
    """Return the records of a turn of a session with a call."""
    call = {"type": "tool_use", "id": f"c{turn}", "name": "look", "input": {"at": turn}}
    reply = {"type": "tool_result", "tool_use_id": f"c{turn}", "content": f"Found {turn}."}
    messages: list[tuple[str, object]] = [
        ("user", f"Question {turn}?"),
        ("assistant", [{"type": "thinking", "thinking": f"Hm {turn}."}, call]),
        ("user", [reply]),
        ("assistant", [{"type": "text", "text": f"Answer {turn}."}]),
    ]
    return [
        {
            "type": role,
            "uuid": f"{turn}-{place}",
            "parentUuid": f"{turn}-{place - 1}" if place else (f"{turn - 1}-3" if turn else None),
            "sessionId": "s",
            "timestamp": f"2026-01-02T03:{turn:02}:{place:02}.000Z",
            "message": {"role": role, "id": f"m{turn}-{place}", "content": content},
        }
        for place, (role, content) in enumerate(messages)
    ]


def of_codex(turn: int) -> list[object]:
    """Return the records of a turn of a session that begins with its metadata."""
    time = f"2026-01-02T03:{turn:02}:00.000Z"
    meta = {"timestamp": time, "type": "session_meta", "payload": {"id": "s", "timestamp": time, "cwd": "/"}}
    items: list[dict[str, object]] = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": f"Question {turn}?"}]},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": f"Hm {turn}."}]},
        {"type": "function_call", "name": "look", "arguments": "{}", "call_id": f"c{turn}"},
        {"type": "function_call_output", "call_id": f"c{turn}", "output": f"Found {turn}."},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"Answer {turn}."}]},
    ]
    records: list[object] = [{"timestamp": time, "type": "response_item", "payload": item} for item in items]
    return records if turn else [meta, *records]


def of_chunks(turn: int) -> list[object]:
    """Return the chunks of a response."""
    texts = [{"reasoning_content": f"Hm {turn}."}, {"content": f"Answer {turn} "}, {"content": "is yes."}, {}]
    return [
        {
            "id": f"r{turn}",
            "object": "chat.completion.chunk",
            "created": 1_700_000_000 + turn,
            "model": "m",
            "choices": [{"index": 0, "delta": text, "finish_reason": None if text else "stop"}],
        }
        for text in texts
    ]


def of_chats(turn: int) -> list[object]:
    """Return the line of a dataset: a chat of two turns."""
    texts = [
        ("system", "Be brief."),
        *[("user", f"Question {turn}?"), ("assistant", f"<think>Hm.</think>Yes {turn}.")] * 2,
    ]
    return [{"messages": [{"role": role, "content": text} for role, text in texts]}]


def lines_of(turns: int, records: Callable[[int], list[object]], lead: str = "") -> str:
    end = "\n\n" if lead else "\n"
    return "".join(lead + json.dumps(record) + end for turn in range(turns) for record in records(turn))


LONG = {
    "openchatml-2.2": "version: 2.2\n" + TOOLS + "".join(map(CHAT.format, range(40))),
    "events": lines_of(40, of_event_stream),
    "claude-code": lines_of(40, of_claude_code),
    "codex": lines_of(40, of_codex),
    "chunks": lines_of(40, of_chunks, "data: "),
    "long transcripts": "".join("version: 2.2\n" + TOOLS + "".join(map(CHAT.format, range(16))) for _ in range(4)),
    "short transcripts": "".join("version: 2.2\n" + CHAT.format(turn) for turn in range(50)),
    "chats": lines_of(60, of_chats),
}
SLIPS = (
    "<|start|>user<|message|>Question {0}: où?<|end|>"
    "<|start|>assistant<|channel|>analysis<|message|>Thought {0}: là.<|end|>"
    "<|start|>assistant<|channel|>finale<|message|>Slip {0}.<|end|>"
    "<|start|>assistant<|channel|>final<|message|>Answer {0}.{1}<|end|>"
)
LONG["one line"] = TOOLS + "".join(SLIPS.format(turn, "\n\né" * (turn % 7 == 3)) for turn in range(40))
FORMATS = {
    "one line": "harmony",
    "chunks": "events",
    "long transcripts": "openchatml-2.2",
    "short transcripts": "openchatml-2.2",
}
FORMATS["chats"] = "json"


@pytest.mark.share(test=6)
@pytest.mark.parametrize("audience", [END_USER, EVERYTHING, Audience(strict=True)], ids=["safe", "debug", "strict"])
@pytest.mark.parametrize("format", LONG)
def test_the_end_of_a_long_text_is_read_from_an_earlier_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str, audience: Audience
) -> None:
    monkeypatch.setattr(window, "LEAST", 500)
    monkeypatch.setattr(window, "MOST_FAILURES", 99)
    (tmp_path / "run").write_text(LONG[format], "utf-8")
    document = open_document(str(tmp_path / "run"), format=FORMATS.get(format, format))
    whole, end = Player(document, audience), Player(document, audience, size=(80, 8))
    for at in Random(7).choices(range(document.size + 1), k=12):
        whole.seek(at)
        end.seek(at)
        assert last_rows(end, 4) == last_rows(whole, 4), at
        assert end.at == at
        assert end.document.message_count < 0.8 * len(document.index) or format in OFTEN_WHOLE
    end.seek(document.size - 10)
    assert end.skipped.messages > 10
    if UNREADABLE.sub('"soon"', LONG[format]) != LONG[format]:
        for module in (document_module, player_module):
            monkeypatch.setattr(module, "MOST_PER_CODE", 20)
        check_windows_of_a_text_with_many_problems(tmp_path / "run", format, audience)


UNREADABLE = re.compile(r'(?<="timestamp": )"[^"]*"|(?<="ts": )[\d.e+]+|(?<="created": )\d+')


def check_windows_of_a_text_with_many_problems(path: Path, format: str, audience: Audience) -> None:
    """Diagnostics over the cap are dropped, unless the end user sees their message. Windows keep the same ones."""
    path.write_text(UNREADABLE.sub('"soon"', LONG[format]), "utf-8")
    document = open_document(str(path), format=FORMATS.get(format, format), most_per_code=20)
    assert document.tally.unlisted
    whole, end = Player(document, audience), Player(document, audience, size=(80, 8))
    windows = 0
    for at in Random(8).choices(range(document.size + 1), k=12):
        whole.seek(at)
        end.seek(at)
        assert last_rows(end, 4) == last_rows(whole, 4), at
        windows += end.document.message_count < len(whole.document.index)
    assert windows >= (4 if format == "codex" else 8 if audience.strict else 11)


def last_rows(player: Player, count: int) -> list[Line]:
    return list(styled_end(player.view(), 80, Style(), count, player.skipped))


@pytest.mark.slow
def test_the_safe_view_never_shows_what_the_rest_of_the_file_hides() -> None:
    for sample in SAMPLES:
        if sample.name not in DECLARED_LATER:
            continue
        document = opened(sample)
        player = Player(document, END_USER)
        for at in range(len(sample.path.read_bytes()) + 1):
            player.seek(at)
            assert "SECRET" not in str(seen(player.view())), (sample.name, at)
            assert not hides_more(document.project(END_USER), player.view()), (sample.name, at)


@pytest.mark.slow
def test_a_text_that_is_right_at_first_is_concealed_when_it_goes_wrong(tmp_path: Path) -> None:
    sample = next(each for each in SAMPLES if each.name.endswith("corrected-text.sse"))
    events = sample.path.read_text("utf-8").split("\n\n")
    slip = next(number for number, event in enumerate(events) if "SECRET_SLIP" in event)
    events.insert(slip, events[slip].replace("SECRET_SLIP", "The "))
    file = tmp_path / "chat.sse"
    file.write_text("\n\n".join(events), "utf-8")
    player = Player(open_document(str(file)), END_USER)
    texts = []
    for at in range(len("\n\n".join(events[:slip])), file.stat().st_size + 1):
        player.seek(at)
        texts += [item.body for item in player.view().items() if isinstance(item, ShownMessage)]
    assert dict.fromkeys(texts) == dict.fromkeys(["The ", "The corrected text."])


def stream(hidden: str, pauses: tuple[int, ...]) -> tuple[str, str]:
    """Return a transcript with hidden text between and in shown messages, and the times at which its parts arrived."""
    parts = [
        ("version: 2.2\n<|start|>user<|message|>Is it open?", True),
        ("<|end|>", True),
        (f"<|start|>assistant<|channel|>analysis<|message|>{hidden}", False),
        (f"{hidden} again<|end|>", False),
        ("<|start|>assistant<|channel|>final<|message|>It is ", True),
        ("open until", True),
        (" nine.<|end|>", True),
        (f"<|start|>assistant<|channel|>final<|message|><think>{hidden}</think>And", False),
        (" closed on Monday.<|return|>", True),
    ]
    text, times, now = "", [], 1_000_000
    pause = iter(pauses)
    for part, is_shown in parts:
        text += part
        now += 500 if is_shown else next(pause)
        times.append(json.dumps({"b": len(text.encode()), "t": now}))
    return text, "\n".join(times) + "\n"


MOMENTS = [
    *(["show", "--at", f"B{byte}"] for byte in (0, 1, 7, 12, 20, 31, 50, 99)),
    *(["show", "--json", "--at-event", str(event)] for event in range(8)),
    *(["show", "--json", "--at-time", time] for time in ("0s", "600ms", "1s", "+0:02", "1h")),
    *(["timing"], ["timing", "--json"], ["replay", "--idle-limit", "0"]),
]


@pytest.mark.slow
@pytest.mark.parametrize("strict", [False, True])
def test_no_moment_depends_on_hidden_text_or_on_when_it_arrived(tmp_path: Path, strict: bool) -> None:
    results = []
    for hidden, pauses in (("Plums", (400, 9000, 700)), ("A much longer thought about pears", (60_000, 1, 90_000))):
        text, times = stream(hidden, pauses)
        (tmp_path / "run").write_text(text, "utf-8")
        (tmp_path / "times").write_text(times, "utf-8")
        options = ["--strict-safe"] if strict else []
        results.append(
            [
                (line, run(*line, *options, "--times", str(tmp_path / "times"), str(tmp_path / "run")))
                for line in MOMENTS
            ]
        )
    for (line, one), (_, other) in zip(*results, strict=True):
        assert one == other, line
        assert one.code == 0, line
        assert "Plums" not in one.out
        assert "It is open until" in one.out or line[0] != "replay"


def chunks(thoughts: Sequence[tuple[int, str]]) -> str:
    """Return a stream of an answer, with these thoughts at these seconds between its parts."""
    parts = [(second, {"content": text}) for second, text in ((0, "It is "), (2, "open "), (9, "until nine."))]
    parts += [(second, {"reasoning_content": text}) for second, text in thoughts]
    lines = []
    for second, delta in sorted(parts, key=lambda part: part[0]):
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        fields = {"id": "c", "object": "chat.completion.chunk", "created": 1_700_000_000 + second, "model": "m"}
        lines.append(f"data: {json.dumps({**fields, 'choices': [choice]})}\n\n")
    return "".join(lines) + "data: [DONE]\n\n"


@pytest.mark.slow
def test_a_hidden_part_inside_a_message_leaves_no_trace_on_the_strict_clock(tmp_path: Path) -> None:
    results = []
    for thoughts in ((), ((1, "Plums"),), ((3, "Plums"), (4, ""), (8, "More of them"))):
        (tmp_path / "run").write_text(chunks(thoughts), "utf-8")
        results.append([run(*line, "--strict-safe", str(tmp_path / "run")).out for line in MOMENTS])
    assert results[0] == results[1] == results[2]
    assert '"length_ms":9000' in results[0][-2]


def test_the_safe_clock_does_not_depend_on_how_a_thought_in_a_stream_is_written(tmp_path: Path) -> None:
    clocks = []
    for thoughts in (["Plums"], ['Pl\nums, "x"'], ["Pl", "ums"], ["é" * 3000]):
        text = chunks([(5, thought) for thought in thoughts])
        end = text.replace('"finish_reason": null', '"finish_reason": "stop"').splitlines()[0]
        (tmp_path / "run").write_text(text.replace("data: [DONE]", f"{end}\n\ndata: [DONE]"), "utf-8")
        document = open_document(str(tmp_path / "run"))
        timeline = Timeline(Arrivals(document, END_USER), END_USER)
        clocks.append(([*timeline.clock], [*timeline.jump_events]))
        timing = time_transcript(document, EVERYTHING, Timeline(Arrivals(document, EVERYTHING), EVERYTHING), "records")
        assert timing.backwards == 1, "the last chunk repeats the first time"
    assert clocks == [([0, 2000, 2000, 2000], [2])] * 4


@pytest.mark.slow
def test_the_clock_does_not_depend_on_the_length_of_a_hidden_part_in_the_same_line(tmp_path: Path) -> None:
    results = []
    for length in (5, 400_000):
        text = chunks(()).replace('"content": "open "', f'"reasoning_content": "{"p" * length}", "content": "open "')
        text = text.replace('"until nine."', f'"until nine.", "reasoning_content": "{"p" * length}"')
        (tmp_path / "run").write_text(text + chunks(()), "utf-8")
        results.append([run(*line, str(tmp_path / "run")).out for line in MOMENTS])
    assert results[0] == results[1]
    assert '"ms":7000' in results[0][-2]


@pytest.mark.slow
def test_bytes_of_text_do_not_count_what_an_attachment_holds(tmp_path: Path) -> None:
    results = []
    for url in ("https://a.b/c.png", "https://plums.example/a/much/longer/address.png"):
        image = {"type": "image_url", "image_url": {"url": url}}
        parts = [{"type": "text", "text": "What is"}, image, {"type": "text", "text": "this?"}]
        (tmp_path / "run.json").write_text(json.dumps({"messages": [{"role": "user", "content": parts}]}), "utf-8")
        results.append([run(*line, str(tmp_path / "run.json")).out for line in MOMENTS])
    assert results[0] == results[1]


@pytest.mark.slow
def test_the_clock_does_not_depend_on_the_lines_of_a_hidden_text_in_the_same_record(tmp_path: Path) -> None:
    sample = next(sample for sample in SAMPLES if sample.name == "valid/copilot-cli/errors.jsonl")
    results = []
    for hidden in ("SECRET_NOW", "XYZ\\nb\\n\\n" + "long text and more\\n" * 9):
        text = sample.path.read_text("utf-8").replace("<current_datetime>SECRET_NOW</current_datetime>", hidden)
        (tmp_path / "run.jsonl").write_text(text, "utf-8")
        results.append([run(*line, str(tmp_path / "run.jsonl")).out for line in MOMENTS])
    assert results[0] == results[1]


def test_text_that_is_held_back_is_timed_in_the_debug_view_only(tmp_path: Path) -> None:
    preamble = "<|start|>assistant<|channel|>commentary intent=preamble<|message|>Let me "
    final = "<|start|>assistant<|channel|>final<|message|>"
    parts = [("version: 2.2\n<|start|>user<|message|>Hi<|end|>\n", 0), (preamble, 1000), ("look.", 1500)]
    parts += [("<|end|>\n", 4100), (f"{final}It is <", 4200), (" 3.", 4900), ("<|ret", 5000), ("urn|>\n", 9000)]
    text, times = "", ""
    for part, ms in parts:
        text += part
        times += json.dumps({"b": len(text), "t": 1_000_000 + ms}) + "\n"
    (tmp_path / "run").write_text(text)
    (tmp_path / "times").write_text(times)
    files = ["--times", str(tmp_path / "times"), str(tmp_path / "run")]
    held = [{"message": 2, "ms": 3100, "reason": "preamble"}, {"message": 3, "ms": 700, "reason": "incomplete"}]
    assert json.loads(run("timing", "-d", "--json", *files).out)["held_back"] == held
    assert json.loads(run("timing", "--json", *files).out)["held_back"] == []
    assert "Text of #2 held back for 3.1 s: a preamble appears" in run("timing", "-d", *files).out


def test_the_debug_clock_is_that_of_the_input_and_bytes_are_those_of_the_file(tmp_path: Path) -> None:
    text, times = stream("Plums", (400, 9000, 700))
    (tmp_path / "run").write_text(text, "utf-8")
    (tmp_path / "times").write_text(times, "utf-8")
    files = ["--times", str(tmp_path / "times"), str(tmp_path / "run")]
    moment = json.loads(run("show", "-d", "--json", "--at-time", "1s", *files).out.splitlines()[-1])
    assert moment == {"kind": "moment", "byte": text.index("Plums again"), "event": 2, "ms": 900}
    timing = json.loads(run("timing", "-d", "--json", *files).out)
    assert timing["source"] == "sidecar"
    assert timing["first_visible_ms"] == 10_400
    assert timing["gaps"] == [{"from_ms": 900, "ms": 9000, "after": 2}]
    assert timing["rates"]["final"] == {"characters": 34, "ms": 1500}
    safe = json.loads(run("timing", "--json", *files).out)
    assert (safe["first_visible_ms"], safe["gaps"], safe["length_ms"]) == (None, [], 1000)
