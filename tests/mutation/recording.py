"""A pytest plugin that records which functions each test enters, how long it takes, and whether it
passes: `python -m pytest -p tests.mutation.recording`, with RECORD_TO naming the file to write."""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path

import coverage
import pytest

from tests.mutation.functions import functions_by_line

ROOT = Path.cwd()
SOURCES = ("kernels", "workbench")


class Recorder:
    """Switches coverage's context from test to test."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.passed: dict[str, bool] = {}
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, source=[str(ROOT / each) for each in SOURCES]
        )
        self._coverage.start()

    def pytest_collection_finish(self) -> None:
        """Qt's threads are none of Python's: what traces the others is set in them by hand."""
        if "PySide6.QtCore" in sys.modules:
            for thread in sys.modules["PySide6.QtCore"].QThread.__subclasses__():
                if "run" in vars(thread):
                    thread.run = _traced(thread.run)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins."""
        self._coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test is over."""
        self.seconds[report.nodeid] += report.duration
        if report.when == "call" or not report.passed:
            self.passed[report.nodeid] = report.passed and self.passed.get(report.nodeid, True)

    def pytest_sessionfinish(self) -> None:
        """Writes what was seen."""
        self._coverage.stop()
        found = {"tests": self._tests(), "functions": self._functions()}
        Path(os.environ["RECORD_TO"]).write_text(json.dumps(found))

    def _tests(self) -> dict[str, float]:
        return {test: self.seconds[test] for test, passed in self.passed.items() if passed}

    def _functions(self) -> dict[str, dict[str, list[str]]]:
        """By file and function, the tests that entered it."""
        data = self._coverage.get_data()
        found: dict[str, dict[str, list[str]]] = {}
        for path in data.measured_files():
            entered: dict[str, set[str]] = defaultdict(set)
            at = functions_by_line(Path(path).read_text(encoding="utf-8"))
            for line, tests in data.contexts_by_lineno(path).items():
                if line in at:
                    entered[at[line]].update(test for test in tests if self.passed.get(test))
            relative = Path(path).relative_to(ROOT).as_posix()
            found[relative] = {name: sorted(tests) for name, tests in entered.items() if tests}
        return found


def _traced(run):
    @functools.wraps(run)
    def traced(self, *arguments):
        sys.settrace(threading.gettrace())
        return run(self, *arguments)

    return traced


def pytest_configure(config: pytest.Config) -> None:
    """Registers the recorder."""
    config.pluginmanager.register(Recorder(), "recorder")
