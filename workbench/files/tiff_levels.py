"""The reduced copies of a picture that lie in its TIFF beside it: a pyramid, as slides have one."""

from __future__ import annotations

from collections.abc import Iterator

import tifffile

MAX_PAGES = 64  # that are looked at; a file with more is a stack
SAME_SHAPE = 0.01  # by so much the factors across and down may differ, beside rounding


def levels_of(tiff: tifffile.TiffFile) -> list[tifffile.TiffPage]:
    """Return the pages that hold the first page's picture smaller, the largest first.

    They are those in its SubIFDs, those that say so of themselves, and those that lie in tiles like
    it and are what a pyramid of tiles would have next.
    """
    first = tiff.pages.first
    found = {page.imagewidth: page for page in _candidates(tiff) if _is_copy(page, first)}
    return [found[width] for width in sorted(found, reverse=True)]


def _candidates(tiff: tifffile.TiffFile) -> Iterator[tifffile.TiffPage]:
    first = tiff.pages.first
    others = tiff.pages[1:] if len(tiff.pages) <= MAX_PAGES else []
    for page in (*(first.pages or ()), *others):
        assert isinstance(page, tifffile.TiffPage)  # as `useframes` is off
        is_next = page.is_tiled and first.is_tiled and _is_whole_part(page, first)
        if page.is_subifd or page.is_reduced or is_next:
            yield page


def _is_whole_part(page: tifffile.TiffPage, first: tifffile.TiffPage) -> bool:
    """Return whether a page is smaller by a whole number."""
    factor = first.imagewidth / page.imagewidth
    return bool(abs(factor - round(factor)) <= factor / page.imagewidth)


def _is_copy(page: tifffile.TiffPage, first: tifffile.TiffPage) -> bool:
    """Return whether a page is, by size and samples, a reduced copy of the first."""
    if (page.samplesperpixel, page.dtype) != (first.samplesperpixel, first.dtype):
        return False
    if min(page.imagewidth, page.imagelength) < 1 or page.imagewidth >= first.imagewidth:
        return False
    across, down = first.imagewidth / page.imagewidth, first.imagelength / page.imagelength
    rounding = max(across / page.imagewidth, down / page.imagelength)
    return bool(abs(across - down) <= SAME_SHAPE * across + rounding)
