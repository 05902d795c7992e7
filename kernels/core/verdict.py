"""Limits to how far an output may be off, and what comparing it with the oracle found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

LIVE_TAPS = 300_000_000  # about a second of the oracle on one core of a laptop
MIN_PERCENT = 0.01  # a smaller share of samples is not told apart from this
NOT_YET_SEARCHED = "checking for races, barriers and bounds …"  # as `Check.unsearched`, meanwhile
# Names of channels, by how many there are.
CHANNELS = {
    1: ("grey",),
    2: ("grey", "alpha"),
    3: ("red", "green", "blue"),
    4: ("red", "green", "blue", "alpha"),
}


def place_words(y: int, x: int, channel: int, count: int) -> str:
    """Words for a sample of a picture of `count` channels: "x 3, y 0, green"."""
    names = CHANNELS.get(count, ())  # none where it is not known how many there are
    name = names[channel] if channel < len(names) else f"channel {channel}"
    return f"x {x}, y {y}" + (f", {name}" if count > 1 else "")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The error that an implementation may make, by how it computes."""

    chain: int  # n of `error_bound`
    factor: float = 1.0  # c
    levels: int = 0  # that integers may be off by, for a library's own rounding
    library: str = ""  # what people call that library


@dataclass(frozen=True, slots=True)
class Limits:
    """The error that samples of one job's answer may have."""

    bound: float  # in sample values, before rounding; infinite where nothing can be said
    most_off: int  # levels that an integer may be off by where its rounding is within the bound
    levels: int = 0  # levels that an integer may be off by in any case


@dataclass(frozen=True, slots=True)
class Check:
    """The outcome of comparing an output with the oracle, and of a bug search."""

    max_error: float  # largest |answer - oracle|, in sample values; the oracle rounded for integers
    worst: tuple[int, int, int]  # (y, x, channel) of max_error
    differing: int  # samples that are not what the oracle, rounded to the pixel type, says
    wrong: int  # samples off by more than they may be
    bound: float  # what float32 arithmetic may be off by, before rounding to integers
    checked: int  # pixels compared
    total: int
    levels: int = 0  # integer levels that were allowed beyond that: see `Tolerance`
    samples: int = 0  # samples compared; 0 in records of before this was counted
    library: str = ""  # whose own rounding was allowed for
    bug: str = ""  # the fault that a run under checks of bounds, races and barriers showed
    unsearched: str = ""  # why there was no such run, or not yet; empty: it took place
    unseen: str = ""  # why no CUDA compiler has compiled the source; empty: one has
    why: str = ""  # a sentence on what a wrong output is instead, or where it is wrong; or unknown

    def with_strip(self, other: Check, row: int = 0) -> Check:
        """Add the check of a part; row: the picture's row that is its first."""
        is_worse = other.max_error > self.max_error or not self.samples
        y, x, channel = other.worst
        whys = {each.why for each in (self, other) if each.wrong}
        return replace(
            self,
            max_error=other.max_error if is_worse else self.max_error,
            worst=(y + row, x, channel) if is_worse else self.worst,
            differing=self.differing + other.differing,
            wrong=self.wrong + other.wrong,
            bound=max(self.bound, other.bound),
            checked=min(self.checked + other.checked, self.total),
            levels=max(self.levels, other.levels),
            samples=self.samples + other.samples,
            library=self.library or other.library,
            why=whys.pop() if len(whys) == 1 else "",
        )

    @property
    def ok(self) -> bool:
        """True if no sample compared is wrong, and no bug was found."""
        return self.wrong == 0 and math.isfinite(self.bound) and not self.bug

    @property
    def is_verified(self) -> bool:
        """True if it is right, and, of a user kernel, a search has found no bug."""
        return self.ok and not self.unsearched

    @property
    def is_full(self) -> bool:
        """True if every pixel was compared."""
        return self.checked == self.total

    @property
    def own_rounding(self) -> str:
        """Words for what a library rounded in its own way, as far as allowed; else empty."""
        if not (self.ok and self.levels and self.differing and self.samples):
            return ""
        percent = max(100 * self.differing / self.samples, MIN_PERCENT)
        rounding = f"{self.library}'s own rounding" if self.library else "its own rounding"
        levels = f"{self.max_error:.0f} level{'s' if self.max_error > 1 else ''}"
        return f"{rounding}: within {levels}, {percent:.2g} % of samples differ"

    @property
    def worst_place(self) -> str:
        """Words for the sample of the largest error."""
        return place_words(*self.worst, self.samples // max(self.checked, 1))

    def __str__(self) -> str:
        if not math.isfinite(self.bound):
            return "not checked: with values this large float32 sums overflow"
        scope = "all pixels" if self.is_full else f"{self.checked:,} of {self.total:,} pixels"
        if self.bug:
            return f"NOT VERIFIED, though right in {scope} checked: {self.bug.removesuffix('.')}"
        if self.own_rounding:
            return f"verified, {self.own_rounding}, checked {scope}"
        if self.ok:
            said = "right, not verified" if self.unsearched else "verified"
            error = f"largest error {self.max_error:.3g}"
            words = (said, f"checked {scope}", error, self.unsearched, self.unseen)
            return ", ".join(filter(None, words))
        samples = f"{self.wrong:,} sample{'s' if self.wrong > 1 else ''}"
        wrong = f"WRONG in {samples}, checked {scope}, largest error {self.max_error:.3g}"
        why = f". {self.why.removesuffix('.')}" if self.why else ""
        return f"{wrong} at {self.worst_place}{why}"
