"""The end of a process whose GPU failed."""

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from kernels.cuda.quiet_exit import leave_quietly

class Module:
    def __del__(self):
        raise RuntimeError("it cannot be unloaded")

module = Module()
if {is_quiet}:
    leave_quietly()
print("one sentence", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("is_quiet", [True, False])
def test_what_fails_while_the_process_ends_is_not_seen(is_quiet):
    words = [sys.executable, "-c", PROGRAM.format(is_quiet=is_quiet)]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "one sentence"
    assert ("it cannot be unloaded" not in done.stderr) == is_quiet
