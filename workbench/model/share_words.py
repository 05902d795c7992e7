"""Words for what each of several GPUs did for one job."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.core.device_share import DeviceShare
from workbench.base import numbers

PATHS = {"peer": "copied from GPU to GPU", "host": "copied through the computer's memory"}


def shares_in_words(shares: Sequence[DeviceShare]) -> str:
    """Return "GPU 0: 13.2 µs, GPU 1: 13.4 µs; halo of up to 2 rows in up to 4.1 µs, …"."""
    times = ", ".join(f"GPU {each.index}: {numbers.duration(each.total_ms)}" for each in shares)
    halo = halo_in_words(shares)
    return f"{times}; {halo}" if halo else times


def halo_in_words(shares: Sequence[DeviceShare]) -> str:
    """Return "halo of up to 4 rows in 4.1 µs, copied from GPU to GPU"; empty: there is none."""
    largest = max(shares, key=lambda each: each.halo_ms, default=None)
    if largest is None or not largest.halo_rows:
        return ""
    rows = max(each.halo_rows for each in shares)
    path = "host" if any(each.halo_path == "host" for each in shares) else "peer"
    return (
        f"halo of up to {rows} row{'' if rows == 1 else 's'} in up to "
        f"{numbers.duration(largest.halo_ms)}, {PATHS[path]}"
    )
