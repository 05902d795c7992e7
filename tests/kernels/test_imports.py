"""`kernels` is importable without Qt, CuPy, GPU or display, and at once."""

import re
import subprocess
import sys

import pytest

from tests.conftest import ROOT

HEAVY = ["PySide6", "cupy", "numba", "cv2", "pyqtgraph", "scipy", "PIL", "imageio", "tifffile"]


EVERYTHING = "from kernels import Engine, Job, filters; from kernels.rungs.rung import ladder"
# Trying on the CPU is imported where it cannot run as well.
TRYING = """
import signal; sys.modules['resource'] = None
for name in ('SIGBUS', 'SIGTRAP', 'SIGSYS', 'SIGPROF', 'SIGKILL'): delattr(signal, name)
import kernels.cuda_on_cpu.trial"""
LISTED = "from kernels.engine.engine import all_implementations; all_implementations()"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (f"{EVERYTHING}; ladder(); filters.all_filters()", HEAVY),
        (TRYING, HEAVY),
        (LISTED, ["cupy", "numba", "cv2", "PySide6"]),
    ],
    ids=["everything", "trying", "listed"],
)
def test_importing_imports_nothing_heavy(words, names):
    program = f"import sys; {words}\nsys.exit(', '.join({set(names)} & set(sys.modules)) or None)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_no_text_of_the_library_names_qt():
    """One direction: the window knows the library, never the other way round."""
    naming = [
        path.name
        for path in (ROOT / "kernels").rglob("*.py")
        if re.search(
            r"PySide6|workbench\.|import workbench|from workbench", path.read_text("utf-8")
        )
    ]
    assert naming == []
