"""What the rungs' headers say of loads, stores and operations is what their text was seen to do."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kernels import filters
from kernels.core.job import Job
from kernels.cuda_on_cpu import compiler
from kernels.cuda_on_cpu.counting import ADDITIONS, MULTIPLY_ADDS, Counts
from kernels.cuda_on_cpu.regions import DEVICE
from kernels.rungs.headers import Facts
from kernels.rungs.rung import (
    BY_A_LIBRARY,
    Rung,
    Work,
    ladder,
    not_described,
    pass_work,
    says_flops,
    says_loads,
    work_of,
)
from tests.compilers import needs_compiler
from tests.kernels.cases import Case, has_no_weights
from tests.kernels.on_cpu import AccessesShim, CountingShim
from tests.kernels.runners import in_a_block_it_takes
from tests.made_up import H200

RUNGS = {rung.key: rung for rung in ladder()}
LOADED = [key for key, rung in RUNGS.items() if says_loads(rung)]
COUNTED = [key for key in LOADED if says_flops(RUNGS[key])]  # comparisons are no operations
# Awkward sizes, all block shapes, pixel types and numbers of channels; some tall, so that blocks
# which share out the rows among them do so.  None with zeros beyond the picture: see below.
CASES = (
    Case("clamp", "float32", 1, (33, 37), 5, (16, 16)),
    Case("wrap", "uint8", 4, (40, 29), 7, (32, 32)),
    Case("mirror", "float16", 2, (131, 47), 5, (7, 5)),
)


def of_each(keys, kind=""):
    """Rungs with the cases of a kind of pixels; one by turns each day, for each takes long."""
    return [
        pytest.param(
            key,
            case,
            marks=[pytest.mark.nightly] if case != CASES[[*RUNGS].index(key) % 3] else [],
        )
        for key in keys
        for case in CASES
        if kind in case.pixel_type
    ]


# Sums of samples are integers or doubles there, which are said and not counted.
WIDE = ("running_sums", "words_of_two", "guided_windows", "guided_running")
ON_TENSOR_CORES = [key for key in COUNTED if "tensor" in RUNGS[key].includes]


def job_of(rung: Rung, case: Case) -> Job:
    """In the case's block, or in the first of the usual ones that the rung takes; of samples near
    one, since gradients of others go by a longer path."""
    if has_no_weights(rung.key) and case.pixel_type == "float16":
        case = replace(case, pixel_type="uint16")  # without counted floats no copies are seen
    job = in_a_block_it_takes(case.job(rung.key))
    if "float" in case.pixel_type:
        noise = np.random.default_rng(5).uniform(0.5, 1.5, job.picture.shape)
        job = job.but(picture=noise.astype(case.pixel_type))
    return job


@cache
def counts_of(key: str, case: Case, build_cache: Path) -> list[Counts]:
    """Of each pass."""
    job = job_of(RUNGS[key], case)
    shim = CountingShim if key in COUNTED else AccessesShim
    return shim(RUNGS[key], [job], build_cache).count(job)


def counted_and_said(key, case, build_cache):
    """Of each pass what was counted, what the header says, and the facts that it was said of."""
    rung, job = RUNGS[key], job_of(RUNGS[key], case)
    if reason := compiler.why_not():
        pytest.skip(f"device code does not run on this CPU: {reason}")
    if reason := rung.why_not(job, H200):
        pytest.skip(reason)
    facts = Facts(job, DEVICE)
    done = counts_of(key, case, build_cache)
    assert [each.number for each in done] == list(range(len(rung.passes)))
    return [(each, pass_work(rung.passes[each.number], facts), facts) for each in done]


@pytest.mark.parametrize(("key", "case"), of_each(LOADED), ids=str)
def test_a_header_says_how_much_is_loaded_and_stored(key, case, build_cache):
    """Exactly, and of every array that the pass is given."""
    for counted, said, facts in counted_and_said(key, case, build_cache):
        for mine, theirs in ((counted.loaded, said.loads), (counted.stored, said.stores)):
            assert set(theirs) <= set(mine)
            bytes_of = {name: facts.bytes_of({name: theirs.get(name, 0)}) for name in mine}
            assert {name: int(each.sum()) for name, each in mine.items()} == bytes_of
        assert sum(said.stores.values()) > 0
        assert sum(said.loads.values()) > 0


@needs_compiler
def test_of_a_picture_with_few_rows_the_ring_loads_no_others(build_cache):
    rung = RUNGS["ring"]
    job = job_of(rung, Case("mirror", "uint8", 3, (2, 200), 3, (32, 8)))
    facts = Facts(job, DEVICE)
    (counted,) = CountingShim(rung, [job], build_cache).count(job)
    said = pass_work(rung.passes[0], facts).loads["picture"]
    assert facts.bytes_of({"picture": said}) == counted.loaded["picture"].sum() > 0


@pytest.mark.parametrize(("key", "case"), of_each(COUNTED, "float"), ids=str)
def test_a_header_says_how_much_is_computed_on_floats(key, case, build_cache):
    """Exactly; of what tensor cores do, the products: they scale and convert beside those."""
    for counted, said, _ in counted_and_said(key, case, build_cache):
        is_product = key in ON_TENSOR_CORES
        if key in WIDE and counted.flops < said.flops:
            continue
        assert (
            2 * counted.operations[:, MULTIPLY_ADDS].sum() if is_product else counted.flops
        ) == said.flops
        assert said.flops > 0 or counted.flops == 0


@pytest.mark.parametrize(("key", "case"), of_each(ON_TENSOR_CORES, "uint"), ids=str)
def test_a_header_says_how_much_tensor_cores_compute_of_integers(key, case, build_cache):
    """Exactly, too."""
    for counted, said, _ in counted_and_said(key, case, build_cache):
        assert 2 * counted.operations[:, MULTIPLY_ADDS].sum() == said.flops > 0


@pytest.mark.parametrize(
    ("key", "case"),
    of_each([key for key in COUNTED if key not in ON_TENSOR_CORES], "uint"),
    ids=str,
)
def test_a_header_leaves_out_how_integers_become_floats(key, case, build_cache):
    """Which some rungs do by one subtraction a sample; those of a box stay integers."""
    for counted, said, _ in counted_and_said(key, case, build_cache):
        if key in WIDE:
            assert counted.flops <= said.flops
            continue
        extra = counted.flops - said.flops
        assert 0 <= extra <= counted.operations[:, ADDITIONS].sum()


@needs_compiler
@pytest.mark.parametrize("key", ["global", "tile_separable", "fft_registers"])
def test_with_zeros_beyond_the_picture_it_is_less_than_that(key, build_cache):
    job = replace(job_of(RUNGS[key], CASES[0]), border="zero")
    facts = Facts(job, DEVICE)
    for counted in CountingShim(RUNGS[key], [job], build_cache).count(job):
        said = pass_work(RUNGS[key].passes[counted.number], facts)
        for name, each in counted.loaded.items():
            most = facts.bytes_of({name: said.loads.get(name, 0)})
            assert each.sum() < most if name == "picture" and most else each.sum() <= most
        assert sum(map(np.sum, counted.stored.values())) == facts.bytes_of(said.stores)


@pytest.mark.parametrize("key", RUNGS)
def test_every_rung_says_it_or_says_why_not(key):
    rung = RUNGS[key]
    work = work_of(job_of(rung, CASES[0]), rung, 132)
    if key in COUNTED:
        assert work.unknown == ""
        assert min(work.loaded_bytes, work.stored_bytes, work.flops) > 0
        assert work.memory_bytes >= work.stored_bytes >= 33 * 37 * 4
        assert work.loads_a_sample >= 1
        assert 0 <= work.halo_share < 1
        return
    if key in LOADED:  # it compares, and computes nothing, or does not say
        assert (work.unknown, work.flops) == (not_described(rung), None)
        assert min(work.loaded_bytes, work.stored_bytes) > 0
        return
    by_a_library = any(each.library for each in rung.passes)
    assert work.unknown == (BY_A_LIBRARY if by_a_library else not_described(rung))
    assert work.unknown.endswith(".")
    if by_a_library:
        assert work.flops is work.loaded_bytes is work.memory_bytes is work.loads_a_sample is None


@pytest.mark.parametrize(
    ("left_out", "unknown", "known"),
    [
        (("loads", "flops"), "Loads and operations of this rung are not described.", ()),
        (("loads",), "Loads of this rung are not described.", ("flops",)),
        (("flops",), "Operations of this rung are not described.", ("loads",)),
    ],
)
@pytest.mark.parametrize("key", ["constant", "separable"])
def test_what_a_header_leaves_out_is_said_and_the_rest_is_counted(key, left_out, unknown, known):
    rung = RUNGS[key]
    silent = replace(
        rung, passes=tuple(replace(each, **dict.fromkeys(left_out, ())) for each in rung.passes)
    )
    job = job_of(rung, CASES[0])
    whole, work = work_of(job, rung, 132), work_of(job, silent, 132)
    assert work.unknown == not_described(silent) == unknown
    assert work.flops == (whole.flops if "flops" in known else None)
    assert work.loaded_bytes == (whole.loaded_bytes if "loads" in known else None)
    assert work.memory_bytes == (whole.memory_bytes if "loads" in known else None)
    assert work.rung_intensity is None
    assert work.working_set_bytes == whole.working_set_bytes


# -- by hand


def gaussian(key, side=1024, ksize=5, block_xy=(32, 8), pixel_type="float32", channels=1) -> Work:
    picture = np.zeros((side, side, channels), pixel_type)
    job = Job.of(picture, filters.get("gaussian").weights(ksize), "clamp", key, block_xy)
    return work_of(job, RUNGS.get(key), 132)


def test_a_job_has_to_move_its_picture_twice():
    work = gaussian("opencv", side=100, ksize=7)
    assert work == Work(2 * 40_000, 10_000, 2 * 40_000)
    assert work.rung_intensity is work.halo_share is None


@pytest.mark.parametrize(
    ("key", "loads_a_sample", "flops_a_sample"),
    [
        ("constant", 25, 50),
        ("shared", 36 * 12 / 256, 50),  # a tile of 36×12 for 32×8 samples
        ("separable", 36 / 32, 20),
    ],
)
def test_a_tile_spares_loads_and_two_passes_spare_operations(key, loads_a_sample, flops_a_sample):
    work = gaussian(key)
    assert work.loads_a_sample == loads_a_sample
    assert work.flops == flops_a_sample * 1024**2
    assert work.halo_share == pytest.approx(1 - 1 / loads_a_sample)


def test_what_lies_between_two_passes_goes_through_memory_twice():
    one, two = gaussian("shared"), gaussian("separable")
    assert one.memory_bytes == one.compulsory_bytes == one.working_set_bytes
    assert two.memory_bytes == 2 * two.compulsory_bytes
    assert two.working_set_bytes == 12 * 1024**2
    assert two.loaded_bytes == 4 * 1024**2 * (36 / 32 + 12 / 8)
    narrow = gaussian("separable", pixel_type="uint8")  # the sums are floats even so
    assert narrow.memory_bytes == 1024**2 * (1 + 4 + 4 + 1)


def test_a_rung_that_keeps_multiprocessors_busy_has_more_halos_on_larger_devices():
    job = Job.of(
        np.zeros((4096, 4096, 1), np.float32), filters.get("gaussian").weights(31), "clamp",
        "tensor_separable",
    )  # fmt: skip
    small, large = (work_of(job, RUNGS["tensor_separable"], count) for count in (16, 132))
    assert small.loads_a_sample < large.loads_a_sample < 1.6


@needs_compiler
def test_wrong_numbers_in_a_header_are_found(build_cache):
    """So that the counts above cannot agree by accident: one row of the halo left out."""
    rung = RUNGS["shared"]
    job = job_of(rung, CASES[0])
    wrong = (("picture", "BLOCKS * (BLOCK_X + 2 * HALO_X) * (BLOCK_Y + 2 * HALO_Y - 1) + ALPHA"),)
    facts = Facts(job, DEVICE)
    said = pass_work(replace(rung.passes[0], loads=wrong), facts)
    (counted,) = counts_of("shared", CASES[0], build_cache)
    assert counted.loaded["picture"].sum() != facts.bytes_of(said.loads)
