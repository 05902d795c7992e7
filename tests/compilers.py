"""Marks of tests that need a compiler."""

from __future__ import annotations

import pytest

from kernels.cuda import nvrtc
from kernels.cuda_on_cpu import compiler

needs_compiler = pytest.mark.skipif(bool(compiler.why_not()), reason=str(compiler.why_not()))
needs_nvrtc = pytest.mark.skipif(
    nvrtc.compiler_for(90) is None, reason="no NVRTC that compiles for sm_90 is installed"
)
