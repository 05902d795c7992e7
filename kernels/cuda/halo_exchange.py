"""The ways from one GPU's memory to another's, and the copying of halo rows over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kernels.core.device_share import HaloPath
from kernels.core.errors import LaunchRefusedError
from kernels.cuda.gpu import Gpu

ALREADY_ENABLED = 704  # of cudaError: CuPy, or somebody else, has opened this way before
OPENING = "opening the way between two GPUs"


class HaloExchange:
    """Copies rows between GPUs: straight, where the driver allows it."""

    def __init__(self, gpus: Sequence[Gpu]) -> None:
        self._gpus = gpus
        self._paths = {
            (to, source): self._opened(taker, gpus[source])
            for to, taker in enumerate(gpus)
            for source in range(len(gpus))
            if source != to
        }

    def path(self, to: int, source: int) -> HaloPath:
        """Return how rows of GPU `source` reach GPU `to`; "" where those are one."""
        return self._paths.get((to, source), "")

    def copy(self, to: int, source: int, into: Any, rows: Any) -> None:
        """Queue a copy of `rows`, an array on GPU `source`, on the stream of GPU `to`.

        CUDA itself goes through the computer's memory where there is no other way.
        into  an array on GPU `to`, of the same shape; its stream is the current one
        """
        taker, giver = self._gpus[to], self._gpus[source]
        taker.cp.cuda.runtime.memcpyPeerAsync(
            into.data.ptr,
            taker.device.index,
            rows.data.ptr,
            giver.device.index,
            rows.nbytes,
            taker.stream.ptr,
        )

    @staticmethod
    def _opened(taker: Gpu, giver: Gpu) -> HaloPath:
        runtime = taker.cp.cuda.runtime
        try:
            with taker.using(OPENING):
                if not runtime.deviceCanAccessPeer(taker.device.index, giver.device.index):
                    return "host"
                runtime.deviceEnablePeerAccess(giver.device.index)
        except LaunchRefusedError as error:
            is_open = getattr(error.__cause__, "status", None) == ALREADY_ENABLED
            return "peer" if is_open else "host"
        return "peer"
