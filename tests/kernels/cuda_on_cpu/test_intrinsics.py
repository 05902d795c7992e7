"""CUDA's intrinsics on the CPU, each against a model of its own, in one library for all of them."""

import ctypes
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from kernels.cuda.nvrtc import compilers
from kernels.cuda_on_cpu import compiler
from tests.kernels.on_cpu import PLAIN, build

pytestmark = pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
ALL = 0xFFFFFFFF
WORDS = (0, 1, 2, 31, 0x7F, 0x80, 0xFF, 0x8000, 0x7FFF8000, 0x80000000, 0x80FF7F01, ALL, 0x12345678)


def signed(value, bits=32):
    """The number that these bits are as a signed one."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def wide(low, high):
    return high << 32 | low


def in_parts(bits, is_signed, of):
    """A model of a function of words that are of several numbers."""

    def model(a, b, _c):
        found = 0
        for at in range(0, 32, bits):
            x, y = (word >> at & ((1 << bits) - 1) for word in (a, b))
            if is_signed:
                x, y = signed(x, bits), signed(y, bits)
            found |= (of(x, y) & ((1 << bits) - 1)) << at
        return found

    return model


def held(low, high):
    return lambda value: min(max(value, low), high)


def dot(width, is_signed, begin=0):
    """A model of __dp4a and __dp2a."""

    def part(word, bits, at):
        value = word >> bits * at & ((1 << bits) - 1)
        return signed(value, bits) if is_signed else value

    count = 32 // width
    return lambda a, b, c: c + sum(part(a, width, i) * part(b, 8, begin + i) for i in range(count))


MODELS = {
    "__brev(a)": lambda a, b, c: int(f"{a:032b}"[::-1], 2),
    "unsigned(__brevll(((unsigned long long)a << 32) | b))": lambda a, b, c: int(
        f"{a:032b}"[::-1], 2
    ),
    "__popc(a)": lambda a, b, c: a.bit_count(),
    "__popcll(((unsigned long long)a << 32) | b)": lambda a, b, c: a.bit_count() + b.bit_count(),
    "__clz(a)": lambda a, b, c: 32 - a.bit_length(),
    "__clzll(((unsigned long long)a << 32) | b)": lambda a, b, c: 64 - wide(b, a).bit_length(),
    "__ffs(a)": lambda a, b, c: (a & -a).bit_length(),
    "__ffsll(((unsigned long long)a << 32) | b)": lambda a, b, c: (
        wide(b, a) & -wide(b, a)
    ).bit_length(),
    "__byte_perm(a, b, c)": lambda a, b, c: int.from_bytes(
        [wide(a, b) >> 8 * (c >> 4 * i & 7) & 0xFF for i in range(4)], "little"
    ),
    "__funnelshift_l(a, b, c)": lambda a, b, c: wide(a, b) << c % 32 >> 32,
    "__funnelshift_r(a, b, c)": lambda a, b, c: wide(a, b) >> c % 32,
    "__funnelshift_lc(a, b, c)": lambda a, b, c: wide(a, b) << min(c, 32) >> 32,
    "__funnelshift_rc(a, b, c)": lambda a, b, c: wide(a, b) >> min(c, 32),
    "__mul24(a, b)": lambda a, b, c: signed(a, 24) * signed(b, 24),
    "__umul24(a, b)": lambda a, b, c: (a & 0xFFFFFF) * (b & 0xFFFFFF),
    "__mulhi(int(a), int(b))": lambda a, b, c: signed(a) * signed(b) >> 32,
    "__umulhi(a, b)": lambda a, b, c: a * b >> 32,
    "unsigned(__mul64hi((long long)int(a) << 20, (long long)int(b) << 20))": lambda a, b, c: (
        signed(a) * signed(b) >> 24
    ),
    "unsigned(__umul64hi((unsigned long long)a << 20, (unsigned long long)b << 20))": (
        lambda a, b, c: a * b >> 24
    ),
    "__sad(int(a), int(b), c)": lambda a, b, c: abs(signed(a) - signed(b)) + c,
    "__usad(a, b, c)": lambda a, b, c: abs(a - b) + c,
    "__hadd(int(a), int(b))": lambda a, b, c: signed(a) + signed(b) >> 1,
    "__rhadd(int(a), int(b))": lambda a, b, c: signed(a) + signed(b) + 1 >> 1,
    "__uhadd(a, b)": lambda a, b, c: a + b >> 1,
    "__urhadd(a, b)": lambda a, b, c: a + b + 1 >> 1,
    "__dp4a(int(a), int(b), int(c))": dot(8, True),
    "__dp4a(a, b, c)": dot(8, False),
    "__dp2a_lo(int(a), int(b), int(c))": dot(16, True),
    "__dp2a_hi(int(a), int(b), int(c))": dot(16, True, 2),
    "__dp2a_lo(a, b, c)": dot(16, False),
    "__dp2a_hi(a, b, c)": dot(16, False, 2),
    "min(a, int(b))": lambda a, b, c: min(a, b),
    "max(int(a), b)": lambda a, b, c: max(a, b),
    "min(int(a), int(b))": lambda a, b, c: min(signed(a), signed(b)),
    "unsigned(max(2ll * int(a), 1ll * int(b)))": lambda a, b, c: max(2 * signed(a), signed(b)),
    "unsigned(min(2ul * a, 1ul * b))": lambda a, b, c: min(2 * a, b),
    "unsigned(min((long)int(a), 1ul * b))": lambda a, b, c: min(signed(a) % (1 << 64), b),
    "__double2loint(__hiloint2double(a, b)) + __double2hiint(__hiloint2double(a, b))": (
        lambda a, b, c: a + b
    ),
    "abs(float(int(a % 1000)) - 500.5f)": lambda a, b, c: int(abs(a % 1000 - 500.5)),
    "make_ushort4(a, b, c, 1).y + make_double3(1, 2, 3).z + make_longlong2(a, 2).y": (
        lambda a, b, c: (b & 0xFFFF) + 5
    ),
    "unsigned(alignof(char2) + 10 * alignof(short4) + 100 * alignof(double4) + "
    "1000 * alignof(float3) + 10000 * sizeof(ulong3) + 1000000 * alignof(long1))": (
        lambda a, b, c: 2 + 80 + 1600 + 4000 + 240000 + 8000000
    ),
    "dim3(a).y + dim3(a, b).y": lambda a, b, c: 1 + b,
}
SIMD = {
    "vadd": (True, lambda x, y, hold: x + y),
    "vaddss": (True, lambda x, y, hold: hold(x + y)),
    "vaddus": (False, lambda x, y, hold: hold(x + y)),
    "vsub": (True, lambda x, y, hold: x - y),
    "vsubss": (True, lambda x, y, hold: hold(x - y)),
    "vsubus": (False, lambda x, y, hold: hold(x - y)),
    "vavgs": (True, lambda x, y, hold: x + y + (x + y >= 0) >> 1),
    "vavgu": (False, lambda x, y, hold: x + y + 1 >> 1),
    "vhaddu": (False, lambda x, y, hold: x + y >> 1),
    "vabsdiffs": (True, lambda x, y, hold: abs(x - y)),
    "vabsdiffu": (False, lambda x, y, hold: abs(x - y)),
    "vmaxs": (True, lambda x, y, hold: max(x, y)),
    "vmaxu": (False, lambda x, y, hold: max(x, y)),
    "vmins": (True, lambda x, y, hold: min(x, y)),
    "vminu": (False, lambda x, y, hold: min(x, y)),
    "vcmpeq": (True, lambda x, y, hold: -(x == y)),
    "vcmpgtu": (False, lambda x, y, hold: -(x > y)),
    "vcmplts": (True, lambda x, y, hold: -(x < y)),
    "vsetne": (True, lambda x, y, hold: int(x != y)),
    "vsetgeu": (False, lambda x, y, hold: int(x >= y)),
    "vsetles": (True, lambda x, y, hold: int(x <= y)),
}
ALONE = {
    "vabs": lambda x, y, hold: abs(x),
    "vabsss": lambda x, y, hold: hold(abs(x)),
    "vneg": lambda x, y, hold: -x,
    "vnegss": lambda x, y, hold: hold(-x),
}


def of_simd():
    """All of them, of two halves and of four bytes, with their models."""
    for number, bits in ((2, 16), (4, 8)):
        edges = {True: held(-(1 << bits - 1), (1 << bits - 1) - 1), False: held(0, (1 << bits) - 1)}
        for name, (is_signed, of) in SIMD.items():
            model = lambda x, y, of=of, hold=edges[is_signed]: of(x, y, hold)  # noqa: E731
            yield f"__{name}{number}(a, b)", in_parts(bits, is_signed, model)
        for name, of in ALONE.items():
            model = lambda x, y, of=of, hold=edges[True]: of(x, y, hold)  # noqa: E731
            yield f"__{name}{number}(a)", in_parts(bits, True, model)
        for sign in (True, False):
            yield (
                f"__vsad{'s' if sign else 'u'}{number}(a, b)",
                lambda a, b, c, bits=bits, sign=sign: _differences(a, b, bits, sign),
            )


def _differences(a, b, bits, is_signed):
    difference = in_parts(bits, is_signed, lambda x, y: abs(x - y))(a, b, 0)
    return sum(difference >> at & ((1 << bits) - 1) for at in range(0, 32, bits))


EVERY = {**MODELS, **dict(of_simd())}
# Of floats: (expression over x, y, z; the exact value; how it is rounded, and to what).
TIES = {"rn": None, "rz": 0, "ru": 1, "rd": -1}
EXACT = {
    "add": ("(x, y)", lambda x, y, z: x + y),
    "sub": ("(x, y)", lambda x, y, z: x - y),
    "mul": ("(x, y)", lambda x, y, z: x * y),
    "div": ("(x, y)", lambda x, y, z: x / y),
    "rcp": ("(y)", lambda x, y, z: 1 / y),
    "maf": ("(x, y, z)", lambda x, y, z: x * y + z),
}
FLOATS = tuple(
    float(np.float32(each)) for each in (1, -1, 3, 1e-3, 0.1, -16777216, 1.5e10, 7.25, -2 / 3)
)
WHOLE = (0.0, -0.5, 0.5, 1.5, 2.5, -2.5, 3e9, -3e9, 5e9, 1e19, -1e19, math.nan, math.inf, 7.75)


def rounded(exact: Fraction, mode, kind) -> float:
    """The number of that kind which an exact one is rounded to."""
    if kind is np.float64:
        near = kind(exact.numerator / exact.denominator)
    else:  # by double and then float would round twice
        near = kind(float(exact))
        near = min(
            (np.nextafter(near, kind(-np.inf)), near, np.nextafter(near, kind(np.inf))),
            key=lambda each: (abs(Fraction(float(each)) - exact), int(each.view(np.uint32)) & 1),
        )
    error = Fraction(float(near)) - exact
    if mode == "ru" or (mode == "rz" and exact < 0):
        return float(np.nextafter(near, kind(np.inf))) if error < 0 else float(near)
    if mode == "rd" or (mode == "rz" and exact > 0):
        return float(np.nextafter(near, kind(-np.inf))) if error > 0 else float(near)
    return float(near)


def whole(value, mode, low, high, of_nan):
    """The integer that a number is converted to."""
    if math.isnan(value):
        return of_nan
    if math.isinf(value):
        return low if value < 0 else high
    of = {"rn": round, "rz": math.trunc, "ru": math.ceil, "rd": math.floor}[mode]
    return min(max(of(value), low), high)


KINDS = {
    "int": (-(1 << 31), (1 << 31) - 1, 0),
    "uint": (0, ALL, 0),
    "ll": (-(1 << 63), (1 << 63) - 1, -(1 << 63)),
    "ull": (0, (1 << 64) - 1, 1 << 63),
}


FLOAT_CALLS = [
    f"{word if name != 'maf' or kind == 'f' else '__fma'}_{mode}{given}"
    for kind in "fd"
    for name, (given, _) in EXACT.items()
    for word in (f"__{kind}{name}",)
    for mode in TIES
]
TO_WHOLE = [
    f"(unsigned long long)__{kind}2{to}_{mode}(x)"
    for kind, to, mode in product(("float", "double"), KINDS, TIES)
]
FROM_WHOLE = [f"__{to}2float_{mode}(bits)" for to, mode in product(KINDS, TIES)]


def lines(calls):
    return "".join(f"out[{n}] = {each};\n" for n, each in enumerate(calls))


FUNCTIONS = f"""
void of_words(unsigned a, unsigned b, unsigned c, unsigned* out) {{ {lines(EVERY)} }}
void of_floats(double x, double y, double z, double* out) {{ {lines(FLOAT_CALLS)} }}
void to_whole(double x, unsigned long long* out) {{ {lines(TO_WHOLE)} }}
void from_whole(unsigned long long bits, double* out) {{ {lines(FROM_WHOLE)} }}
"""


@pytest.fixture(scope="module")
def library(build_cache):
    text = f'#include "cuda_cpu.h"\nextern "C" {{ {FUNCTIONS} }}'
    return ctypes.CDLL(str(build(text, PLAIN, build_cache)))


@pytest.mark.skipif(not compilers(), reason="NVRTC is not installed")
def test_cuda_has_them_all_with_such_arguments():
    text = FUNCTIONS.replace("void ", "__global__ void ")
    compilers()[0].compile(text, ["--gpu-architecture=compute_90", "--device-debug"])


def test_integers_bits_and_simd_in_a_word_are_as_cuda_has_them(library):
    out = np.zeros(len(EVERY), np.uint32)
    for a, b, c in product(WORDS, WORDS, (0, 7, 0x3210, 0x7654, 33, ALL)):
        library.of_words(
            *(ctypes.c_uint(each) for each in (a, b, c)), ctypes.c_void_p(out.ctypes.data)
        )
        expected = [model(a, b, c) & ALL for model in EVERY.values()]
        wrong = [name for name, x, y in zip(EVERY, out.tolist(), expected, strict=True) if x != y]
        assert wrong == [], (hex(a), hex(b), hex(c))


def test_floats_are_rounded_as_the_name_says(library):
    out = np.zeros(2 * len(EXACT) * len(TIES), np.float64)
    for x, y, z in product(FLOATS, repeat=3):
        library.of_floats(*map(ctypes.c_double, (x, y, z)), ctypes.c_void_p(out.ctypes.data))
        exact = [of(*map(Fraction, (x, y, z))) for _, of in EXACT.values()]
        expected = [
            rounded(each, mode, kind)
            for kind in (np.float32, np.float64)
            for each in exact
            for mode in TIES
        ]
        assert out.tolist() == expected, (x, y, z)


def test_conversions_saturate_and_round_as_the_name_says(library):
    out = np.zeros(2 * len(KINDS) * len(TIES), np.uint64)
    for x in WHOLE:
        library.to_whole(ctypes.c_double(x), ctypes.c_void_p(out.ctypes.data))
        expected = [
            whole(float(np.float32(x)) if kind == "f" else x, mode, *limits) % (1 << 64)
            for kind, limits, mode in product("fd", KINDS.values(), TIES)
        ]
        assert out.tolist() == expected, x


def test_integers_become_floats_as_the_name_says(library):
    out = np.zeros(len(KINDS) * len(TIES), np.float64)
    of = {"int": 32, "uint": 32, "ll": 64, "ull": 64}
    for x in (
        0,
        1,
        16777217,
        16777219,
        ALL,
        (1 << 63) - 1,
        1 << 63,
        (1 << 64) - 1,
        0x8000000180000001,
    ):
        library.from_whole(ctypes.c_uint64(x), ctypes.c_void_p(out.ctypes.data))
        expected = [
            rounded(
                Fraction(signed(x, bits) if to in ("int", "ll") else x & ((1 << bits) - 1)),
                mode,
                np.float32,
            )
            for (to, bits), mode in product(of.items(), TIES)
        ]
        assert out.tolist() == expected, x
