"""What a sweep holds fixed, taken down when it starts: a chart must go on saying what it shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from kernels import filters
from kernels.engine import Implementation
from kernels.sweep import Dimension
from workbench.commands import machine
from workbench.intents import has_parameter
from workbench.state import Matrix, State


@dataclass(frozen=True, slots=True)
class Conditions:
    """Named like the State's fields where they are those; fit for JSON.

    None  what is varied, what the filter or the implementations do not have, and:
    sigma    the filter's own default for its size
    picture  noise of every size, so that it has no width and height either
    cpu      its name and cores, as of the start of the sweep
    gpu      not known before the first point measured on it
    """

    dimension: Dimension
    filter: str
    ksize: int | None
    sigma: float | None
    amount: float | None
    matrix: Matrix | None
    border: str
    picture: str | None
    width: int | None
    height: int | None
    channels: int
    pixel_type: str
    block_xy: tuple[int, int] | None
    cache: Literal["cold", "warm"] | None
    cpu: str | None = None
    gpu: str | None = None


def conditions_of(
    state: State, dimension: Dimension, implementations: Iterable[Implementation]
) -> Conditions:
    """What a sweep along `dimension` would hold fixed; `state` has a picture."""
    assert state.picture is not None
    chosen = filters.get(state.filter)
    height, width, channels = state.picture.samples.shape
    is_noise = dimension == "image size"
    on_gpu = any(each.kind == "cuda" for each in implementations)
    return Conditions(
        dimension=dimension,
        filter=state.filter,
        ksize=None if dimension == "kernel size" else state.ksize,
        sigma=state.sigma if has_parameter(chosen, "sigma") else None,
        amount=state.amount if has_parameter(chosen, "amount") else None,
        matrix=state.matrix if has_parameter(chosen, "matrix") else None,
        border=state.border,
        picture=None if is_noise else state.picture.name,
        width=None if is_noise else width,
        height=None if is_noise else height,
        channels=channels,
        pixel_type=str(state.picture.samples.dtype),
        block_xy=state.block_xy if on_gpu and dimension != "block shape" else None,
        cache=state.cache if on_gpu else None,
    )


def taken_down(
    state: State, dimension: Dimension, implementations: Iterable[Implementation]
) -> Conditions:
    """The same, and on which computer."""
    return replace(conditions_of(state, dimension, implementations), cpu=machine.cpu())


def held_fixed(conditions: Conditions) -> str:
    """Gaussian blur 5×5, σ 2, border clamp, noise of 3 channels uint8, blocks 32×8, L2 cold."""
    c = conditions
    title = filters.get(c.filter).title
    many = "s" if c.channels > 1 else ""
    samples = f"{c.channels} channel{many} {c.pixel_type}"
    parts = (
        f"{title} {c.ksize}×{c.ksize}" if c.ksize else title,
        f"σ {c.sigma:g}" if c.sigma is not None else "",
        f"amount {c.amount:g}" if c.amount is not None else "",
        f"border {c.border}",
        f"{c.width}×{c.height} pixels of {samples}" if c.width else f"noise of {samples}",
        f"blocks {c.block_xy[0]}×{c.block_xy[1]}" if c.block_xy else "",
        f"L2 {c.cache}" if c.cache else "",
    )
    return ", ".join(part for part in parts if part)


def in_words(conditions: Conditions) -> str:
    """What is held fixed, and below it the machine: a time means nothing without it."""
    computer = " + ".join(part for part in (conditions.gpu, conditions.cpu) if part)
    return f"{held_fixed(conditions)}\n{computer}"


def csv_columns(conditions: Conditions) -> dict[str, object]:
    """Those that stand in every row of `kernels.sweep.write_csv`."""
    takes_sigma = has_parameter(filters.get(conditions.filter), "sigma")
    return {
        "sigma": "automatic" if takes_sigma and conditions.sigma is None else conditions.sigma,
        "amount": conditions.amount,
        "cpu": conditions.cpu,
    }
