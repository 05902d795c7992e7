"""A rung, or one for each step of a list, as a whole CUDA C++ program, to be compiled with nvcc.

A rung that does a whole list in one launch is one rung. Of any other list each step is a program
of its own in a namespace of its own, with the macros that fit its rung to it; list.cu.j2 hands what
one gives to the next.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.device import Device
from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.core.nonlinear import ORDER, Morphology, Rank
from kernels.core.step import OUTPUT, Correlation, Filter, Length, Step
from kernels.core.verdict import Tolerance
from kernels.cuda.launch import STATIC_SHARED_LIMIT, LaunchStep, plan_steps
from kernels.cuda.listed_run import BLOCK_XY, MAX_GRID_Y
from kernels.oracle.checking import carried_bound
from kernels.rungs.cuda_text import header_parts
from kernels.rungs.headers import Facts, knobs
from kernels.rungs.list_steps import tolerances
from kernels.rungs.operands import Operands
from kernels.rungs.rung import PICTURE, Pass, Rung

if TYPE_CHECKING:
    from jinja2 import Template

Data = dict[str, Any]
HERE = Path(__file__).parent
BETWEEN = header_parts(("blends",))[-1].text + (
    HERE.parent / "cuda" / "between_steps.cu"
).read_text(encoding="utf-8")
MACRO = re.compile(r"^ *# *define (\w+)", re.MULTILINE)
WIDTH = 100  # columns of text
TYPES = {"float32": "float", "int32": "int", "uint32": "unsigned"}
SPECTRA = {"spectrum": ("spectrum",), "spectrum_and_roots": ("spectrum", "roots_of_a_line")}
# What a grid is sized for where no GPU is known; any number gives the same picture.
ASSUMED = Device(
    index=0,
    name="a GPU with 128 multiprocessors",
    compute_capability=(8, 9),
    multiprocessors=128,
    clock_khz=2_000_000,
    shared_bytes_per_block=101_376,
)


def cuda_program(rung: Rung, job: Job, device: Device | None = None) -> str:
    """The source of a .cu file that runs `job` by itself, on one GPU.

    Of job.picture only the shape and the pixel type are in it.

    device  what grids are sized for; None: a GPU of usual size
    Raises CannotRunError with the rung's reason.
    """
    return _rendered([_part(rung, job.but(devices=1), device)], job, device, rung.key)


def cuda_program_of_list(
    ways: Sequence[tuple[Rung, Job]], job: Job, device: Device | None = None
) -> str:
    """`cuda_program` of a list: one step's launches after the other's, and between them float32.

    ways  a rung and its part for each of `job.runs`; of the parts' pictures only the shape counts
    """
    if any(run.blend.is_grey for run in job.runs):
        raise CannotRunError(
            "A grey step is copied where one launch does the whole list alone: "
            "choose list_tiles or list_ring for it."
        )
    parts = []
    for number, ((rung, part), run) in enumerate(zip(ways, job.runs, strict=True), start=1):
        steps = job.steps[run.taken - len(run.steps) : run.taken]
        blended = replace(part, steps=steps, is_rounded=job.is_rounded)
        parts.append(_part(rung, part.but(devices=1), device, f"step_{number}", blended))
    like = Job.of(job.picture, np.ones((1, 1), np.float32))
    whole = {
        **{"name": "steps", "knobs": knobs(like), "pitch": Facts(like)["PITCH"]},
        **{"is_wide": job.is_wide, "wide_from": job.wide_from, "pointwise": _pointwise(job)},
        "headers": "".join(each.text for each in header_parts(())),
        "between": _scoped(BETWEEN) if job.is_wide else "",
    }
    return _rendered(parts, job, device, "steps", whole)


def _rendered(
    parts: list[Data], job: Job, device: Device | None, key: str, whole: Data | None = None
) -> str:
    return _template().render(
        parts=parts,
        job=job,
        device=device or ASSUMED,
        key=key,
        list=whole,
        capability=max(each["rung"].capability for each in parts),
        target=_target([each["rung"] for each in parts]),
        needs_cufft=any(each["transform"] for each in parts),
    )


def _part(
    rung: Rung, job: Job, device: Device | None, name: str = "", blended: Job | None = None
) -> Data:
    """What the template says of a rung's launches for `job`.

    Of one run of a list, its namespace's name and the run with the blend that it has there.
    """
    if reason := rung.why_not_anywhere(job) if device is None else rung.why_not(job, device):
        raise CannotRunError(reason)
    # A display's watchdog would have it cut into many launches; this is to be read.
    device = replace(device or ASSUMED, watchdog=False)
    operands, facts, steps = rung.operands(job), Facts(job), plan_steps(rung, job, device)
    large: dict[str, int] = {}  # dynamic shared memory that has to be requested, by function
    for step in steps:
        function = rung.passes[step.number].function
        if step.shared_bytes > STATIC_SHARED_LIMIT:
            large[function] = max(step.shared_bytes, large.get(function, 0))
    shapes = [each.shape for each in rung.passes if each.library and each.shape]
    checked, blend = blended or job, blended.steps[-1].blend if blended else OUTPUT
    errors = tolerances(job) if rung.filter == "list" else (rung.tolerance(job),)
    headers, source = rung.headers, rung.source + (BETWEEN if blend != OUTPUT else "")
    if name:
        headers, source = _scoped(headers), _scoped(source)
    own_knobs = {**operands.knobs, **rung.defines(job)}
    return {
        "name": name,
        "scope": name and f"::{name}",
        "rung": rung,
        "job": job,
        "words": _words(job),
        "blend": blend,
        "is_blended": blend != OUTPUT,
        "is_stored": bool(name) or job.is_rounded,
        **_checked(checked),
        "headers": headers,
        "source": source,
        "macros": sorted({*own_knobs, *MACRO.findall(headers + source)} - {"DYNAMIC_SHARED"}),
        "facts": facts,
        "knobs": own_knobs,
        "operands": operands,
        "spectra": SPECTRA.get(rung.weights),
        "errors": _errors(checked, errors),
        "transform": [facts.value(expression) for expression in shapes[0]] if shapes else None,
        "large": large,
        "pointwise": _pointwise(job),
        "launches": [_launch(rung.passes[each.number], each, operands) for each in steps],
    }


def _target(rungs: list[Rung]) -> str:
    """Nvcc's options for what it is compiled for: that of a rung for one architecture, or here.

    `-arch=sm_90a` alone asks nvcc 13.0 for PTX of compute_90 as well.
    """
    only = next(filter(None, (rung.architecture for rung in rungs)), "")
    return f"-arch={only.replace('sm', 'compute')} -code={only}" if only else "-arch=native"


def _scoped(source: str) -> str:
    """A source for a namespace: names without C's linkage, which knows none."""
    return source.replace('extern "C" ', "")


def _pointwise(job: Job) -> str:
    across = -(-job.width * job.channels // BLOCK_XY[0])
    return f"dim3({across}, {min(job.height, MAX_GRID_Y)}), dim3({BLOCK_XY[0]}, {BLOCK_XY[1]}), 0"


def array(name: str, values: NDArray[Any]) -> str:
    """The definition of `name`, all numbers of `values` in order, of one of TYPES."""
    kind = TYPES[str(values.dtype)]
    rows = values.reshape(-1, values.shape[-1] if values.ndim > 1 else values.size)
    wrap = partial(textwrap.fill, width=WIDTH, initial_indent="    ", subsequent_indent="    ")
    body = "\n".join(wrap(", ".join(map(number, row)) + ",") for row in rows)
    return f"const {kind} {name}[{values.size}] = {{\n{body}\n}};\n"


def number(value: Any) -> str:
    """The shortest literal that is `value` again: "0.0625f", "1e-05f", "-17", "17u"."""
    if isinstance(value, np.integer):
        return f"{int(value)}{'u' if isinstance(value, np.unsignedinteger) else ''}"
    text = str(value)
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _words(job: Job) -> str:
    """What people call its filters, with their sizes."""

    def word(step: Step) -> str:
        chosen, size = step.filter, f"{step.filter.ksize}x{step.filter.ksize}"
        if not isinstance(chosen, Correlation):
            return f"{step.title}, a {size} window"
        offset = f" and an offset of {chosen.offset:g}" if chosen.offset else ""
        return f"{step.title}, {size} weights{offset}"

    return "; then ".join(word(each) for each in job.steps if not each.is_length)


def _checked(job: Job) -> Data:
    """Its filters, each a Filtering of check.cu.j2, and the weights of all."""
    filters: list[str] = []
    weights: list[NDArray[np.float32]] = []
    for run in job.runs:
        chosen: list[Any] = [step.filter for step in run.steps]
        if isinstance(chosen[0], Morphology) and chosen[0].kind in ORDER:
            chosen = [*chosen[0].ranks]
        mix, threshold, _, is_grey, _ = run.blend
        begins, first = len(filters), sum(map(len, weights))
        for each in chosen:
            words = f"{_what(each, first)}, {begins}"
            filters.append(f"{words}, false, false, 0.0, 1.0")
            weights += [each.weights.ravel()] if isinstance(each, Correlation) else []
        filters[-1] = f"{words}, true, {_word(is_grey)}, {threshold!r}, {mix!r}"
    return {"filters": filters, "weights": np.concatenate(weights or [np.zeros(1, np.float32)])}


def _what(chosen: Filter, first: int) -> str:
    """The fields of a Filtering that are the filter's own; first: its weights begin there."""
    match chosen:
        case Correlation():
            return f"SUMS, {chosen.ksize}, {first}, {chosen.offset!r}, 0.0, false"
        case Length():
            return "LENGTHS, 3, 0, 0.0, 0.0, false"
        case Rank(ksize=ksize, percentile=rank, is_disk=is_disk):
            return f"RANKS, {ksize}, 0, 0.0, {float(rank)!r}, {_word(is_disk)}"
    raise CannotRunError(
        "A program checks itself: as yet weighted sums, gradients, percentiles, openings and "
        "closings, and nothing else can be copied as one."
    )


def _word(value: bool) -> str:
    return str(value).lower()


def _errors(job: Job, errors: Sequence[Tolerance]) -> tuple[float, float]:
    """`checking.carried_bound` over the largest sample, as a line: its slope, and at zero."""
    kind = job.picture.dtype
    white = 1.0 if kind.kind == "f" else float(np.iinfo(kind).max)
    at_zero, at_white = (
        carried_bound(job.but(picture=np.full((1, 1, job.channels), value, kind)), errors)
        for value in (0.0, white)
    )
    if not np.isfinite(at_white):
        raise CannotRunError("With weights this large float32 sums may overflow.")
    return (at_white - at_zero) / white, at_zero


def _launch(each: Pass, step: LaunchStep, operands: Operands) -> tuple[Pass, LaunchStep, str]:
    """A pass, its launch, and the arrays that it takes."""
    names = ["source" if name == PICTURE else name for name in (each.reads, *each.also_reads)]
    names.append("target" if each.writes == PICTURE else each.writes)
    if not each.library:
        names += [f"weights_{number}" for number in range(len(operands.arguments))]
    return each, step, ", ".join(f"arrays.{name}" for name in names)


@cache
def _template() -> Template:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    how: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True}
    made = Environment(loader=FileSystemLoader(HERE), undefined=StrictUndefined, **how)
    made.filters |= {"ascii": _ascii, "any": any}
    made.globals |= {"array": array, "file": lambda name: (HERE / f"{name}.cu").read_text("utf-8")}
    return made.get_template("program.cu.j2")


def _ascii(text: str) -> str:
    return text.replace("×", "x").replace("²", "^2").encode("ascii", "replace").decode()
