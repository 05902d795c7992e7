"""Faults to plant in a rung: what the tests must catch, or they prove nothing."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kernels.rung import Rung


@dataclass(frozen=True, slots=True)
class Fault:
    """`wrong` instead of `right`, which stands once in the rung's text or in the prelude."""

    rung: str
    right: str
    wrong: str


FAULTS = {
    "no barrier": Fault("shared", "__syncthreads();", ""),
    "a corner of the halo is not loaded": Fault(
        "shared",
        "if (at < TILE_W * TILE_H)",
        "if (at < TILE_W * TILE_H && !(at % TILE_W < HALO_X && at / TILE_W < HALO_Y))",
    ),
    "the last loads are left out": Fault("shared", "load < LOADS;", "load < LOADS - 1;"),
    "the tile is as wide as the block": Fault("shared", "corner[j * TILE_W", "corner[j * BLOCK_X"),
    "weights are flipped": Fault(
        "global", "weights[j * KSIZE + i]", "weights[KSIZE * KSIZE - 1 - j * KSIZE - i]"
    ),
    "weights are transposed": Fault("constant", "WEIGHTS[j * KSIZE + i]", "WEIGHTS[i * KSIZE + j]"),
    "the last column is left out": Fault("global", "i < KSIZE;", "i < KSIZE - 1;"),
    "taps stand a sample apart": Fault("constant", "(i - RADIUS) * CHANNELS", "(i - RADIUS)"),
    "samples right of the last block": Fault(
        "global", "x >= width * CHANNELS", "x >= (width - 1) * CHANNELS"
    ),
    "alpha is filtered": Fault("global", "return HAS_ALPHA &&", "return false &&"),
    "clamp is one off": Fault("global", "i < 0 ? 0 : size - 1", "i < 0 ? 1 % size : size - 1"),
    "zero is clamp": Fault("global", "BORDER == ZERO) return OUTSIDE", "BORDER == ZERO) return 0"),
    "reflect is one off": Fault("global", "2 * size - 1 - i :", "(2 * size - i) % size :"),
    "mirror doubles the edge": Fault("global", ": period - i", ": period - i - 1"),
    "wrap is one off": Fault("global", "if (i < 0) i += period", "if (i < 0) i += period - 1"),
    "pixels left of the picture are rounded up": Fault(
        "global", "(x >= 0 ? x : x - CHANNELS + 1)", "(x)"
    ),
    "the sum is cut off, not rounded": Fault("global", "rintf(value)", "floorf(value)"),
    "halves are rounded up": Fault("global", "rintf(value)", "floorf(value + 0.5f)"),
    "nothing saturates": Fault(
        "global",
        "fminf(fmaxf(rintf(value), 0.0f), largest)",
        "rintf(value)",
    ),
}

# These may well give the right answer; a sanitizer sees them all the same.
HIDDEN_FAULTS = {
    "reads below the last row": Fault("global", "i < 0 ? 0 : size - 1", "i < 0 ? 0 : size"),
    "writes behind the tile": Fault(
        "shared", "if (at < TILE_W * TILE_H)", "if (at <= TILE_W * TILE_H)"
    ),
    "all threads write one sample": Fault(
        "global",
        "float sum = 0.0f;",
        "float sum = 0.0f; row_of(dst, first_row, width)[0] = to_sample(sum);",
    ),
}


@dataclass(frozen=True)
class BrokenRung(Rung):
    """A rung with one fault, in its own source or in the prelude."""

    fault: Fault = Fault("", "", "")

    @property
    def text(self) -> str:
        prelude = super().text.removesuffix(self.source)
        return prelude.replace(self.fault.right, self.fault.wrong) + self.source


def plant(fault: Fault, rung: Rung) -> BrokenRung:
    """`rung` with `fault` in it; AssertionError where that does not fit exactly once."""
    assert rung.text.count(fault.right) == 1
    values = {field.name: getattr(rung, field.name) for field in fields(rung)}
    values["source"] = rung.source.replace(fault.right, fault.wrong)
    return BrokenRung(**values, fault=fault)
