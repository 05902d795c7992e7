"""The instructions that a kernel's text becomes, and what another version of it differs in."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Literal

from kernels.core.errors import CompileFailedError
from kernels.core.job import Job
from kernels.cuda.listing_changes import Changes, Mark, changes_of
from kernels.cuda.listings import Kind, Row, listing_of
from kernels.cuda.nvrtc import Compiled
from kernels.cuda_child.child_endings import RunEndedError
from kernels.cuda_child.compile_apart import Compilation, compilation_of, compiling_apart
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import own_kernel
from kernels.rungs.rung import Rung, ladder
from workbench.session.kernel_trial import KernelText, Refused, rung_of
from workbench.session.ptx import architecture_of

Against = Literal["nothing", "saved", "rung"]

REMEMBERED = 8
NOT_SAVED = "No other version of it was saved: there is nothing to compare with."
NO_RUNG = "Its header names no rung in after: there is nothing to compare with."
NOT_COMPARED = "Not compared: {reason}"


@dataclass(frozen=True, slots=True)
class CodeRequest:
    """A text whose instructions are to be shown.

    against  the version that it is compared with
    saved    the text of the last save before it; None: there is none
    """

    asked: KernelText
    kind: Kind
    against: Against
    saved: str | None = None


@dataclass(frozen=True, slots=True)
class KernelCode:
    """Instructions, ready to show.

    rows     with what is gone between, where it is compared
    changes  None where it is not, and `remark` says why, if it was asked for
    other    what it is compared with, in words: "at the last save"
    """

    rung: Rung
    compiled: Compiled
    architecture: int
    rows: tuple[tuple[Mark, Row], ...]
    changes: Changes | None = None
    other: str = ""
    remark: str = ""


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
        plain = KernelCode(rung, compiled, architecture, tuple((" ", row) for row in listing))
        if request.against == "nothing":
            return plain
        other, words = _other(request, rung)
        if other is None:
            return _with_remark(plain, words)
        try:
            if reason := other.why_not_anywhere(job):
                return _with_remark(plain, NOT_COMPARED.format(reason=reason))
            before = yield from self._compiling(other, job, architecture)
        except RunEndedError as error:
            return _with_remark(plain, NOT_COMPARED.format(reason=error))
        changes = changes_of(listing_of(before, request.kind), listing)
        return KernelCode(rung, compiled, architecture, changes.rows, changes, words)

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


def _other(request: CodeRequest, rung: Rung) -> tuple[Rung | None, str]:
    """Return what it is compared with, and that in words; or None, and why there is none."""
    if request.against == "rung":
        found = next((each for each in ladder() if each.key == rung.after), None)
        return found, NO_RUNG if found is None else f"in the rung {found.key}"
    if request.saved is None:
        return None, NOT_SAVED
    try:
        return own_kernel(request.asked.name, request.saved), "at the last save"
    except HeaderError as error:
        return None, NOT_COMPARED.format(reason=error)


def _with_remark(code: KernelCode, remark: str) -> KernelCode:
    return KernelCode(code.rung, code.compiled, code.architecture, code.rows, remark=remark)
