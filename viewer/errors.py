"""Usage and input errors: caught once, one sentence, an exit code."""


class ViewerError(Exception):
    """A request that cannot be fulfilled; the message is one clear sentence."""

    exit_code = 2


class RefusedError(ViewerError):
    """The transcript cannot be written as requested."""

    exit_code = 1


class FileRewrittenError(ViewerError):
    """The input no longer holds the bytes that were indexed: nothing of it may be shown with the old index."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the file was rewritten")


class UnprovenError(FileRewrittenError):
    """The input may have been rewritten, and the requested bytes have no checksum."""
