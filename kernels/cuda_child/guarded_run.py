"""One run in the child: memory poisoned before, red zones and input inspected after it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.errors import OutOfMemoryError
from kernels.core.job import Job
from kernels.core.poison import RED_BYTES
from kernels.cuda_child.child_requests import Phase, Request
from kernels.cuda_on_cpu.shared_run import Bytes, GuardedLayout, KeptMemory, Place, rounded_up
from kernels.rungs.job_facts import Facts
from kernels.rungs.rung import Rung

if TYPE_CHECKING:
    from kernels.cuda_child.cuda_device import CudaDevice


def layout_of(rung: Rung, job: Job, device: Device) -> GuardedLayout:
    """Lay out the memory of a run: every byte is of an array, or of the red zone nearest to it."""
    facts = Facts(job, device)
    shape = (job.height, int(facts["PITCH"]))
    picture_bytes = shape[0] * shape[1] * job.picture.itemsize
    buffers = {name: int(facts.value(size)) for name, size in rung.buffers}
    places, zones, at, before = dict[str, Place](), list[tuple[int, int, str]](), 0, ""
    for name, size in {"source": picture_bytes, "target": picture_bytes, **buffers}.items():
        begin = rounded_up(at + RED_BYTES)
        middle = (at + begin) // 2 if before else at
        zones += [(at, middle, before)] if before else []
        zones.append((middle, begin, name))
        places[name] = (begin, begin + size)
        at, before = begin + size, name
    end = rounded_up(at + RED_BYTES)
    return GuardedLayout(shape, places, (*zones, (at, end, before)), end)


@dataclass(slots=True, eq=False)
class _Room:
    """Memory of this computer for runs that need as much.

    block   goes to the device, and comes back
    before  all of it but the picture as it goes: not locked, so that on most computers no kernel
            reaches it
    filled  the layout and the turn that `before` was filled for
    """

    block: Bytes
    before: Bytes
    filled: tuple[GuardedLayout, int] | None = None


class HostMemory:
    """Memory of this computer for a device's, kept from run to run with all that is in it.

    New memory would cost a fault a page, and to poison it all again a good part of a run.
    """

    def __init__(self, device: CudaDevice) -> None:
        self._device = device
        self._kept = KeptMemory(self._made)

    def filled(self, layout: GuardedLayout, job: Job, turn: int) -> Bytes:
        """The block that a run takes, filled for it."""
        room = self._kept.get(layout.size)
        filled, room.filled = room.filled, None  # until it is filled wholly
        if filled is None or filled[0] != layout:
            layout.fill(room.before, job, turn)
        elif filled[1] != turn:
            layout.turn_over(room.before)
        room.filled = layout, turn
        begin, end = layout.places["source"]
        room.block[:begin], room.block[end:] = room.before[:begin], room.before[end:]
        layout.copy_picture(room.block, job)
        return room.block

    def _made(self, size: int) -> _Room:
        assert isinstance(self._device.facts, Device)
        if size <= self._device.facts.memory_bytes:
            try:
                return _Room(self._device.host_memory(size), np.empty(size, np.uint8))
            except MemoryError:
                pass
        raise OutOfMemoryError(
            f"It takes {size / (1 << 30):,.3g} GiB for the picture, the answer and the kernel's "
            "own buffers, which there is no room for; use a smaller picture, or smaller buffers."
        )


def guarded_run(
    device: CudaDevice,
    request: Request,
    picture: NDArray[Any],
    answer: NDArray[Any],
    host: HostMemory,
    enter: Callable[[Phase], None],
    taking_turn: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> dict[str, Any]:
    """Run a kernel once into `answer`, (H, W, C); return its time, and a rule that it broke.

    enter        called with each phase as it begins
    taking_turn  reserves the device
    """
    assert isinstance(device.facts, Device)
    rung, job, turn = request.rung, request.job(picture), request.turn
    layout = layout_of(rung, job, device.facts)
    block = host.filled(layout, job, turn)
    with taking_turn():
        ms = device.launch(rung, job, request.rows, block, layout.places, request.cache, enter)
    answer.reshape(job.height, -1)[:] = layout.samples(block, "target", job)
    return {"ms": ms, "broken_rule": layout.broken_rule(block, job, turn)}
