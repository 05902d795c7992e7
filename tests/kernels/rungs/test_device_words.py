"""Words that CUDA's compiler does not know: found as it finds them, and what to write instead."""

import re

import pytest

from kernels.core.errors import CompileFailedError
from kernels.cuda.nvrtc import compilers
from kernels.rungs.cuda_text import (
    FUNCTIONS,
    IN_STD,
    TYPES,
    VALUES,
    WORDS,
    hint_for,
    line_without_end,
    unknown_words,
)

KNOWN = (
    "int n = min(1, 2); // std::min /* uint8_t */",
    "a = std::move(b);",
    'printf("std::min, M_PI");',
    "typedef unsigned char uint8_t; uint8_t x;",
    "using uint = unsigned;\nuint x;",
    "#define M_PI 3.14f\nfloat x = M_PI;",
    '#ifndef NAN\n#define NAN nanf("")\n#endif\nfloat x = NAN;',
    "#if 0\nint n = std::min(1, 2);\n#endif\n",
    "__device__ int rand(int seed) { return seed; }\nint n = rand(3);",
    "struct uint { int x; }; uint x;",
    "random.rand(); random->exit(); own::abort();",
    "namespace std { int min(int, int); }\nint n = std::min(1, 2);",
)


@pytest.mark.parametrize("text", KNOWN)
def test_what_a_text_may_say_is_not(text):
    assert unknown_words(text) == []


@pytest.mark.skipif(not compilers(), reason="NVRTC is not installed")
@pytest.mark.parametrize("compiler", compilers(), ids=lambda each: str(each.version))
def test_nvrtc_knows_none_of_them_and_those_of_std_that_are_left(compiler):
    lines = [
        *(f"{name} variable_{name};" for name in TYPES),
        "__device__ void all() {",
        *(f"auto value_{name} = {name};" for name in VALUES),
        *(f"auto result_{name} = {name}(0);" for name in FUNCTIONS),
        "}",
    ]
    with pytest.raises(CompileFailedError) as error:
        compiler.compile("\n".join(lines), ["--gpu-architecture=sm_90"])
    found = set(re.findall(r'identifier "(\w+)" is undefined', error.value.log))
    assert set(WORDS) - found == set()
    known = "\n".join(f"using std::{name};" for name in sorted(IN_STD))
    compiler.compile(known, ["--gpu-architecture=sm_90"])


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ('namespace "std" has no member "min"', "write min alone."),
        ('namespace "std" has no member "vector"', "compiled without C++'s library."),
        ('identifier "uint8_t" is undefined', "write unsigned char, or uint8."),
        ('identifier "rand" is undefined', "compiled without C++'s library."),
        ("'cudaMalloc' was not declared in this scope", "the program gets the memory, copies"),
        ('identifier "cudaMemcpy" is undefined', "the program gets the memory, copies"),
        ("assignment of read-only location '*(src + 8)'", "write to the output, dst."),
        ("expression must be a modifiable lvalue", "write to the output, dst."),
        ('identifier "heigth" is undefined', ""),
    ],
)
def test_a_message_has_a_hint_on_what_to_write(message, hint):
    assert hint in hint_for(message)
    assert bool(hint) == bool(hint_for(message))


@pytest.mark.parametrize(
    ("text", "line", "meant"),
    [
        ("int n = 3\nn += 1;\n", 2, 1),
        ("int n = 3  // of them\n\n// then\nn += 1;\n", 4, 1),
        ("int n = 3 n += 1;\n", 1, 1),
        ("int n = 3;\nn += 1 n;\n", 2, 2),
        ("int n = 3\n    + m n;\n", 2, 2),
        ("#define N 3\nn += 1 n;\n", 2, 2),
        ("if (n) {\nn += 1 n;\n", 2, 2),
    ],
)
def test_a_missing_semicolon_is_told_of_the_line_that_lacks_it(text, line, meant):
    for message in ('expected a ";"', "expected ',' or ';' before 'n'", "expected ';' before 'n'"):
        assert line_without_end(text, line, message) == meant
    assert line_without_end(text, line, "expected a ')'") == line
