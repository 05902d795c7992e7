"""The form in which an implementation on the CPU makes a job ready to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from kernels.core.job import Ran


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job that is ready to be run, any number of times.

    ran        what is called, and on how many threads
    filtering  fills an array like job.picture in steps of some 20 ms, and yields after each the
               share that is done, so that whoever drives it can pause or stop there; the time
               between yields is what is timed
    compiled   whether something was compiled just now, or loaded that was compiled before
    """

    ran: Ran
    filtering: Callable[[NDArray[Any]], Iterator[float]]
    compiled: bool = False
