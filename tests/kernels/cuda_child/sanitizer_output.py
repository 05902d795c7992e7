"""What compute-sanitizer prints, in the form of its documentation, of a kernel in mine.cu."""

from __future__ import annotations

SOURCE, TARGET = 0x7F6510C00000, 0x7F6510E00000  # where the picture and the answer lie
BANNER = "========= COMPUTE-SANITIZER\n"
NO_ERRORS = "========= ERROR SUMMARY: 0 errors\n"
ONE_ERROR = "========= ERROR SUMMARY: 1 error\n"
NO_HAZARDS = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n"
HOST = """\
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: cuLaunchKernel [0x2c1f5d] in libcuda.so.1
=========         Host Frame: __pyx_f_4cupy in driver.cpython-311-x86_64-linux-gnu.so:12
"""
LOST = """\
========= Program hit cudaErrorLaunchFailure (error 719) due to "unspecified launch failure" on \
CUDA API call to cudaDeviceSynchronize.
=========     Saved host backtrace up to driver entry point at error
=========
"""


def access(doing: str, line: int, address: int, what: str, frames: str = "") -> str:
    """A report of memcheck."""
    return (
        f"========= Invalid __global__ {doing} bytes\n"
        f"=========     at convolve+0x160 in mine.cu:{line}\n"
        "=========     by thread (3,7,0) in block (0,1,0)\n"
        f"=========     Address {address:#x} is {what}\n"
        f"{frames}{HOST}=========\n"
    )


ABOVE = BANNER + access("read of size 1", 8, SOURCE - 128 + 5, "out of bounds") + LOST + ONE_ERROR
MISALIGNED = BANNER + access("write of size 4", 8, TARGET + 513, "misaligned") + LOST + ONE_ERROR
FAR = BANNER + access("read of size 2", 8, SOURCE + (3 << 40), "out of bounds") + LOST + ONE_ERROR
NULL = BANNER + access("read of size 2", 8, 0x10, "out of bounds") + LOST + ONE_ERROR
IN_A_FUNCTION = (
    BANNER
    + f"""\
========= Invalid __global__ write of size 1 bytes
=========     at put(unsigned char *, int)+0xb0 in prelude.cuh:39
=========     by thread (0,0,0) in block (0,0,0)
=========     Address {TARGET - 64:#x} is out of bounds
=========     and is 64 bytes before the nearest allocation at {TARGET:#x} of size 1,024 bytes
=========         Device Frame: convolve+0x30 in /home/me/kernels/mine.cu:12
{HOST}=========
"""
    + ONE_ERROR
)
OLD_FORM = (
    BANNER
    + """\
========= Invalid __shared__ write of size 4 bytes
=========     at 0x160 in /home/me/kernels/mine.cu:9:convolve
=========     by thread (31,0,0) in block (2,0,0)
=========     Address 0x400 is out of bounds
=========
"""
    + ONE_ERROR
)
OF_ITS_OWN = (
    BANNER
    + """\
========= Invalid __local__ read of size 4 bytes
=========     at convolve+0x90 in mine.cu:7
=========     by thread (1,2,0) in block (3,4,0)
=========     Address 0xfffd00 is out of bounds
=========
"""
    + ONE_ERROR
)
RACE = (
    BANNER
    + """\
========= Error: Potential RAW hazard detected at __shared__ 0x8c in block (1,0,0) :
=========     Write Thread (35,0,0) at convolve+0x90 in mine.cu:8
=========     Read Thread (3,1,0) at convolve+0x120 in mine.cu:9
=========     Current Value : 35
=========
========= Error: Potential RAW hazard detected at __shared__ 0x8d in block (1,0,0) :
=========     Write Thread (35,0,0) at convolve+0x90 in mine.cu:8
=========     Read Thread (3,1,0) at convolve+0x120 in mine.cu:9
=========     Current Value : 0
=========
========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)
"""
)
IN_A_WARP = RACE.replace("Error: Pot", "Warning: (Warp Level Programming) Pot")
BARRIER = (
    BANNER
    + """\
========= Barrier error detected. Divergent thread(s) in warp
=========     at convolve+0xf0 in mine.cu:8
=========     by thread (37,0,0) in block (0,0,0)
=========
"""
    + ONE_ERROR
)
IN_BLOCK = (
    BANNER
    + """\
 ========= Barrier error detected. Divergent thread(s) in block.
 =========     at [clone convolve] outlineSync()+0x11f0 in test.cu:42
 =========     by thread (32,0,0) in block (0,0,0)
 =========         Device Frame: convolve+0xe40 in mine.cu:10
 =========
"""
    + ONE_ERROR
)
BAD_MASK = (
    BANNER
    + """\
========= Barrier error detected. Invalid arguments
=========     at __cuda_sm70_warpsync+0x30
=========     by thread (0,0,0) in block (0,0,0)
=========     Device Frame:__syncwarp(unsigned int)+0xf0 in /cuda/include/sm_30_intrinsics.hpp:110
=========     Device Frame:convolve+0x3c0 in /home/me/mine.cu:48
"""
    + ONE_ERROR
)
UNINITIALISED = (
    BANNER
    + f"""\
========= Uninitialized __global__ memory read of size 1 bytes
=========     at convolve+0x70 in mine.cu:8
=========     by thread (31,0,0) in block (1,0,0)
=========     Address {TARGET + 3:#x}
=========
"""
    + ONE_ERROR
)
UNINITIALISED_TILE = (
    BANNER
    + """\
========= Uninitialized __shared__ memory read of size 4 bytes
=========     at convolve+0x1a0 in mine.cu:7
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x8
=========
"""
    + ONE_ERROR
)
SOMETHING = (
    BANNER
    + """\
========= Stack overflow
=========     at convolve+0x20 in mine.cu:6
=========     by thread (4,0,0) in block (0,0,0)
=========
"""
    + ONE_ERROR
)
NOT_FOR_THIS_GPU = (
    BANNER
    + "========= Error: Device not supported. Please refer to the Supported Devices section.\n"
)
FINE = BANNER + NO_ERRORS
NO_RACE = BANNER + NO_HAZARDS
