"""Calls of NVRTC, and a program that makes them in a process of its own.

It imports nothing but Python's own, so that such a process is ready in 50 ms.
"""

from __future__ import annotations

import binascii
import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FILE_NAME = "rung.cu"  # in the compiler's messages
MAX_BYTES = 8 << 30  # of memory, for a process of its own
PR_SET_PDEATHSIG = 1


def opened(place: str) -> ctypes.CDLL:
    """Load the library at a path, or of a name.  Raises OSError."""
    if os.path.sep in place:
        # It opens this one by its bare name, which works once it is in the process.
        for builtins in Path(place).parent.glob("*nvrtc-builtins*"):
            if ".alt" not in builtins.name:
                ctypes.CDLL(str(builtins))
    return ctypes.CDLL(place)


def compiled(
    nvrtc: ctypes.CDLL, text: str, options: Sequence[str], wanted: Sequence[str]
) -> tuple[bool, str, dict[str, bytes]]:
    """Compile; return whether that worked, the log, and what is `wanted` of "PTX" and "CUBIN"."""
    program = ctypes.c_void_p()
    nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), text.encode(), FILE_NAME.encode(), 0, None, None
    )
    try:
        flags = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = nvrtc.nvrtcCompileProgram(program, len(options), flags)
        log = _bytes(nvrtc, "ProgramLog", program).partition(b"\0")[0].decode(errors="replace")
        made = {what: _bytes(nvrtc, what, program) for what in wanted} if status == 0 else {}
        return status == 0, log, made
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))


def _bytes(nvrtc: ctypes.CDLL, what: str, program: ctypes.c_void_p) -> bytes:
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    buffer = ctypes.create_string_buffer(max(size.value, 1))
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw[: size.value]


def main() -> None:
    """Compile the request on standard input, up to what has errors; write a reply for each.

    Of each the first options that work are taken.
    """
    place, text, wanted, outputs, seconds = json.load(sys.stdin)
    _limit(seconds)
    library = opened(place)
    replies: list[dict[str, Any]] = []
    for choices in wanted:
        for options in choices:
            is_taken, log, made = compiled(library, text, options, outputs)
            if is_taken:
                break
        coded = {what: binascii.b2a_base64(each).decode() for what, each in made.items()}
        replies.append({"is_taken": is_taken, "log": log, **coded})
        if not is_taken:
            break
    json.dump(replies, sys.stdout)


def _limit(seconds: int) -> None:
    """Limit time and memory, and end with the parent process."""
    if sys.platform != "linux":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main()
