"""Words for an access: of what array, which row and column of it, or how far outside."""

from __future__ import annotations

from dataclasses import dataclass

from kernels.core.job import Job

SHARED = "shared memory"
PICTURES = ("the picture", "the answer")
NEAR_NULL = 1 << 16


@dataclass(frozen=True, slots=True)
class Accessed:
    """An access of a thread: to what array, and where in it.

    pitch        samples of a row of a picture
    array        its name in words; empty: none is near
    offset       of the access from the array's begin, in bytes
    size         of the access, in bytes
    array_bytes  of the whole array
    address      as the kernel has it
    """

    job: Job
    pitch: int
    array: str
    offset: int
    size: int
    array_bytes: int
    address: int

    @property
    def element(self) -> str:
        """Return which part of an array that exists is meant."""
        if self.array in PICTURES:
            y, x = self._place
            return f"column {self._pixel(x)} of row {y} of {self.array}"
        if self.array == SHARED and self.size == 4:
            return f"number {self.offset // 4:,} of {self.array}"
        return f"byte {self.offset:,} of {self.array}"

    @property
    def outside(self) -> str:
        """Return what is meant by an access beyond an array, in rows and columns of a picture."""
        if not self.array:
            if self.address < NEAR_NULL:
                return "through a null pointer"
            return "memory far outside of all arrays"
        if self.array in PICTURES:
            return self._outside_picture
        if self.offset < 0:
            return f"{-self.offset:,} bytes before the start of {self.array}"
        return f"byte {self.offset:,} of {self.array}, which has {self.array_bytes:,}"

    @property
    def misaligned(self) -> str:
        """Return what is meant by an access that begins between two numbers."""
        return (
            f"{self.size} bytes at once of {self.array}, {self.offset:,} bytes from its begin: "
            f"that must be a multiple of {self.size}"
        )

    @property
    def _outside_picture(self) -> str:
        y, x = self._place
        if y < 0 or y >= self.job.height:
            has = f", which has {self.job.height}" if y >= 0 else ""
            return f"row {_minus(y)} of {self.array}{has}"
        has = f", which has {self.job.width}" if x >= 0 else ""
        return f"column {self._pixel(x)} of row {y} of {self.array}{has}"

    @property
    def _place(self) -> tuple[int, int]:
        """Return row and sample; what is near the end of a gap stands before the next row."""
        job = self.job
        samples = job.width * job.channels
        y, x = divmod(self.offset // job.picture.itemsize, self.pitch)
        gap = self.pitch - samples
        reach = max(job.reach * job.channels, 1)
        if x >= samples and self.pitch - x <= min(reach, gap - gap // 2):
            return y + 1, x - self.pitch
        return y, x

    def _pixel(self, sample: int) -> str:
        return _minus(sample // self.job.channels)


def _minus(number: int) -> str:
    return str(number).replace("-", "−")
