"""Building: options of compilers, the cache, words for errors, and lines of code by address."""

import errno
import os
import re
import shutil
import subprocess
import tempfile

import numpy as np
import pytest

from kernels.core.device_turns import outcome_of
from kernels.core.job import Job
from kernels.core.safe_files import FOLDER_VARIABLE, holding
from kernels.cuda_on_cpu import compiler, cpu_runs
from kernels.cuda_on_cpu.compile_errors import diagnostics_of, first_error
from kernels.cuda_on_cpu.compiler import (
    CHECKED,
    TRIED,
    Compiler,
    default_cache,
    the_compiler,
    why_not,
)
from kernels.cuda_on_cpu.elf import LineTable
from kernels.cuda_on_cpu.shim import TriedShim
from kernels.rungs.own_kernels import own_kernel, starting_points
from kernels.rungs.rung import ladder
from tests.kernels.on_cpu import PLAIN, build

with_binutils = pytest.mark.skipif(
    compiler.why_not() is not None or shutil.which("addr2line") is None, reason="no binutils"
)


def test_clang_looks_for_what_a_flavour_wants_and_links_no_library_of_its_own_for_it(
    tmp_path, monkeypatch
):
    said = tmp_path / "said"
    script = tmp_path / "clang++"
    script.write_text(
        f"""#!/bin/sh
echo "$*" >> {said}
while [ "$1" != -o ]; do shift; done
cp /bin/sh "$2"
"""
    )
    clang = Compiler(("/bin/sh", str(script)), False, "15.0.7")
    monkeypatch.setattr(compiler, "the_compiler", lambda: clang)
    build("int one;", compiler.TRIED, tmp_path)
    *_, compiled, linked = (line.split() for line in said.read_text().splitlines())
    wanted = compiled.index("-fsanitize=alignment,return,bounds")
    assert compiled.index("-fno-sanitize=undefined") < wanted  # the last of them counts
    assert "-c" in compiled
    assert {"-shared", "-fno-sanitize=undefined"} <= {*linked}


def test_a_folder_has_one_name_however_it_is_reached(tmp_path, monkeypatch):
    """Libraries are linked by their names: by another, all would be compiled anew."""
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "link"))
    assert default_cache() == tmp_path / "folder" / "cuda-on-cpu"


def test_what_was_not_used_for_long_is_deleted_and_no_lock(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(compiler, "MAX_KEPT_BYTES", 50)
    folder = tmp_path / "cuda-on-cpu"
    folder.mkdir()
    for age, name in enumerate(("new.so", "older.so", "oldest.so", "oldest.lock")):
        (folder / name).write_bytes(bytes(20))
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    default_cache()
    assert {each.name for each in folder.iterdir()} == {"new.so", "older.so", "oldest.lock"}


def test_what_a_killed_process_left_goes_and_what_is_under_way_stays(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    left, held = (tmp_path / "cuda-on-cpu" / name for name in ("left.work", "held.work"))
    for folder in (left, held):
        folder.mkdir(parents=True)
    with holding(held.with_suffix(".lock"), 0.0):
        default_cache()
    assert held.is_dir()
    assert not left.exists()


def test_where_nothing_can_be_kept_it_is_kept_while_the_process_lasts(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    compiler._passing.cache_clear()
    folder = default_cache()
    assert folder.parent == tmp_path
    (folder / "kept").touch()


def test_a_disk_that_is_full_is_told_of_in_a_sentence(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        yield

    monkeypatch.setattr(cpu_runs, "building", full)
    rung = ladder()[0]
    job = Job.of(np.zeros((8, 9, 1), np.uint8), np.ones((3, 3), np.float32))
    error = outcome_of(cpu_runs.built(TriedShim, rung, job))
    assert first_error(str(error), rung)[0].count("No space left on device") == 1


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
def test_what_is_used_again_counts_as_new(build_cache):
    text = "int used_twice;"
    made = build(text, PLAIN, build_cache)
    os.utime(made, (0, 0))
    assert build(text, PLAIN, build_cache) == made
    assert made.stat().st_mtime > 0


ENDLESS = """
template <int n, int m> struct all {
    static const bool v = all<n - 1, m>::v && all<n - 1, m + 1>::v;
};
template <int m> struct all<0, m> { static const bool v = true; };
bool known = all<800, 0>::v;
"""
RUNG = own_kernel("mine.cu", starting_points()[0].text)


@pytest.mark.parametrize(
    ("log", "sentence", "line"),
    [
        ("mine.cu:7:5: error: expected ';'\n", "Line 7: expected ';'.", 7),
        ("mine.cu:7:5: error: did you mean 'sum'?\n", "Line 7: did you mean 'sum'?", 7),
        (
            f"mine.cu:7:5: error: no\n{compiler.TOO_LONG}\n",
            "The compiler gave up: the text takes too long.",
            None,
        ),
        (
            "mine.cu:8:2: internal compiler error: Segmentation fault\n",
            "The compiler gave up: the text makes the compiler crash.",
            None,
        ),
        ("", "The compiler refused the text without saying why.", None),
    ],
)
def test_the_first_error_is_one_sentence(log, sentence, line):
    assert first_error(log, RUNG) == (sentence, line)


@pytest.mark.parametrize("file", ["/etc/passwd", "../passwd", "/proc/self/root/etc/passwd", "x.s"])
def test_of_a_file_that_is_not_the_kernels_no_word_is_told(file):
    log = f"In file included from mine.cu:3:\n{file}:1:1: error: 'root' does not name a type\n"
    sentence, line = first_error(log, RUNG)
    assert "root" not in sentence + str(diagnostics_of(log, RUNG))
    assert line == 3


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.parametrize(
    ("text", "limit", "value", "what"),
    [
        (ENDLESS, "MAX_SECONDS", 1, "takes too long"),
        ("char many[1 << 20] = {1};", "MAX_WRITTEN", 1 << 19, "has arrays with values"),
    ],
)
def test_a_compiler_that_takes_too_much_is_told_to_give_up(
    text, limit, value, what, build_cache, monkeypatch
):
    if not the_compiler().is_gnu:
        pytest.skip("the limits are g++'s")
    build("int first;", TRIED, build_cache)  # the runtime, which is larger
    monkeypatch.setattr(compiler, limit, value)
    with pytest.raises(compiler.BuildError) as error:
        build(text, TRIED, build_cache)
    assert what in first_error(str(error.value), RUNG)[0]


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


@with_binutils
def test_lines_are_those_of_addr2line(build_cache):
    library = build(TEXT, CHECKED, build_cache)
    table = LineTable(library)
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
