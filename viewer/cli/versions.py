"""Output of `--version`: the versions that a bug report needs, read from installed packages without importing them."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

from viewer import __version__

NEEDED = ("textual", "rich", "click", "numpy", "watchfiles", "google-re2", "jsonschema-rs", "PyYAML")
EXTRAS = ("zstandard", "tiktoken", "pyperclip")
"""Listed if they are installed."""


def version_lines() -> Iterator[str]:
    """The lines: the program; Python and the system; the packages."""
    yield f"ocmlview {__version__}"
    yield f"{platform.python_implementation()} {platform.python_version()} on {platform.platform()}"
    yield ", ".join(f"{name} {_version(name) or 'missing'}" for name in NEEDED)
    extras = [f"{name} {found}" for name in EXTRAS if (found := _version(name))]
    if extras:
        yield ", ".join(extras)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
