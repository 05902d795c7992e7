"""The instructions that a kernel's text becomes."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda.listings import Kind, Row, listing_of
from kernels.cuda.nvrtc import Compiled
from kernels.cuda_child.child_endings import RunEndedError
from kernels.cuda_child.compile_apart import Compilation, compilation_of, compiling_apart
from kernels.rungs.rung import Rung
from workbench.session.kernel_trial import KernelText, Refused, rung_of
from workbench.session.ptx import architecture_of

REMEMBERED = 8


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A text whose instructions are to be shown."""

    asked: KernelText
    kind: Kind


@dataclass(frozen=True, slots=True)
class KernelCode:
    """Instructions, ready to show."""

    rung: Rung
    compiled: Compiled
    architecture: int
    rows: tuple[Row, ...]


class CodeReader:
    """A compiler of texts to look at, which remembers the last few; for one thread."""

    def __init__(self) -> None:
        self._made: dict[Compilation, Compiled] = {}

    def reading(self, request: CodeRequest) -> Iterator[KernelCode | Refused | None]:
        """Yield the instructions of a text, or why there are none."""
        asked = request.asked
        rung = rung_of(asked, needs_compiler=False)
        if isinstance(rung, Refused):
            yield rung
            return
        try:
            yield (yield from self._reading(request, rung))
        except RunEndedError as error:
            yield Refused(str(error), error.line or 0)
        except CompileFailedError as error:
            yield Refused(str(error), is_ours=True)

    def _reading(
        self, request: CodeRequest, rung: Rung
    ) -> Generator[None, None, KernelCode | Refused]:
        job, architecture = request.asked.job, architecture_of(request.asked.device)
        if reason := rung.why_not_anywhere(job):
            return Refused(reason)
        compiled = yield from self._compiling(rung, job, architecture)
        listing = listing_of(compiled, request.kind)
        return KernelCode(rung, compiled, architecture, tuple(listing))

    def _compiling(
        self, rung: Rung, job: Job, architecture: int
    ) -> Generator[None, None, Compiled]:
        asked = compilation_of(rung, job, architecture)
        found = self._made.pop(asked, None)
        if found is None:
            found = yield from compiling_apart(rung, asked)
        self._made[asked] = found  # the last one now
        while len(self._made) > REMEMBERED:
            del self._made[next(iter(self._made))]
        return found
