"""NVIDIA's runtime compiler through ctypes: compiles CUDA C++ where there is no GPU."""

from __future__ import annotations

import ctypes
import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path


class CompileError(Exception):
    """The text does not compile; the message is the compiler's log."""


@cache
def library() -> ctypes.CDLL | None:
    """NVRTC of CUDA 13 out of its package; None where that is not installed."""
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for path in Path(folder).glob("cu13/lib/libnvrtc.so.13"):
            # It opens this one by its bare name, which works once it is in the process.
            ctypes.CDLL(str(path.with_name("libnvrtc-builtins.so.13.0")))
            return ctypes.CDLL(str(path))
    return None


def compile_text(text: str, options: Sequence[str]) -> str:
    """Compile `text` to machine code; returns the log.  CompileError holds it on failure."""
    nvrtc = library()
    assert nvrtc is not None
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"rung.cu", 0, None, None)
    try:
        encoded = [option.encode() for option in options]
        flags = (ctypes.c_char_p * len(encoded))(*encoded)
        status = nvrtc.nvrtcCompileProgram(program, len(encoded), flags)
        log = _log(nvrtc, program)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    if status != 0:
        raise CompileError(log)
    return log


def _log(nvrtc: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, buffer)
    return buffer.value.decode()
