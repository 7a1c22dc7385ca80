"""Writing what the view shows to a file."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from viewer.render.conversation import conversation_lines
from viewer.render.style import Style
from viewer.tui.screens.parts import Parts
from viewer.tui.widgets.status_line import Notice


class Exporting(Parts):
    """The action that exports."""

    def action_export(self) -> None:
        """Write the view as text beside where the program was started; the name says which view it is."""
        path = Path(f"{Path(self.document.name).stem or 'transcript'}.{'DEBUG' if self.state.debug else 'safe'}.txt")
        style = Style()
        text = "\n".join(conversation_lines(self.view.projection, 100, style)) + "\n"
        try:
            _write_whole(path, text)
        except OSError as error:
            self.say(f"{path.name} cannot be written: {error.strerror or 'the system refused'}", Notice.ERROR)
        else:
            self.say(f"wrote {path.name}", Notice.DONE)


def _write_whole(path: Path, text: str) -> None:
    """Written beside, synced and renamed, so that there is never half a file."""
    descriptor, name = tempfile.mkstemp(prefix=".export-", dir=path.parent or Path())
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
