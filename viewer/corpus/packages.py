"""The packages of the extras `corpus` and `ray`: one sentence if they are missing."""

from __future__ import annotations

from importlib.util import find_spec

from viewer.errors import ViewerError

_PACKAGES = {"corpus": ("duckdb", "pyarrow", "pebble"), "ray": ("duckdb", "pyarrow", "ray")}


def check_packages(command: str, extra: str = "corpus") -> None:
    """Refuse a command whose packages are not installed. Imports nothing."""
    if not all(map(find_spec, _PACKAGES[extra])):
        raise ViewerError(f"ocmlview {command} needs: pip install 'ocmlview[{extra}]'")
