"""Atomic writes: write to a temporary file in the same folder, sync it to disk, then rename it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from viewer.errors import ViewerError


class OutputExistsError(ViewerError):
    """The output file already exists, and the caller did not allow overwriting it."""


class AtomicFile:
    """Context manager that writes a file atomically: the file is created or replaced only if the block ends without an
    exception.

    Devices and pipes are written directly. Only the owner can read a `private` file."""

    def __init__(
        self, path: Path, *, overwrite: bool = False, private: bool = False, never: Path | None = None
    ) -> None:
        self.path = path
        self.size = 0
        """The number of bytes written so far."""
        self._overwrite = overwrite
        self._private = private
        self._never = never
        """The path of the input, which is never replaced, even with `overwrite`."""
        self._temporary: Path | None = None
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        is_open = False
        try:
            self._open()
            is_open = True
        except OSError as error:
            raise self._refusal(error) from None
        finally:
            if not is_open:  # after an error or a signal
                self._discard()
        return self

    def write(self, text: str) -> None:
        """Write text as UTF-8."""
        assert self._file is not None
        data = text.encode("utf-8", "replace")
        try:
            self._file.write(data)
        except OSError as error:
            raise self._refusal(error) from None
        self.size += len(data)

    def sync(self) -> None:
        """Sync the written text to disk early so that leaving the context takes less time."""
        assert self._file is not None
        try:
            self._file.flush()
            if self._temporary is not None:
                os.fsync(self._file.fileno())
        except OSError as error:
            raise self._refusal(error) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._settle()
        except OSError as refused:
            raise self._refusal(refused) from None
        finally:
            try:
                self._discard()
            finally:
                self._discard()  # if a signal interrupted the first call

    def _open(self) -> None:
        target = self.path
        if target.exists():
            if target.is_dir():
                raise ViewerError(f"{target} is a directory; specify a file in it")
            if not stat.S_ISREG(target.stat().st_mode):
                self._file = target.open("wb")
                return
            if self._never is not None and self._never.exists() and target.samefile(self._never):
                raise ViewerError(f"{target} is the input; choose another name")
            if not self._overwrite:
                raise OutputExistsError(f"{target} already exists (use --force to overwrite)")
        self.path = target.resolve()
        temporary = self.path.parent / f".export-{os.urandom(8).hex()}"
        self._temporary = temporary  # set before the file exists, because a signal can arrive at any time
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._file = os.fdopen(descriptor, "wb")
        if not self._private:
            os.fchmod(descriptor, 0o666 & ~_umask())

    def _settle(self) -> None:
        """Sync the written text to disk and rename the temporary file. A device or pipe is only flushed."""
        assert self._file is not None
        self._file.flush()
        if self._temporary is None:
            return
        os.fsync(self._file.fileno())
        if self._overwrite:
            self._temporary.replace(self.path)
        else:
            self._take_name(self._temporary)
        _sync_folder(self.path.parent)

    def _take_name(self, temporary: Path) -> None:
        """Rename the temporary file. Raises OutputExistsError if the name was taken in the meantime."""
        try:
            self.path.hardlink_to(temporary)
        except FileExistsError:
            raise OutputExistsError(f"{self.path} already exists (use --force to overwrite)") from None
        except OSError:  # a file system without hard links
            if self.path.exists():
                raise OutputExistsError(f"{self.path} already exists (use --force to overwrite)") from None
            temporary.replace(self.path)

    def _discard(self) -> None:
        """Close the file, and remove the temporary file if it still exists."""
        if self._temporary is not None:
            with suppress(OSError):  # the file or folder is missing, or the folder is read-only
                self._temporary.unlink()
            self._temporary = None
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):  # an earlier write or sync has already reported the full disk
                file.close()

    def _refusal(self, error: OSError) -> ViewerError:
        return ViewerError(f"{self.path} cannot be written: {error.strerror or 'the system refused'}")


def _umask() -> int:
    """Return the umask: the permission bits that new files lack."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Sync the folder so that the new name survives a power failure, on systems that support it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
