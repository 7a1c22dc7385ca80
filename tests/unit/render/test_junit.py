"""JUnit output: a suite per file, a failure per error, and the warnings as output."""

from __future__ import annotations

import xml.etree.ElementTree as Tree
from pathlib import Path

from tests.support.program import BROKEN, CHAT, run


def test_each_file_is_a_suite_with_one_case(tmp_path: Path) -> None:
    broken, chat, missing = tmp_path / 'b "<\x01.ocml', tmp_path / "chat.ocml", tmp_path / "none.ocml"
    broken.write_text(BROKEN.replace("Hello", "Hel\0\0lo"))
    chat.write_text(CHAT)
    result = run("check", "--junit", broken, chat, missing)
    assert result.code == 2
    suites = {suite.get("name", ""): suite for suite in Tree.fromstring(result.out).iter("testsuite")}
    assert len(suites) == 3
    first, good, unread = suites.values()
    (case,) = first.findall("testcase")
    assert case.get("name") == "OpenChatML 2.2"
    (failure,) = case.findall("failure")
    assert failure.get("type") == "E-PARSE-HEADER/channel-unknown"
    assert failure.get("message") == "3:30: error: Unknown channel [E-PARSE-HEADER/channel-unknown]"
    output = case.findtext("system-out")
    assert output == "2:28: warning: NUL bytes (×2) [W-ENCODING/nul]"
    assert [good.get("failures"), good.get("errors"), len(good.findall(".//failure"))] == ["0", "0", 0]
    assert unread.find(".//error") is not None
    assert "Secret" not in result.out
