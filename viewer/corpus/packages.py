"""The packages of the extras `corpus` and `ray`, and the error if they are missing."""

from __future__ import annotations

from importlib.util import find_spec

from viewer.errors import ViewerError

_PACKAGES = {"corpus": ("duckdb", "pyarrow", "pebble"), "ray": ("duckdb", "pyarrow", "ray")}


def check_packages(command: str, extra: str = "corpus") -> None:
    """Raise ViewerError if the packages that a command needs are not installed. The packages are not imported."""
    if not all(map(find_spec, _PACKAGES[extra])):
        raise ViewerError(f'ocmlview {command} needs the extra "{extra}": pip install "ocmlview[{extra}]"')
