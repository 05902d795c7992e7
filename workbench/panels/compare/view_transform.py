"""The place of a picture in a view: pure functions of scale and centre, in device pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from workbench.imaging.display import Display
from workbench.imaging.pictures import Region

Size = tuple[int, int]
Point = tuple[float, float]

MIN_SCALE, MAX_SCALE = 0.01, 128.0
_STEPS_PER_DOUBLING = 2


@dataclass(frozen=True, slots=True)
class ViewTransform:
    """A map between picture and view of any size, shared by linked views."""

    scale: float  # device pixels per picture pixel
    centre: Point  # the point of the picture, in its pixels, at the middle of the view

    def origin(self, view: Size) -> tuple[int, int]:
        """The picture's top left corner in the view, on a whole device pixel: 1:1 is exact."""
        return tuple(  # type: ignore[return-value]
            round(extent / 2 - at * self.scale)
            for extent, at in zip(view, self.centre, strict=True)
        )

    def to_view(self, point: Point, view: Size) -> Point:
        """Map a point of the picture into the view."""
        left, top = self.origin(view)
        return left + point[0] * self.scale, top + point[1] * self.scale

    def to_picture(self, point: Point, view: Size) -> Point:
        """Map a place in the view to a point of the picture."""
        left, top = self.origin(view)
        return (point[0] - left) / self.scale, (point[1] - top) / self.scale

    def visible(self, view: Size) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the view, in pixels of the picture."""
        return *self.to_picture((0, 0), view), *self.to_picture(view, view)

    def zoomed_at(
        self, point: Point, factor: float, view: Size, max_scale: float = MAX_SCALE
    ) -> ViewTransform:
        """Scale by `factor`, within limits, around `point` of the view."""
        scale = min(max(self.scale * factor, MIN_SCALE), max_scale)
        shift = 1 / self.scale - 1 / scale
        x, y = self.centre
        centre = x + (point[0] - view[0] / 2) * shift, y + (point[1] - view[1] / 2) * shift
        return ViewTransform(scale, centre)

    def stepped(self, direction: int, max_scale: float = MAX_SCALE) -> ViewTransform:
        """Step to the next larger (direction 1) or smaller (-1) round scale, such as 100 %."""
        steps = _STEPS_PER_DOUBLING * math.log2(self.scale) * direction
        scale = 2 ** (direction * (math.floor(steps + 1e-6) + 1) / _STEPS_PER_DOUBLING)
        return replace(self, scale=min(max(scale, MIN_SCALE), max_scale))

    def panned(self, dx: float, dy: float) -> ViewTransform:
        """Move the picture by (dx, dy) device pixels."""
        x, y = self.centre
        return replace(self, centre=(x - dx / self.scale, y - dy / self.scale))

    def showing(self, area: tuple[float, float, float, float], view: Size) -> ViewTransform:
        """Move as little as shows `area`: left, top, right, bottom; or its middle if too large."""
        centre = []
        for at, low, high, extent in zip(self.centre, area[:2], area[2:], view, strict=True):
            half = extent / self.scale / 2
            fits = high - low <= 2 * half
            centre.append(min(max(at, high - half), low + half) if fits else (low + high) / 2)
        return replace(self, centre=(centre[0], centre[1]))

    def kept_within(self, picture: Size) -> ViewTransform:
        """Keep the view's middle on the picture, which thus stays in sight."""
        x, y = self.centre
        return replace(self, centre=(min(max(x, 0.0), picture[0]), min(max(y, 0.0), picture[1])))

    def carried(self, old: Size, new: Size) -> ViewTransform:
        """Keep relative place and scale for a picture of another size."""
        x, y = (at / was * is_ for at, was, is_ in zip(self.centre, old, new, strict=True))
        return replace(self, centre=(x, y))


def fit(picture: Size, view: Size) -> ViewTransform:
    """Show the whole picture, as large as the view allows."""
    scale = min(view[0] / picture[0], view[1] / picture[1])
    return ViewTransform(min(max(scale, 1e-6), MAX_SCALE), (picture[0] / 2, picture[1] / 2))


def places_across(count: int, room: Size, picture: Size, gap: int) -> int:
    """Choose how many of `count` views stand in a row of `room`, for the largest pictures."""

    def scale(across: int) -> float:
        down = -(-count // across)
        width = (room[0] - gap * (across - 1)) / across
        height = (room[1] - gap * (down - 1)) / down
        return min(width / picture[0], height / picture[1])

    return max(range(count, 0, -1), key=scale, default=1)


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """A region at full resolution: samples, (H, W, C), and display."""

    region: Region
    step: float  # its pixels, across and down, for one of the copy
    samples: NDArray[Any]
    display: Display
    caption: str = ""  # of the view; empty: it keeps its own

    def transform(self, of_copy: ViewTransform) -> ViewTransform:
        """The transform of the patch where `of_copy` shows the copy."""
        x, y = of_copy.centre
        corner = self.region.columns[0], self.region.rows[0]
        centre = x * self.step - corner[0], y * self.step - corner[1]
        return ViewTransform(of_copy.scale / self.step, centre)

    def pixel_at(self, at: Point) -> tuple[int, int] | None:
        """Find the whole picture's pixel (x, y) at a point of the copy; None beside the patch."""
        x, y = (int(each * self.step) for each in at)
        (top, bottom), (left, right) = self.region.rows, self.region.columns
        return (x, y) if left <= x < right and top <= y < bottom else None

    def values(self, pixel: tuple[int, int]) -> NDArray[Any]:
        """Samples, (C,), of a pixel (x, y) of the whole picture."""
        x, y = pixel[0] - self.region.columns[0], pixel[1] - self.region.rows[0]
        found: NDArray[Any] = self.samples[y, x]
        return found
