"""The way of a sample through the list: its value before all steps and after each, as links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from kernels.core.errors import KernelError
from kernels.core.job import Result
from kernels.engine.step_list import blended, divided
from kernels.oracle.explain import AT_ONCE, value_at
from kernels.oracle.reference import to_pixel_type
from workbench.base.numbers import GAP
from workbench.model import intents
from workbench.model.state import State
from workbench.model.step_files import select
from workbench.panels.pixel.pixel_words import minus

Stop = tuple[int, Any]  # a step, from 0, or -1 for the original; the sample after it, None: unknown


def stops_of(state: State, result: Result | None, x: int, y: int, channel: int) -> Iterator[Stop]:
    """Yield the original's sample, and that after each step that is on, also behind the selected.

    result  of this list or one that begins alike: what it does not know is the reference's
    """
    if (job := intents.job_for(state)) is None:
        return
    yield -1, job.picture[y, x, channel]
    # What ran alone may be rounded, as it is nowhere within a list.
    is_kept = job.is_rounded or job.pixel_type == "float32"
    ran = (result.steps or (result,) * is_kept) if result else ()
    blends = (run.blend for run in job.runs)
    known = iter(ran[: intents.runs_known(job, result)])
    for number, step in enumerate(state.steps):
        found: Any = None
        if not step.is_on:
            continue
        if number <= len(state.before) and (run := next(known, None)):
            place = slice(y, y + 1), slice(x, x + 1)
            blend, filters_alpha = next(blends), run.job.filters_alpha
            before, after = run.job.picture[place], run.picture[place]
            found = blended(blend, before, after, filters_alpha=filters_alpha)
            found = divided(job.opaque, found)
        with suppress(KernelError):  # of a step behind the selected one
            found = _exact_after(state, number, y, x) if found is None else found
        yield number, None if found is None else found[0, 0, channel]


def _exact_after(state: State, number: int, y: int, x: int) -> Any:
    """What the reference gives after a step, (1, 1, C); None: it takes too long beside others."""
    at = intents.job_for(replace(state, **select(state.steps, number)), is_newest=False)
    assert at is not None
    found = value_at(replace(at, region=None), y, x, AT_ONCE // len(state.steps))
    return found if found is None or not at.is_rounded else to_pixel_type(found, at.picture.dtype)


def links(state: State, stops: Sequence[Stop], shown: int) -> str:
    """Write the stops as links in rich text, the `shown` one bold."""
    texts = []
    for number, value in stops:
        title = f"{number + 1}{GAP}{intents.step_in_words(state.steps[number])}"
        written = "…" if value is None else minus(f"{value + 0.0:.7g}")  # + 0.0: no -0
        link = f'<a href="{number}">{title if number >= 0 else "Original"}{GAP}{written}</a>'
        texts.append(f"<b>{link}</b>" if number == shown else link)
    return " ▸ ".join(texts)
