"""Which computer this is: as far as it can be found out, and never a failure."""

import builtins
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

from kernels.engine.engine import Engine
from kernels.sweeps import machine
from kernels.sweeps.machine import this_machine
from tests.made_up import H200


class OnGpu(Engine):
    device = H200

    def ceilings(self):
        return {"copy_gb_s": 4200.0}


def test_without_a_gpu_the_reason_stands_there():
    found = this_machine(Engine(use_gpu=False))
    assert (found.gpu, found.limits, found.ceilings) == ("", {}, {})
    assert "--no-gpu" in found.no_gpu
    assert re.search(r", (\d+ of )?\d+ cores", found.cpu)
    assert found.name == found.cpu
    assert platform.machine() in found.system
    assert platform.node() not in repr(found)
    assert found.software["Python"] == platform.python_version()
    assert {"NumPy", "OpenCV", "numba", "Filter Workbench"} <= set(found.software)
    assert "CUDA" not in found.software


def test_a_gpu_comes_with_its_limits_and_ceilings():
    found = this_machine(OnGpu())
    assert (found.gpu, found.no_gpu, found.name) == ("NVIDIA H200", "", "NVIDIA H200")
    assert found.ceilings == {"copy_gb_s": 4200.0}
    assert found.software["CUDA"] == "13.0, the driver's 13.0"


def test_what_cannot_be_found_out_is_left_empty(monkeypatch):
    def nothing(*_, **__):
        raise OSError

    def no_package(name):
        raise PackageNotFoundError(name)

    importing = builtins.__import__

    def without_nvml(name, *rest):
        if name == "pynvml":
            raise ImportError(name)
        return importing(name, *rest)

    monkeypatch.setattr(Path, "read_text", nothing)
    monkeypatch.setattr(platform, "freedesktop_os_release", nothing)
    monkeypatch.setattr(os, "sysconf", nothing, raising=False)
    monkeypatch.setattr(subprocess, "run", nothing)
    monkeypatch.setattr(importlib.metadata, "version", no_package)
    monkeypatch.setattr(machine, "cupy_version", lambda: None)
    monkeypatch.setattr(builtins, "__import__", without_nvml)
    found = this_machine(OnGpu())
    assert found.cpu
    assert found.gpu == "NVIDIA H200"
    assert set(found.software) == {"Python", "Filter Workbench", "CUDA"}
    if sys.platform != "win32":
        assert found.memory == ""
