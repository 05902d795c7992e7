"""The place of a picture in a view: pure functions of scale and centre, in device pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

Size = tuple[int, int]
Point = tuple[float, float]

MIN_SCALE, MAX_SCALE = 0.01, 128.0
_STEPS_PER_DOUBLING = 2


@dataclass(frozen=True, slots=True)
class ViewTransform:
    """A map between picture and view, whatever the view's size: what linked views share.

    scale   device pixels per picture pixel
    centre  the point of the picture, in its pixels, at the middle of the view
    """

    scale: float
    centre: Point

    def origin(self, view: Size) -> tuple[int, int]:
        """Return where the picture's top left corner is in a view of this size.

        It lies on a whole device pixel, so that 1:1 is exact.
        """
        return tuple(  # type: ignore[return-value]
            round(extent / 2 - at * self.scale)
            for extent, at in zip(view, self.centre, strict=True)
        )

    def to_view(self, point: Point, view: Size) -> Point:
        """Return the place in the view of a point of the picture."""
        left, top = self.origin(view)
        return left + point[0] * self.scale, top + point[1] * self.scale

    def to_picture(self, point: Point, view: Size) -> Point:
        """Return the point of the picture at a place in the view."""
        left, top = self.origin(view)
        return (point[0] - left) / self.scale, (point[1] - top) / self.scale

    def zoomed_at(
        self, point: Point, factor: float, view: Size, max_scale: float = MAX_SCALE
    ) -> ViewTransform:
        """Return it scaled by `factor`, within limits, around `point` of the view."""
        scale = min(max(self.scale * factor, MIN_SCALE), max_scale)
        shift = 1 / self.scale - 1 / scale
        x, y = self.centre
        centre = x + (point[0] - view[0] / 2) * shift, y + (point[1] - view[1] / 2) * shift
        return ViewTransform(scale, centre)

    def stepped(self, direction: int, max_scale: float = MAX_SCALE) -> ViewTransform:
        """Return it at the next larger (direction 1) or smaller (-1) round scale.

        100 % is one of the round scales.
        """
        steps = _STEPS_PER_DOUBLING * math.log2(self.scale) * direction
        scale = 2 ** (direction * (math.floor(steps + 1e-6) + 1) / _STEPS_PER_DOUBLING)
        return replace(self, scale=min(max(scale, MIN_SCALE), max_scale))

    def panned(self, dx: float, dy: float) -> ViewTransform:
        """Return it with the picture moved by (dx, dy) device pixels."""
        x, y = self.centre
        return replace(self, centre=(x - dx / self.scale, y - dy / self.scale))

    def showing(self, area: tuple[float, float, float, float], view: Size) -> ViewTransform:
        """Return it moved no further than it takes to show `area`: left, top, right, bottom.

        Of what is larger than the view it shows the middle.
        """
        centre = []
        for at, low, high, extent in zip(self.centre, area[:2], area[2:], view, strict=True):
            half = extent / self.scale / 2
            fits = high - low <= 2 * half
            centre.append(min(max(at, high - half), low + half) if fits else (low + high) / 2)
        return replace(self, centre=(centre[0], centre[1]))

    def kept_within(self, picture: Size) -> ViewTransform:
        """Return it with the view's middle on the picture, which thus stays in sight."""
        x, y = self.centre
        return replace(self, centre=(min(max(x, 0.0), picture[0]), min(max(y, 0.0), picture[1])))

    def carried(self, old: Size, new: Size) -> ViewTransform:
        """Return it at the same relative place of a picture of another size, as large as it was."""
        x, y = (at / was * is_ for at, was, is_ in zip(self.centre, old, new, strict=True))
        return replace(self, centre=(x, y))


def fit(picture: Size, view: Size) -> ViewTransform:
    """Return the transform that shows the whole picture, as large as the view allows."""
    scale = min(view[0] / picture[0], view[1] / picture[1])
    return ViewTransform(min(max(scale, 1e-6), MAX_SCALE), (picture[0] / 2, picture[1] / 2))


def places_across(count: int, room: Size, picture: Size, gap: int) -> int:
    """Return how many of `count` views stand in a row so that their pictures are largest.

    room  of all of them; `gap` is between two
    """

    def scale(across: int) -> float:
        down = -(-count // across)
        width = (room[0] - gap * (across - 1)) / across
        height = (room[1] - gap * (down - 1)) / down
        return min(width / picture[0], height / picture[1])

    return max(range(count, 0, -1), key=scale, default=1)
