"""Finding a usable GPU, and leaving it quietly."""

import importlib.util
import subprocess
import sys
from types import ModuleType, SimpleNamespace

import pytest

from kernels.core.device import NoDevice
from kernels.cuda import probing
from kernels.cuda.probing import probe


class CUDARuntimeError(Exception):
    """As CuPy's."""


@pytest.fixture
def cupy(monkeypatch):
    """A CuPy that can be told how many devices there are, or what goes wrong."""

    def pretend(count=0, error=None, driver=True):
        def get_device_count():
            if error:
                raise CUDARuntimeError(error)
            return count

        module = ModuleType("cupy")
        runtime = SimpleNamespace(
            CUDARuntimeError=CUDARuntimeError, getDeviceCount=get_device_count
        )
        module.cuda = SimpleNamespace(runtime=runtime)
        monkeypatch.setitem(sys.modules, "cupy", module)
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
        monkeypatch.setattr(probing, "driver_is_here", lambda: driver)

    return pretend


@pytest.mark.parametrize(
    ("driver", "reason", "remedy"),
    [
        (False, "No NVIDIA driver was found", "install its driver"),
        (True, "driver is here, but CuPy", "to add cuda13"),
    ],
)
def test_without_cupy(monkeypatch, driver, reason, remedy):
    monkeypatch.setattr(probing, "how_to_add_extra", lambda extra: f"to add {extra}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(probing, "driver_is_here", lambda: driver)
    found = probe()
    assert isinstance(found, NoDevice)
    assert reason in found.reason
    assert remedy in found.remedy


def test_on_a_mac(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "macOS has no CUDA" in probe().reason


@pytest.mark.parametrize(
    ("error", "driver", "reason"),
    [
        ("cudaErrorInsufficientDriver: driver version is insufficient", True, "too old"),
        ("cudaErrorInsufficientDriver: driver version is insufficient", False, "No NVIDIA driver"),
        ("cudaErrorNoDevice: no CUDA-capable device is detected", True, "offers no GPU"),
    ],
)
def test_with_cupy_but_without_a_usable_driver(cupy, error, driver, reason):
    cupy(error=error, driver=driver)
    found = probe()
    assert reason in found.reason
    assert found.remedy


@pytest.mark.parametrize(("count", "remedy"), [(1, "--device 0."), (4, "--device 0 to 3.")])
def test_a_gpu_number_that_does_not_exist(cupy, count, remedy):
    cupy(count=count)
    found = probe(7)
    assert f"no GPU number 7: this computer has {count}" in found.reason
    assert remedy in found.remedy


def test_a_cupy_that_does_not_import(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise RuntimeError('libcuda is broken\\nand more')")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    found = probe()
    assert "does not import (libcuda is broken)" in found.reason


PROGRAM = """
import sys
from kernels.cuda.probing import leave_quietly

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
