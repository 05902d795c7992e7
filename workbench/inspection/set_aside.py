"""What was pinned of pictures that are not in view, for the case that they are once more."""

from __future__ import annotations

from typing import NamedTuple

from workbench.state import Picture
from workbench.views.pins import Pin

MOST_BYTES = 256 << 20


class Pins(NamedTuple):
    """against  as `Inspection.against`"""

    pins: tuple[Pin, ...] = ()
    against: int = 0


class SetAside:
    """Holds pictures, too: undo gives back the very one as long as somebody has it.

    most_bytes  of all together; the oldest give way
    """

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: list[tuple[Picture, Pins]] = []  # the newest last

    def put(self, picture: Picture, pins: Pins) -> bool:
        """Keep what was pinned of `picture`; whether it is not too large for that."""
        self._kept.append((picture, pins))
        while sum(map(_bytes, self._kept)) > self._most_bytes:
            self._kept.pop(0)
        return bool(self._kept)

    def take(self, picture: Picture | None) -> Pins:
        """What was pinned of `picture`, which is in view again; no pins where that was nothing."""
        for index, (each, pins) in enumerate(self._kept):
            if picture is not None and each.samples is picture.samples:
                del self._kept[index]
                return pins
        return Pins()

    def forget(self) -> None:
        self._kept.clear()


def _bytes(kept: tuple[Picture, Pins]) -> int:
    picture, (pins, _) = kept
    displays = (pixels.nbytes for pin in pins for pixels in pin.display.pixels)
    return picture.nbytes + sum(pin.samples.nbytes for pin in pins) + sum(displays)
