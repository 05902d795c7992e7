"""All threads of the program allocate from one heap, where the C library can be told so."""

import platform
import subprocess
import sys

import pytest

from tests.conftest import ROOT

# Threads that hold memory at the same time; how many heaps there are then, by glibc's own account.
SCRIPT = """
import ctypes, sys, threading, tempfile
if sys.argv[1:] == ["shared"]:
    from workbench.base.one_heap import share_one_heap
    share_one_heap()
meet = threading.Barrier(4)
def hold():
    held = [bytes(50_000) for _ in range(20)]
    meet.wait()
threads = [threading.Thread(target=hold) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
with tempfile.NamedTemporaryFile() as file:
    out = ctypes.c_void_p(libc.fopen(file.name.encode(), b"w"))
    libc.malloc_info(0, out)
    libc.fclose(out)
    print(file.read().count(b"<heap nr="))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc's malloc")
def test_threads_share_one_heap():
    def heaps(*words):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        return int(done.stdout)

    assert heaps("shared") == 1
    assert heaps() > 1  # or this could not fail
