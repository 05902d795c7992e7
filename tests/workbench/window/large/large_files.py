"""Files of pictures that count as too large for the memory of a window in a test."""

import pytest
import tifffile

from kernels.pictures.generated import noise
from workbench.files import needs

HEIGHT, WIDTH = 500, 640
LITTLE = 900_000  # bytes that are free: less than three times the samples


@pytest.fixture
def little_memory(monkeypatch):
    """So little that `whole()` does not fit; a copy of 1/8 does."""
    monkeypatch.setattr(needs, "memory_available_bytes", lambda: LITTLE)


def whole(pixel_type="uint8"):
    """Return the samples of a picture too large, (H, W, 3)."""
    return noise(HEIGHT, WIDTH, 3, pixel_type)


def plain(path, **how):
    """Write it as one page."""
    tifffile.imwrite(path, whole(), photometric="rgb", **how)
    return path


def pyramid(path, as_subifds):
    """Write it as slide scanners do: with copies at 1/2 and 1/4 beside it, which are grey."""
    tile = {"tile": (64, 64), "photometric": "rgb", "compression": "zlib"}
    with tifffile.TiffWriter(path) as tiff:
        tiff.write(whole(), subifds=2 if as_subifds else 0, **tile)
        for step in (2, 4):
            grey = whole()[::step, ::step] // 2 + 64
            tiff.write(grey, subfiletype=1 if as_subifds else 0, **tile)
    return path
