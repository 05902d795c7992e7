"""Reasons why cells cannot be measured here, as far as they can be told without pixels."""

from __future__ import annotations

from kernels.core.device import Device
from kernels.core.errors import CannotRunError, DeviceLostError, KernelError
from kernels.engine.engine import Engine
from kernels.engine.own_kernel import UNTIMED
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.cell import Cell
from kernels.sweeps.cell_jobs import NO_TEXTS, Texts, stand_in_job
from kernels.sweeps.plan import NOT_READ


def refusal(engine: Engine, cell: Cell, texts: Texts = NO_TEXTS) -> str | None:
    """Return why `cell` cannot be measured here, or None."""
    if is_own(cell.implementation) and (reason := _why_no_own(engine, cell, texts)):
        return reason
    try:
        return engine.why_not(stand_in_job(cell, texts))
    except KernelError as error:
        return str(error)


def refuse(engine: Engine, cell: Cell, texts: Texts) -> None:
    """Raise what the engine would, before a picture is made for `cell`.

    That is DeviceLostError or CannotRunError, or BadJobError for what makes no sense.
    """
    job = stand_in_job(cell, texts)
    if is_own(cell.implementation):
        if engine.lost:
            raise DeviceLostError(engine.lost)
        if reason := refusal(engine, cell, texts):
            raise CannotRunError(reason)
    elif engine.why_not(job):
        next(engine.filtering(job))


def _why_no_own(engine: Engine, cell: Cell, texts: Texts) -> str | None:
    """Return why a kernel of the user's own, whatever is in it, has no time here, or None."""
    key = cell.implementation
    if cell.text_sha256 not in texts:
        return NOT_READ.format(key=key)
    return None if isinstance(engine.device, Device) else UNTIMED.format(key=key)
