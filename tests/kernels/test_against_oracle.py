"""One body for every implementation: on the host, on the shim and, where there is one, on a GPU."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import CannotRunError
from kernels.core.job import Job
from kernels.core.nonlinear import (
    KINDS,
    Bilateral,
    Guided,
    Morphology,
    NonLinear,
    NonLocalMeans,
    Rank,
)
from kernels.core.step import Correlation, Step
from kernels.core.verdict import Check
from kernels.engine.engine import Engine
from kernels.oracle.checking import LENGTH_GAIN
from kernels.oracle.reference import correlate, to_pixel_type
from kernels.rungs.rung import ladder
from tests.kernels import runners as r
from tests.kernels.cases import (
    HALVES_CASES,
    LEVELS,
    NAN_CASES,
    OFFSET_CASES,
    ONLY_CHANNELS,
    ONLY_FLOATS,
    Case,
    a_job,
    cases_of,
    dark_job,
    does,
    fitting_filter,
    fitting_picture,
    fitting_weights,
    groups,
    has_no_weights,
    pairwise_cases,
    random_picture,
    usual_cases,
)
from tests.made_up import H200

REFUSES_NAN = ("opencv", *(key for key, rung in r.RUNGS.items() if rung.finite_only))
GRADIENTS = tuple(key for key, rung in r.RUNGS.items() if rung.gradient)
INEXACT: tuple[str, ...] = (
    *GRADIENTS,
    "opencv",  # some of its own filters round their weights, and ties, in their own way
    "fast_fir",
    "fft",
    "fft_registers",
    "tensor_separable",
    "tensor_tile_bytes",
    "tensor_warpgroups",
)  # they are close to the oracle, never exact
# They refuse all others.
ONLY_BYTES = ("tensor_tile_bytes", "tensor_dense_bytes", "median_histogram")
ONLY_BYTES += ("bilateral_bytes", "patches_tensor", "words_of_two", "tensor_windows")
everywhere = pytest.mark.parametrize("name", r.NAMES)


def by_turns(names: list[str], first: int) -> pytest.MarkDecorator:
    """All of the host, and every other shim from the `first` each day; other shims by night."""
    marks = dict.fromkeys(r.ON_SHIM[1 - first :: 2], pytest.mark.nightly)
    return pytest.mark.parametrize("name", [pytest.param(e, marks=marks.get(e, ())) for e in names])


# What is about sums: order statistics have none.
of_weights = pytest.mark.parametrize(
    "name", [name for name in r.NAMES if not has_no_weights(r.key_of(name))]
)


def agree(run: r.Run, job: Job, case: Case) -> None:
    """The body: what `run` makes of the job is what the oracle says, in every sample; or it is
    refused in a sentence."""
    outcome = check_or_refusal(run, job)
    assert outcome.endswith(".") if isinstance(outcome, str) else outcome.ok, f"{case}: {outcome}"


def check_or_refusal(run: r.Run, job: Job) -> Check | str:
    """The full check of the answer, or the reason why there is none."""
    try:
        return r.verdict(job, run(job))
    except CannotRunError as refusal:
        return str(refusal)


EACH = [
    pytest.param(
        name,
        case,
        marks=[pytest.mark.nightly]
        if name in r.ON_SHIM and case not in usual_cases(r.key_of(name))
        else (),
    )
    for case in pairwise_cases()
    for name in r.NAMES
]


@pytest.mark.parametrize(("name", "case"), EACH, ids=str)
def test_every_implementation_says_what_the_oracle_says(name, case, runners):
    agree(runners(name), case.job(r.key_of(name)), case)


@pytest.mark.parametrize("name", r.ON_HOST)
@pytest.mark.parametrize("case", pairwise_cases(), ids=str)
def test_the_cpu_works_out_gradients_as_well(name, case, runners):
    agree(runners(name), case.job(name).but(gradient=True), case)


@pytest.mark.parametrize("name", r.ON_HOST)
@pytest.mark.parametrize("case", [e for e in pairwise_cases() if e.ksize <= 5], ids=str)
def test_the_cpu_puts_samples_in_order_as_well(name, case, runners):
    for number, percentile in enumerate((0, 25, 50, 100)):
        chosen = Rank(case.ksize, percentile, is_disk=(number + case.channels) % 2 == 0)
        agree(runners(name), case.job(name).but(filter=chosen), case)


ALIKE = (
    *(partial(Morphology, kind=kind, is_disk=number % 2 == 1) for number, kind in enumerate(KINDS)),
    lambda ksize: Bilateral(ksize, 1.5, 40.0),
    lambda ksize: NonLocalMeans(ksize, 3, 40.0),
    lambda ksize: Guided(ksize, 100.0),
)


@pytest.mark.parametrize("name", r.ON_HOST)
@pytest.mark.parametrize("case", [e for e in pairwise_cases() if e.ksize <= 5], ids=str)
def test_the_cpu_has_all_other_filters_as_well(name, case, runners):
    """Three for each case, by turns, over samples up to 255: among larger ones none are alike."""
    job = case.job(name)
    picture = np.random.default_rng(case.ksize).random(job.picture.shape) * 255
    job, number = job.but(picture=picture.astype(case.pixel_type)), pairwise_cases().index(case)
    for at in range(3 * number, 3 * number + 3):
        agree(runners(name), job.but(filter=ALIKE[at % len(ALIKE)](case.ksize)), case)


@pytest.mark.parametrize("name", ["sequential", "parallel"])
@pytest.mark.parametrize("border", BORDERS)
def test_nan_and_infinity_spread_in_gradients_as_in_the_oracle(name, border, runners):
    random = np.random.default_rng(8)
    picture = random.standard_normal((19, 23, 1)).astype(np.float32)
    picture[5, 6], picture[12, 15], picture[0, 0] = np.nan, np.inf, -np.inf
    for ksize in (1, 3):
        weights = fitting_weights(random, ksize, name)
        job = Job.of(picture, weights, border, name, gradient=True)
        check = r.verdict(job, runners(name)(job))
        assert check.ok, str(check)


@pytest.mark.parametrize("name", [*r.ON_HOST, *(f"{key}-shim" for key in GRADIENTS)])
@pytest.mark.parametrize("size", [1e-25, 1e30])
def test_no_square_overflows_or_vanishes_in_a_gradient(name, size, runners):
    job = gradient_of_size(r.key_of(name), size)
    check = r.verdict(job, runners(name)(job))
    assert check.ok, str(check)
    assert check.bound < 1e-3 * size * max(1.0, float(np.abs(job.correlation.weights).sum()))


def gradient_of_size(key: str, size: float) -> Job:
    """The lengths of slopes between samples of that size."""
    random = np.random.default_rng(9)
    picture = (random.standard_normal((37, 41, 1)) * size).astype(np.float32)
    return Job.of(picture, fitting_weights(random, 3, key), "clamp", key, gradient=True)


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_no_rung_gets_away_with_refusing(rung):
    """At least a quarter of the pairwise cases, and every border, pixel type and channel count."""
    types = {"uint8"} if rung.key in ONLY_BYTES else set(LEVELS["pixel_type"])
    types -= {"float32"} if rung.key == "median_pairs" else set()
    borders = set(BORDERS)
    if rung.filter == "median" or rung.key == "rank_tile":
        borders.remove("crop")  # others for percentiles take windows of fewer samples
    if rung.filter == "non_local_means" and rung.key != "patches":
        borders.remove("crop")
    if rung.key == "bilateral_bytes":
        borders.remove("crop")
    types = ONLY_FLOATS.get(rung.key, types)
    channels = ONLY_CHANNELS.get(rung.key, set(LEVELS["channels"]))
    cases = [
        case for case in pairwise_cases() if case.pixel_type in types and case.channels in channels
    ]
    able = [case for case in cases if not rung.why_not(case.job(rung.key), H200)]
    assert len(able) >= len(cases) / 4
    assert {case.pixel_type for case in able} == types
    assert {case.border for case in able} == borders & {case.border for case in cases}
    assert {case.channels for case in able} == channels & {case.channels for case in cases}


@pytest.mark.full
@pytest.mark.parametrize("group", list(groups()), ids=lambda group: "-".join(map(str, group)))
@pytest.mark.parametrize("name", r.ON_HOST + r.ON_GPU)
def test_the_full_product_says_what_the_oracle_says(name, group, runners):
    """For a machine with a GPU and many cores; a group's programs are compiled by one process."""
    run = runners(name)
    for case in cases_of(*group):
        if name in r.ON_GPU or case.block_xy == LEVELS["block_xy"][0]:
            agree(run, case.job(r.key_of(name)), case)


@pytest.mark.parametrize(("case", "offset"), OFFSET_CASES, ids=str)
@pytest.mark.parametrize("name", [e for e in r.NAMES if does(r.key_of(e)) == "weights"])
def test_an_offset_is_added_to_every_sample_but_alpha(name, case, offset, runners):
    """To a picture so dark that it shows: without it the answer would be wrong."""
    skip_other_samples(name, case.pixel_type)
    wanted = r.in_a_block_it_takes(dark_job(case, offset, r.key_of(name)))
    answer = runners(name)(wanted)
    assert r.verdict(wanted, answer).ok
    assert not r.verdict(wanted.but(offset=0.0), answer).ok


@of_weights
def test_halves_are_rounded_to_even(name, runners):
    if r.key_of(name) in INEXACT:
        pytest.skip("its sums are never exact")
    assert halves_differ(r.key_of(name), runners(name)) == 0


def halves_differ(key: str, run: r.Run) -> int:
    """How many samples are not exactly the oracle's, of some that often lie between two integers.

    Sums of binomials, or of sixteenths all alike, are exact in float32, so there is no excuse.
    """
    differing, answers = 0, 0
    is_uniform = key in r.RUNGS and r.RUNGS[key].weights == "uniform"
    for case in HALVES_CASES:
        random = np.random.default_rng(case.ksize)
        picture = random.integers(0, 256, (*case.size_hw, case.channels), case.pixel_type)
        weights = filters.get("gaussian").weights(case.ksize)
        weights = np.full_like(weights, 1 / 16) if is_uniform else weights
        job = r.in_a_block_it_takes(a_job(picture, weights, case.border, key))
        sums = correlate(job.picture, job.correlation.weights, job.border)
        assert (sums - np.floor(sums) == 0.5).any()
        try:
            answer = run(job)
        except CannotRunError:
            continue
        answers += 1
        differing += int((answer != to_pixel_type(sums, picture.dtype)).sum())
    assert answers, "it refused them all"
    return differing


@pytest.mark.parametrize("key", ["guided_windows", "guided_running"])
def test_large_flat_samples_have_no_variance_below_0(key, build_cache):
    """Of 127² such samples the mean of squares is rounded to less than the mean's square."""
    picture = np.full((5, 6, 1), 12464.28, np.float32)
    job = Job(picture, (Step(Guided(127, 1e-6), key),), "mirror")
    np.testing.assert_allclose(r.on_shim(r.RUNGS[key], build_cache)(job), picture, atol=0.2)


@by_turns(r.ON_SHIM, 0)  # strips of the others are in test_strips.py
def test_a_launch_writes_its_rows_and_no_others(name, runners, build_cache):
    """Long pictures, and those on a GPU with a display, are launched in strips."""
    key = r.key_of(name)

    def is_wanted(case: Case) -> bool:
        # Running sums of floats are rounded otherwise where they begin elsewhere.
        is_running = key in ("running_sums", "guided_running")
        is_exact = not is_running or case.pixel_type.startswith("uint")
        return case.size_hw == (64, 64) and case.ksize > 1 and is_exact

    job = a_case_for(key, is_wanted)
    whole = runners(name)(job)
    first = (
        14 if key == "fast_fir" else 13
    )  # which of two rows is the upper decides on its rounding
    strip = r.shim_for(r.RUNGS[key], job, build_cache).run(job, rows=(first, 37))
    nothing = r.poisoned_like(job.picture)
    if key == "tensor_warpgroups":  # a block's first rows decide on its rounding
        mixed = np.concatenate((whole[:first], strip[first:37], whole[37:]))
        assert r.verdict(job, mixed).ok
    else:
        np.testing.assert_array_equal(strip[first:37], whole[first:37])
    np.testing.assert_array_equal(strip[:first], nothing[:first])
    np.testing.assert_array_equal(strip[37:], nothing[37:])


@of_weights
@pytest.mark.parametrize("case", NAN_CASES, ids=lambda case: case.border)
def test_nan_and_infinity_spread_as_in_the_oracle_or_are_refused(name, case, runners):
    skip_other_samples(name, "float32")
    picture = np.random.default_rng(7).standard_normal((37, 41, 3)).astype(np.float32)
    picture[5, 6, 0], picture[20, 30, 1], picture[20, 32, 1] = np.nan, np.inf, -np.inf
    picture[0, 0, 2], picture[36, 40, 2] = np.inf, np.nan
    job = case.job(r.key_of(name))
    job = r.in_a_block_it_takes(replace(job, picture=picture[..., : job.channels].copy()))
    if job.implementation in REFUSES_NAN:
        with pytest.raises(CannotRunError, match="NaN"):
            runners(name)(job)
        return
    check = r.verdict(job, runners(name)(job))
    assert check.ok, str(check)


@everywhere
def test_a_light_in_the_dark_is_right(name, runners):
    outcome = check_or_refusal(runners(name), light_in_the_dark(r.key_of(name)))
    assert isinstance(outcome, str) or outcome.ok, str(outcome)


@of_weights
@pytest.mark.parametrize("size", [1e36, 3e37])
def test_large_samples_are_filtered_right_or_refused(name, size, runners):
    """All of one sign, so that sums of many are as large as they can be."""
    skip_other_samples(name, "float32")
    key = r.key_of(name)
    job = r.in_a_block_it_takes(NAN_CASES[0].job(key))
    size /= LENGTH_GAIN if job.has_length else 1  # so that the answer does not overflow
    picture = np.random.default_rng(12).uniform(size / 2, size, job.picture.shape)
    outcome = check_or_refusal(runners(name), job.but(picture=picture.astype(np.float32)))
    if isinstance(outcome, str):
        assert key == "opencv" or r.RUNGS[key].headroom
        assert "overflow" in outcome
    else:
        assert outcome.ok, str(outcome)


def skip_other_samples(name: str, pixel_type: str) -> None:
    """Where a rung is for bytes alone, or for floats, it refuses all else."""
    key = r.key_of(name)
    if pixel_type not in ({"uint8"} if key in ONLY_BYTES else ONLY_FLOATS.get(key, {pixel_type})):
        pytest.skip("it is for bytes alone, or for floats")


def light_in_the_dark(key: str) -> Job:
    """One sample is larger by far than those around it: too large for whoever scaled to those."""
    shape = (150, 41, min(ONLY_CHANNELS.get(key, {3})))
    picture = np.random.default_rng(11).standard_normal(shape).astype(np.float32)
    picture[77, 21] = 1e15 if does(key) == "guided" else 1e20  # whose squares are in range
    return r.in_a_block_it_takes(replace(NAN_CASES[1].job(key), picture=picture))


@everywhere
def test_one_job_leaves_nothing_behind_for_the_next(name, runners):
    """Above all no weights: two jobs that share a program take turns."""
    run, random, key = runners(name), np.random.default_rng(3), r.key_of(name)
    large = LEVELS["size_hw"][-1]
    wanted = lambda e: e.size_hw != large and (e.ksize == 5 or key in ONLY_CHANNELS)  # noqa: E731
    job = a_case_for(key, wanted)
    other = job.but(filter=another_filter(random, job))
    for each in (job, other, job, other):
        check = r.verdict(each, run(each))
        assert check.ok, str(check)


@pytest.mark.parametrize("name", r.ON_GPU)
def test_two_engines_in_one_process_keep_their_own_weights(name, runners):
    """CuPy gives both the same module, and so the same constant memory."""
    first, second = runners(name), r.on_gpu(r.key_of(name), Engine())
    job = a_case_for(r.key_of(name), lambda case: case.ksize == 5)
    other = job.but(filter=another_filter(np.random.default_rng(4), job))
    for run, each in ((first, job), (second, other), (first, job)):
        check = r.verdict(each, run(each))
        assert check.ok, str(check)


@by_turns(r.NAMES, 1)
@settings(max_examples=8)
@given(data=st.data())
def test_any_picture_of_any_size_is_right(name, runners, data):
    """Knobs are those of the pairwise cases, which are compiled already."""
    run, key = runners(name), r.key_of(name)
    case = data.draw(st.sampled_from(usual_cases(key) if name in r.ON_SHIM else pairwise_cases()))
    side = st.integers(1, 35 if does(key) == "non_local_means" else 70)
    height, width = data.draw(st.tuples(side, side))
    random = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    job = a_job(
        fitting_picture(random, (height, width, case.channels), case.pixel_type, key),
        fitting_filter(random, case.ksize, key),
        case.border,
        key,
        case.block_xy,
    )
    usual = case.job(key)
    if key in r.RUNGS and r.RUNGS[key].defines(job) != r.RUNGS[key].defines(usual):
        job = job.but(filter=usual.steps[0].filter)
    agree(run, job, case)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [e for e in r.ON_SHIM if does(r.key_of(e)) == "morphology"])
def test_each_kind_of_morphology_is_right_where_windows_are_wider_than_the_picture(
    name, kind, runners
):
    """And where they are not; each with a border, a type and channels of its own."""
    key, number = r.key_of(name), KINDS.index(kind) + len(r.key_of(name))
    border, type_ = BORDERS[number % 6], LEVELS["pixel_type"][number % 4]
    chosen = Morphology(9, kind, is_disk=key == "morphology_disk")
    for size_hw in ((2, 3), (40, 301)):
        shape = (*size_hw, number % 4 + 1)
        picture = random_picture(np.random.default_rng(number), shape, type_)
        job = a_job(picture, chosen, border, key)
        check = r.verdict(job, runners(name)(job))
        assert check.ok, str(check)


def another_filter(random: np.random.Generator, job: Job) -> Correlation | NonLinear:
    """Of the same size; of order statistics there may be no other."""
    match job.filter:
        case Rank() | Morphology():
            return job.filter
        case Bilateral(sigma_colour=sigma):
            return replace(job.filter, sigma_colour=3 * sigma)
        case NonLocalMeans(strength=strength):
            return replace(job.filter, strength=2 * strength)
        case Guided(epsilon=epsilon):
            return replace(job.filter, epsilon=4 * epsilon)
    return Correlation(fitting_weights(random, job.ksize, job.implementation))


def a_case_for(key: str, wanted: Callable[[Case], bool]) -> Job:
    """The first pairwise case that is `wanted` and that `key` does not refuse."""
    cases = (*(() if key in r.HOST else usual_cases(key)), *pairwise_cases())
    jobs = (case.job(key) for case in cases if wanted(case))
    return next(job for job in jobs if key in r.HOST or not r.RUNGS[key].why_not(job, H200))
