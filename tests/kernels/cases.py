"""What every implementation is tried on: all pairs of what may differ, and the full product."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.job import MAX_STEPS, PIXEL_TYPES, Job
from kernels.core.nonlinear import (
    KINDS,
    Bilateral,
    Guided,
    Morphology,
    NonLinear,
    NonLocalMeans,
    Rank,
)
from kernels.core.step import LENGTH, Correlation, Step, Weights
from kernels.oracle.checking import largest_finite
from kernels.rungs.rung import ladder
from tests.made_up import H200


@dataclass(frozen=True, slots=True)
class Case:
    """One combination; size_hw is (height, width) in pixels, block_xy in threads."""

    border: str
    pixel_type: str
    channels: int
    size_hw: tuple[int, int]
    ksize: int
    block_xy: tuple[int, int]

    def __str__(self) -> str:
        (height, width), (x, y) = self.size_hw, self.block_xy
        return (
            f"{self.border}-{self.pixel_type}-{self.channels}ch-{height}x{width}"
            f"-k{self.ksize}-b{x}x{y}"
        )

    def job(self, implementation: str = "sequential") -> Job:
        """Picture and filter are this case's own, the same in every process; the filter is of a
        kind and size that the implementation takes, and so are channels that weights are for."""
        most, only = most_of(implementation), ONLY_CHANNELS.get(implementation, ())
        fits = not only or self.channels in only or has_no_weights(implementation)
        shape = (*self.size_hw, self.channels if fits else min(only))
        picture, random = _drawn(str(self), shape, self.pixel_type, most)
        return a_job(
            picture,
            fitting_filter(deepcopy(random), self.ksize, implementation),
            self.border,
            implementation,
            self.block_xy,
        )


@lru_cache(128)  # as many as all pairs take, twice
def _drawn(
    name: str, shape: tuple[int, int, int], pixel_type: str, most: float | None
) -> tuple[NDArray[Any], np.random.Generator]:
    """A case's picture, drawn once for all implementations, and what draws on from there."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    return random_picture(random, shape, pixel_type, most), random


LEVELS: dict[str, tuple[Any, ...]] = {
    "border": BORDERS,
    "pixel_type": PIXEL_TYPES,
    "channels": (1, 2, 3, 4),
    "size_hw": ((1, 1), (1, 17), (17, 1), (31, 33), (64, 64), (131, 127)),
    "ksize": (1, 3, 5, 15, 31),
    "block_xy": ((8, 8), (16, 16), (32, 8), (32, 32), (7, 5)),
}
assert [field.name for field in fields(Case)] == list(LEVELS)


# Beside the pairwise ones: for pictures with NaN, and for sums that lie between two integers.
NAN_CASES = tuple(
    Case(border, "float32", 3, (37, 41), ksize, (32, 8))
    for border, ksize in zip(BORDERS, (3, 5, 3, 5, 3, 5), strict=True)
)
HALVES_CASES = (
    Case("mirror", "uint8", 4, (40, 40), 3, (32, 8)),
    Case("clamp", "uint8", 1, (40, 40), 5, (32, 8)),
    Case("wrap", "uint16", 2, (40, 40), 3, (32, 8)),
)
# What most rungs are compiled for; picture and block they are told at each launch.
COMPILED_FOR = ("border", "pixel_type", "channels", "ksize")


@cache
def pairwise_cases() -> tuple[Case, ...]:
    """Few cases in which any two levels of any two factors meet at least once.

    They share what rungs are compiled for, with each other and with the cases above: a program
    takes far longer to compile than to run.
    """
    usual = [_compiled_for(case) for case in (*NAN_CASES, *HALVES_CASES)]
    bytes_alone = (("zero", 3), ("reflect", 3), ("wrap", 2), ("crop", 2))
    usual += [(border, "uint8", channels, 15) for border, channels in bytes_alone]
    programs = all_pairs([LEVELS[name] for name in COMPILED_FOR], usual)
    launches = list(product(LEVELS["size_hw"], LEVELS["block_xy"]))
    missing = {pair for f, g in combinations(LEVELS, 2) for pair in _pairs_of(f, g)}
    cases: list[Case] = []
    while missing:
        # Each program once; then whichever brings the most.  On a tie they take turns.
        number = len(cases)
        able = programs[number : number + 1] or programs
        turn = [launches[(k + 7 * number) % len(launches)] for k in range(len(launches))]
        choice = [_case(program, *launch) for program in able for launch in turn]
        cases.append(max(choice, key=lambda case: len(missing & _pairs(case))))
        missing -= _pairs(cases[-1])
    return tuple(cases)


# Of rungs for what is no weighted sum: sizes that take neither long to compile nor to run, the last
# instead of others.
SIZES_OF = {
    "extreme_tile": (1, 3, 5, 9),
    "median_sort": (1, 3, 5),
    "median_network": (1, 3, 5),
    "median_columns": (3,),
    "median_pairs": (3,),
    "median_tiles": (5,),
    "median_halves": (5,),
    "rank_bits": (1, 3, 5, 15),
    "bilateral_pairs": (3, 15, 5),
    "bilateral_bytes": (1, 3, 15, 5),
    **dict.fromkeys(("patches", "patches_offsets", "guided_windows"), (1, 3, 5)),
    **dict.fromkeys(("patches_strip", "patches_tensor"), (1, 5, 21)),
}
ONLY_FLOATS = {
    "extreme_tile": {"float32"},
    "fast_fir": {"float32"},
    "tensor_warpgroups": {"float32", "float16"},
}
ONLY_CHANNELS = {"bilateral_pairs": {1}, "bilateral_bytes": {3}, "tensor_warpgroups": {1}}
SMOOTH = ("non_local_means", "guided")
MOST_OF_SMOOTHED = 1e3  # their numbers are squares of samples
CASES_OF = {"median_tiles": 3, "median_halves": 4}  # that a shim does each day; else 6


@cache
def usual_cases(key: str) -> tuple[Case, ...]:
    """A few that a shim does each day, in which a rung meets each level that it takes, and one that
    it refuses.

    To compile them takes a tenth of the suite's time; by night, and on a GPU, each does all.
    """
    rung = next(each for each in ladder() if each.key == key)
    if has_no_weights(key):
        able = [each for each in pairwise_cases() if not rung.why_never(each.job(key), H200)]
        if does(key) == "non_local_means":  # seconds each
            large = LEVELS["size_hw"][-1]
            able = [e for e in able if e.size_hw != large or e.job(key).ksize <= 5]
        return tuple(able[:: max(1, len(able) // CASES_OF.get(key, 6))])
    turn = zlib.crc32(key.encode()) % len(pairwise_cases())  # so that other rungs have others
    levels = {
        case: {None} if rung.why_not(case.job(key), H200) else _levels(case)
        for case in (*pairwise_cases()[turn:], *pairwise_cases()[:turn])
    }
    found, missing = [], set().union(*levels.values())
    while missing:
        found.append(max(levels, key=lambda case: len(missing & levels[case])))
        missing -= levels[found[-1]]
    return tuple(found)


def _compiled_for(case: Case) -> tuple[Any, ...]:
    return tuple(getattr(case, name) for name in COMPILED_FOR)


def _case(program: tuple[Any, ...], size_hw: Any, block_xy: Any) -> Case:
    return Case(**dict(zip(COMPILED_FOR, program, strict=True)), size_hw=size_hw, block_xy=block_xy)


def _levels(case: Case) -> set[Any]:
    return {(name, getattr(case, name)) for name in LEVELS}


def _pairs(case: Case) -> set[Any]:
    return set(combinations(((name, getattr(case, name)) for name in LEVELS), 2))


def _pairs_of(f: str, g: str) -> Iterator[Any]:
    return (((f, a), (g, b)) for a, b in product(LEVELS[f], LEVELS[g]))


# And with an offset, to `dark_job`s of them.
OFFSET_CASES = (
    (Case("clamp", "uint8", 3, (37, 41), 5, (32, 8)), 40.25),
    (Case("zero", "float32", 4, (19, 23), 3, (32, 8)), -2.5),
    (Case("mirror", "float16", 2, (19, 23), 5, (32, 8)), 3.0),
)


def dark_job(case: Case, offset: float, implementation: str) -> Job:
    """The case's weights over samples below 20, so that an offset shows."""
    job = case.job(implementation)
    samples = np.random.default_rng(3).random(job.picture.shape) * 20
    return job.but(picture=samples.astype(case.pixel_type), offset=offset)


def groups() -> Iterator[tuple[str, str]]:
    """(border, pixel_type): in so many parts the full product is tried."""
    yield from product(LEVELS["border"], LEVELS["pixel_type"])


def cases_of(border: str, pixel_type: str) -> Iterator[Case]:
    """The full product's cases in one of `groups`; those that share knobs follow one another."""
    others = (LEVELS[name] for name in ("channels", "ksize", "block_xy", "size_hw"))
    for channels, ksize, block_xy, size_hw in product(*others):
        yield Case(border, pixel_type, channels, size_hw, ksize, block_xy)


def all_pairs(
    factors: Sequence[Sequence[Any]], given: Sequence[tuple[Any, ...]] = ()
) -> list[tuple[Any, ...]]:
    """Rows, one level a factor, that hold every pair of levels of two factors; `given` come first.

    Greedy: each row starts from a pair still missing and takes, factor by factor, the level that
    brings the most missing pairs.  Deterministic, and some 10 to 30 % longer than the shortest.
    """
    missing = {
        ((f, a), (g, b))
        for f, g in combinations(range(len(factors)), 2)
        for a, b in product(range(len(factors[f])), range(len(factors[g])))
    }
    rows = list(given)
    for known in rows:
        levels = (factor.index(level) for factor, level in zip(factors, known, strict=True))
        missing -= set(combinations(enumerate(levels), 2))
    while missing:
        row = dict(min(missing))
        for factor in sorted(set(range(len(factors))) - set(row)):
            row[factor] = _best_level(factor, len(factors[factor]), row, missing)
        missing -= set(combinations(sorted(row.items()), 2))
        rows.append(tuple(factors[f][row[f]] for f in range(len(factors))))
    return rows


def _best_level(factor: int, levels: int, row: dict[int, int], missing: set[Any]) -> int:
    def gain(level: int) -> int:
        return sum(tuple(sorted(((factor, level), chosen))) in missing for chosen in row.items())

    # On a tie the levels take turns, or the first would be in far more rows than the last.
    start = len(missing)
    return max(((start + k) % levels for k in range(levels)), key=gain)


def random_picture(
    random: np.random.Generator,
    shape: tuple[int, int, int],
    pixel_type: str,
    most: float | None = None,
) -> NDArray[Any]:
    """(H, W, C) noise over the whole range; floats of a size between 1e-3 and 1e30, or 1e4.

    most  such floats are no larger than about this
    """
    if pixel_type.startswith("float"):
        largest = most or (1e30 if pixel_type == "float32" else 1e4)
        scale = 10.0 ** random.uniform(-3, np.log10(largest))
        picture: NDArray[Any] = (random.standard_normal(shape) * scale).astype(pixel_type)
    else:
        picture = random.integers(0, np.iinfo(pixel_type).max, shape, pixel_type, endpoint=True)
    picture.flags.writeable = False
    return picture


def random_weights(random: np.random.Generator, ksize: int) -> NDArray[np.float32]:
    """(ksize, ksize), of both signs and no symmetry, summing to about 1.

    The centre is positive, so that integers do not all end at zero where it is alone.
    """
    weights = random.uniform(-1, 2, (ksize, ksize))
    weights[ksize // 2, ksize // 2] = 2
    weights *= 1.5 / np.abs(weights).sum()
    return weights.astype(np.float32)


def separable_weights(random: np.random.Generator, ksize: int) -> NDArray[np.float32]:
    """A random column times a random row."""
    column, row = random.uniform(-1, 2, (2, ksize))
    weights = np.outer(column, row)
    return (weights * 1.5 / np.abs(weights).sum()).astype(np.float32)


def low_rank_weights(random: np.random.Generator, ksize: int) -> NDArray[np.float32]:
    """The sum of at most three separable ones, and of so few that they cost less than it does."""
    terms = random.integers(1, max(min(3, (ksize - 1) // 2), 1), endpoint=True)
    columns, rows = random.uniform(-1, 2, (2, terms, ksize))
    weights = columns.T @ rows
    return (weights * 1.5 / np.abs(weights).sum()).astype(np.float32)


def uniform_weights(random: np.random.Generator, ksize: int) -> NDArray[np.float32]:
    """One number everywhere."""
    return np.full((ksize, ksize), random.uniform(0.5, 1.5) / ksize**2, np.float32)


def whole_weights(random: np.random.Generator, ksize: int) -> NDArray[np.float32]:
    """Small whole numbers over a divisor: a column times a row, of ones alone, or neither.

    Of a size that has 3, 5 or 7 rows, another for another.
    """
    ksize = {1: 3, 15: 7, 31: 5}.get(ksize, ksize)
    column, row = random.integers(1, 3, ksize), random.integers(-1, 3, ksize)
    drawn = random.integers(-2, 3, (ksize, ksize))
    kinds = (np.outer(column, row), np.ones((ksize, ksize)), drawn)
    integers = kinds[random.integers(3 if ksize <= 5 else 2)]
    return (integers / random.choice((1, 9, 16, 25, 64))).astype(np.float32)


# By the form in which a rung wants its weights; all others take any.
FITTING: dict[str, Callable[[np.random.Generator, int], NDArray[np.float32]]] = {
    "separable": separable_weights,
    "digit_bands": separable_weights,
    "thin_bands": separable_weights,
    "warpgroup_bands": separable_weights,
    "low_rank": low_rank_weights,
    "uniform": uniform_weights,
    "words_of_two": whole_weights,
    "fast_fir": lambda random, ksize: some_weights(random, ksize if 3 <= ksize <= 15 else 5),
}


def a_job(
    picture: NDArray[Any],
    chosen: Weights | NonLinear,
    border: str,
    implementation: str,
    block_xy: tuple[int, int] = (32, 8),
    **fields: Any,
) -> Job:
    """A Job of the sort that `implementation` does: with a gradient, if it is a rung for that.

    chosen  of a bilateral filter the colour sigma is a part of the largest sample
    fields  more of a Job's
    """
    made = chosen if isinstance(chosen, NonLinear) else Correlation(chosen)
    if isinstance(made, Bilateral):
        made = made.scaled(max(largest_finite(picture), 1e-6))
    length = (LENGTH,) * (does(implementation) == "gradient")
    return Job(picture, (Step(made, implementation, block_xy), *length), border, **fields)


@cache
def does(implementation: str) -> str:
    """What it does, of `rung.FILTERS`; one on the CPU does anything."""
    return next((each.filter for each in ladder() if each.key == implementation), "weights")


def has_no_weights(implementation: str) -> bool:
    """Whether it is a rung for what is no weighted sum."""
    return does(implementation) not in ("weights", "gradient")


def fitting_picture(
    random: np.random.Generator, shape: tuple[int, int, int], pixel_type: str, implementation: str
) -> NDArray[Any]:
    """A random picture whose squares, where the implementation takes them, are in range."""
    return random_picture(random, shape, pixel_type, most_of(implementation))


def most_of(implementation: str) -> float | None:
    return MOST_OF_SMOOTHED if does(implementation) in SMOOTH else None


def fitting_filter(
    random: np.random.Generator, ksize: int, implementation: str
) -> Weights | NonLinear:
    """Random weights, or a filter that has none, that `implementation` takes."""
    if not has_no_weights(implementation):
        return fitting_weights(random, ksize, implementation)
    sizes = SIZES_OF.get(implementation, (ksize,))
    if does(implementation) in SMOOTH:
        size, strength = ksize if ksize in sizes else sizes[-1], float(random.uniform(5, 200))
        if does(implementation) == "guided":
            return Guided(size, strength**2)
        return NonLocalMeans(size, int(random.choice((1, 3, 5, 7))), strength)
    if does(implementation) == "bilateral":
        space, colour = random.uniform(0.3, 1) * ksize, 10 ** random.uniform(-1.5, 0.5)
        size = ksize if ksize in sizes else sizes[-1]
        return Bilateral(size, sigma_space=space, sigma_colour=colour)
    is_disk = implementation in ("extreme_disk", "morphology_disk")
    if does(implementation) == "morphology":
        return Morphology(ksize, KINDS[random.integers(len(KINDS))], is_disk)
    if implementation in ("median_sort", "rank_bits", "extreme_taps"):  # they take both
        is_disk = random.random() < 0.5
    some = {"median": (50.0,), "extremes": (0.0, 100.0), "percentiles": (50.0, 12.5, 90.0)}
    percentile = float(random.choice(some[does(implementation)]))
    return Rank(ksize if ksize in sizes else sizes[-1], percentile, is_disk)


def fitting_weights(
    random: np.random.Generator, ksize: int, implementation: str
) -> NDArray[np.float32]:
    """Random weights that `implementation` takes."""
    forms = {rung.key: rung.weights for rung in ladder()}
    return FITTING.get(forms.get(implementation, ""), some_weights)(random, ksize)


def some_weights(random: np.random.Generator, ksize: int) -> NDArray[np.float32]:
    """Half the time random ones, else those of a filter that has this size."""
    if random.random() < 0.5:
        return random_weights(random, ksize)
    fitting = [e for e in filters.all_filters() if e.has_weights and ksize in e.sizes]
    return fitting[random.integers(len(fitting))].weights(ksize)


def random_list(random: np.random.Generator, implementation: str = "parallel", **fixed: Any) -> Job:
    """A list of 1 to MAX_STEPS filters with all drawn: tiny pictures and wide weights as well.

    fixed  fields of the Job, and pixel_type, channels and count, of filters
    """
    draw = lambda name, levels: fixed.pop(name) if name in fixed else random.choice(levels)  # noqa: E731
    pixel_type, channels = str(draw("pixel_type", PIXEL_TYPES)), int(draw("channels", (1, 2, 3, 4)))
    steps: list[Step] = []
    for _ in range(int(draw("count", range(1, MAX_STEPS + 1)))):
        weights = random_weights(random, int(random.choice((1, 3, 5, 9))))
        mix, is_gradient = (
            float(random.choice((1, 1, 0.25, random.random()))),
            random.random() < 0.2,
        )
        offset = 0.0 if is_gradient else float(random.choice((0, 0, 3.25)))
        blend = {"mix": mix, "threshold": float(random.choice((0, 0, 1.5, 100 * random.random())))}
        blend["is_grey"] = bool(random.random() < 0.3)
        own_blend = {} if is_gradient else blend
        steps.append(Step(Correlation(weights, offset), implementation, **own_blend))
        steps += [replace(LENGTH, **blend)] * is_gradient
    size_hw = random.integers(1, 24, 2)
    picture = random_picture(random, (*map(int, size_hw), channels), pixel_type, 1e3)
    how = {"border": str(random.choice(BORDERS)), "is_rounded": random.random() < 0.3, **fixed}
    return Job(picture, tuple(steps), **how)
