"""A part of a picture at full resolution, which a view paints over the reduced copy it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from workbench.imaging.display import Display
from workbench.model.large_source import Region
from workbench.panels.compare.view_transform import Point, ViewTransform


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A region with its samples, (H, W, C), and how it is displayed.

    step     so many of its pixels, across and down, are one of the copy
    caption  of the view; empty: it keeps its own
    """

    region: Region
    step: float
    samples: NDArray[Any]
    display: Display
    caption: str = ""

    def transform(self, of_copy: ViewTransform) -> ViewTransform:
        """Return what shows the patch at its place where `of_copy` shows the copy."""
        x, y = of_copy.centre
        corner = self.region.columns[0], self.region.rows[0]
        centre = x * self.step - corner[0], y * self.step - corner[1]
        return ViewTransform(of_copy.scale / self.step, centre)

    def pixel_at(self, at: Point) -> tuple[int, int] | None:
        """Return the pixel (x, y) of the whole picture at a point of the copy; None beside it."""
        x, y = (int(each * self.step) for each in at)
        (top, bottom), (left, right) = self.region.rows, self.region.columns
        return (x, y) if left <= x < right and top <= y < bottom else None

    def values(self, pixel: tuple[int, int]) -> NDArray[Any]:
        """Return the samples, (C,), of a pixel (x, y) of the whole picture."""
        x, y = pixel[0] - self.region.columns[0], pixel[1] - self.region.rows[0]
        found: NDArray[Any] = self.samples[y, x]
        return found
