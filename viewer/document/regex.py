"""The literal that every match of a regular expression must contain; None rather than a wrong one."""

from __future__ import annotations

import re

SHORTEST = 2

_STEP = re.compile(
    r"""
    (?P<group>\()
    | (?P<word>\\[wWdDsSbBAZz] | [.^$] | \\[nrt])
    | (?P<escape>\\[^0-9A-Za-z] )
    | (?P<set>\[\^?\]?(?:[^\]\\\[]|\\[^0-9A-Za-z]|\\[wWdDsSnrt])*\])
    | (?P<repeat>[*?+]|\{[0-9]*,?[0-9]*\})
    | (?P<end>\))
    | (?P<letter>[^\\\[\]{}()|*+?.^$])
    """,
    re.VERBOSE | re.DOTALL,
)
_FLAGS = re.compile(r"\(\?(?![:=!<P])")


def required_literal(pattern: str) -> str | None:
    """The longest run of plain letters in every match; None if that is uncertain."""
    if "|" in pattern or _FLAGS.search(pattern) or not pattern.isascii():
        return None
    runs, depth, at = [""], 0, 0
    while at < len(pattern):
        step = _STEP.match(pattern, at)
        if step is None:
            return None
        kind, text, at = step.lastgroup, step[0], step.end()
        if kind in ("group", "end"):
            depth += 1 if kind == "group" else -1
            runs.append("")
        elif kind == "repeat":
            runs[-1] = runs[-1] if text == "+" else runs[-1][:-1]
            runs.append("")
        elif depth == 0 and kind in ("letter", "escape"):
            runs[-1] += text[-1]
        else:
            runs.append("")
    longest = max(runs, key=len)
    return longest if len(longest) >= SHORTEST and depth == 0 else None
