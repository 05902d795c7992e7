"""A rung says what it is in its header; the folder listing is the ladder."""

import re
from dataclasses import replace
from shutil import copy

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.core.nonlinear import Bilateral, Rank
from kernels.core.step import Step
from kernels.rungs import rung as reading
from kernels.rungs.cuda_text import LADDER
from kernels.rungs.headers import Facts, HeaderError, knobs
from kernels.rungs.rung import FILTERS, ladder, read_rung
from tests.kernels.cases import ONLY_CHANNELS, ONLY_FLOATS, fitting_filter, has_no_weights
from tests.made_up import H200

CARD = replace(H200, name="Card", compute_capability=(7, 5), shared_bytes_per_block=48 << 10)
NEED_MORE = ("median_histogram", "rank_tile", "extreme_ring", "extreme_copies")
NEED_MORE += ("morphology_rings", "patches_strip", "tensor_warpgroups")
RUNGS = {rung.key: rung for rung in ladder()}


def job_of(ksize=5, channels=3, block_xy=(32, 8), pixel_type="uint8"):
    picture = np.zeros((4, 5, channels), pixel_type)
    return Job.of(picture, np.ones((ksize, ksize), np.float32), "mirror", block_xy=block_xy)


def fitting(rung):
    """A job that it takes."""
    pixel_type = "float32" if rung.key in ONLY_FLOATS else "uint8"
    channels = min(ONLY_CHANNELS.get(rung.key, {3}))
    if not has_no_weights(rung.key):
        return job_of(3, channels, pixel_type=pixel_type).but(gradient=rung.gradient)
    chosen = fitting_filter(np.random.default_rng(1), 3, rung.key)
    return job_of(3, channels, pixel_type=pixel_type).but(filter=chosen)


def test_the_ladder_starts_naive_and_every_rung_builds_on_one_below():
    keys = [rung.key for rung in ladder()]
    assert keys[:3] == ["global", "constant", "shared"]
    assert len(set(keys)) == len(keys)
    does = {rung.key: rung.filter for rung in ladder()}
    for position, rung in enumerate(ladder()):
        is_first = rung.filter not in [*does.values()][:position]
        assert rung.after in keys[:position] or (is_first and rung.after is None)
        assert rung.after is None or is_first or does[rung.after] == rung.filter


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_the_text_is_whole_and_includes_nothing(rung):
    assert not any(line.lstrip().startswith("#include") for line in rung.text.splitlines())
    assert rung.text.endswith(rung.source)
    assert "#define KSIZE" not in rung.text  # the launcher's business
    assert "#define KSIZE" in (LADDER / "prelude.cuh").read_text(encoding="utf-8")  # an editor's


def test_knobs_fit_a_rung_to_a_job():
    assert knobs(job_of(7, 4, (16, 4), "uint16")) == {
        "KSIZE": 7,
        "CHANNELS": 4,
        "HAS_ALPHA": 1,
        "SAMPLE": "uint16",
        "BORDER": "MIRROR",
        "BLOCK_X": 16,
        "BLOCK_Y": 4,
        "HAS_OFFSET": 0,
        "OFFSET": "float(0.0f)",
        "IS_DISK": 0,
        "PATCH": 1,
        "KIND": 0,
        "IS_MAXIMUM": 0,
        "PERCENTILE": 50.0,
    }


def test_a_rung_that_does_not_mind_the_block_is_not_compiled_again_for_another():
    job, other = job_of(block_xy=(32, 8)), job_of(block_xy=(16, 16))
    assert RUNGS["global"].defines(job) == RUNGS["global"].defines(other)
    assert RUNGS["shared"].defines(job) != RUNGS["shared"].defines(other)


@pytest.mark.parametrize(
    ("ksize", "channels", "block_xy", "samples"),
    [(1, 1, (8, 8), 8 * 8), (5, 3, (32, 8), 44 * 12), (31, 4, (7, 5), 127 * 35)],
)
def test_the_tile_has_a_halo_of_pixels_not_samples(ksize, channels, block_xy, samples):
    facts = Facts(job_of(ksize, channels, block_xy))
    assert facts.value(RUNGS["shared"].passes[0].shared_bytes) == 4 * samples


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_a_job_that_fits_is_not_refused(rung):
    """Every card with tensor cores has 64 KiB of shared memory a block."""
    capability = max(CARD.compute_capability, rung.capability)
    room = (227 if rung.key in NEED_MORE else 64) * 1024
    card = replace(CARD, shared_bytes_per_block=room, compute_capability=capability)
    assert rung.why_not(fitting(rung), card) is None


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_a_gradient_is_for_rungs_that_do_nothing_else(rung):
    job = job_of(3).but(title="Edges", gradient=not rung.gradient)
    other = "gradient" if job.has_length else "global"
    assert f"asks for {FILTERS[RUNGS[other].filter]}" in rung.why_not(job, CARD)
    assert f"such as {other}." in rung.why_not(job, CARD)
    assert RUNGS[other].why_not(job, CARD) is None


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_a_rung_of_another_filter_names_the_first_that_does_it(rung):
    """A median is a percentile: those for percentiles do both."""
    jobs = {p: job_of(3).but(title="Rank", filter=Rank(3, p)) for p in (25, 50, 100)}
    does = {"median": {50}, "percentiles": {25, 50}, "extremes": {100}}.get(rung.filter, set())
    first = {25: "median_sort", 50: "median_sort", 100: "extreme_taps"}
    for percentile, job in jobs.items():
        reason = rung.why_not_anywhere(job) or ""
        words = "and the filter is Rank; choose such a filter, or another implementation, such as "
        words += f"{first[percentile]}."
        assert reason.endswith(words) == (percentile not in does)


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_what_a_rung_recommends_instead_of_itself_is_there(rung):
    sentences = " ".join(sentence for _, sentence in rung.requires)
    assert set(re.findall(r"such as (\w+)", sentences)) <= {*RUNGS, "opencv"} - {rung.key}


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
@pytest.mark.parametrize(
    ("block_xy", "words"),
    [((64, 32), "64×32 = 2048 threads"), ((2000, 1), "1024"), ((0, 8), "0×8"), ((8, -1), "8×-1")],
)
def test_an_illegal_block_is_refused_in_words(rung, block_xy, words):
    if rung.own_block:
        pytest.skip(rung.own_block)
    assert words in rung.why_not(job_of(block_xy=block_xy), CARD)


def test_pairs_whose_scaled_samples_would_overflow_are_refused():
    picture = np.full((4, 5, 1), 1e20, np.float32)
    dim, bright = (
        Job(picture, (Step(Bilateral(5, sigma_colour=sigma), "bilateral_pairs"),))
        for sigma in (1e19, 1e-19)
    )
    assert RUNGS["bilateral_pairs"].why_not(dim, CARD) is None
    assert "might overflow" in RUNGS["bilateral_pairs"].why_not(bright, CARD)


def test_a_tile_too_large_for_the_device_is_refused_with_both_sizes():
    reason = RUNGS["shared"].why_not(job_of(31, 4, (32, 32), "float32"), CARD)
    assert reason is None
    reason = RUNGS["shared"].why_not(job_of(63, 4, (32, 32), "float32"), CARD)
    assert "needs 102.8 KiB of shared memory" in reason
    assert "Card has 48 KiB a block" in reason


@pytest.mark.parametrize(("card", "side"), [(CARD, 110), (H200, 241)])
def test_an_untiled_picture_that_does_not_fit_is_refused_with_its_size(card, side):
    weights = np.ones((3, 3), np.float32)
    fits, too_large = (
        Job.of(np.zeros((size, size, 1), np.uint8), weights) for size in (side, side + 1)
    )
    assert RUNGS["shared_untiled"].why_not(fits, card) is None
    assert "KiB of shared memory" in RUNGS["shared_untiled"].why_not(too_large, card)


@pytest.mark.parametrize(
    ("key", "ksize", "block_xy", "words"),
    [
        ("shared_two_batch", 5, (32, 8), "has 44×12 = 528 samples"),
        ("shared_apron", 7, (16, 16), "block of 18 threads across or more"),
        ("shared_apron", 7, (32, 4), "block of 6 threads down or more"),
        ("ring", 9, (32, 8), "room for 120"),
    ],
)
def test_what_a_thread_cannot_load_is_refused_with_numbers(key, ksize, block_xy, words):
    assert words in RUNGS[key].why_not(job_of(ksize, block_xy=block_xy), CARD)


HEADER = (
    """/*---
title   = "T"
idea    = "I."
weights = "constant"
includes = ["wide"]

[buffers]
sums = "HEIGHT * PITCH * 4"

[[passes]]
writes = "sums"
loads = { picture = "SAMPLES" }

[[passes]]
reads = "sums"
flops = """
    + '"""(2 *\n    SAMPLES)"""'
    + """
---*/
void convolve() {}
"""
)


def refused(tmp_path, text, name="07_x.cu"):
    """What is said of a file of the ladder."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(HeaderError) as error:
        read_rung(path)
    assert str(error.value).startswith(f"{name}")
    assert str(error.value).endswith(".")
    return str(error.value).removeprefix(name)


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("title   =", "titel =", ", line 2: titel is not known; the nearest is title."),
        ('title   = "T"\n', "", ": title is missing."),
        ('"T"', "3", ", line 2: title is not a text."),
        ('"T"', "T", ", line 2: the header is no TOML, Invalid value: title   = T."),
        ('"constant"', '"konstant"', ", line 4: there are no weights 'konstant'; choose from"),
        ('["wide"]', '["wild"]', ", line 5: there is no header wild.cuh beside it."),
        ('["wide"]', '"wide"', ", line 5: includes is not a list."),
        ("PITCH", "PICTH", "PICTH * 4' asks for PICTH, which there is not; the nearest is PITCH."),
        ("PITCH * 4", "PITCH *", ", line 8: buffers is wrong: 'HEIGHT * PITCH *'"),
        ("sums = ", "sum = ", ", line 11: writes of a pass names sums, which is not a buffer."),
        ("picture =", "pictures =", ", line 12: loads of a pass names pictures, which is no"),
        ("SAMPLES", "SMAPLES", ", line 12: loads of a pass is wrong: 'SMAPLES' asks for SMAPLES"),
        ("2 *\n", "2 +*\n", ", line 16: flops of a pass is wrong: '(2 +*"),
        ("flops", "halo", ", line 16: halo of a pass is not a list of 2."),
        ('reads = "sums"', "library = 'fft'", ", line 15: library of a pass is none of"),
        ('reads = "sums"', "layout = 'rows'", ", line 15: layout of a pass is none of"),
        ('reads = "sums"', "library = 'fft2'", ", line 15: a library's pass needs a shape."),
        ("convolve()", "my_convolve()", ", line 10: there is no function convolve in it."),
        ("[[passes]]\nw", "[passes]\nw", "the header is no TOML"),
        ("/*---", "// first\n/*---", ", line 1: it must begin with a header"),
        ("---*/", "", ", line 1: the header begins here and ends nowhere: write ---*/ on"),
        ("void convolve", "\udcff", "UTF-8"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(right, wrong, words, tmp_path):
    assert right in HEADER
    text = HEADER.replace(right, wrong, 1).encode(errors="surrogateescape")
    assert words in refused(tmp_path, text)


@pytest.mark.parametrize("passes", ["passes = 3", "passes = []", "[passes]\nwrites = 'a'"])
def test_passes_are_a_table_each(passes, tmp_path):
    text = f"/*---\ntitle='T'\nidea='I.'\nweights='global'\n{passes}\n---*/"
    assert ", line 5: passes are written as [[passes]]" in refused(tmp_path, text)


@pytest.mark.parametrize("name", ["x.cu", "7_x.cu", "07-x.cu", "07_.cu"])
def test_a_files_name_has_two_digits_and_a_key(name, tmp_path):
    assert "NN_key.cu" in refused(tmp_path, HEADER, name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A ladder of its own, of a rung that is whole and others."""
    for name in ("prelude.cuh", "wide.cuh", "02_constant.cu"):
        copy(LADDER / name, tmp_path)
    monkeypatch.setattr(reading, "LADDER", tmp_path)
    reading.whole_ladder.cache_clear()
    yield tmp_path
    reading.whole_ladder.cache_clear()


def test_a_broken_rung_stands_where_it_would_and_refuses_every_job(folder):
    (folder / "01_early.cu").write_text(HEADER.replace("title", "titel"))
    (folder / "03_constant.cu").write_text(HEADER)
    early, whole, twice = reading.whole_ladder()
    assert reading.ladder() == (whole,)
    assert reading.broken_rungs() == (early, twice)
    reason = "01_early.cu, line 2: titel is not known; the nearest is title."
    assert (early.key, early.kind) == ("early", "cuda")
    assert early.why_not(job_of(), CARD) == early.reason == reason
    assert twice.reason.startswith("03_constant.cu: 02_constant.cu ")
    assert len({each.key for each in reading.whole_ladder()}) == 3


def test_a_broken_rung_of_whole_lists_is_told_like_the_others(folder):
    (folder / "lists").mkdir()
    (folder / "lists" / "80_early.cu").write_text(HEADER.replace("title", "titel"))
    reading.whole_ladder.cache_clear()
    (found,) = reading.broken_rungs()
    assert found.reason == "80_early.cu, line 2: titel is not known; the nearest is title."
    assert reading.list_ladder() == ()


@pytest.mark.parametrize("devices", [1, 4])
def test_what_several_gpus_cannot_do_goes_by_their_parts(devices):
    weights = np.full((31, 31), 31.0**-2, np.float32)
    job = Job.of(np.zeros((1, 1, 3), np.uint8), weights, "wrap", "fft", devices=devices)
    tall = np.broadcast_to(np.uint8(0), (1_200_000, 2000, 3))
    object.__setattr__(job, "picture", tall)  # only its shape counts here
    reason = RUNGS["fft"].why_not(job, H200)
    assert (reason is None) == (devices == 4), reason


def test_what_may_overflow_and_how_far_it_may_be_off_go_by_the_parts_as_well():
    rung, weights = RUNGS["fft"], np.full((7, 7), 7.0**-2, np.float32)
    job = Job.of(np.zeros((460, 360, 1), np.float32), weights, "clamp", "fft")
    whole, half = (Facts(job.but(picture=job.picture[:rows])) for rows in (460, 233))
    assert whole["FFT_LINE"] < half["FFT_LINE"], "nothing to get wrong"
    assert rung.tolerance(job.but(devices=2)).chain == 2 * half["FFT_LEVELS"]
    assert rung.tolerance(job).chain == 2 * whole["FFT_LEVELS"]
    loud = job.but(picture=np.full_like(job.picture, 3e38 / (2 * whole["FFT_LINE"] ** 2)))
    assert rung.why_not(loud, H200) is None
    assert "might overflow" in str(rung.why_not(replace(loud, devices=2), H200))
