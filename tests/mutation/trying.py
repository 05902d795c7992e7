"""Plants one fault after another in a copy of the tree and runs tests in a forked process each."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.mutation.covering import python_path
from tests.mutation.operators import Mutant

# What every test imports anyway: read once, before forking.
PRELOADED = (
    "pytest",
    "pytestqt.plugin",
    "hypothesis",
    "numpy",
    "PySide6.QtWidgets",
    "PySide6.QtSvg",
    "cv2",
)
PRELOADED += ("pyqtgraph", "numba", "tifffile", "PIL.Image", "scipy.ndimage")
PATIENT_S = 0.4
SLACK, SLACK_S = 5, 30  # a fault may make a test slow: only then is it taken to hang


class Copy:
    """A copy of the tree to plant faults in; what is ignored by git stays behind."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = folder
        self._original = root
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=root, capture_output=True, text=True, check=True)
        shutil.rmtree(folder, ignore_errors=True)
        for each in files.stdout.splitlines():
            target = folder / each
            target.parent.mkdir(parents=True, exist_ok=True)
            if (root / each).is_file():
                shutil.copy2(root / each, target)
        self._sound: dict[str, bool] = {}
        shared = folder.parent / "shared"
        if (root.parent / "shared").is_dir() and not shared.exists():
            shared.symlink_to(root.parent / "shared")

    @property
    def unsound(self) -> set[str]:
        """The tests that were found to fail without any fault."""
        return {test for test, passes in self._sound.items() if not passes}

    def passes(self, test: str) -> bool:
        """Tells whether a test passes without any fault."""
        if test not in self._sound:
            self._sound[test] = not run(self.root, [test], 60)
        return self._sound[test]

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[None]:
        """Lets the fault be there for a while; no bytecode of either text outlives its text."""
        file = self.root / mutant.path
        text = file.read_text(encoding="utf-8")
        compiled = Path(importlib.util.cache_from_source(str(file)))
        compiled.unlink(missing_ok=True)
        file.write_text(mutant.planted(text), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")
            compiled.unlink(missing_ok=True)


class Failed:
    """A pytest plugin that remembers the first test that failed."""

    def __init__(self) -> None:
        self.test = ""

    def pytest_runtest_logreport(self, report) -> None:
        """Takes the first only."""
        if report.failed and not self.test:
            self.test = report.nodeid

    def pytest_collectreport(self, report) -> None:
        """A file that cannot be imported is a failure, too."""
        if report.failed and not self.test:
            self.test = report.nodeid or "collecting"


def preload() -> None:
    """Imports what all tests share and no fault is planted in."""
    for name in PRELOADED:
        if importlib.util.find_spec(name.partition(".")[0]):
            importlib.import_module(name)


def who_notices(copy: Copy, mutant: Mutant, took: dict[str, float]) -> str:
    """Returns the first test that fails with the fault and not without it, "a hang" or "a crash";
    "" if none does.  A test that takes long, and so waits for something, has to fail twice.

    `took` is how many seconds each test takes without the fault.
    """
    tests, limit_s = list(took), sum(took.values()) * SLACK + SLACK_S
    while tests:
        with copy.planted(mutant):
            noticed = again = run(copy.root, tests, limit_s)
            if took.get(noticed, 0) > PATIENT_S:
                again = run(copy.root, [noticed], limit_s)
        if not noticed or (again and copy.passes(noticed if noticed in tests else tests[0])):
            return noticed
        tests = [each for each in tests if each != noticed and each not in copy.unsound]
    return ""


def run(root: Path, tests: list[str], limit_s: float) -> str:
    """Runs tests in a process of their own; returns the first that fails, "a hang", "a crash"."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _as_the_child(root, tests, writer)
    os.close(writer)
    ended = _wait(child, limit_s)
    with os.fdopen(reader) as answer:
        text = answer.read() if ended else ""
    if not ended:
        return "a hang"
    return json.loads(text) if text else "a crash"


def _wait(child: int, limit_s: float) -> bool:
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            _end_group(child)
            return True
        time.sleep(0.02)
    _end_group(child)
    os.waitpid(child, 0)
    return False


def _end_group(child: int) -> None:
    """Whatever the tests started and left."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def _as_the_child(root: Path, tests: list[str], writer: int) -> None:
    """Imports everything from `root` and never returns."""
    os.setsid()
    silent = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(silent, each)
    try:
        os.chdir(root)
        os.environ["PYTHONPATH"] = python_path(root)
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        sys.path[:] = [str(root), *(each for each in sys.path if each not in ("", str(Path.cwd())))]
        for name in [each for each in sys.modules if each.partition(".")[0] == "tests"]:
            del sys.modules[name]
        os.write(writer, json.dumps(_first_failure(root, tests)).encode())
    finally:
        os._exit(0)


def _first_failure(root: Path, tests: list[str]) -> str:
    import pytest

    seen = Failed()
    options = ["-x", "-q", "-p", "no:cacheprovider", "--tb=no", "-m", "not full", "--assert=plain"]
    options += ["-o", "addopts=--import-mode=importlib", f"--rootdir={root}"]
    try:
        code = pytest.main([*options, *tests], plugins=[seen])
    except Exception as error:  # noqa: BLE001 - the reader of the results must see it
        return f"pytest: {type(error).__name__}: {error}"
    return seen.test or ("" if code == 0 else f"pytest ended with {int(code)}")
