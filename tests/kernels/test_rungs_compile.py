"""Every rung compiles for every card that CUDA 13 knows, and keeps its values in registers."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels.job import Job
from kernels.rung import ladder
from tests import nvrtc

ARCHITECTURES = (75, 80, 86, 89, 90, 120)
REGISTERS_A_BLOCK = 65_536  # on all of them
# ksize, channels, pixel type, border, block: small and unrolled, large, and the largest there is.
KNOBS = (
    (3, 1, "float32", "clamp", (32, 32)),
    (5, 3, "uint8", "mirror", (32, 8)),
    (15, 4, "uint16", "reflect", (7, 5)),
    (31, 2, "uint8", "zero", (32, 32)),
    (127, 1, "float32", "wrap", (16, 16)),
)


@pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc is not installed")
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
@pytest.mark.parametrize(("ksize", "channels", "pixel_type", "border", "block"), KNOBS)
def test_a_rung_compiles_without_spills(
    rung, architecture, ksize, channels, pixel_type, border, block
):
    picture = np.zeros((1, 1, channels), pixel_type)
    job = Job(picture, np.zeros((ksize, ksize), np.float32), border, rung.key, block)
    log = compile_rung(rung, job, architecture)
    assert re.findall(r"(\d+) bytes spill", log) == ["0", "0"] * len(rung.passes)
    registers = max(map(int, re.findall(r"Used (\d+) registers", log)))
    assert registers * block[0] * block[1] <= REGISTERS_A_BLOCK


@pytest.mark.skipif(nvrtc.library() is None, reason="nvidia-cuda-nvrtc is not installed")
def test_what_does_not_compile_says_where():
    with pytest.raises(nvrtc.CompileError, match=r"rung\.cu\(1\)"):
        nvrtc.compile_text("nonsense", ["--gpu-architecture=sm_90"])


def compile_rung(rung, job: Job, architecture: int) -> str:
    """The compiler's log, with what ptxas tells of registers and spills."""
    knobs = (f"-D{name}={value}" for name, value in rung.defines(job).items())
    options = [f"--gpu-architecture=sm_{architecture}", "-std=c++17", "-ftz=true"]
    options += ["--ptxas-options=-v", *knobs]
    return nvrtc.compile_text(rung.text, options)
