"""What CUDA's compiler refuses is broken, whether that compiler is here or the text alone is."""

import numpy as np
import pytest

from kernels.core.device_turns import outcome_of
from kernels.core.job import Job
from kernels.cuda import nvrtc
from kernels.cuda.nvrtc import compilers
from kernels.cuda_on_cpu import compile_errors, compiler
from kernels.cuda_on_cpu.findings import KernelTrial
from kernels.cuda_on_cpu.trial import trial
from kernels.rungs.cuda_text import refused
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import ladder

on_cpu = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
with_nvrtc = pytest.mark.skipif(not compilers(), reason="NVRTC is not installed")
IDENTITY = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]], np.float32)
JOB = Job.of(np.full((8, 8, 1), 7, np.uint8), IDENTITY, block_xy=(8, 8))
KERNEL = """\
__constant__ float WEIGHTS[KSIZE * KSIZE];
extern "C" __global__ void convolve(const sample* src, sample* dst, int height, int width,
                                    int pitch, int first_row, int end_row) {{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = first_row + blockIdx.y * blockDim.y + threadIdx.y;
    {body}
    if (x < width && y < end_row) row_of(dst, y, pitch)[x] = row_of(src, y, pitch)[x];
}}
{behind}
"""
BODY = 6  # the line of the body
# What no CUDA compiler takes, and g++ does: (in the kernel, behind it).
REFUSED = {
    "helper": ("", "static float weigh(float a) { return a; }"),
    "template": ("", "template <class T> T weigh(T a) { return a; }"),
    "constexpr function": ("", "constexpr int twice(int a) { return 2 * a; }"),
    "constructor": ("", "struct Sum { float value; Sum() : value(1) {} };"),
    "declaration": ("", 'extern "C" int open(const char*, int, ...);'),
    "variable": ("", "static float total[1];"),
    "lambda": ("", "auto twice = [](int a) { return 2 * a; };"),
    "array of run time": ("float own[width]; own[x % width] = 0;", ""),
    "try": ("try { row_of(dst, y, pitch)[x] = 0; } catch (...) {}", ""),
    "thread_local": ("thread_local int own = 0; (void)own;", ""),
    "alloca": ("int* own = (int*)__builtin_alloca(8); own[0] = 0;", ""),
    "hidden in a macro": ("#define TRY try\nTRY { } catch (...) {}", ""),
    "pasted": ("#define CAT(a, b) a##b\nCAT(thr, ow) 1;", ""),
    "asm of the host": ("", 'extern "C" { asm volatile(".include \\"/dev/ptmx\\""); }'),
}
# What a CUDA compiler takes.
TAKEN = (
    "const int N = 3; constexpr float W[2] = {1, 2};",
    "#define DEVICE __device__ __forceinline__\nDEVICE int f() { return 1; }",
    "#define MAKE(name) __device__ int name() { return 1; }\nMAKE(one)\nMAKE(two)",
    "template <class T>\n__device__ T f(T x) { return x; }\ntemplate <> __device__ int f(int x);",
    "struct S { int x; S() = default; __device__ S operator+(S o) const { return o; } };",
    "__device__ auto f() -> int { auto g = [](int x) { return x; }; return g(1); }",
    "float __device__ h() { return 1; }\n__host__ __device__ int k() { return 1; }",
    "using a = int; enum E { A, B }; struct T; struct P { int (*f)(int); }; union U { int i; };",
    "__device__ int total; static __device__ const float T3[3] = {1, 2, 3};",
    "struct __align__(8) A { int at[2]; }; struct __attribute__((aligned(8))) B { int at; };",
)


def text_of(body: str = "", behind: str = "") -> str:
    return KERNEL.format(body=body, behind=behind)


def tried(text: str, job: Job = JOB, **options) -> KernelTrial:
    outcome = None
    for outcome in trial(own_kernel("mine.cu", text, **options), job):
        if isinstance(outcome, KernelTrial):
            break
    assert isinstance(outcome, KernelTrial)
    return outcome


@pytest.fixture
def without_nvrtc(monkeypatch):
    monkeypatch.setattr(compile_errors, "compiler_for", lambda _: None)


@with_nvrtc
@pytest.mark.parametrize("name", REFUSED)
def test_what_cudas_compiler_refuses_is_found_by_it(name, build_cache):
    rung = own_kernel("mine.cu", text_of(*REFUSED[name]))
    errors = outcome_of(compile_errors.cuda_errors(rung, [JOB], build_cache))
    line = BODY if REFUSED[name][0] else 9
    assert errors.startswith("mine.cu:")
    assert line <= int(errors.split(":")[1]) <= line + 1
    assert outcome_of(compile_errors.cuda_errors(rung, [JOB], build_cache)) == errors  # kept


@on_cpu
@pytest.mark.parametrize("name", REFUSED)
def test_without_it_words_that_are_no_cuda_are_refused_all_the_same(name, without_nvrtc):
    outcome = tried(text_of(*REFUSED[name]))
    assert not outcome.ok
    assert not outcome.is_lacking
    assert outcome.line in (BODY, BODY + 1, 9)
    assert compile_errors.NOT_SEEN in compile_errors.why_not_seen()


@with_nvrtc
@pytest.mark.parametrize("behind", TAKEN)
def test_what_it_takes_is_not(behind, build_cache):
    rung = own_kernel("mine.cu", text_of("", behind))
    assert outcome_of(compile_errors.cuda_errors(rung, [JOB], build_cache)) == ""


def test_nor_is_it_by_the_text(without_nvrtc, tmp_path):
    for rung in (*(own_kernel("mine.cu", text_of("", each)) for each in TAKEN), *ladder()):
        assert outcome_of(compile_errors.cuda_errors(rung, [JOB], tmp_path)) == ""


@on_cpu
def test_a_text_both_take_is_tried():
    assert tried(text_of("", TAKEN[-1])).ok


@on_cpu
@with_nvrtc
def test_what_only_the_assembler_refuses_is_an_error_of_the_kernel():
    outcome = tried("__constant__ float MUCH[20000];\n" + text_of("if (MUCH[x] > 0) return;"))
    assert "constant" in outcome.problem
    assert outcome.line == 3


@on_cpu
@with_nvrtc
@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [("PATIENCE_S", 0.0, "too long"), ("SCRIPT", "/nowhere.py", "crash")],
)
def test_a_compiler_that_takes_too_long_or_crashes_is_no_verdict_that_is_kept(
    limit, value, words, monkeypatch
):
    text = text_of(f"// {limit}")
    with monkeypatch.context() as patch:
        patch.setattr(nvrtc, limit, value)
        assert words in tried(text).problem
    assert tried(text).ok


ASM = {
    "in the kernel": ('asm volatile("mov.u32 %0, %1;" : "=r"(own) : "r"(x));', ""),
    "in a macro": ('#define MOVE asm("mov.u32 %0, %1;" : "=r"(own) : "r"(x))\nMOVE;', ""),
    "pasted": ('#define CAT(a, b) a##b\nCAT(as, m)("mov.u32 %0, %1;" : "=r"(own) : "r"(x));', ""),
}


@on_cpu
@pytest.mark.parametrize("name", ASM)
@pytest.mark.parametrize("has_nvrtc", [False, pytest.param(True, marks=with_nvrtc)])
def test_asm_never_reaches_the_cpus_compiler(name, has_nvrtc, monkeypatch):
    if not has_nvrtc:
        monkeypatch.setattr(compile_errors, "compiler_for", lambda _: None)
    body, behind = ASM[name]
    outcome = tried(text_of(f"int own = 0;\n{body}", behind))
    assert "asm" in outcome.problem
    assert outcome.is_lacking
    assert outcome.line >= BODY


@on_cpu
@pytest.mark.parametrize(
    "behind",
    [
        'asm(".incbin \\"/etc/passwd\\"");',
        '__device__ void f() { __asm__ volatile(".incbin \\"/etc/passwd\\""); }',
        "__attribute__((constructor)) __device__ void first() {}",
        "[[gnu::constructor]] __device__ void first() {}",
        "#define CAT(a, b) a##b\nCAT(__attri, bute__)((constructor)) __device__ void first() {}",
        '__device__ __attribute__((section(".x\\n.incbin"))) int at;',
        'extern "C" __device__ __attribute__((alias("x"))) void first();',
    ],
)
def test_nothing_of_gnus_own_gets_past(behind, without_nvrtc):
    outcome = tried(text_of("", behind))
    assert outcome.log
    assert outcome.line >= 9


@on_cpu
def test_a_pragma_in_a_macro_has_no_effect_on_the_cpu(without_nvrtc):
    text = text_of(
        '_Pragma("unroll") for (int i = 0; i < 3; ++i) {}',
        '#define P(x) _Pragma(#x)\nP(GCC dependency "/nonexistent")\nP(GCC poison sample)',
    )
    assert tried(text).ok


@on_cpu
def test_a_strict_text_cannot_know_that_it_runs_on_the_cpu():
    asks = "#if defined(CUDA_ON_CPU) || !defined(__CUDA_ARCH__)\nreturn;\n#endif"
    assert not tried(text_of(f"\n{asks}")).ok
    assert tried(text_of(f"\n{asks}"), is_strict=True).ok
    for word in ("__SSE2__", "__gnu_linux__", "__syncthreads"):
        with pytest.raises(HeaderError, match=word):
            tried(text_of(f"\n#ifdef {word}\nreturn;\n#endif"), is_strict=True)


@pytest.mark.parametrize(
    "tells",
    [
        "\n#define S_(x) \\\n#x\n#define S(x) S_(x)\nif (sizeof(int) > 9) return;",
        "if (sizeof(__syncthreads_or(1)) != 4) return;",
        "\n#define CALL index(0, 1)\nif (sizeof(CALL) != 4) return;",
        "if (sizeof(long  double) != 8) return;",
        "decltype(index(0, 1)) a = 0;",
        "if (noexcept(abs(1))) return;",
        "if (__func__[9]) return;",
        "if (__builtin_constant_p(height)) return;",
        "return ::index();",
        "if (::index(0)) return;",
    ],
)
def test_a_hand_in_has_no_words_that_tell_compilers_apart(tells):
    with pytest.raises(HeaderError, match="tells compilers apart"):
        own_kernel("mine.cu", text_of(tells), is_strict=True)
    own_kernel("mine.cu", text_of(tells))


def test_a_hand_in_may_measure_types_and_name_what_is_its_own():
    fine = (
        "\n#define T float\n#define UNROLL(x) _Pragma(#x)\n#define JOIN(a, b) a##b\n"
        "int n = sizeof(T) + sizeof(float4*) + sizeof(mine::S<int>::T) + alignof(sample[4]);\n"
        "n += a::b::c + std::min(1, 2) + __cplusplus; __builtin_expect(n, 1); // ::index decltype\n"
    )
    assert own_kernel("mine.cu", text_of(fine), is_strict=True).is_strict


def test_looking_for_them_takes_time_by_the_length_alone():
    """As its square it would be minutes."""
    blanks, sizes = " " * 100_000, "n += sizeof(int);" * 5000
    assert refused(f"#define A{blanks}(\nint n;{blanks}{sizes}", (), is_strict=True) is None


@on_cpu
def test_a_strict_text_sees_no_macro_of_c_or_of_the_runtime():
    names = "EOF", "RAND_MAX", "UNWATCHED", "atomicAdd_block", "DYNAMIC_SHARED_FOR_ALL"
    asks = "\n".join(f"#ifdef {name}\nreturn;\n#endif" for name in names)
    given = "\n#if !defined(KSIZE) || !defined(BLOCK_X) || !defined(NULL)\nreturn;\n#endif"
    assert not tried(text_of(f"\n{asks}")).ok
    assert tried(text_of(f"\n{asks}{given}"), is_strict=True).ok


@on_cpu
@with_nvrtc
def test_what_the_cpu_runtime_lacks_is_named_as_lacking_there():
    outcome = tried(text_of("if (x < 0) dst[0] = __isGlobal(src);"))
    assert outcome.is_lacking
    assert "__isGlobal" in outcome.problem
    assert outcome.line == BODY


@on_cpu
def test_likewise_where_its_name_is_cudas(without_nvrtc):
    assert tried(text_of("if (x < 0) dst[0] = __isGlobal(src);")).is_lacking
    assert not tried(text_of("if (x < 0) dst[0] = isGlobal(src);")).is_lacking
