"""Every rung under AddressSanitizer, UBSan and the race detector, and faults that they must see."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernels.rung import ladder
from tests.conftest import ROOT
from tests.cuda_on_cpu import compiler
from tests.cuda_on_cpu.compiler import FLAVOURS

RUNGS = [rung.key for rung in ladder()]
pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))


def sanitized(
    flavour: str, rung: str, folder: Path, fault: str = ""
) -> subprocess.CompletedProcess[str]:
    """The finished process; its output is the sanitizer's report."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.kernels.under_sanitizer", flavour, rung, str(folder)]
        + [fault] * bool(fault),
        env={**os.environ, **FLAVOURS[flavour].environment()},
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if "unexpected memory mapping" in done.stdout:
        pytest.skip("this kernel places memory where the race detector cannot work")
    return done


@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("flavour", ["address", "races"])
def test_a_rung_gives_sanitizers_nothing_to_report(flavour, rung, build_cache):
    done = sanitized(flavour, rung, build_cache)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.parametrize(
    ("flavour", "rung", "fault", "report"),
    [
        ("address", "global", "reads below the last row", "heap-buffer-overflow"),
        ("address", "shared", "writes behind the tile", "heap-buffer-overflow"),
        ("address", "shared_two_batch", "the second batch is not guarded", "heap-buffer-overflow"),
        ("address", "separable_flat", "threads without a row go on", "heap-buffer-overflow"),
        ("address", "global", "nothing saturates", "outside the range of representable values"),
        ("races", "shared", "no barrier", "data race"),
        ("races", "global", "all threads write one sample", "data race"),
    ],
)
def test_a_sanitizer_reports(flavour, rung, fault, report, build_cache):
    done = sanitized(flavour, rung, build_cache, fault)
    assert done.returncode != 0
    assert report in done.stdout
