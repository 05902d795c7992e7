"""From lines of text to a plan, or to the sentence that says what is wrong with a line."""

from dataclasses import replace

import numpy as np
import pytest

from kernels.core.errors import PlanFileError
from kernels.engine.engine import all_implementations
from kernels.sweeps.estimate import estimated_s
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import presets
from kernels.sweeps.plan_run import cells_of
from tests.workbench.engines import DEVICE
from workbench.imaging.pictures import Picture
from workbench.model.cell_words import held_fixed
from workbench.model.plan_draft import (
    BY_FIELD,
    DIMENSIONS,
    MAX_ESTIMATED,
    Draft,
    UnclearError,
    given,
    plan_of,
    texts_of,
    time_s,
)
from workbench.model.state import State, Step

PHOTO = State(picture=Picture("photo.png", np.zeros((30, 40, 3), np.uint8)))
KEYS = ("opencv", "shared")


def plan(texts, state=PHOTO, implementations=KEYS, **more):
    return Draft(texts=texts, implementations=implementations, **more).plan(state, DEVICE)


@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        ("sizes", "256, 640×480; 8 x 9  12", ((256, 256), (640, 480), (8, 9), (12, 12))),
        ("ksizes", "3 5,5 7", (3, 5, 7)),
        ("blocks", "32×8, 16*16, 32x8", ((32, 8), (16, 16))),
        ("blocks", "presets", ((8, 8), (16, 16), (32, 8), (32, 16), (32, 32))),
        ("filters", "box, gaussian", ("box", "gaussian")),
        ("counts", "1, 32", (1, 32)),
        ("channels", "1 3 4", (1, 3, 4)),
        ("caches", "cold, warm", ("cold", "warm")),
        ("devices", "1, 4", (1, 4)),
    ],
)
def test_a_line_lists_values_once_each(field, text, values):
    assert BY_FIELD[field].values(text) == values


def test_a_grid_is_whole_warps_that_the_gpu_allows():
    grid = BY_FIELD["blocks"].values("grid", DEVICE)
    assert {(32, 8), (64, 4), (256, 4)} <= set(grid)
    assert all(x * y <= 1024 for x, y in grid)
    with pytest.raises(PlanFileError, match="this computer has no GPU"):
        BY_FIELD["blocks"].values("grid")


@pytest.mark.parametrize("dimension", DIMENSIONS, ids=lambda each: each.field)
def test_what_is_proposed_can_be_read(dimension):
    for text in (
        dimension.start,
        *(line for line, _ in dimension.lines if line not in ("grid", "all")),
    ):
        assert dimension.values(text)
    for word, _ in dimension.ticks:
        assert dimension.values(word) == dimension.values(f" {word} ,")


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("sizes", "", "Image size: list at least one"),
        ("sizes", "12, big", "Image size must be a side such as 512"),
        ("sizes", "0", "not 0."),
        ("sizes", "99999999999999999999", "Image size must"),
        ("ksizes", "4", "Kernel size must be an odd number from 1 to 127, not 4."),
        ("blocks", "32", "Block shape must"),
        ("blocks", "2000×1", "Block shape must"),
        ("filters", "blur", "There is no filter 'blur'"),
        ("channels", "5", "Channels must"),
        ("counts", "0", "Count must"),
        ("devices", "0", "Devices must"),
        ("devices", "65", "Devices must"),
    ],
)
def test_a_line_that_makes_no_sense_is_a_sentence_about_that_line(field, text, sentence):
    with pytest.raises(UnclearError) as caught:
        plan({field: text})
    assert sentence in str(caught.value)
    assert caught.value.field == field


def test_without_lines_it_is_the_present_job():
    state = replace(PHOTO, filter="unsharp", ksize=7, border="wrap", sigma=2.0, amount=3.0)
    made = plan({}, state)
    assert made == plan_of(state, KEYS)
    (opencv, shared) = cells_of(made, given(state.picture))
    assert (opencv.picture, opencv.width, opencv.height, opencv.channels) == (
        *("photo.png", 40, 30, 3),
    )
    assert (opencv.filter, opencv.ksize, opencv.border) == ("unsharp", 7, "wrap")
    assert (opencv.sigma, opencv.amount, opencv.cache) == (2.0, 3.0, None)
    assert (shared.block_xy, shared.cache) == ((32, 8), "cold")


def test_lines_make_products_and_the_open_picture_has_its_own_size():
    made = plan({"sizes": "8, 16", "ksizes": "3, 5", "blocks": "8×8, 16×16"})
    # Noise, since the picture has one size only; the CPU once for both block shapes.
    assert made.pictures == ("noise",)
    assert (made.channels, made.pixel_types) == ((3,), ("uint8",))
    assert len(made.cells()) == 2 * 2 * (1 + 2)
    assert made.title == "Image size × kernel size × block shape, Gaussian blur"
    made = plan({"pictures": "this, noise", "sizes": "8, 16"})
    assert made.pictures == ("photo.png", "noise")
    sizes = [(c.picture, c.width, c.height) for c in cells_of(made, given(PHOTO.picture))]
    assert sizes[::2] == [("photo.png", 40, 30), ("noise", 8, 8), ("noise", 16, 16)]
    with pytest.raises(UnclearError, match="Your picture has one size") as caught:
        plan({"pictures": "this", "sizes": "8, 16"})
    assert caught.value.field == "pictures"


@pytest.mark.parametrize(
    ("texts", "state", "keys", "sentence"),
    [
        ({}, State(), KEYS, "Open a picture first."),
        ({}, PHOTO, (), "Tick at least one implementation."),
        (
            *({"ksizes": "3, 5"}, replace(PHOTO, filter="sobel_x", ksize=3), KEYS),
            "There is no size 5: Sobel X takes 3 only.",
        ),
        (
            *({"ksizes": "5"}, replace(PHOTO, filter="custom", ksize=3), KEYS),
            "There is no size 5: Custom weights takes 3 only.",
        ),
    ],
)
def test_what_cannot_be_measured_is_a_sentence(texts, state, keys, sentence):
    with pytest.raises(UnclearError) as caught:
        plan(texts, state, keys)
    assert str(caught.value) == sentence


def test_a_size_that_one_of_the_filters_takes_is_measured():
    assert plan({"filters": "gaussian, sobel_x", "ksizes": "5"}).ksizes == (5,)


@pytest.mark.parametrize(
    ("filter", "changes", "pixel_type"),
    [
        ("sobel_x", {}, "float32"),
        ("sobel_x", {"pixel_type": "uint8"}, "uint8"),
        ("gaussian", {}, "uint8"),
    ],
)
def test_a_sweep_measures_the_pixel_type_that_the_window_filters(filter, changes, pixel_type):
    state = replace(PHOTO, filter=filter, ksize=3, **changes)
    assert plan_of(state, KEYS).pixel_types == (pixel_type,)


@pytest.mark.parametrize(("before", "pixel_type"), [("median", "uint8"), ("gaussian", "float32")])
def test_a_sweep_measures_the_pixel_type_that_the_step_is_given(before, pixel_type):
    state = replace(PHOTO, before=(Step(filter=before, ksize=3),), filter="minimum", ksize=3)
    assert plan_of(state, KEYS).pixel_types == (pixel_type,)
    assert plan_of(state, KEYS, is_step=False).pixel_types == ("uint8",)


def test_a_preset_with_fewer_implementations_is_the_table_and_a_changed_one_is_not():
    preset = next(each.plan for each in presets() if each.plan.table)
    keys = preset.implementations[:1]
    made = Draft(preset, texts_of(preset), keys).plan(State(), DEVICE)
    assert (made.source, made.table) == (preset.source, preset.table)
    assert made.implementations == keys
    preset = next(each.plan for each in presets() if "sizes" in each.plan.varied)
    texts = texts_of(preset) | {"sizes": "8, 16"}
    made = Draft(preset, texts, preset.implementations, preset.transfers).plan(State(), DEVICE)
    assert (made.source, made.table) == ("", "")
    assert made.title == f"{preset.title}, changed"
    assert made.sizes == ((8, 8), (16, 16))


@pytest.mark.parametrize(
    ("texts", "state", "keys", "words"),
    [
        ({}, PHOTO, KEYS, ("Gaussian blur 5×5", "40×30", "photo.png", "blocks 32×8", "cold L2")),
        ({"sizes": "8, 16"}, PHOTO, ("opencv",), ("noise, 3 channels uint8, border clamp",)),
        (
            *({"ksizes": "3, 5"}, replace(PHOTO, filter="unsharp", sigma=1.5, amount=2.0)),
            *(("opencv",), ("Unsharp mask, σ 1.5, amount 2",)),
        ),
    ],
)
def test_what_is_fixed_is_said_in_words(texts, state, keys, words):
    said = held_fixed(cells_of(plan(texts, state, keys), given(state.picture)))
    assert all(each in said for each in words)
    assert len(keys) > 1 or "L2" not in said


def test_very_many_cells_are_estimated_by_a_sample_of_them():
    keys = tuple(each.key for each in all_implementations())
    sizes = tuple((side, side) for side in range(64, 1664, 32))
    many = Plan("many", keys, sizes, (3, 5, 7, 9))
    cells = many.cells()
    assert len(cells) > MAX_ESTIMATED
    assert time_s(cells, many) == pytest.approx(estimated_s(cells, (), many.sampling), rel=0.2)
    assert time_s(cells[:MAX_ESTIMATED], many) == estimated_s(
        cells[:MAX_ESTIMATED], (), many.sampling
    )
