"""CUDA C++ that is wrong, or cheats, in ways that take a GPU to show."""

from __future__ import annotations

from tests.kernels.cuda_on_cpu.bad_kernels import COPY, REFUSED, RUNNING, START

HEIGHT = 100  # of the job: only the whole picture has as many rows
RIGHT = "row_of(src, y, pitch)[x]"
KEPT = "__device__ sample kept[1 << 20]; __device__ unsigned calls;"
# How many launches on the whole picture went before: the same for all threads of one.
NUMBER = """\
unsigned number = 0;
if (height == 100) number = atomicAdd(&calls, 1u) / (gridDim.x * gridDim.y * BLOCK_X * BLOCK_Y);
if (x >= width || y >= end_row) return;
"""


def kernel(body: str, before: str = "") -> str:
    """A whole text."""
    return START.format(before=before, body=body)


GOOD = kernel(COPY)
TOO_LARGE = f'/*---\n[buffers]\nlarge = "WIDTH * 100000000000"\n---*/\n{GOOD}'

# What it does, and words of the sentence about it; the bug is in line 8 where there is a line.
ENDED = {
    "endless loop": (
        kernel(f"{COPY}\nwhile (height > 0) atomicAdd((unsigned*)dst, 0u);"),
        "The kernel was still running after",
    ),
    "endless loop of one thread": (
        kernel(f"{COPY}\nif (x == 9 && y == 5) while (height > 0) atomicAdd((unsigned*)dst, 0u);"),
        "The kernel was still running after",
    ),
    "endless loop on the whole alone": (
        kernel(f"{COPY}\nwhile (height == {HEIGHT}) atomicAdd((unsigned*)dst, 0u);"),
        "The kernel was still running after",
    ),
    "waiting for a block that never comes": (
        kernel(
            f"{COPY}\nif (threadIdx.x + threadIdx.y == 0) while (atomicAdd(&flag, 0) == 0) {{}}",
            "__device__ int flag;",
        ),
        "The kernel was still running after",
    ),
    "far outside, written": (RUNNING["far outside, written"].text, "outside of all arrays"),
    "far outside, read": (RUNNING["far outside, read"].text, "outside of all arrays"),
    "null pointer": (  # that no compiler knows to be one, and so may not leave out
        kernel(f"{COPY}\n((volatile sample*)size_t(height < 0))[threadIdx.x] = 1;"),
        "outside of all arrays",
    ),
    "memory that was refused": (RUNNING["memory that was refused"].text, "outside of all arrays"),
    "misaligned": (
        kernel(f"{COPY}\nif (x < 4) *(volatile int*)(dst + 1) = *(volatile const int*)(src + 1);"),
        "not a multiple of their size",
    ),
    "trap": (RUNNING["trap"].text, "trap"),
    "assertion": (RUNNING["assertion"].text, "finds an assertion that does not hold: x < 40"),
    "behind the output": (
        kernel(f"{COPY}\nif (y == end_row - 1) row_of(dst, y + 1, pitch)[x] = 77;"),
        "Something was written behind the end of the output",
    ),
    "before the output": (
        RUNNING["before the output"].text,
        "Something was written before the start of the output",
    ),
    "writes to its input": (
        kernel(f"{COPY}\nif (x == 3 && y == 3) const_cast<sample*>(src)[0] ^= 1;"),
        "Something was written to the picture",
    ),
    "too much static shared memory": (
        kernel(f"__shared__ volatile float tile[20000];\ntile[x] = 1; {COPY}"),
        "shared",
    ),
    "too much dynamic shared memory": (
        RUNNING["too much dynamic shared memory"].text,
        "shared memory",
    ),
    "work launched by the kernel": (
        kernel(f"{COPY}\nif (x == 0 && y == 0) other<<<1, 1>>>();", "__global__ void other() {}"),
        "",
    ),
    "printf to no end": (
        kernel(f'{COPY}\nwhile (height > 0) printf("%d\\n", x);'),
        "The kernel was still running after",
    ),
}
# What can be right, wrong, or an end: all of them are told apart from a good one.
ANYTHING = (
    *("waiting for a thread that comes later", "barrier in a branch", "two barriers"),
    *("half a warp shuffles", "recursion without end", "division by zero"),
    *("an array larger than the stack", "function that is nowhere", "asks for other files"),
    *("asks for other files as it is loaded", "runs on as it is loaded", "ends its process"),
    *("memory without end", "beyond shared memory", "shared memory never written"),
    *("missing barrier", "all write one sample", "two blocks write one sample"),
    *("row above the picture", "column beyond the row", "values by turns"),
)
NOT_COMPILED = {name: kernel(body) for name, (body, _) in REFUSED.items()}
NOT_COMPILED.pop("assembler of a GPU")  # of which a GPU has one
CHEATS = {
    "keeps the output": kernel(
        f"{NUMBER}sample& mine = kept[y * width + x];\n"
        f"if (number == 0) mine = {RIGHT};\nrow_of(dst, y, pitch)[x] = mine;",
        KEPT,
    ),
    "is right in the warm-ups": kernel(
        f"{NUMBER}if (number < 2) row_of(dst, y, pitch)[x] = {RIGHT};", KEPT
    ),
    "is right but once": kernel(
        f"{NUMBER}row_of(dst, y, pitch)[x] = number == 4 ? sample(0) : {RIGHT};", KEPT
    ),
    "does a part": kernel(
        f"{NUMBER}if (number < 2 || y < 50) row_of(dst, y, pitch)[x] = {RIGHT};", KEPT
    ),
    "takes what lies before its answer": kernel(
        f"{NUMBER}row_of(dst, y, pitch)[x] = number < 2 ? {RIGHT} : "
        "*(row_of(dst, y, pitch) + x - 30000);",
        KEPT,
    ),
    "leaves the work to the next launch": kernel(
        f"{NUMBER}const int at = y * width + x;\nconst sample now = {RIGHT};\n"
        "row_of(dst, y, pitch)[x] = number < 2 ? now : kept[at];\nkept[at] = now;",
        KEPT,
    ),
}
