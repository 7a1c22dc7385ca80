"""Paths of bundled files: `samples` and `themes`, in the package or, in a checkout, next to it."""

from __future__ import annotations

from pathlib import Path

from viewer.errors import ViewerError

_PACKAGE = Path(__file__).parent


def bundled(*names: str) -> Path:
    """Return the path of a bundled file or folder, such as `bundled("samples", "tour.ocml")`. Raise `ViewerError` if it
    is missing."""
    for home in (_PACKAGE, _PACKAGE.parent):
        path = home.joinpath(*names)
        if path.exists():
            return path
    raise ViewerError(f"this installation lacks {'/'.join(names)}; reinstall ocmlview")
