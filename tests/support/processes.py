"""Run the tests in several processes that share one collection.

Importing and collecting the tests takes 4 s, or 8 s in a fresh clone. Processes that are forked afterwards need not
repeat either. Each process runs one test file at a time, so the fixtures of a module are created only once.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from multiprocessing.sharedctypes import Synchronized
from typing import Any
from zlib import crc32

import pytest

from tests.support.collecting import TESTS

STOP = 1 << 30
"""Sent instead of the number of the next file: start no more tests."""
LONGEST_END = 60.0
"""The longest time in seconds for a process to end after its last test. A thread that never ends would prevent it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="run the tests in this number of processes")


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    count = session.config.option.processes
    if count < 2 or session.testsfailed or session.config.option.collectonly:
        return None
    run_tests(session, count)
    return True


def run_tests(session: pytest.Session, count: int) -> None:
    """Run the collected tests in this number of processes and report the results here."""
    capture = session.config.pluginmanager.getplugin("capturemanager")
    capture.stop_global_capturing()  # it writes to temporary files, and each process needs its own
    getattr(session.config, "_tmp_path_factory").getbasetemp()  # noqa: B009
    files = in_files(session.items)
    context = multiprocessing.get_context("fork")
    next_file = context.Value("i", 0)
    processes = []
    connections = []
    for number in range(count):
        receiver, sender = context.Pipe(duplex=False)
        processes.append(context.Process(target=_run_files, args=(session, files, next_file, sender, number)))
        processes[-1].start()
        sender.close()
        connections.append(receiver)
    capture.start_global_capturing()
    capture.suspend_global_capture()
    try:
        _report(session, connections, next_file)
    except BaseException:
        for process in processes:
            process.terminate()
        raise
    finally:
        _end(session, processes)
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)


def _end(session: pytest.Session, processes: Sequence[BaseProcess]) -> None:
    """Wait for the end of all processes, and fail if one does not end."""
    for process in processes:
        process.join(LONGEST_END)
        if process.is_alive():
            process.kill()
            session.shouldfail = "a thread of a test did not end"


def in_files(items: Sequence[pytest.Item]) -> list[list[pytest.Item]]:
    """Return the tests of each file, in the order in which files are started.

    Files with slow tests are first, because the last ones determine how long some processes wait for others. Apart from
    that, a hash decides, so tests of one kind, such as those that wait for a process, do not all run at once. The
    tests of the project itself count as one file, because they share its syntax trees."""
    files = [
        list(group) for _, group in groupby(items, key=lambda item: TESTS if item.path.parent == TESTS else item.path)
    ]
    return sorted(
        files,
        key=lambda file: (
            not any(item.get_closest_marker("slow") for item in file),
            crc32(file[0].nodeid.partition("::")[0].encode()),
        ),
    )


def _report(session: pytest.Session, connections: list[Connection], next_file: Synchronized[int]) -> None:
    """Report the results until all processes have ended, and then the tests without a result."""
    hook = session.config.hook
    missing = {item.nodeid: item for item in session.items}
    while connections:
        for connection in wait(connections):
            assert isinstance(connection, Connection)
            try:
                name, arguments = connection.recv()
            except EOFError:
                connections.remove(connection)
                continue
            if name == "warning":
                hook.pytest_warning_recorded.call_historic(kwargs=arguments)
                continue
            for data in arguments.pop("reports"):
                report = hook.pytest_report_from_serializable(config=session.config, data=data)
                hook.pytest_runtest_logreport(report=report)
            hook.pytest_runtest_logfinish(**arguments)
            missing.pop(arguments["nodeid"], None)
        if session.shouldfail or session.shouldstop:
            next_file.value = STOP
    if next_file.value >= STOP:
        return
    for nodeid, item in missing.items():
        sentence = "The process that had to run this test ended early."
        hook.pytest_runtest_logreport(report=pytest.TestReport(nodeid, item.location, {}, "failed", sentence, "call"))


def _run_files(
    session: pytest.Session,
    files: list[list[pytest.Item]],
    next_file: Synchronized[int],
    sender: Connection,
    number: int,
) -> None:
    """Run files, in a new process, and send the results."""
    config = session.config
    capture = config.pluginmanager.getplugin("capturemanager")
    capture.start_global_capturing()
    capture.suspend_global_capture()
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Sender(config, sender))
    temporary = getattr(config, "_tmp_path_factory")  # noqa: B009
    setattr(temporary, "_basetemp", temporary.mktemp(f"process{number}", numbered=False))  # noqa: B010
    with suppress(KeyboardInterrupt, BrokenPipeError):  # the first process is also ending, or has ended
        items = _take_files(files, next_file)
        item = next(items, None)
        while item is not None and next_file.value < STOP:
            following = next(items, None)
            config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            item = following
            if session.shouldfail or session.shouldstop:
                next_file.value = STOP
    sender.close()


def _take_files(files: list[list[pytest.Item]], next_file: Synchronized[int]) -> Iterator[pytest.Item]:
    while True:
        with next_file.get_lock():
            taken = next_file.value
            next_file.value += 1
        if taken >= len(files):
            return
        yield from files[taken]


class _Sender:
    """Sends the results of a test, and warnings."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self.config = config
        self.connection = connection
        self.reports: list[Any] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        data = self.config.hook.pytest_report_to_serializable(config=self.config, report=report)
        self.reports.append(data)

    def pytest_runtest_logfinish(self, nodeid: str, location: tuple[str, int | None, str]) -> None:
        reports, self.reports = self.reports, []
        self.connection.send(("test", {"nodeid": nodeid, "location": location, "reports": reports}))

    def pytest_warning_recorded(
        self,
        warning_message: warnings.WarningMessage,
        when: str,
        nodeid: str,
        location: tuple[str, int, str] | None,
    ) -> None:
        text = f"{warning_message.category.__name__}: {warning_message.message}"
        sent = warnings.WarningMessage(UserWarning(text), UserWarning, warning_message.filename, warning_message.lineno)
        arguments = {"warning_message": sent, "when": when, "nodeid": nodeid, "location": location}
        self.connection.send(("warning", arguments))
