"""Key line: the last line of a screen that has its own keys."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.render.style import Line, Part, StyleRole, trusted


def key_line(keys: Iterable[tuple[str, str]]) -> Line:
    """Return each key and its action."""
    return tuple(
        part
        for key, does in keys
        for part in (Part(trusted(f" {key}"), StyleRole.FOOTER_KEY), Part(trusted(f" {does} "), StyleRole.FOOTER_TEXT))
    )
