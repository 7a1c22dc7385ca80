"""The exceptions for a mistake of the person at the keyboard: caught once, one sentence, an exit code."""


class ViewerError(Exception):
    """What the person asked for cannot be done; the message is one clear sentence."""

    exit_code = 2


class RefusedError(ViewerError):
    """The transcript itself cannot be written as it was asked for."""

    exit_code = 1


class FileRewrittenError(ViewerError):
    """The input no longer holds what was read of it: nothing of it may be shown under the old index."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the file was rewritten")


class UnprovenError(FileRewrittenError):
    """The input may have been rewritten, and there is no checksum of the bytes that were asked for."""
