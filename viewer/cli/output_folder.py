"""Output folder: one file per transcript of an input folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli.exits import FINE, fail
from viewer.cli.inputs import Inputs
from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.sources.files import is_directory

if TYPE_CHECKING:
    from viewer.document.redaction.redactor import Redactor


class OutputFolder:
    """Writes one file per transcript of an input folder, in the same subfolder as the transcript. No two transcripts
    share a file."""

    def __init__(self, source: str, target: str) -> None:
        if Path(target).exists() and not is_directory(target):
            raise ViewerError(f"{target} is not a directory")
        self._source, self._target = Path(source), Path(target)
        source_path, self._target_path = self._source.resolve(), self._target.resolve()
        if source_path == self._target_path:
            raise ViewerError(f"{target} is the input; choose another folder")
        self._is_inside = self._target_path.is_relative_to(source_path)
        self._taken: set[Path] = set()

    def write_each(self, inputs: Inputs, write: Callable[[Document, OutputFolder], int]) -> int:
        """Write the files of all inputs and return the exit code. A file that cannot be written does not stop the
        others."""
        code = FINE
        for document in inputs:
            try:
                code = max(code, write(document, self))
            except ViewerError as error:
                code = fail(str(error))
        return max(code, inputs.code)

    def has(self, path: str) -> bool:
        """True if this input file is inside the output folder."""
        return self._is_inside and Path(path).resolve().is_relative_to(self._target_path)

    def path_for(self, document: str, name: str, redactor: Redactor | None = None) -> Path:
        """Return the path of a transcript's file, and create its folder. A redactor masks secrets in folder
        names."""
        folder = Path(document).relative_to(self._source).parent
        path = self._target / (redactor.name(str(folder)) if redactor else folder) / name
        if path in self._taken:
            raise ViewerError(f"{document} was not written: {path} contains another transcript of {self._source}")
        self._taken.add(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ViewerError(f"{path.parent} cannot be created: {error.strerror or 'the system refused'}") from None
        return path
