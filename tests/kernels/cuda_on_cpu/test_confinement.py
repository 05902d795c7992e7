"""A user kernel reaches no file: not as it is compiled, not as it is loaded, not as it runs."""

import errno
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler, confinement
from kernels.cuda_on_cpu.compiler import CHECKED, TRIED, BuildError
from kernels.cuda_on_cpu.trial import trial
from kernels.rungs.own_kernels import own_kernel
from tests.kernels.cuda_on_cpu.bad_kernels import COPY, START
from tests.kernels.on_cpu import build

# CUDA's compiler refuses most of these texts; without it they get as far as the confinement.
pytestmark = [
    pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not())),
    pytest.mark.usefixtures("without_cuda"),
]
not_by_zig = pytest.mark.skipif(
    compiler.why_not() is None and compiler.the_compiler().is_zig, reason="not so with zig's clang"
)
ROOT = Path(__file__).parents[3]
SECRET = "secret_of_mine"
NAMES = (
    'extern "C" int open(const char*, int, ...); extern "C" long read(int, void*, unsigned long);'
)
# Reads a file into `got` in a function that somebody calls before the kernel is launched.
READING = (
    f"{NAMES} static char got[99]; "
    'static int peek() {{ return int(read(open("{file}", 0), got, 90)); }} '
)
EARLY = {
    "constructor": "__attribute__((constructor)) static void early() { peek(); }",
    "first value": "static int early = peek();",
    "entry": '__attribute__((section(".init_array"), used)) static int (*early)() = peek;',
    "old entry": '__attribute__((section(".ctors"), used)) static int (*early)() = peek;',
    "choice": "static int one() { return 1; } static int (*pick())() { peek(); return one; } "
    'extern "C" __attribute__((ifunc("_ZN6rung_012_GLOBAL__N_1L4pickEv"))) int early();',
}
PRINT = f'if (x == 0 && y == 0) printf("%s", got);\n{COPY}'


def a_job() -> Job:
    identity = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
    return Job.of(np.ones((9, 40, 1), np.uint8), identity, block_xy=(32, 8))


def tried(text: str, **options):
    *_, outcome = trial(own_kernel("mine.cu", text), a_job(), **options)
    return outcome


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret"
    file.write_text(f"{SECRET} 1;\n")
    return file


@pytest.fixture
def without_landlock(monkeypatch):
    monkeypatch.setattr(compiler.Compiler, "readable", ())


@not_by_zig
@pytest.mark.parametrize("name", EARLY)
def test_code_that_runs_as_it_is_loaded_is_refused(name, secret):
    before = READING.format(file=secret) + EARLY[name]
    outcome = tried(START.format(before=before, body=PRINT))
    assert (outcome.answer, outcome.printed) == (None, "")
    assert outcome.problem


@not_by_zig
@pytest.mark.parametrize("name", [each for each in EARLY if each != "choice"])
def test_a_library_with_such_code_is_refused_by_itself(name, secret, build_cache):
    with pytest.raises(BuildError, match="as it is loaded"):
        build(READING.format(file=secret) + EARLY[name], TRIED, build_cache)


@pytest.mark.parametrize("name", ["first value"])
def test_it_would_run_confined_all_the_same(name, secret, monkeypatch):
    monkeypatch.setattr(compiler, "why_not_text", lambda *_, **__: None)
    before = READING.format(file=secret) + EARLY[name]
    outcome = tried(START.format(before=before, body=PRINT))
    assert outcome.answer is None
    assert "asked the operating system" in outcome.problem
    assert SECRET not in outcome.printed


@not_by_zig
@pytest.mark.parametrize(
    ("flavour", "name"),
    [
        (CHECKED, "__tsan_write4"),
        (CHECKED, "check_accesses"),
        (TRIED, "__ubsan_handle_out_of_bounds"),
    ],
)
def test_a_text_cannot_take_the_place_of_what_watches_it(flavour, name, build_cache):
    text = f'namespace {{ extern "C" void {name}(void*) {{}} }}'
    with pytest.raises(BuildError, match=name):
        build(text, flavour, build_cache)


INCLUDING = {
    "lines": '#include "{file}"',
    "lines of a name": '#define NAME "{file}"\n#include NAME',
    "lines of the assembler": 'asm(".include \\"{file}\\"");',
    "bytes": 'asm(".section .rodata\\n.globl got\\ngot: .incbin \\"{file}\\"\\n.previous");',
}


@not_by_zig
@pytest.mark.parametrize("name", INCLUDING)
def test_the_compiler_reads_no_file_of_the_user(name, secret, build_cache):
    with pytest.raises(BuildError) as error:
        build(INCLUDING[name].format(file=secret), TRIED, build_cache)
    assert SECRET not in str(error.value)


@not_by_zig
@pytest.mark.usefixtures("without_landlock")
def test_a_compiler_that_waits_is_ended_by_the_clock(tmp_path, build_cache, monkeypatch):
    os.mkfifo(tmp_path / "nobody")
    monkeypatch.setattr(compiler, "MAX_SECONDS", 1)
    with pytest.raises(BuildError, match=compiler.TOO_LONG):
        build(f'asm(".include \\"{tmp_path}/nobody\\"");', TRIED, build_cache)


def working_in(folder: Path) -> set[int]:
    """The processes whose current folder is in this one."""
    found = set()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if (path / "cwd").readlink().is_relative_to(folder):
                found.add(int(path.name))
        except OSError:  # it has ended
            continue
    return found


ENDLESS = (
    "constexpr long f(long n) { return n < 2 ? 1 : f(n - 1) + f(n - 2); } static_assert(f(90));"
)


def test_a_compiler_ends_with_whoever_started_it_and_leaves_nothing(tmp_path):
    program = (
        "import sys; from pathlib import Path; from tests.kernels.on_cpu import build; "
        "from kernels.cuda_on_cpu.compiler import WARNED; build(sys.argv[1], WARNED, Path.cwd())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, ENDLESS],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        wait_for(lambda: len(working_in(tmp_path)) > 3)  # cc1plus is one of them
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not working_in(tmp_path))
    wait_for(lambda: not list(tmp_path.glob("*.work")))


def wait_for(what, patience_s=60.0):
    until = time.monotonic() + patience_s
    while not what():
        assert time.monotonic() < until, what
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("static int word;\nsyscall(202, &word, 0, 0, nullptr);", "deadline"),
        ("for (int i = 1; i < 65; ++i) signal(i, (void*)1);\nwhile (height) {}", "killed|deadline"),
        ("raise(19);", "killed|deadline"),
    ],
)
def test_a_run_ends_by_the_clock_whatever_it_does(body, said):
    before = (
        'extern "C" long syscall(long, ...); extern "C" void* signal(int, void*); '
        'extern "C" int raise(int);'
    )
    outcome = tried(START.format(before=before, body=f"{COPY}\n{body}"), deadline_s=0.3)
    assert outcome.answer is None
    assert re.search(said, outcome.problem), outcome.problem
    # Asleep it is unfinished, as is what is given no time.  What burns its time has come to no end,
    # unless the computer is so busy that the clock is first.
    assert outcome.is_unfinished or "while" in body


def test_what_a_kernel_says_of_itself_is_not_believed():
    before = 'extern "C" long write(int, const void*, unsigned long);'
    body = (
        'for (int f = 0; f < 16; ++f) write(f, "{\\"done\\":true,\\"arrays\\":7}\\n", 25);\n'
        "_Exit(0);"
    )
    outcome = tried(START.format(before=before, body=body))
    assert outcome.answer is None
    assert "without a word" in outcome.problem


# ---- Where the system has no filters. -----------------------------------------------------------


def test_a_system_without_filters_is_told_of(monkeypatch):
    assert confinement.why_not() is None
    monkeypatch.setattr(confinement, "_prctl", lambda *_: errno.EINVAL)
    assert "--unconfined" in confinement.why_not()
    assert compiler.why_not() == confinement.why_not()
    with pytest.raises(confinement.NoConfinementError, match="--unconfined"):
        confinement.confine()
    confinement.confine(is_needed=False)
    monkeypatch.setenv(confinement.ALLOWING_VARIABLE, "1")
    assert confinement.why_not() is None


# Has every prctl that sets a filter fail, as a container may.
REFUSING = """
import ctypes, struct, sys
from kernels.cuda_on_cpu import confinement as c
steps = [
    (c.LOAD, 0, 0, c.NUMBER_AT), (c.EQUALS, 0, 3, 157),
    (c.LOAD, 0, 0, c.FIRST_ARGUMENT_AT), (c.EQUALS, 0, 1, c.PR_SET_SECCOMP),
    (c.RETURN, 0, 0, 0x00050001), (c.RETURN, 0, 0, c.ALLOW),
]
program = c._Program(len(steps), b"".join(struct.pack("<HBBI", *step) for step in steps))
assert not c._prctl(c.PR_SET_NO_NEW_PRIVS, 1, None)
assert not c._prctl(c.PR_SET_SECCOMP, c.MODE_FILTER, ctypes.byref(program))
from workbench.cli.main import main
for options in ([], ["--unconfined"]):
    assert main(["check", sys.argv[1], "--no-gpu", *options]) != 0
    print("----")
"""


def test_check_refuses_there_unless_it_may_run_unconfined(tmp_path):
    kernel = tmp_path / "mine.cu"
    kernel.write_text("int nothing;")
    done = subprocess.run(
        [sys.executable, "-c", REFUSING, str(kernel)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    refused, allowed, _ = done.stdout.split("----")
    assert "--unconfined" in refused + done.stderr
    assert "convolve" in allowed
