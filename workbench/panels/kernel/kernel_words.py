"""The words a kernel is written in, each with what it means, for completion.

`tests/workbench/panels/kernel/test_kernel_words.py` holds the table against the prelude and the
facts of a job: none may be missing, and none may be gone.
"""

from __future__ import annotations

from collections.abc import Mapping

FACTS: Mapping[str, str] = {
    "KSIZE": "the weights are KSIZE × KSIZE",
    "CHANNELS": "samples per pixel, interleaved",
    "HAS_ALPHA": "1: the last channel passes through untouched",
    "SAMPLE": "how a sample is stored: uint8, uint16, float16 or float32",
    "BORDER": "ZERO, CLAMP, REFLECT, MIRROR or WRAP",
    "HAS_OFFSET": "1: OFFSET is added to every weighted sample",
    "OFFSET": "what is added, a float",
    "BLOCK_X": "threads per block along x; x counts samples, not pixels",
    "BLOCK_Y": "threads per block along y",
}
PRELUDE: Mapping[str, str] = {
    "DYNAMIC_SHARED": "(type, name): the shared memory that the launch asked for, as an array",
    "half_to_float": "(bits): the float that these bits of float16 stand for",
    "float_to_half": "(value): the nearest float16, as its bits",
    "float16": "half precision: stored so, never computed with",
    "uint8": "an unsigned char",
    "uint16": "an unsigned short",
    "float32": "a float",
    "sample": "the type of a sample: SAMPLE",
    "IS_SAME": "<A, B>: whether two types are the same",
    "RADIUS": "KSIZE / 2: how many pixels away a neighbour still counts",
    "HALO_X": "RADIUS × CHANNELS: the halo along x, in samples",
    "HALO_Y": "RADIUS: the halo along y, in rows",
    "Border": "the borders there are",
    "ZERO": "a border: samples beyond the edge are 0",
    "CLAMP": "a border: the edge's own sample is repeated",
    "REFLECT": "a border: mirrored, with the edge's sample twice",
    "MIRROR": "a border: mirrored, with the edge's sample once",
    "WRAP": "a border: the other edge follows",
    "OUTSIDE": "what border_index returns where the sample is zero",
    "border_index": "(i, size): where position i is read from, or OUTSIDE",
    "border_sample": "(x, width): the same along a row of interleaved samples",
    "row_of": "(picture, y, pitch): the start of row y; rows are pitch samples apart",
    "read_along": "(row, x, width): sample x of a row, continued beyond its ends",
    "read_sample": "(src, x, y, height, width, pitch): a sample, continued beyond the edges",
    "rounded_to": "<T>(value): rounded half to even, and saturated for integers",
    "to_sample": "(value): rounded to what the picture stores",
    "begin_with_offset": "<COUNT>(sums): each sum begins with the offset",
    "with_offset": "(sum): the sum and the offset, where there is one",
    "is_alpha": "(x): whether sample x is alpha, which passes through",
}
CUDA: Mapping[str, str] = {
    "__global__": "a function that the host launches",
    "__device__": "a function that the GPU calls, or a variable there",
    "__constant__": "constant memory: one value is read by a whole warp at once",
    "__shared__": "memory that the threads of a block share",
    "__restrict__": "a pointer that no other one overlaps",
    "__launch_bounds__": "(threads): the most threads per block that it is launched with",
    "__syncthreads": "(): wait until all threads of the block are here",
    "threadIdx": "the thread within its block: .x, .y",
    "blockIdx": "the block within the grid: .x, .y",
    "blockDim": "threads per block: .x, .y",
    "gridDim": "blocks in the grid: .x, .y",
    "constexpr": "known when it is compiled",
    "unroll": "#pragma unroll: write out the loop that follows",
}
KNOWN: Mapping[str, str] = {**FACTS, **PRELUDE, **CUDA}
