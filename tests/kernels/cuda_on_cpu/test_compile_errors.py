"""What a compiler's log says, as a sentence."""

import pytest

from kernels.cuda_on_cpu import building
from kernels.cuda_on_cpu.building import build
from kernels.cuda_on_cpu.compile_errors import diagnostics_of, first_error
from kernels.cuda_on_cpu.compiler import TRIED, the_compiler, why_not
from kernels.rungs.own_kernels import own_kernel, starting_points

ENDLESS = """
template <int n, int m> struct all {
    static const bool v = all<n - 1, m>::v && all<n - 1, m + 1>::v;
};
template <int m> struct all<0, m> { static const bool v = true; };
bool known = all<800, 0>::v;
"""
RUNG = own_kernel("mine.cu", starting_points()[0].text)


@pytest.mark.parametrize(
    ("log", "sentence", "line"),
    [
        ("mine.cu:7:5: error: expected ';'\n", "Line 7: expected ';'.", 7),
        ("mine.cu:7:5: error: did you mean 'sum'?\n", "Line 7: did you mean 'sum'?", 7),
        (
            "x.o: in function `f':\n(.text+0x3bf): relocation truncated to fit: R_X86_64_PC32\n",
            "Its arrays of fixed size take more than the 2 GiB that a program has for them.",
            None,
        ),
        (
            f"mine.cu:7:5: error: no\n{building.TOO_LONG}\n",
            "The compiler gave up: the text takes too long.",
            None,
        ),
        (
            "g++: fatal error: Killed signal terminated program cc1plus\n",
            "The compiler gave up: the text needs more memory than it may have.",
            None,
        ),
        (
            "mine.cu:8:2: internal compiler error: Segmentation fault\n",
            "The compiler gave up: the text makes the compiler crash.",
            None,
        ),
        ("", "The compiler refused the text without saying why.", None),
    ],
)
def test_the_first_error_is_one_sentence(log, sentence, line):
    assert first_error(log, RUNG) == (sentence, line)


@pytest.mark.parametrize("file", ["/etc/passwd", "../passwd", "/proc/self/root/etc/passwd", "x.s"])
def test_of_a_file_that_is_not_the_kernels_no_word_is_told(file):
    log = f"In file included from mine.cu:3:\n{file}:1:1: error: 'root' does not name a type\n"
    sentence, line = first_error(log, RUNG)
    assert "root" not in sentence + str(diagnostics_of(log, RUNG))
    assert line == 3


@pytest.mark.skipif(why_not() is not None, reason=str(why_not()))
@pytest.mark.parametrize(
    ("text", "limit", "value", "what"),
    [
        (ENDLESS, "MAX_SECONDS", 1, "takes too long"),
        ("char many[1 << 20] = {1};", "MAX_WRITTEN", 1 << 19, "has arrays with values"),
    ],
)
def test_a_compiler_that_takes_too_much_is_told_to_give_up(
    text, limit, value, what, build_cache, monkeypatch
):
    if not the_compiler().is_gnu:
        pytest.skip("the limits are g++'s")
    build("int first;", TRIED, build_cache)  # the runtime, which is larger
    monkeypatch.setattr(building, limit, value)
    with pytest.raises(building.BuildError) as error:
        build(text, TRIED, build_cache)
    assert what in first_error(str(error.value), RUNG)[0]
