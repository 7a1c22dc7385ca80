"""Start over if a file was rewritten before any of it was printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from viewer.cli.output import Output
from viewer.document.document import MOST_REVISIONS, Document
from viewer.errors import FileRewrittenError

Result = TypeVar("Result")


def retried(document: Document, act: Callable[[], Result], output: Output | None = None) -> Result:
    """The result of `act`, retried as long as it fails because the file was rewritten.

    If `act` has already written to `output`, re-raise the error: written output cannot be undone."""
    while True:
        written = output.written if output else 0
        try:
            return act()
        except FileRewrittenError:
            if output and output.written != written:
                raise
            read_again(document)


def read_again(document: Document) -> None:
    """Read a rewritten file from the start; FileRewrittenError if that happens repeatedly."""
    if document.revision >= MOST_REVISIONS:
        raise FileRewrittenError(document.name)
    document.begin_again()
    document.load()
