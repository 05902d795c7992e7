"""A rung says what it is in its header; the folder listing is the ladder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kernels.device import NoDevice
from kernels.facts import Facts, knobs
from kernels.job import Job
from kernels.rung import LADDER, Pass, ladder, read_rung
from tests.made_up import H200

CARD = replace(H200, name="Card", compute_capability=(7, 5), shared_bytes_per_block=48 << 10)
RUNGS = {rung.key: rung for rung in ladder()}


def job_of(ksize=5, channels=3, block_xy=(32, 8), pixel_type="uint8"):
    picture = np.zeros((4, 5, channels), pixel_type)
    return Job(picture, np.ones((ksize, ksize), np.float32), "mirror", block_xy=block_xy)


def test_the_ladder_starts_naive_and_every_rung_builds_on_one_below():
    keys = [rung.key for rung in ladder()]
    assert keys[:3] == ["global", "constant", "shared"]
    assert len(set(keys)) == len(keys)
    for position, rung in enumerate(ladder()):
        assert rung.after in (keys[:position] or [None])


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_a_rung_introduces_itself(rung):
    assert rung.title
    assert rung.idea.endswith(".")
    for function in rung.functions:
        assert f" {function}(" in rung.source


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
    assert rung.why_not(replace(job_of(3), gradient=rung.gradient), CARD) is None


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
def test_a_gradient_is_for_rungs_that_do_nothing_else(rung):
    job = replace(job_of(3), filter_title="Edges", gradient=not rung.gradient)
    assert "length of a gradient" in rung.why_not(job, CARD)
    other = "gradient" if job.gradient else "shared"
    assert f"such as {other}." in rung.why_not(job, CARD)
    assert RUNGS[other].why_not(job, CARD) is None


@pytest.mark.parametrize("rung", ladder(), ids=lambda rung: rung.key)
@pytest.mark.parametrize(
    ("block_xy", "words"),
    [
        ((64, 32), "has 2048 threads; Card allows 1024"),
        ((2000, 1), "has 2000 threads"),
        ((0, 8), "at least one thread each way"),
        ((8, -1), "at least one thread each way"),
    ],
)
def test_an_illegal_block_is_refused_in_words(rung, block_xy, words):
    if rung.own_block:
        pytest.skip(rung.own_block)
    assert words in rung.why_not(job_of(block_xy=block_xy), CARD)


def test_a_block_too_long_one_way_is_refused_in_words():
    narrow = replace(CARD, max_block_xy=(1024, 64))
    assert "too long one way" in RUNGS["global"].why_not(job_of(block_xy=(1, 128)), narrow)


def test_a_tile_too_large_for_the_device_is_refused_with_both_sizes():
    reason = RUNGS["shared"].why_not(job_of(31, 4, (32, 32), "float32"), CARD)
    assert reason is None
    reason = RUNGS["shared"].why_not(job_of(63, 4, (32, 32), "float32"), CARD)
    assert "needs 102.8 KiB of shared memory for a 32×32 block at size 63 with 4 channels" in reason
    assert "Card has 48 KiB a block" in reason


@pytest.mark.parametrize(("card", "side"), [(CARD, 110), (H200, 241)])
def test_an_untiled_picture_that_does_not_fit_is_refused_with_its_size(card, side):
    weights = np.ones((3, 3), np.float32)
    fits, too_large = (
        Job(np.zeros((size, size, 1), np.uint8), weights) for size in (side, side + 1)
    )
    assert RUNGS["shared_untiled"].why_not(fits, card) is None
    reason = RUNGS["shared_untiled"].why_not(too_large, card)
    assert f"KiB of shared memory for {side + 1}×{side + 1} pixels with 1 channel; " in reason
    huge = Job(np.zeros((1024, 1024, 1), np.uint8), weights)
    assert "needs 4.0 MiB of shared memory" in RUNGS["shared_untiled"].why_not(huge, card)


@pytest.mark.parametrize(
    ("key", "ksize", "block_xy", "words"),
    [
        ("shared_two_batch", 5, (32, 8), "has 44×12 = 528 samples"),
        ("shared_apron", 7, (16, 16), "block of 18 threads across or more"),
        ("shared_apron", 7, (32, 4), "block of 6 threads down or more"),
        (
            "ring",
            9,
            (32, 8),
            "room for 120. Choose a smaller size, or another implementation, such",
        ),
    ],
)
def test_what_a_thread_cannot_load_is_refused_with_numbers(key, ksize, block_xy, words):
    assert words in RUNGS[key].why_not(job_of(ksize, block_xy=block_xy), CARD)


@pytest.mark.parametrize("key", ["separable", "separable_flat"])
def test_weights_that_are_not_separable_are_refused_with_their_rank(key):
    picture, weights = np.zeros((4, 5, 1), np.uint8), np.eye(3, dtype=np.float32)
    assert "have rank 3" in RUNGS[key].why_not(Job(picture, weights), CARD)


def test_without_a_device_the_reason_is_the_devices():
    assert RUNGS["global"].why_not(job_of(), NoDevice("There is none.")) == "There is none."


@pytest.mark.parametrize(
    "text", ["__global__ void f() {}", "// first\n/*--- title = 'x' ---*/", "/*---\nnonsense"]
)
def test_a_file_without_a_header_is_an_error(text, tmp_path):
    path = tmp_path / "07_x.cu"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"07_x\.cu|nonsense|Expected"):
        read_rung(path)


def test_an_unknown_field_in_a_header_is_an_error(tmp_path):
    path = tmp_path / "07_x.cu"
    path.write_text("/*---\ntitle='T'\nidea='I.'\nweights='global'\nspeed='high'\n---*/")
    with pytest.raises(TypeError, match="speed"):
        read_rung(path)


def test_a_key_is_the_files_name_without_its_number(tmp_path):
    path = tmp_path / "07_two_words.cu"
    path.write_text(
        "/*---\ntitle='T'\nidea='I.'\nweights='global'\n[[passes]]\nfunction='a'\n---*/"
    )
    rung = read_rung(path)
    assert (rung.key, rung.passes) == ("two_words", (Pass("a"),))
