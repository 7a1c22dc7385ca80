"""Strip control characters: a last filter, below the sanitizer, for characters that a terminal interprets or cannot
show."""

from __future__ import annotations

import re

from viewer.render.width import cells

OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c\u2028\u2029\ud800-\udfff]")
NOT_ASCII = re.compile("[^ -~]+")


def strip_controls(text: str, ascii_only: bool) -> str:
    """Replace unsafe characters without changing the width."""
    text = OBEYED.sub("\ufffd", text)
    return NOT_ASCII.sub(lambda found: "?" * cells(found[0]), text) if ascii_only else text
