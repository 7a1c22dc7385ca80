"""On every path, payloads and code points reach a terminal only as text."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.support.leaks.acting import EVERYWHERE, perform
from tests.support.payloads import BYTES, PAYLOADS
from tests.support.printing import PRINTED
from tests.support.program import run
from tests.support.running import drawn, press, running, settled
from tests.support.terminal import UNWANTED, foreign
from viewer.tui.terminal.output_guard import OutputGuard

LINES = [[command, *options] for command, all_options in PRINTED.items() for options in all_options]
REVEALING = [*LINES, ["show", "-d"], ["show", "--json", "-d"], ["check", "--reveal", "all"], ["check", "--json", "-d"]]
DEBUG_KEYS = [
    "d",
    "s",
    "p",
    "i",
    "C",
    "G",
    "g",
    "J",
    "r",
    "r",
    "vertical_line",
    "vertical_line",
    "tab",
    "tab",
    "tab",
    "tab",
]
COPIES = [f"y{key}" for key in "yrjhc"]


def all_payloads() -> list[bytes]:
    return [*(text.encode("utf-8", "surrogatepass") for text in PAYLOADS.values()), *BYTES.values()]


def transcript(payloads: list[bytes]) -> bytes:
    """Return each payload in bodies, names, IDs, attributes, roles, channels, calls, replies, stray text, and YAML."""
    parts = [b"version: 2.2\n"]
    parts += [
        b'"%b": "%b"\n' % (payload[:40].replace(b'"', b""), payload.replace(b'"', b"")) for payload in payloads[:9]
    ]
    for number, payload in enumerate(payloads):
        word = b"".join(payload.split()).replace(b"<", b"").replace(b"=", b"") or b"x"
        parts.append(
            b"<|start|>user name=%(word)b<|message|>%(payload)b<|end|>\n"
            b"<|start|>assistant<|channel|>analysis<|message|># %(payload)b\n<|end|>\n"
            b"<|start|>assistant to=functions.%(word)b call_id=%(word)b%(number)d %(word)b=%(word)b"
            b'<|channel|>commentary<|constrain|>json<|message|>{"%(payload)b":"%(payload)b"}<|call|>\n'
            b"<|start|>tool name=functions.%(word)b call_id=%(word)b%(number)d to=assistant"
            b"<|channel|>commentary<|message|>"
            b'{"ok":false,"error":"%(payload)b","provenance":{"source":"%(payload)b"}}<|end|>\n%(payload)b\n'
            b"<|start|>%(word)b<|channel|>%(word)b<|message|>%(payload)b<|end|>\n"
            b"<|start|>assistant<|channel|>final<|message|># %(payload)b\n- **%(payload)b**\n"
            b"```%(payload)b\n```\n<|return|>\n" % {b"word": word, b"payload": payload, b"number": number}
        )
    return b"".join(parts)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    folder = tmp_path / "evil\x1b]0;evil\x07 [bold]\u202e\x9b31m"
    folder.mkdir()
    path = folder / "evil\x1b]52;c;ZXZpbA==\x07[@click=app.quit]\u200b.ocml"
    path.write_bytes(transcript(all_payloads()))
    return path


def test_there_are_many_kinds_of_payloads() -> None:
    assert len(PAYLOADS) + len(BYTES) >= 46


@pytest.mark.share(quick=100, test=20)
@pytest.mark.parametrize("line", REVEALING, ids=" ".join)
@pytest.mark.parametrize("terminal", [True, False])
def test_no_command_prints_a_payload(
    line: list[str], terminal: bool, hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.cli.output._is_terminal", lambda: terminal)
    result = run(*line, hostile)
    assert result.code in (0, 1, 2)
    written = result.err if line[0] == "convert" and not terminal else result.out + result.err
    assert foreign(written.encode())[:5] == []


def test_no_list_of_files_prints_a_payload(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.cli.output.TERMINAL", "/nowhere")
    assert foreign(run("view", hostile.parent).out.encode())[:5] == []


def codes_of_all_blocks() -> str:
    """Return code points from the beginning, the middle and the end of each block of 256."""
    blocks = range(0, 0x110000, 0x100)
    inside = (0x00, 0x01, 0x7F, 0xFE, 0xFF)
    return "\n".join("".join(chr(block + low) for low in inside) for block in blocks)


@pytest.mark.share(test=4)
@pytest.mark.parametrize(
    "line", [["show"], ["show", "--json"], ["show", "-d"], ["convert", "--to", "json"]], ids=" ".join
)
def test_every_code_point_is_printed_as_text(line: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.cli.output._is_terminal", lambda: True)
    path = tmp_path / "all.ocml"
    lines = ("".join(map(chr, range(start, start + 64))) for start in range(0, 0x110000, 64))
    body = "\n".join(lines).encode("utf-8", "surrogatepass").replace(b"<", b"")
    path.write_bytes(b"version: 2.2\n<|start|>user<|message|>" + body + b"<|end|>\n")
    assert foreign(run(*line, path).out.encode())[:5] == []


@pytest.mark.slow
async def test_every_block_of_unicode_is_drawn_safely(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OutputGuard, "caught", 0)
    path = tmp_path / "blocks.ocml"
    path.write_bytes(transcript([codes_of_all_blocks().encode("utf-8", "surrogatepass").replace(b"<", b"")]))
    async with running(path, keys=["d", "i"]) as pilot:
        for _ in range(15):
            assert UNWANTED.search(drawn(pilot).replace("\n", "")) is None
            await press(pilot, "space")
    assert OutputGuard.caught == 0


@pytest.mark.share(test=48)
@pytest.mark.parametrize("size", [(120, 40), (80, 24)])
async def test_no_pane_list_copy_or_export_passes_a_payload_on(
    hostile: Path, size: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OutputGuard, "caught", 0)
    monkeypatch.chdir(tmp_path)
    async with running(hostile, size=size) as pilot:
        for act in EVERYWHERE:
            async for _ in perform(pilot, act):
                assert UNWANTED.search(drawn(pilot).replace("\n", "")) is None, act
        await press(pilot, "escape", "escape")
        for key in [*DEBUG_KEYS, *["space"] * 12, "d", "d", *["J"] * 5]:
            await press(pilot, key)
            assert UNWANTED.search(drawn(pilot).replace("\n", "")) is None, key
        for keys in COPIES:
            await press(pilot, *keys)
            assert UNWANTED.search(pilot.app.clipboard.replace("\n", "")) is None or keys == "yr", keys
    assert OutputGuard.caught == 0
    for file in tmp_path.glob("*.txt"):
        assert foreign(file.read_bytes())[:5] == []


@pytest.mark.slow
def test_the_list_of_files_and_its_notices_pass_no_payload_on(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OutputGuard, "caught", 0)
    for number, text in enumerate(PAYLOADS.values()):
        name = text.replace("/", "").replace("\0", "")[:60]
        (hostile.parent / f"{number}{name}.ocml").write_bytes(b"version: 2.2\n")
    (hostile.parent / "0 gone\x1b[31m.ocml").symlink_to("nowhere\x1b[31m")

    async def look() -> None:
        async with running(hostile.parent) as pilot:
            await settled(pilot)
            for key in [*["down", "pagedown"] * 8, "home", "enter", "q"]:
                await press(pilot, key)
                assert UNWANTED.search(drawn(pilot).replace("\n", "")) is None, key

    asyncio.run(look())
    assert OutputGuard.caught == 0
