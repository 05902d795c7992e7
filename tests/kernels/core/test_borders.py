"""The borders against NumPy, SciPy and the device's own copy of the rule."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from kernels.core.borders import BORDERS, OUTSIDE, read, source_indices
from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.rungs.rung import Rung
from tests.kernels.on_cpu import Shim

NUMPY = {
    "zero": "constant",
    "clamp": "edge",
    "reflect": "symmetric",
    "mirror": "reflect",
    "wrap": "wrap",
    "crop": "constant",  # what does not count is read as zero
}
SCIPY = {
    "zero": "constant",
    "clamp": "nearest",
    "reflect": "reflect",
    "mirror": "mirror",
    "wrap": "wrap",
    "crop": "constant",
}
borders = pytest.mark.parametrize("border", BORDERS)
SIZES = (1, 2, 3, 5, 17)
REACH = 70


@borders
@given(size=st.integers(1, 9), radius=st.integers(0, 40))
def test_along_an_axis_it_is_numpys_pad(border, size, radius):
    indices = source_indices(-radius, size + radius, size, border)
    axis = np.arange(1, size + 1)
    continued = np.where(indices == OUTSIDE, 0, axis[indices])
    np.testing.assert_array_equal(continued, np.pad(axis, radius, mode=NUMPY[border]))


@borders
@given(height=st.integers(1, 6), width=st.integers(1, 6), radius=st.integers(0, 15))
def test_a_padded_picture_is_numpys_pad(border, height, width, radius):
    picture = np.arange(1, height * width * 2 + 1, dtype=np.uint16).reshape(height, width, 2)
    around = ((radius, radius), (radius, radius), (0, 0))
    np.testing.assert_array_equal(
        pad(picture, radius, border), np.pad(picture, around, mode=NUMPY[border])
    )


@borders
@given(
    st.tuples(st.integers(-60, 60), st.integers(0, 30)),
    st.tuples(st.integers(-60, 60), st.integers(0, 30)),
)
def test_a_rectangle_anywhere_is_cut_out_of_the_padded_picture(border, rows, columns):
    picture = np.arange(1, 5 * 4 + 1, dtype=np.uint8).reshape(5, 4, 1)
    (top, height), (left, width) = rows, columns
    around = pad(picture, 100, border)
    np.testing.assert_array_equal(
        read(picture, border, (top, top + height), (left, left + width)),
        around[100 + top : 100 + top + height, 100 + left : 100 + left + width],
    )


DEVICE_TABLE = """
extern "C" __global__ void convolve(
    const sample*, sample* dst, const float* weights, int height, int width, int, int, int)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < width) dst[x] = border_index(x - REACH, static_cast<int>(weights[0]));
}
"""


@pytest.mark.skipif(compiler.why_not() is not None, reason=str(compiler.why_not()))
@borders
def test_the_device_reads_where_the_host_reads(border, build_cache):
    source = DEVICE_TABLE.replace("REACH", str(REACH))
    rung = Rung("table", "table.cu", source, "Table", "Writes border_index.", "global")
    positions = np.empty((1, 2 * REACH + max(SIZES), 1), np.float32)
    jobs = [Job.of(positions, np.full((1, 1), size, np.float32), border) for size in SIZES]
    shim = Shim(rung, jobs, build_cache)
    for size, job in zip(SIZES, jobs, strict=True):
        np.testing.assert_array_equal(
            shim.run(job).ravel(), source_indices(-REACH, job.width - REACH, size, border)
        )


def pad(picture: NDArray[Any], radius: int, border: str) -> NDArray[Any]:
    """`picture` with `radius` more pixels on every side: (H + 2r, W + 2r, C)."""
    height, width = picture.shape[:2]
    return read(picture, border, (-radius, height + radius), (-radius, width + radius))
