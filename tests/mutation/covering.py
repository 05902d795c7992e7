"""Chooses, for each fault, the tests that could notice it: what was recorded of them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from tests.mutation.operators import Mutant

# What takes long, or runs the program in a process of its own.
SLOW = (
    "tests/soak/",
    "tests/broken/",
    "tests/mutation/",
    "tests/kernels/cuda_on_cpu/",
    "tests/packaging/",
)
SLOW_FILES = {
    *("test_against_oracle.py", "test_planted_faults.py", "test_sanitizers.py", "test_xvfb.py"),
    *("test_snapshots.py", "test_leaks.py", "test_rungs_compile.py", "test_wheel.py"),
}
AT_MOST_S = 600


class Covering:
    """What was recorded of every test file, kept in `folder`."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        self.seconds: dict[str, float] = {}
        self._entered: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self._texts: dict[str, str] = {}

    def record(self, paths: list[str]) -> None:
        """Runs the test files that are new or have changed, one after another."""
        for path in paths:
            if not self._file_for(path).is_file():
                print(f"recording {path}", flush=True)  # noqa: T201
                self._run(path)
        for path in paths:
            if (file := self._file_for(path)).is_file():
                self._read(json.loads(file.read_text()))

    def tests_for(self, mutant: Mutant, seconds: float) -> list[str]:
        """Lists tests that enter the fault's function (in a class or a module: any of the file's),
        those of files that import it first, the quickest first, for some `seconds` in all."""
        functions = self._entered[mutant.path]
        if mutant.function in functions:
            tests = functions[mutant.function]
        else:
            inside = [
                tests
                for name, tests in functions.items()
                if not mutant.function or name.startswith(f"{mutant.function}.")
            ]
            tests = set().union(*(inside or functions.values()))
        chosen, total = [], 0.0
        for test in sorted(tests, key=lambda each: self._nearness(each, mutant.path)):
            if (total := total + self.seconds[test]) > seconds and chosen:
                break
            chosen.append(test)
        return chosen

    def _nearness(self, test: str, path: str) -> tuple[bool, float, str]:
        file = test.partition("::")[0]
        text = self._texts.setdefault(file, (self._root / file).read_text(encoding="utf-8"))
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        parent, _, name = module.rpartition(".")
        imported = (
            rf"(import|from) {re.escape(module)}\b|from {re.escape(parent)} import .*\b{name}\b"
        )
        return not re.search(imported, text), self.seconds[test], test

    def _file_for(self, path: str) -> Path:
        digest = hashlib.sha256((self._root / path).read_bytes()).hexdigest()[:12]
        return self._folder / f"{path.replace('/', '.')}.{digest}.json"

    def _run(self, path: str) -> None:
        """A test file that hangs or crashes is left out, and said to be."""
        target = self._file_for(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["-p", "tests.mutation.recording", "-o", "addopts=--import-mode=importlib"]
        command += ["-m", "not full", "--tb=no", path]
        environment = os.environ | {"RECORD_TO": str(target), "PYTHONPATH": python_path(self._root)}
        try:
            subprocess.run(
                command,
                cwd=self._root,
                env=environment,
                timeout=AT_MOST_S,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"  {path} took over {AT_MOST_S} s and is left out", flush=True)  # noqa: T201
        if not target.is_file():
            print(f"  {path} could not be recorded", flush=True)  # noqa: T201

    def _read(self, found: dict) -> None:
        self.seconds.update(found["tests"])
        for path, functions in found["functions"].items():
            for name, tests in functions.items():
                self._entered[path][name].update(tests)


def test_files(root: Path) -> list[str]:
    """Lists the test files that can be run for each fault."""
    found = sorted(path.relative_to(root).as_posix() for path in root.glob("tests/**/test_*.py"))
    return [
        path
        for path in found
        if not path.startswith(SLOW) and path.rpartition("/")[2] not in SLOW_FILES
    ]


def python_path(root: Path) -> str:
    """The tree's own folder before whatever else was asked for."""
    return os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
