"""The memory that a picture will take, from its header, before any of it is asked for."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.base import numbers
from workbench.base.memory import memory_available_bytes, memory_there_bytes
from workbench.files.picture_errors import LargePictureError, TooLargeError
from workbench.imaging.display_mapping import shown_bytes

RESULTS = 2  # the one in view, and the one being made
SHOWN = 3  # the picture, the result in view, and the one that comes next
# What the modes take beside them, in bytes per pixel: a difference or mismatches in colour, with
# the averages; and while mismatches are worked out, however many there are, what was found before,
# marks, and what is being painted.
IN_COLOUR, WORKED_OUT = 16 / 3, 10


@dataclass(frozen=True, slots=True)
class Need:
    """The memory that a picture takes, in bytes."""

    name: str
    width: int
    height: int
    channels: int
    samples: int  # as they lie in memory
    decoding: int  # the most that is held at once until they do, those samples included

    @property
    def to_filter(self) -> int:
        """Return the bytes to open it, then to filter it."""
        return max(self.decoding, self.samples * (1 + RESULTS))

    @property
    def to_show(self) -> int:
        """Return the bytes that working on it in the window takes, in whichever mode."""
        shown = SHOWN * shown_bytes(self.height, self.width, self.channels)
        modes = round(self.height * self.width * (IN_COLOUR + WORKED_OUT))
        return max(self.decoding, self.samples * (1 + RESULTS) + shown + modes)


def is_large(need: Need, free: int | None = None) -> bool:
    """True if a picture takes so much that it is not opened just like that.

    free  bytes of memory; None: to be found out
    """
    free = memory_available_bytes() if free is None else free
    return need.to_show > free // 2


def check(need: Need, *, ask: bool, max_bytes: int | None = None) -> None:
    """Raise TooLargeError where the picture cannot be worked on as a whole.

    ask        raise LargePictureError, too, where it is so large that the user is to be asked first
    max_bytes  that filtering it may take, if fewer than are free
    """
    free = memory_available_bytes()
    size = f"{need.width:,}×{need.height:,} pixels"
    allowed = free if max_bytes is None else min(free, max_bytes)
    if need.to_filter > allowed:
        raise TooLargeError(
            f"{need.name} says it is {size} large; working on it takes about "
            f"{numbers.byte_count(need.to_filter)} of memory and {numbers.byte_count(allowed)} are "
            f"{'free' if allowed == free else 'allowed'}",
            "choose a smaller picture, or have `workbench apply` filter it from TIFF to TIFF, in "
            "strips.",
            for_now=need.to_filter <= (memory_there_bytes() if max_bytes is None else max_bytes),
        )
    if ask and is_large(need, free):
        doubt = "" if need.to_show <= free else " That may be too little: save your work first."
        raise LargePictureError(
            f"{need.name} is large, {size}: working on it takes about "
            f"{numbers.byte_count(need.to_show)} of memory, and {numbers.byte_count(free)} are "
            f"free.{doubt}"
        )
