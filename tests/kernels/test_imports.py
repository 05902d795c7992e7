"""`kernels` is importable without Qt, CuPy, GPU or display, and at once."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT

HEAVY = ["PySide6", "cupy", "numba", "cv2", "pyqtgraph", "scipy", "PIL", "imageio", "tifffile"]


@pytest.mark.parametrize("module", HEAVY)
def test_importing_kernels_does_not_import(module):
    program = (
        "import sys; from kernels import Engine, Job, filters; "
        "from kernels.rungs.rung import ladder; ladder(); filters.all_filters();"
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_the_implementations_are_listed_without_importing_what_they_need():
    program = (
        "import sys; from kernels.engine.engine import all_implementations; all_implementations();"
        "sys.exit(bool({'cupy', 'numba', 'cv2', 'PySide6'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_trying_on_the_cpu_is_imported_where_it_cannot_run_and_without_what_it_may_need():
    program = (
        "import signal, sys; sys.modules['resource'] = None\n"
        "for name in ('SIGBUS', 'SIGTRAP', 'SIGSYS', 'SIGPROF', 'SIGKILL'): delattr(signal, name)\n"
        "import kernels.cuda_on_cpu.trial, kernels.cuda_on_cpu.trial\n"
        f"sys.exit(bool(set({HEAVY!r}) & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_no_text_of_the_library_names_qt():
    """One direction: the window knows the library, never the other way round."""
    naming = [
        path.name
        for path in (ROOT / "kernels").rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("PySide6", "workbench."))
    ]
    assert naming == []
