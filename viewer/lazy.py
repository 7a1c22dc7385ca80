"""Regular expressions that few inputs need, compiled when they are first used: compiling costs more than using them."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy_regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile`, but not yet."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(pattern, flags))


class _Uncompiled:
    """Becomes the compiled pattern, method by method, as its methods are asked for."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._given = pattern, flags
        self._compiled: re.Pattern[Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if self._compiled is None:
            self._compiled = re.compile(*self._given)
        found = getattr(self._compiled, name)
        setattr(self, name, found)
        return found
