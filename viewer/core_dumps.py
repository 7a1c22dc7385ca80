"""Disable core dumps: they would contain transcript text, including hidden messages."""

from __future__ import annotations


def disable_core_dumps() -> None:
    """Disable core dumps of this process, if the system allows that."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass
