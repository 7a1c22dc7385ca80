"""The exceptions for a mistake of the person at the keyboard: caught once, one sentence, an exit code."""


class ViewerError(Exception):
    """What the person asked for cannot be done; the message is one clear sentence."""

    exit_code = 2


class RefusedError(ViewerError):
    """The transcript itself cannot be written as it was asked for."""

    exit_code = 1
