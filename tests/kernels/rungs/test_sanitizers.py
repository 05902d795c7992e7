"""Every rung under AddressSanitizer, UBSan and the race detector, and faults that they must see."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kernels.rungs.rung import ladder
from tests.conftest import ROOT
from tests.kernels.rungs.sanitizers import environment, why_no_sanitizers
from tests.kernels.rungs.under_sanitizer import DONE, ENDED, compiled, quick_cases

# The race detector's clocks are as long as the largest launch so far had threads: of few threads
# that wait for each other much, as on tensor cores, come first, and where there are always
# thousands last.
IN_TURN = sorted(ladder(), key=lambda rung: ("tensor" not in rung.includes, rung.key == "fft"))
RUNGS = [rung.key for rung in IN_TURN]
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(why_no_sanitizers() is not None, reason=str(why_no_sanitizers())),
]


class Process:
    """Python under the sanitizers of a flavour; begun anew where they ended it.

    One for many rungs: to begin, and to make the race detector's threads, takes it longer than most
    rungs take.
    """

    def __init__(self, flavour: str, folder: Path) -> None:
        self._flavour, self._folder = flavour, folder
        self._child: subprocess.Popen[str] | None = None

    def report(self, *words: str) -> str:
        """What they have to say of a rung, or of a fault in it and a case; "" if nothing."""
        compiled(self._flavour, self._folder, *words)
        child = self._child or self._begun()
        print("\t".join(words), file=child.stdin, flush=True)
        said = []
        for line in child.stdout:
            if line == f"{DONE}\n":
                return ""
            if line == f"{ENDED}\n":
                break
            said.append(line)
        else:
            self.end()
        if "unexpected memory mapping" in "".join(said):
            pytest.skip("this kernel places memory where the race detector cannot work")
        return "".join(said) or "it ended without a word"

    def report_of_fault(self, key: str, fault: str) -> str:
        """What they have to say of a fault, case by case until they do: most show in the first."""
        rung = next(each for each in ladder() if each.key == key)
        numbers = range(len(quick_cases(self._flavour, rung)))
        reports = (self.report(key, fault, str(number)) for number in numbers)
        return next(filter(None, reports), "")

    def end(self) -> None:
        if self._child is not None:
            self._child.communicate()
            self._child = None

    def _begun(self) -> subprocess.Popen[str]:
        program = [sys.executable, "-m", "tests.kernels.rungs.under_sanitizer"]
        self._child = subprocess.Popen(
            [*program, self._flavour, str(self._folder)],
            env={**os.environ, **environment(self._flavour)},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self._child


@pytest.fixture(scope="module")
def processes(build_cache: Path) -> Iterator[dict[str, Process]]:
    """One for each flavour."""
    made = {flavour: Process(flavour, build_cache) for flavour in ("address", "races")}
    yield made
    for process in made.values():
        process.end()


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("flavour", ["address", "races"])
def test_a_rung_gives_sanitizers_nothing_to_report(flavour, rung, processes):
    assert processes[flavour].report(rung)[-4000:] == ""


@pytest.mark.parametrize(
    ("flavour", "rung", "fault", "report"),
    [
        ("address", "global", "reads below the last row", "SUMMARY: AddressSanitizer: "),
        ("address", "shared", "writes behind the tile", "heap-buffer-overflow"),
        ("address", "shared_two_batch", "the second batch is not guarded", "heap-buffer-overflow"),
        ("address", "separable_flat", "threads without a row go on", "SUMMARY: AddressSanitizer: "),
        ("address", "global", "nothing saturates", "outside the range of representable values"),
        ("races", "shared", "no barrier", "data race"),
        ("races", "global", "all threads write one sample", "data race"),
    ],
)
def test_a_sanitizer_reports(flavour, rung, fault, report, processes):
    assert report in processes[flavour].report_of_fault(rung, fault)
