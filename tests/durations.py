"""A table of how long tests take: the longest files begin first, `make quick` is what it lacks.

tests/durations.txt names each test function that takes longer than QUICK_S on a quiet machine, all
of its cases together, with its seconds.  `make durations` runs everything and writes it anew; then
it runs the others alone, and again, and adds which of them took long: what tests share, as compiled
kernels, is paid for by whichever of them comes first.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path

import pytest

TABLE = Path(__file__).with_suffix(".txt")
QUICK_S = 0.15


@cache
def durations() -> dict[str, float]:
    """Return the table: seconds by "path::function"."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return {name: float(seconds) for seconds, name in map(str.split, lines)}


def longest_first(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the tests file by file, the longest file first, so that no worker ends with it."""
    files: Counter[str] = Counter()
    for name, seconds in durations().items():
        files[name.partition("::")[0]] += seconds
    return sorted(items, key=lambda item: -files[item.nodeid.partition("::")[0]])


def is_quick(item: pytest.Item) -> bool:
    """Whether `make quick` runs a test: it is marked so, or the table does not name its function,
    in whatever file, so that a table stays true when files move."""
    if item.get_closest_marker("quick") is not None:
        return True
    return _function(item.nodeid).partition("::")[2] not in _long_functions()


@cache
def _long_functions() -> set[str]:
    return {name.partition("::")[2] for name in durations()}


def _function(nodeid: str) -> str:
    """Return "path::function" of a test's id, without the case."""
    return nodeid.partition("[")[0]


class Clock:
    """Adds up what tests take, and writes the table in the end: anew, or more of it."""

    def __init__(self, known: dict[str, float]) -> None:
        self._known = known
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[_function(report.nodeid)] += report.duration

    def pytest_sessionfinish(self) -> None:
        long = {name: s for name, s in self._seconds.items() if s > QUICK_S}
        table = sorted({**self._known, **long}.items(), key=lambda row: -row[1])
        lines = [f"{s:7.2f} {name}\n" for name, s in table]
        TABLE.write_text("".join(lines), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """As a plugin (`-p tests.durations`) write the table; not in each of xdist's workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Clock(durations() if config.getoption("quick") else {}))
