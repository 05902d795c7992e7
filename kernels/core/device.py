"""Facts about a GPU, or the sentence that says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Device:
    """Facts about one GPU, in the driver's words; memory in bytes."""

    index: int
    name: str
    compute_capability: tuple[int, int]  # (9, 0) for sm_90
    multiprocessors: int
    clock_khz: int
    shared_bytes_per_block: int
    max_threads_per_block: int = 1024
    max_block_xy: tuple[int, int] = (1024, 1024)
    watchdog: bool = False  # a display hangs on it: a launch of some seconds would be killed
    count: int = 1
    l2_bytes: int = 0  # here and below, 0: not known
    memory_bytes: int = 0
    driver_version: int = 0
    runtime_version: int = 0
    nvrtc_version: int = 0  # of the compiler that CuPy has
    max_threads_per_multiprocessor: int = 0
    shared_bytes_per_multiprocessor: int = 0
    registers_per_multiprocessor: int = 0
    max_blocks_per_multiprocessor: int = 0
    reserved_shared_bytes_per_block: int = 0
    uuid: str = ""  # "GPU-…", the same in all processes; "" where nothing is there to share

    def why_no_block(self, block_xy: tuple[int, int]) -> str | None:
        """The reason why a block of that shape cannot be launched here; None if it can."""
        (x, y), (most_x, most_y) = block_xy, self.max_block_xy
        if 1 <= x <= most_x and 1 <= y <= most_y and x * y <= self.max_threads_per_block:
            return None
        return (
            f"A block of {x}×{y} = {x * y} threads cannot be launched: {self.name} allows "
            f"1 to {self.max_threads_per_block}, at most {most_x} across and {most_y} down."
        )


@dataclass(frozen=True, slots=True)
class NoDevice:
    """The reason why there is no GPU, in a sentence, and what would mend that."""

    reason: str
    remedy: str = ""
    is_lost: bool = False  # there was one, and it failed


def cuda_version(number: int) -> str:
    """Format a version of CUDA: 13020 as "13.2"."""
    return f"{number // 1000}.{number % 1000 // 10}"


# How halo rows reach a GPU: straight from another one, or through the computer's memory, as the
# driver allows nothing else for one of them; "": there are none.
HaloPath = Literal["peer", "host", ""]


@dataclass(frozen=True, slots=True)
class DeviceShare:
    """One GPU's part of a job, and the medians of its times, by its own events."""

    index: int  # the GPU's number
    name: str
    rows: tuple[int, int]  # (first, end) of the output that it wrote
    total_ms: float  # from its start to its end: bringing the halo and filtering
    halo_ms: float  # of that bringing the halo rows from the other GPUs
    halo_rows: int  # how many they are
    halo_path: HaloPath


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The warps of a kernel on one multiprocessor."""

    blocks: int  # resident on one multiprocessor, from the driver's own query
    warps: int  # resident
    most: int  # that the device can hold; 0: not known
    limit: str  # one sentence: which resource keeps more from fitting

    @property
    def share(self) -> float:
        """Resident warps over those the device can hold: 0 to 1; 0 where not known."""
        return self.warps / self.most if self.most else 0.0
