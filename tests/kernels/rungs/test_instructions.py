"""Machine code that grew: a second way for the ends of rows, or masks taken apart."""

import struct

import pytest

from kernels.cuda import nvrtc
from kernels.rungs.rung import ladder
from workbench.cli import made_jobs

RUNGS = {each.key: each for each in ladder()}
# Of uint8 RGB, rows of whole words: what NVRTC 13 makes of it for sm_90, and 5 % more.
MOST = {
    ("words_of_two", "gaussian", 3): 645,
    ("words_of_two", "box", 3): 620,
    ("words_of_two", "gaussian", 5): 1_500,
    ("words_of_two", "box", 7): 1_670,
    ("tensor_windows", "whole", 5): 805,
    ("tensor_windows", "whole", 7): 815,
    ("tensor_tile_bytes", "gaussian", 9): 950,
    ("extreme_ring", "minimum", 3): 2_390,
    ("median_pairs", "median", 3): 4_250,  # large: two turns, and what they leave
    ("median_histogram", "median", 31): 1_115,
}

pytestmark = pytest.mark.skipif(
    nvrtc.compiler_for(90) is None, reason="no NVRTC that compiles for sm_90 is installed"
)


def instructions(key, name, ksize, columns=4096):
    """Count those of all functions, 16 bytes each, by the section headers of the ELF file."""
    job = made_jobs.job(name, ksize, (4096, columns), 3, "uint8", implementation=key)
    code = nvrtc.compile_rung(RUNGS[key], job, 90).cubin
    (start,), (size, count, names) = (
        struct.unpack_from(of, code, at) for of, at in (("<Q", 40), ("<3H", 58))
    )
    rows = [struct.unpack_from("<IIQQQQ", code, start + size * n) for n in range(count)]
    texts = code[rows[names][4] :]
    found = {texts[row[0] : texts.index(0, row[0])]: row[5] for row in rows}
    return sum(size for name, size in found.items() if name.startswith(b".text.")) // 16


@pytest.mark.parametrize("what", MOST, ids=lambda what: "-".join(map(str, what)))
def test_as_few_instructions_as_when_it_was_measured(what):
    assert instructions(*what) <= MOST[what]


def test_rows_of_whole_words_have_no_way_for_ragged_ends():
    """As a branch it cost all pictures 4 to 10 %, for warps at the ends walk both."""
    whole, ragged = (instructions("words_of_two", "gaussian", 3, wide) for wide in (4096, 4095))
    assert ragged > 1.3 * whole
