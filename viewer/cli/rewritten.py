"""Start over if a file was rewritten before anything was printed of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from viewer.cli.output import Output
from viewer.document.document import MOST_REVISIONS, Document
from viewer.errors import FileRewrittenError

Result = TypeVar("Result")


def retried(document: Document, act: Callable[[], Result], output: Output | None = None) -> Result:
    """The result of `act`, which runs again as long as it fails because the file was rewritten.

    If `act` has written to `output` by then, the error goes on: what is on standard output cannot be taken back."""
    while True:
        written = output.written if output else 0
        try:
            return act()
        except FileRewrittenError:
            if output and output.written != written:
                raise
            read_again(document)


def read_again(document: Document) -> None:
    """Read a file that was rewritten from the start; FileRewrittenError if that happens again and again."""
    if document.revision >= MOST_REVISIONS:
        raise FileRewrittenError(document.name)
    document.begin_again()
    document.load()
