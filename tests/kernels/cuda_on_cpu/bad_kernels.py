"""Kernels that are wrong in every way that there is, as a user might save them.

Each says what a trial of it has to say, and what finding its bug has to: patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_LINE = 7  # of a body
START = """\
__constant__ float WEIGHTS[KSIZE * KSIZE];
{before}
extern "C" __global__ void convolve(
    const sample* src, sample* dst, int height, int width, int pitch, int first_row, int end_row)
{{  const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
{body}
}}
"""
COPY = "if (x < width && y < end_row) row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];"
SAMPLE = "read_sample(src, x, y, height, width, pitch)"
STORE = "if (x < width && y < end_row) row_of(dst, y, pitch)[x] = to_sample(sum);"
TILE = "__shared__ float tile[256]; const int at = threadIdx.y * blockDim.x + threadIdx.x;"
NO_PROBLEM = "^$"
THREAD = r"thread \(\d+, \d+\) of block \(\d+, \d+\)"


@dataclass(frozen=True, slots=True)
class Bad:
    """A kernel and what has to be said of it.

    body     of the kernel, which begins in FIRST_LINE
    trial    pattern of `KernelTrial.problem`
    kind     of the Finding
    finding  pattern of its sentence; None: that of the trial
    before   text before the kernel, on one line
    shared   bytes of dynamic shared memory
    is_right the answer is, in spite of it
    is_cuda  CUDA's compiler takes it
    """

    body: str
    trial: str
    kind: str
    finding: str | None = None
    before: str = ""
    shared: int = 0
    is_right: bool = False
    is_cuda: bool = True

    @property
    def text(self) -> str:
        """The file."""
        text = START.format(before=self.before, body=self.body)
        header = f'/*---\n[[passes]]\nshared_bytes = "{self.shared}"\n---*/\n'
        return header + text if self.shared else text


RUNNING = {
    "weight behind the last": Bad(
        f"float sum = 0;\nfor (int i = 0; i <= KSIZE * KSIZE; ++i) sum += WEIGHTS[i];\n"
        f"if (sum < 1e30f) {COPY}",
        rf"^Line 8: {THREAD} uses element \d+ of an array that has \d+, numbered from 0\.$",
        "bounds",
    ),
    "element behind the last by a pointer": Bad(
        f"float own[4] = {{1, 2, 3, 4}}; float* all = own;\n"
        f"volatile float got = all[4 + threadIdx.x % 2]; (void)got;\n{COPY}",
        rf"^Line 8: {THREAD} accesses what lies beyond the array that its pointer is of\.$",
        "",
        "",
    ),
    "shared element behind the last by a pointer": Bad(
        f"__shared__ float own[4]; float* all = own;\n"
        f"volatile float got = all[4 + threadIdx.x]; (void)got;\n{COPY}",
        rf"^Line 8: {THREAD} accesses what lies beyond the array that its pointer is of\.$",
        "bounds",
        rf"^Line 8: {THREAD} ",
    ),
    "element before the first": Bad(
        f"float own[4] = {{}};\nown[int(threadIdx.x) - 1 & -1] = 1;\n{COPY}",
        r"^Line 8: thread \(0, 0\) .* uses element −1 of an array that has 4, numbered from 0\.$",
        "bounds",
    ),
    "endless loop": Bad(
        f"{COPY}\nfor (int i = 0; i < 10;) dst[0] = src[0];",
        rf"^Line 8: {THREAD} was still running",
        "deadline",
        r"^Line 8: ",
    ),
    "endless loop of one thread": Bad(
        f"if (x == 9 && y == 5)\n    while (height > 0) row_of(dst, y, pitch)[x] = 1;\n{COPY}",
        r"^Line 8: thread \(9, 5\) of block \(0, 0\) was still running",
        "deadline",
        r"^Line 8: thread \(9, 5\)",
    ),
    "waiting for a thread that comes later": Bad(
        "__shared__ volatile int flag;\nif (threadIdx.x == 0) while (flag != 1) {}\nflag = 1;"
        + COPY,
        r"^Line 8: .* was still running",
        "deadline",
        r"^Line 8: ",
    ),
    "row above the picture": Bad(
        "if (x < width && y < end_row)\n row_of(dst, y, pitch)[x] = row_of(src, y - 1, pitch)[x];",
        r"^Line 8: .* reads row −1 of the picture\.$",
        "bounds",
        r"^Line 8: thread \(0, 0\) of block \(0, 0\) reads row −1 of the picture\.$",
    ),
    "row below the picture": Bad(
        "if (x < width && y < end_row) row_of(dst, y, pitch)[x] =\n row_of(src, y + 1, pitch)[x];",
        r"^Line 8: .* reads row 37 of the picture, which has 37\.$",
        "bounds",
        r"^Line [78]: .* reads row 37 of the picture, which has 37\.$",
    ),
    "column beyond the row": Bad(
        "if (x < width && y < end_row)\n row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x + 1];",
        NO_PROBLEM,
        "bounds",
        r"^Line 8: .* reads column 61 of row 0 of the picture, which has 61\.$",
    ),
    "row behind the answer": Bad(
        "if (x < width)\n row_of(dst, y, pitch)[x] = row_of(src, min(y, height - 1), pitch)[x];",
        r"^Line 8: .* writes row 37 of the answer, which has 37\.$",
        "bounds",
        is_right=True,
    ),
    "before the answer": Bad(
        f"{COPY}\nif (x == 0 && y == 3) dst[-64] = 77;",
        "^Something was written before the start of the answer",
        "bounds",
        r"^Line 8: .* writes (column \d+ of )?row −1 of the answer",
        is_right=True,
    ),
    "behind the end of a row": Bad(
        COPY.replace("x < width && ", "").replace("[x];", "[min(x, width - 1)];")
        + "\nif (x == 3 && y == 36) row_of(dst, y, pitch)[99] = 1;",
        "^Something was written behind the end of row 36 of the answer, where no sample is",
        "bounds",
        r"^Line 8: thread \(3, 4\) .* writes column 99 of row 36 of the answer, which has 61\.$",
        is_right=True,
    ),
    "behind the end of a row of the picture": Bad(
        f"{COPY}\nif (x == 60 && y == 36) row_of(const_cast<sample*>(src), y, pitch)[90] = 1;",
        "^Something was written behind the end of row 36 of the picture, where no sample is",
        "bounds",
        r"^Line 8: thread \(28, 4\) of block \(1, 4\) writes to the picture",
        is_right=True,
    ),
    "further down than the picture, read": Bad(
        "if (x < width && y < end_row)\n"
        " row_of(dst, y, pitch)[x] = row_of(src, y + 9000, pitch)[x];",
        ".*",
        "bounds",
        r"^Line 8: thread \(0, 0\) .* reads row 9000 of the picture, which has 37\.$",
    ),
    "far outside, read": Bad(
        "if (x < width && y < end_row)\n row_of(dst, y, pitch)[x] = src[x + (3ll << 40)];",
        rf"^Line 8: {THREAD} accesses memory far outside",
        "bounds",
        r"^Line 8: .* reads memory far outside of all arrays",
    ),
    "far outside, written": Bad(
        f"{COPY}\ndst[x - (3ll << 40)] = 1;",
        rf"^Line 8: {THREAD} accesses memory far outside",
        "bounds",
        r"^Line 8: .* writes memory far outside of all arrays",
    ),
    "null pointer": Bad(
        f"{COPY}\nsample* const nothing = height > 0 ? nullptr : dst;\nnothing[threadIdx.x] = 1;",
        r"^Line 9: .* follows a null pointer",
        "bounds",
        r"^Line 9: .* writes through a null pointer",
    ),
    "writes to its input": Bad(
        f"{COPY}\nif (x == 60 && y == 36) const_cast<sample*>(src)[0] ^= 1;",
        "^Something was written to the picture, which is only to be read",
        "bounds",
        r"^Line 8: thread \(28, 4\) of block \(1, 4\) writes to the picture",
        is_right=True,
    ),
    "missing barrier": Bad(
        f"{TILE}\ntile[at] = x < width && y < end_row ? float(row_of(src, y, pitch)[x]) : 0.0f;\n"
        "if (x < width && y < end_row && threadIdx.x < 31 && x < width - 1)\n"
        "    row_of(dst, y, pitch)[x] = to_sample(tile[at + 1] * 0.0f + tile[at]);\n"
        f"else {COPY}",
        "^The answer depends on which thread comes first",
        "race",
        r"^Line 8: .* of tile, which thread \(0, 0\) .* reads in line 10, with no barrier",
    ),
    "barrier in a branch": Bad(
        f"if (threadIdx.x < 5)\n    __syncthreads();\n{COPY}",
        NO_PROBLEM,
        "barrier",
        r"^Line 8: 40 of the 256 threads of block \(0, 0\) wait at this barrier and 216 ended .* "
        r"thread \(5, 0\) among them",
        is_right=True,
    ),
    "two barriers": Bad(
        f"if (threadIdx.y % 2)\n __syncthreads();\nelse\n __syncthreads();\n{COPY}",
        r"^Line 10: 128 of .* and others elsewhere, thread \(0, 1\) at line 8",
        "barrier",
        r"^Line 10: 128 ",
    ),
    "two barriers on one line": Bad(
        f"if (threadIdx.y % 2) {{ __syncthreads(); }} else {{ __syncthreads(); }}\n{COPY}",
        r"^Line 7: 128 of .* and others at another one on the same line, .* thread \(0, 1\)",
        "barrier",
    ),
    "one barrier from both branches": Bad(
        f"if (threadIdx.y % 2) meet(); else meet();\n{COPY}",
        r"^Line 2: 128 of .* and others .* by another call, thread \(0, 1\) among them",
        "barrier",
        before="__device__ void meet() { __syncthreads(); }",
    ),
    "a barrier for some, and a race": Bad(
        f"{TILE}\ntile[at] = {SAMPLE};\nif (threadIdx.y < 4)\n    __syncthreads();\n"
        f"const float sum = tile[at] + 0 * tile[at ^ 32];\n{STORE}",
        "^The answer depends on which thread comes first",
        "barrier",
        r"^Line 10: 128 of the 256 threads of block \(0, 0\) wait at this barrier and 128 ended",
    ),
    "a race before a later barrier": Bad(
        f"{TILE}\ntile[at] = {SAMPLE};\n"
        f"const float sum = tile[at] + 0 * tile[at ^ 32];\n{STORE}\n__syncthreads();",
        "^The answer depends on which thread comes first",
        "race",
        r"^Line 8: .* of tile, which thread \(0, 0\) .* reads in line 9, with no barrier",
    ),
    "half a warp shuffles": Bad(
        "int got = 0;\nif (threadIdx.x < 16) got = __shfl_sync(0xffffffffu, x, 0);\n"
        f"__syncthreads(); {COPY} dst[0] += got * 0;",
        r"^Line 9: 128 of the 256 .* others elsewhere, thread \(0, 0\) at line 8",
        "barrier",
        r"^Line 9: ",
    ),
    "all write one sample": Bad(
        f"{COPY}\ndst[0] = sample(x + y);",
        "^The answer depends on which thread comes first",
        "race",
        r"^Line 8: thread \(1, 0\) of block \(0, 0\) writes column 0 of row 0 of the answer, "
        r"which thread \(0, 0\) of block \(0, 0\) writes in line [78], with no barrier",
    ),
    # In both orders some samples have the value that they were poisoned with: 255 - its complement.
    "values by turns": Bad(
        "__shared__ unsigned char turn;\nconst unsigned char mine = ++turn;\n"
        "if (x < width && y < end_row) row_of(dst, y, pitch)[x] = mine;",
        "^The answer depends on which thread comes first",
        "",
        "",
    ),
    "two blocks write one sample": Bad(
        f"{COPY}\nif (threadIdx.x == 31 && x + 1 < width && y < end_row)\n"
        "    row_of(dst, y, pitch)[x + 1] = 9;",
        r"^The answer depends on which thread comes first, .*: \d+ samples .* first at x 32",
        "race",
        r"which thread \(31, 0\) of block \(0, 0\) writes in line 9",
    ),
    "recursion without end": Bad(
        f"{COPY}\ndst[0] = sample(down(x));",
        r"^Line 2: .* has used up its stack",
        "stack",
        before="__device__ int down(int n) "
        "{ volatile int kept[64]; kept[n % 7] = n; return down(n + 1) + kept[3]; }",
    ),
    "an array larger than the stack": Bad(
        f"volatile float own[20000000];\nown[x] = 1; {COPY}",
        r"^Line [5678]: .* has used up its stack",
        "stack",
        "has used up its stack",
    ),
    "misaligned vector": Bad(
        f"{COPY}\nif (x == 0 && y == 0) {{ uint4 four;\n"
        "four = *reinterpret_cast<const uint4*>(src + 1); dst[0] = sample(four.x * 0 + src[0]); }",
        r"^Line 9: .* a multiple of their size",
        "misaligned",
        r"^Line 9: thread \(0, 0\) .* 16 bytes at once of the picture, 1 bytes from its begin",
    ),
    "too much static shared memory": Bad(
        f"__shared__ float tile[20000];\ntile[x] = 1; {COPY}",
        r"^Arrays declared __shared__ take 78\.1 KiB",
        "refused",
    ),
    "too much dynamic shared memory": Bad(
        COPY, "needs 293.0 KiB of shared memory", "refused", shared=300_000
    ),
    "beyond shared memory": Bad(
        f"extern __shared__ float tile[];\ntile[threadIdx.x] = 1; __syncthreads(); {COPY}",
        ".*",
        "bounds",
        r"^Line 12: thread \(16, 0\) .* writes byte 64 of shared memory, which has 64\.$",
        shared=64,
        is_right=True,
    ),
    "shared memory never written": Bad(
        f"{TILE}\nif (x < width && y < end_row) row_of(dst, y, pitch)[x] = to_sample(tile[at]);",
        NO_PROBLEM,
        "uninitialised",
        r"^Line 8: thread \(0, 0\) .* reads number 0 of tile, which no thread has written",
    ),
    "begins at row 0 whatever first_row is": Bad(
        "const int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "if (x < width && row < end_row) row_of(dst, row, pitch)[x] = row_of(src, row, pitch)[x];",
        r"^The kernel writes row 0\. Only rows 13 to 27 were asked for",
        "rows",
        r"^Line 8: thread \(0, 0\) of block \(0, 0\) writes row 0\. Only rows 13 to 27 were",
        is_right=True,
    ),
    "goes on behind end_row": Bad(
        COPY.replace("end_row", "height"),
        r"^The kernel writes row 28\. Only rows 13 to 27 were asked for",
        "rows",
        r"^Line 7: thread \(0, 7\) of block \(0, 1\) writes row 28\. Only rows",
        is_right=True,
    ),
    "wrong for some rows alone": Bad(
        COPY.replace("(src, y", "(src, y - (first_row > 0)"),
        r"^Row 13 comes out wrong, .*\. Only rows 13 to 27 were asked for",
        "rows",
        is_right=True,
    ),
    "ends where it is launched for some rows alone": Bad(
        f"{COPY}\nif (first_row) dst[x - (3ll << 40)] = 1;",
        rf"^Line 8: {THREAD} accesses memory far outside .* Only rows 13 to 27 were asked for",
        "bounds",
        r"^Line 8: .* writes memory far outside of all arrays\. Only rows 13 to 27 were asked for",
        is_right=True,
    ),
    "a sum without a value": Bad(
        "float sum;\nfor (int i = 0; i < KSIZE * KSIZE; ++i) sum += WEIGHTS[i] * "
        f"{SAMPLE};\n{STORE}",
        r"^sum \(line 8\) is used before it was given a value",
        "uninitialised",
    ),
    "a sum with a value on one way": Bad(
        f"float sum;\nif (x > 3) sum = 0;\nsum += {SAMPLE};\n{STORE}",
        r"^sum \(line 9\) is used before it was given a value",
        "uninitialised",
    ),
    "an array with some values": Bad(
        "float own[3], other;\nown[0] = other = 0;\n"
        f"const float sum = own[x % 2] + {SAMPLE};\n{STORE}",
        "^A variable is used before it was given a value",
        "uninitialised",
    ),
    "a member without a value": Bad(
        "struct Pair { float a, b; } pair;\npair.b = 0;\n"
        f"const float sum = pair.a + {SAMPLE};\n{STORE}",
        r"^pair\.a \(line 9\) is used before it was given a value",
        "uninitialised",
    ),
    "an index without a value": Bad(
        f"int at;\nconst float sum = WEIGHTS[at] * 0 + {SAMPLE};\n{STORE}",
        r"^Line 8: .* numbered from 0\. at is used before it was given a value\.$",
        "bounds",
    ),
    "half of the samples": Bad(
        f"if (x % 2) {COPY}",
        r"^1,147 samples were never written, the first at x 0, y 0",
        "unwritten",
        r"^1,147 samples were never written",
    ),
    "wrong sum": Bad(
        "if (x < width && y < end_row)\nrow_of(dst, y, pitch)[x] = 255 - row_of(src, y, pitch)[x];",
        NO_PROBLEM,
        "wrong",
        r"^Line 8: thread \(0, 0\) .* writes \d+ to x 0, y 0, where the ref.* has \d",
    ),
    "division by zero": Bad(
        f"{COPY}\ndst[x / (width - 61)] = 0;",
        rf"^Line 8: {THREAD} divides an integer by zero",
        "division",
        r"^Line 8: ",
    ),
    "storm of printf": Bad(
        f'{COPY}\nfor (int i = 0; i < 50; ++i) printf("%d %d %d\\n", x, y, i);',
        NO_PROBLEM,
        "",
        "",
        is_right=True,
    ),
    "assertion": Bad(
        f"{COPY}\nassert(x < 40);",
        r"^Line 8: thread \(8, 0\) of block \(1, 0\) finds an assertion that does not hold: x < 40",
        "refused",
        r"^Line 8: thread \(8, 0\)",
    ),
    "trap": Bad(f"{COPY}\nif (x == 3) __trap();", r"^Line 8: .* trap", "refused", r"^Line 8: "),
    "memory without end": Bad(
        f"{COPY}\nchar* const much = new char[1ull << 36];\nmuch[x] = 1;",
        rf"^Line 8: {THREAD} lacks memory that was refused",
        "crash",
    ),
    "memory that was refused": Bad(
        f"{COPY}\nchar* const much = (char*)malloc(size_t(96) << 30);\nmuch[x] = 1;",
        rf"^Line 9: {THREAD} lacks memory that was refused",
        "bounds",
    ),
    "function that is nowhere": Bad(
        f"{COPY}\ndst[0] = sample(helper(x));",
        "declared and called, but defined nowhere: helper",
        "refused",
        before="__device__ int helper(int n);",
        is_cuda=False,
    ),
    "asks for other files": Bad(
        f'{COPY}\nif (x == 0) unlink("/nowhere/at/all");',
        "^Line 8: .* asks the operating system for something",
        "crash",
        before='extern "C" int unlink(const char*);',
        is_cuda=False,
    ),
    "asks for other files as it is loaded": Bad(
        COPY,
        "runs as it is loaded|asked the operating system",
        "crash",
        "it asked the operating system for something, which no kernel may",
        before='extern "C" int creat(const char*, int); static int file = creat("made", 0600);',
        is_cuda=False,
    ),
    "speaks for its runner": Bad(
        'for (int f = 0; f < 16; ++f) write(f, "{\\"ended\\":0,\\"done\\":1}\\n", 23);\n'
        f"while (height > 0) {{}}\n{COPY}",
        r"^Line 8: .* was still running",
        "deadline",
        r"^Line 8: ",
        before='extern "C" long write(int, const void*, unsigned long);',
        is_cuda=False,
    ),
    "runs on as it is loaded": Bad(
        COPY,
        "runs as it is loaded|was still running",
        "crash|deadline",  # by its CPU time, or on a busy machine by the clock
        "was still running at the deadline",
        before="static volatile int one = 1; static int n = [] { while (one) {} return 1; }();",
        is_cuda=False,
    ),
    "ends its process": Bad(
        f"{COPY}\nif (x == 0) _Exit(0);", "its process ended without a word", "crash", is_cuda=False
    ),
}

# What does not compile: the text of a body, and the line that has to be named.
REFUSED = {
    "missing semicolon": (f"int n = 3\n{COPY}", "7"),
    "missing semicolon and a comment": (f"int n = 3  // of them\n\n// copy\n{COPY}", "7"),
    "a word of C++'s library": (f"{COPY}\nint n = std::min(x, y);", "8"),
    "a type of a header": (f"{COPY}\nconst uint8_t* n = dst;", "8"),
    "a function of the host": (f"{COPY}\ncudaMalloc(&dst, 8);", "8"),
    "an assignment to the picture": (f"{COPY}\nsrc[0] = 1;", "8"),
    "unknown name": (f"{COPY}\ndst[0] = heigth;", "8"),
    "missing parenthesis": (f"if (x < width {{ {COPY} }}", "7"),
    "missing brace": (f"if (x < width) {{\n{COPY}", "9|10"),
    "one brace too many": (f"{COPY} }}", "8|9"),
    "unfinished text": (f'{COPY}\nprintf("now);', "8"),
    "unfinished comment": (f"{COPY}\n/* and so on", "8"),
    "too few arguments": (f"{COPY}\ndst[0] = read_sample(src, x, y);", "8"),
    "assembler of a GPU": (f'{COPY}\nasm("ld.global.f32 %%f1, [%%rd1];");', "8"),
    "a directive that stops": (f"{COPY}\n#error no", "8"),
    "an endless constant": (
        f"{COPY}\nconstexpr int n = [] {{ int i = 1; while (i) i |= 1; return i; }}();",
        "8",
    ),
    "in a template of the prelude": (f"{COPY}\ndst[0] = rounded_to<float*>(1.0f);", "8"),
}
