"""A rung of the ladder: one `.cu` file that describes itself in its first comment."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from kernels.device import Device, NoDevice
from kernels.job import Job

LADDER = Path(__file__).parent / "ladder"
PRELUDE = LADDER / "prelude.cuh"
LONGEST = 2**31 - 1
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")


@dataclass(frozen=True, slots=True)
class Rung:
    """What one `.cu` file says about itself.

    key           the file's name without its number, "shared": stable, whatever is put in between
    idea          one sentence, shown in the window: what this rung does differently
    after         the rung it changes one thing about
    weights       where the kernel expects them: an argument, or the __constant__ WEIGHTS
    shared_bytes  dynamic shared memory a block, as an expression over the knobs
    passes        CUDA functions to launch, in order
    error_factor  c of `check.error_bound`; the chain is KSIZE², one addition a tap
    """

    key: str
    source: str
    title: str
    idea: str
    weights: Literal["global", "constant"]
    after: str | None = None
    shared_bytes: str = "0"
    passes: tuple[str, ...] = ("convolve",)
    error_factor: float = 1.0
    kind: Literal["cuda"] = "cuda"

    def why_not(self, job: Job, device: Device | NoDevice) -> str | None:
        """The reason this rung cannot run `job` on `device`, for the user; None if it can."""
        if isinstance(device, NoDevice):
            return device.reason
        return (
            device.why_no_block(job.block_xy)
            or _why_too_long(job)
            or self._why_no_shared(job, device)
        )

    def shared_bytes_for(self, job: Job) -> int:
        """Dynamic shared memory a block needs for `job`."""
        return _evaluate(self.shared_bytes, knobs(job))

    def chain(self, job: Job) -> int:
        """n of `check.error_bound`: the longest chain of additions."""
        return job.ksize**2

    def defines(self, job: Job) -> dict[str, str]:
        """The knobs this rung's text mentions, so that others do not make it compile again."""
        mentioned = _mentioned(self.source)
        return {name: str(value) for name, value in knobs(job).items() if name in mentioned}

    @property
    def text(self) -> str:
        """The whole of what is compiled, without the prelude's defaults for editors."""
        return _prelude() + self.source

    def _why_no_shared(self, job: Job, device: Device) -> str | None:
        needed = self.shared_bytes_for(job)
        if needed <= device.shared_bytes_per_block:
            return None
        x, y = job.block_xy
        return (
            f"{self.title} needs {needed / 1024:.1f} KiB of shared memory for a {x}×{y} block at "
            f"size {job.ksize} with {job.channels} channel{'s' if job.channels > 1 else ''}; "
            f"{device.name} has {device.shared_bytes_per_block / 1024:.0f} KiB a block."
        )


@cache
def _prelude() -> str:
    prelude = PRELUDE.read_text(encoding="utf-8")
    start = prelude.index("#ifndef KSIZE")
    end = prelude.index("#endif", start) + len("#endif")
    return prelude[:start] + prelude[end:] + "\n"


@cache
def _mentioned(source: str) -> frozenset[str]:
    return frozenset(IDENTIFIER.findall(_prelude() + source))


def _why_too_long(job: Job) -> str | None:
    """Device code counts the samples of a row, and the rows, in 32 bits."""
    reach = 2 * job.radius * job.channels + max(job.block_xy)
    if max(job.width * job.channels, job.height) + reach <= LONGEST:
        return None
    return (
        f"A picture of {job.width}×{job.height} pixels has more samples in a row than the CUDA "
        "implementations can count; choose a CPU implementation."
    )


def knobs(job: Job) -> dict[str, str | int]:
    """The -D macros that fit a rung to a job, by name; see the prelude for what they mean."""
    return {
        "KSIZE": job.ksize,
        "CHANNELS": job.channels,
        "HAS_ALPHA": int(job.has_alpha),
        "SAMPLE": job.pixel_type,
        "BORDER": job.border.upper(),
        "BLOCK_X": job.block_xy[0],
        "BLOCK_Y": job.block_xy[1],
    }


@cache
def ladder() -> tuple[Rung, ...]:
    """Every rung, naive first.  The folder listing *is* the registry."""
    return tuple(read_rung(path) for path in sorted(LADDER.glob("[0-9][0-9]_*.cu")))


def read_rung(path: Path) -> Rung:
    """Parse the TOML between `/*---` and `---*/`; an unknown field is an error."""
    source = path.read_text(encoding="utf-8")
    opening, _, body = source.partition("---*/")[0].partition("/*---")
    if opening or not body:
        raise ValueError(f"{path.name}: must begin with /*--- TOML ---*/")
    fields = tomllib.loads(body)
    if "passes" in fields:
        fields["passes"] = tuple(fields["passes"])
    return Rung(key=path.stem.partition("_")[2], source=source, **fields)


def _evaluate(expression: str, values: Mapping[str, str | int]) -> int:
    """A header's arithmetic, over the knobs and what the prelude derives from them."""
    radius = int(values["KSIZE"]) // 2
    names = {**values, "RADIUS": radius, "HALO_X": radius * int(values["CHANNELS"])}
    names["HALO_Y"] = radius
    return int(eval(expression, {"__builtins__": {}}, names))  # our own files' text
