"""A picture that was filtered in strips in words: one line for a file."""

from __future__ import annotations

from workbench.base import numbers
from workbench.batch.large_filtering import LargeAnswer
from workbench.batch.stage_words import IN_WORDS


def large_in_one_line(large: LargeAnswer) -> str:
    """Return what was filtered in strips: "5×5, opencv: 40 strips in 61.2 s, 26.1 MP/s, ..."."""
    name = f", {large.first.name}" if large.first else ""
    parts = [
        f"{large.strips:,} strip{'' if large.strips == 1 else 's'} in "
        f"{numbers.duration(large.took_s * 1e3)}",
        numbers.pixel_rate(large.megapixels_per_s),
    ]
    if large.resumed:
        parts.insert(0, f"{large.resumed:,} rows were finished before")
    if large.limit is not None:
        parts.append(f"{IN_WORDS[large.limit]} was the limit")
    verdict = f"; {large.check}" if large.check is not None else ""
    return f"{large.job.ksize}×{large.job.ksize}{name}: {', '.join(parts)}{verdict}"
