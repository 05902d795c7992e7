"""A kernel of one's own: any `.cu` file makes a rung, or a sentence with its name and the line."""

import os
import re

import numpy as np
import pytest

from kernels import filters
from kernels.core.job import Job
from kernels.cuda_on_cpu.device_code import generated, told
from kernels.engine.engine import all_implementations
from kernels.rungs.cuda_text import kernels_in, without_comments
from kernels.rungs.headers import SMALLEST, HeaderError
from kernels.rungs.own_kernels import (
    MAX_BYTES,
    changing,
    is_own,
    own_kernel,
    plainest,
    read_own_kernel,
    starting_points,
)
from kernels.rungs.rung import ladder
from tests.kernels.cases import a_job, fitting_filter

WEIGHTS = "__constant__ float WEIGHTS[KSIZE * KSIZE];\n"
KERNEL = """extern "C" __global__ void convolve(
    const sample* src,  // the picture (height, width)
    sample* dst,
    int height, int width, int pitch,
    int first_row, int end_row)
{
}
"""
PLAIN = WEIGHTS + KERNEL
UNDECLARED = KERNEL.replace("{\n}", "{ dst[0] = WEIGHTS[0]; }")
WITH_HEADER = f'/*---\ntitle = "Mine"\n---*/\n{PLAIN}'


def refused(text, name="mine.cu"):
    with pytest.raises(HeaderError) as error:
        own_kernel(name, text)
    sentence = str(error.value)
    assert sentence.startswith(name)
    assert sentence.endswith((".", "?"))
    return sentence.removeprefix(name)


def test_a_kernel_without_a_header_is_called_by_its_file(tmp_path):
    path = tmp_path / "two-sums of_mine.cu"
    path.write_text(PLAIN)
    rung = read_own_kernel(path)
    assert (rung.key, rung.file) == ("two-sums of_mine.cu", "two-sums of_mine.cu")
    assert rung.title == "Two sums of mine"
    assert rung.idea
    assert rung.weights == "constant"
    assert '#line 1 "two-sums of_mine.cu"\n__constant__' in rung.text


def test_no_key_is_one_of_ours():
    taken = {each.key for each in all_implementations()} | {"auto"}
    for key in taken:
        assert not is_own(key)
        assert own_kernel(f"{key}.cu", PLAIN).key not in taken


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_lines_may_end_as_on_other_systems(newline, tmp_path):
    path = tmp_path / "mine.cu"
    path.write_bytes(b"\xef\xbb\xbf" + WITH_HEADER.replace("\n", newline).encode())
    assert read_own_kernel(path).source == WITH_HEADER


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("title =", "titel =", ", line 2: titel is not known; the nearest is title."),
        ("title =", "chain-length =", ", line 2: chain-length is not known"),
        ('"Mine"', "Mine", ", line 2: the header is no TOML, Invalid value: title = Mine."),
        ('title = "Mine"', "weights = 'my'", ", line 2: there are no weights 'my'; choose from"),
        ("/*---\n", "\n/*---\n", ", line 2: the header must be the first thing in the file."),
        ("convolve(", "blur(", ", line 5: the kernel must be called convolve, not blur"),
        ('title = "Mine"', 'weights = "separable"', ", line 2: weights = 'separable' come in"),
        ('title = "Mine"', "error_factor = 1e9", ", line 2: error_factor says how far"),
        ('title = "Mine"', 'weights = "global"', ", line 5: convolve takes 7 arguments and is"),
        (" int pitch,", "", ", line 5: convolve takes 6 arguments and is given 7: src, dst,"),
        ("int width", "float width", ", line 8: argument 4 of convolve, width, is an int, not f"),
        ("sample* dst", "sample dst", ", line 7: argument 2 of convolve, dst, is a pointer, not"),
        ('extern "C" ', "", ", line 5: convolve is found by its name, which C++ changes; write ex"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(right, wrong, words):
    own_kernel("mine.cu", WITH_HEADER)
    assert right in WITH_HEADER
    assert refused(WITH_HEADER.replace(right, wrong, 1)).startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ": it is empty."),
        ("// nothing\n", ": there is no kernel in it; write one that begins with"),
        (UNDECLARED, ": without a header a kernel finds the weights in"),
        (PLAIN.replace("convolve", "blur"), ", line 2: the kernel must be called convolve"),
        (PLAIN + "\0", ", line 9: it is not text."),
        ("x" * (MAX_BYTES + 1), ": it is too long; a kernel's file has up to 256 KiB."),
    ],
)
def test_a_text_that_needs_a_header_or_is_none_is_refused(text, words):
    assert refused(text).startswith(words)


@pytest.mark.parametrize(
    "directive",
    [
        *('#include "/etc/passwd"', "  # include <cstdlib>", "%:include <x>", "#\\ \ninclude <x>"),
        *('/**/ #/* */include "x"', '#inc\\\nlude "x"', '#embed "x"', '/*\n*/ # \\\n include "x"'),
        'const char* s = R"x( " /* )x";\n#include "x"',
    ],
)
def test_no_other_file_is_read(directive):
    text = f"{WEIGHTS}{directive}\n{KERNEL}"
    begin = text.index(directive) + max(map(directive.rfind, ("#", "%:")))
    line = text.count("\n", 0, begin) + 1
    assert refused(text).startswith(f", line {line}: delete this line: a kernel includes no file")


@pytest.mark.parametrize(
    "directive",
    [
        *("#define KSIZE 3", "%:define OFFSET 1", "#def\\\nine BORDER ZERO", "#undef CHANNELS"),
        *("#ifndef KSIZE\n#else\n#define KSIZE 3\n#endif", "#/* a\n b */ undef BLOCK_X"),
        *('#line 3 "/etc/passwd"', '# 3 "/etc/passwd"', '#ident "x"', "#pragma GCC poison x"),
        *('#pragma push_macro("KSIZE")', '#if __has_include("x")\n#endif', "#undef _Pragma"),
        *("#define __attribute__(x)", "#undef CUDA_ON_CPU", 'R"(\\\n)"; /* R"(" */'),
    ],
)
def test_no_directive_changes_the_job_or_reaches_beyond_the_text(directive):
    found = re.match(r", line (\d+): ", refused(PLAIN + directive))
    assert found
    assert int(found[1]) > PLAIN.count("\n")


@pytest.mark.parametrize(
    "directive",
    [
        *("#ifndef KSIZE\n#define KSIZE 5\n#endif", "#if 0\n#define KSIZE 5\n#endif"),
        *("#if !defined(BORDER)\n#define BORDER ZERO\n#endif", "#define MINE KSIZE", "#"),
        *("#pragma unroll 4", "#pragma nv_diag_suppress 177", "#pragma pack(push, 1)", "#error x"),
        *('// #define KSIZE 3 \\\n#include "x"', 'const char* s = R"(\n#define KSIZE 3\n)";'),
        "int many = 1'000'000; // '\n",
    ],
)
def test_one_that_does_neither_may_stay(directive):
    own_kernel("mine.cu", PLAIN + directive)


@pytest.mark.parametrize(
    "begin",
    [
        *(
            "__global__ void __launch_bounds__(256)",
            "__global__ __launch_bounds__(THREADS, 2) void",
        ),
        *("__launch_bounds__((8) * 32) __global__ void", "__global__ __maxnreg__(64) void"),
        *("__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(128)", "void __global__"),
        *("[[maybe_unused]] __global__ void", "__global__ __attribute__((noinline)) void"),
        *("inline __global__ void /* of (all) */", "__global__ void __block_size__((32, 8, 1))"),
    ],
)
def test_a_kernel_is_found_by_its_name_whatever_stands_before_it(begin):
    text = PLAIN.replace("__global__ void", begin)
    rung = own_kernel("mine.cu", text)
    assert kernels_in(without_comments(rung.source)) == {"convolve": 2}
    assert {each.function for each in told(rung).points} == {"convolve"}
    assert "convolve" in refused(text.replace("convolve", "other"))
    assert "argument" in refused(text.replace("int first_row, ", ""))


@pytest.mark.parametrize(
    "begin", ["/**/", "\n", "#\t", "__global__ ", "/*\n", "__constant__ ", "extern __shared__ a "]
)
def test_a_text_that_was_written_to_be_slow_is_read_at_once(begin):
    """Where that takes more than a moment it takes years."""
    text = begin * ((MAX_BYTES // 4) // len(begin)) + "*/\n"
    assert "there is no kernel in it" in refused(text)
    assert "without a header a kernel finds the weights in __constant__" in refused(
        UNDECLARED + text
    )
    assert text in generated(own_kernel("mine.cu", PLAIN + text), [()])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.mkdir(), ": it is not a file that can be read."),
        (lambda path: None, ": it cannot be read: No such file or directory."),
        (lambda path: os.mkfifo(path), ": it is not a file that can be read."),
        (lambda path: path.write_bytes(PLAIN.encode() + b"\n\xff"), ", line 10: it is not UTF-8"),
        (lambda path: path.write_text(PLAIN, "utf-16"), ", line 1: it is not UTF-8 text."),
        (lambda path: path.write_bytes(b" " * (MAX_BYTES + 1)), ": it is too long"),
        (lambda path: path.symlink_to("/dev/zero"), ": it is not a file that can be read."),
    ],
    ids=["folder", "missing", "pipe", "latin1", "utf16", "long", "device"],
)
def test_what_cannot_be_read_is_said_in_words(make, words, tmp_path):
    path = tmp_path / "mine.cu"
    make(path)
    with pytest.raises(HeaderError) as error:
        read_own_kernel(path)
    assert str(error.value).startswith(f"mine.cu{words}")


def test_a_name_with_anything_in_it_stays_one_line_for_the_compiler():
    rung = own_kernel('a "b"\\\n(2).cu', PLAIN)
    assert '#line 1 "a \\"b\\"\\\\?(2).cu"\n' in rung.text


@pytest.mark.parametrize("point", starting_points(), ids=lambda point: point.key or "empty")
def test_whatever_one_begins_with_is_a_kernel(point):
    rung = own_kernel(f"{point.stem}.cu", point.text)
    assert rung.title
    assert rung.idea
    if not point.key or point.filter:
        form = "none" if point.filter else "constant"
        assert (rung.after, rung.weights, rung.filter) == (None, form, point.filter or "weights")
        return
    (origin,) = (each for each in ladder() if each.key == point.key)
    assert rung.after == point.key
    assert rung.title != origin.title
    assert rung.source.partition("---*/")[2] == origin.source.partition("---*/")[2]
    assert [(each.loads, each.flops) for each in rung.passes] == [((), "") for _ in rung.passes]
    chosen = fitting_filter(np.random.default_rng(1), 3, point.key)
    job = a_job(np.ones((20, 30, 1), np.uint8), chosen, "clamp", point.key)
    assert rung.tolerance(job) == origin.tolerance(job)
    assert rung.why_not_anywhere(job) == origin.why_not_anywhere(job)
    assert rung.defines(job) == origin.defines(job)


@pytest.mark.parametrize("chosen", filters.all_filters(), ids=lambda chosen: chosen.key)
def test_there_is_a_plain_kernel_for_every_filter(chosen):
    made = chosen.of_size(chosen.nearest_size(5))
    job = SMALLEST.but(filter=made, gradient=chosen.gradient, title=chosen.title)
    point = plainest(job)
    assert own_kernel(f"{point.stem}.cu", point.text).does(job)
    assert (point.key == "") == (chosen.has_weights and not chosen.gradient)


def test_of_the_header_what_has_to_do_with_the_launch_stays_as_it_is_written():
    (ring,) = (each for each in ladder() if each.key == "tensor")
    text = changing(ring).text
    assert 'covers = ["128 * CHANNELS", "64 if KSIZE <= 31 else 128"]\n' in text
    assert "# 2^-9 in all" in text
    assert "Products of 16×8×8" not in text.partition("---*/")[0]


@pytest.mark.parametrize(
    ("header", "percentiles", "words"),
    [
        ("", (0, 25, 50, 100), ""),
        ('title = "Mine"', (0, 25, 50, 100), ""),
        ('filter = "median"', (50,), "works out medians, and Mean asks for weighted sums"),
        ('filter = "extremes"', (0, 100), "works out minima and maxima"),
        ('filter = "maximum"', (100,), "works out maximum"),
        ('filter = "percentile"', (0, 25, 50, 100), "works out percentile"),
    ],
)
def test_what_it_filters_is_said_by_its_header_or_else_by_the_job(header, percentiles, words):
    rung = own_kernel("mine.cu", f"/*---\n{header}\n---*/\n{KERNEL}" if header else KERNEL)
    mean = Job.of(np.ones((8, 8, 1), np.uint8), np.ones((3, 3), np.float32), title="Mean")
    of_size = filters.get("percentile").of_size
    ranks = {p: mean.but(filter=of_size(3, percentile=p)) for p in (0, 25, 50, 100)}
    assert [p for p in ranks if rung.why_not_anywhere(ranks[p]) is None] == list(percentiles)
    said = rung.why_not_anywhere(mean) or ""
    assert words in said
    assert bool(said) == bool(words)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ('filter = "sorting"', ", line 2: there is no filter 'sorting'; choose from "),
        ('filter = "medain"', ", line 2: there is no filter 'medain'; did you mean median?"),
        ('filter = "median"\nweights = "constant"', ", line 3: no weights come with medians"),
    ],
)
def test_a_filter_that_there_is_not_or_that_has_no_weights_is_refused(header, words):
    assert refused(f"/*---\n{header}\n---*/\n{KERNEL}").startswith(words)


def test_a_header_that_asks_about_weights_takes_no_filter_without_them():
    rung = own_kernel("mine.cu", f'/*---\nrequires = [["RANK == 1", "No."]]\n---*/\n{KERNEL}')
    job = Job.of(np.ones((8, 8, 1), np.uint8), np.ones((3, 3), np.float32))
    job = job.but(filter=filters.get("median").of_size(3), title="Median")
    assert rung.why_not_anywhere(job) == "Median has no weights."


@pytest.mark.parametrize("name", ["src", "dst"])
def test_a_picture_of_other_numbers_than_are_taken_is_refused_in_a_sentence(name):
    rung = own_kernel("mine.cu", re.sub(rf"(const )?sample\*(?= {name})", "float*", PLAIN))
    pictures = (np.zeros((8, 8, 1), pixel_type) for pixel_type in ("uint8", "float32"))
    jobs = (Job.of(picture, np.ones((3, 3), np.float32)) for picture in pictures)
    wrong, right = map(rung.why_not_anywhere, jobs)
    assert re.search(f"{name}.*float.*uint8", wrong)
    assert right is None
