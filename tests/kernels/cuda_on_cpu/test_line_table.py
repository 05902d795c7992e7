"""The lines of a library's code are those that binutils' addr2line says."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from kernels.core.driving import outcome_of
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.building import building
from kernels.cuda_on_cpu.compiler import CHECKED
from kernels.cuda_on_cpu.elf import LineTable, Row

pytestmark = pytest.mark.skipif(
    compiler.why_not() is not None or shutil.which("addr2line") is None, reason="no binutils"
)
TEXT = """#include "cuda_cpu.h"
#line 1 "mine.cu"
extern "C" int first(int n)
{
    int sum = 0;

    for (int i = 0; i < n; ++i)
        sum += i * n;
    return sum;
}
#line 100 "other.cuh"
extern "C" int second(int n) {
    return first(n)
        / 3;
}
"""


def test_lines_are_those_of_addr2line(build_cache):
    library = outcome_of(building(TEXT, CHECKED, build_cache))
    table = LineTable.of_library(library)
    symbols = subprocess.run(["nm", "-S", library], capture_output=True, text=True).stdout
    seen = set()
    for name in ("first", "second"):
        start, size = re.search(rf"^(\w+) (\w+) T {name}$", symbols, re.M).groups()
        addresses = range(int(start, 16), int(start, 16) + int(size, 16))
        words = ["addr2line", "-e", str(library), *map(hex, addresses)]
        said = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
        for address, place in zip(addresses, said, strict=True):
            row = table.at(address)
            file, line = re.search(r"([^/]+):(\d+)", place).groups()
            assert (row.file, row.line) == (file, int(line))
            seen.add((row.file, row.line))
    assert {("mine.cu", 3), ("mine.cu", 6), ("other.cuh", 101)} <= seen


def test_what_lies_outside_has_no_line():
    table = LineTable([Row(16, "mine.cu", 3), Row(32, "", 0)])
    assert [table.at(address) for address in (0, 15, 32, 99)] == [None] * 4
    assert table.at(31) == Row(16, "mine.cu", 3)
