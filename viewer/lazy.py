"""Lazy regular expressions: compiled on first use, because compiling costs more than using them and few inputs need
them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but deferred."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, flags))


class _Uncompiled:
    """Placeholder for a compiled pattern that copies its methods on first access."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = pattern, flags
        self._compiled: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(*self._given)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
