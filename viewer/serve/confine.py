"""Confine a session: it may read some files and write temporary files, but not start processes or connect to
anything."""

from __future__ import annotations

import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from typing import Any

from viewer.sources.containers.items import split_item

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_TRUNC
_REFUSED = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty", "pty.spawn"),
    *("os.rename", "os.link", "os.symlink", "os.chmod", "os.chown", "os.truncate", "os.kill"),
    *("socket.connect", "socket.bind", "socket.sendto", "webbrowser.open"),
)
"""The operations that a session must never perform."""
_CHANGING = ("os.mkdir", "os.rmdir", "os.remove")
"""The operations that are allowed only on temporary files."""
_NO_FOLDER = -1
_LISTING = ("os.listdir", "os.scandir")
_SYSTEM = ("/usr", "/lib", "/lib64", "/etc", "/proc", "/sys", "/dev/null", "/dev/urandom", "/System", "/Library")


class Served:
    """The files and folders given on the command line."""

    def __init__(self, paths: Iterable[str]) -> None:
        names = [split_item(path)[0] for path in paths]
        self._names = tuple(os.path.abspath(name) for name in names)  # noqa: PTH100 (keeps symlinks)
        self._roots = tuple(os.path.realpath(name) for name in names)

    def names(self, path: str) -> bool:
        """True if this path, without following symlinks, is a served file or is in a served folder."""
        return _is_below(os.path.abspath(path), self._names)  # noqa: PTH100

    def has(self, path: str) -> bool:
        """True if this path, after following all symlinks, is a served file or is in a served folder."""
        return _is_in(split_item(os.path.expanduser(path))[0], self._roots)  # noqa: PTH111 (no error without a home)


def confine(served: Served, more: Iterable[str] = ()) -> None:
    """From now on, let this process read only served files, the program, its libraries and system files, the folders in
    `more`, and the temporary files that it creates. The process can write only temporary files, and cannot start
    processes or open connections. This cannot be undone."""
    paths = {*sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, *filter(None, sys.path)}
    package = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120
    program = tuple(os.path.realpath(path) for path in (*paths, package, os.path.dirname(package), *_SYSTEM, *more))  # noqa: PTH120
    temporary = (os.path.realpath(tempfile.gettempdir()),)
    created: set[str] = set()

    def may_read(path: str) -> bool:
        if served.names(path):
            return served.has(path)
        return served.has(path) or _is_in(path, program) or _is_in(path, tuple(created))

    def hear(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = given
            if not isinstance(path, str | bytes):
                return
            name = os.fsdecode(path)
            if isinstance(flags, int) and flags & _WRITING:
                if name != os.devnull and not (_is_in(name, temporary) and not served.has(name)):
                    raise PermissionError
                created.update({os.path.realpath(name)} - {*temporary})  # an unnamed file is opened through its folder
            elif not may_read(name):
                raise PermissionError
        elif event in _LISTING or event == "sqlite3.connect":
            path = given[0] if given else "."
            if isinstance(path, str | bytes) and not may_read(_without_scheme(os.fsdecode(path))):
                raise PermissionError
        elif event in _REFUSED:
            raise PermissionError
        elif event in _CHANGING and given[-1] == _NO_FOLDER:  # names in open folders are always temporary
            if not _is_in(os.fsdecode(given[0]), temporary):
                raise PermissionError
            created.add(os.path.realpath(os.fsdecode(given[0])))

    sys.addaudithook(hear)


def _is_in(path: str, roots: tuple[str, ...]) -> bool:
    return _is_below(os.path.realpath(path), roots)


def _is_below(path: str, roots: tuple[str, ...]) -> bool:
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def _without_scheme(name: str) -> str:
    """Return the path of a database, which may be written as a URI."""
    if not name.startswith("file:"):
        return name
    from urllib.parse import unquote

    return unquote(name.removeprefix("file:").partition("?")[0])
