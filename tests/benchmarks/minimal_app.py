"""The smallest possible Textual app: it draws the beginning of a file once."""

from __future__ import annotations

import sys
from pathlib import Path

from textual.app import App, ComposeResult
from textual.widgets import Static


class MinimalApp(App[None]):
    """An app with a single widget."""

    def compose(self) -> ComposeResult:
        with Path(sys.argv[1]).open("rb") as file:
            yield Static(file.read(4096).decode("utf-8", "replace"), markup=False)


if __name__ == "__main__":
    MinimalApp().run()
