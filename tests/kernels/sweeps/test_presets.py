"""Presets and the published tables that they reproduce."""

from collections import Counter
from itertools import product

import pytest

from kernels import Engine
from kernels.filters import get
from kernels.rungs.rung import ladder
from kernels.sweeps.cell_jobs import refusal
from kernels.sweeps.estimate import estimated_s
from kernels.sweeps.plan import Plan
from kernels.sweeps.plan_files import Preset, presets
from kernels.sweeps.published import published_for, rows
from tests.made_up import H200

KEYS = [preset.key for preset in presets()]
MINUTE = 60


def preset(key) -> Preset:
    return next(each for each in presets() if each.key == key)


@pytest.fixture
def h200():
    """An engine that only answers questions."""
    engine = Engine()
    engine.device = H200
    return engine


def values(key, *names):
    """The combinations of these fields among the cells of a preset that some implementation
    could run."""
    return {tuple(getattr(cell, name) for name in names) for cell in preset(key).plan.cells()}


@pytest.mark.parametrize("key", KEYS)
def test_most_of_it_can_run_on_an_h200_and_what_cannot_says_why(key, h200):
    cells = preset(key).plan.cells()
    reasons = [refusal(h200, cell) for cell in cells]
    able = [cell for cell, reason in zip(cells, reasons, strict=True) if reason is None]
    assert {cell.implementation for cell in able} == {cell.implementation for cell in cells}
    for cell, reason in zip(cells, reasons, strict=True):
        if reason is not None:
            assert reason.endswith(".")
            if cell.list:
                assert "the length of a gradient" in reason
                continue
            is_size = cell.ksize not in get(cell.filter).sizes
            assert is_size or cell.implementation in (
                *(
                    "shared_untiled",
                    "shared_apron",
                    "tile_separable",
                    "register_tile",
                    "opencv",
                    "auto",
                ),
                *(rung.key for rung in ladder() if rung.filter in ("median", "percentiles")),
            ), reason


def test_all_of_them_take_some_ten_minutes_on_a_machine_of_16_cores(h200, monkeypatch):
    monkeypatch.setattr("kernels.sweeps.estimate.usable_cores", lambda: 16)
    total_s = 0.0
    for each in presets():
        able = [cell for cell in each.plan.cells() if refusal(h200, cell) is None]
        total_s += estimated_s(able, (), each.plan.sampling)
    assert MINUTE < total_s < 15 * MINUTE


# What the issue of these presets asks for, table by table.

MEMORIES = ("global", "constant", "shared")


def test_camerino_correctness():
    plan = preset("camerino_correctness").plan
    questions = {("gaussian", 3), ("gaussian", 5), ("gaussian", 7), ("sobel_x", 3),
                 ("laplacian", 3), ("box", 3), ("box", 5)}  # fmt: skip
    assert {(*question, key) for question, key in product(questions, MEMORIES)} <= values(
        "camerino_correctness", "filter", "ksize", "implementation"
    )
    assert values("camerino_correctness", "width", "height", "picture") == {
        (64, 64, "checkerboard")
    }
    assert plan.tolerance == 1e-5


PLANS = {preset.key: preset.plan for preset in presets()}


def test_every_published_number_with_a_kernel_size_belongs_to_a_preset():
    shown = Counter(
        (each.source, each.gpu, each.table, each.cell.implementation, each.milliseconds)
        for plan in PLANS.values()
        for each in published_for(plan)
    )
    for row in rows():
        place = (row[name] for name in ("source", "gpu", "table", "implementation"))
        assert (shown[*place, float(row["milliseconds"])] > 0) == bool(row["kernel_size"]), row
    assert len(rows()) == 644
    assert sum(not row["kernel_size"] for row in rows()) == 1


@pytest.mark.parametrize(
    ("key", "count"),
    [
        ("camerino_image_size", 40),
        ("camerino_kernel_size", 24),
        ("camerino_block_shape", 30),
        ("goettingen_ladder", 10),
        ("firenze_transfers", 2),
        ("milano_sizes", 92),
        ("firenze_filters", 400),
    ],
)
def test_a_preset_shows_its_tables_whole_and_no_other(key, count):
    found = published_for(PLANS[key])
    assert len(found) == count
    assert {each.source for each in found} == {PLANS[key].source}
    cells = [(each.gpu, each.cell) for each in found]
    assert len(set(cells)) == count
    assert {each.cell for each in found} <= set(PLANS[key].cells())


def test_medians_of_other_programs_stand_beside_the_best_that_there_is_here():
    found = published_for(PLANS["median_sizes"])
    assert len(found) == 44
    assert {each.cell.implementation for each in found} == {"auto"}
    assert not any("unvectorised" in each.note for each in found)
    adams = {(e.cell.pixel_type, e.cell.ksize): e for e in found if e.by == "Adams 2021"}
    assert len(adams) == 14
    for kind, gigapixels_s in {
        ("float32", 3): 98.5,
        ("float32", 15): 6.6,
        ("uint8", 5): 50.5,
    }.items():
        pixels, seconds = adams[kind].cell.pixels, adams[kind].milliseconds / 1e3
        assert pixels / seconds / 1e9 == pytest.approx(gigapixels_s, rel=0.01)


def test_a_note_speaks_of_the_gpu_only_beside_its_times():
    cpu, both = (published_for(PLANS[key]) for key in ("picture_kinds", "firenze_filters"))
    assert {each.cell.implementation for each in cpu} == {"sequential"}
    assert not any("GPU" in each.note for each in cpu)
    assert all("GPU" in each.note for each in both)


def test_a_plan_of_one_s_own_shows_what_fits_and_nothing_that_differs():
    own = Plan("Own", ("shared",), sizes=((1024, 1024),), ksizes=(3,), blocks=((16, 16),))
    assert {each.by for each in published_for(own)} == {
        "Università di Camerino",
        "Politecnico di Milano 2024/2025",
    }
    for changes in (
        {"pixel_types": ("uint16",)}, {"channels": (2,)}, {"ksizes": (9,)}, {"counts": (2,)},
        {"sizes": ((1000, 1000),)}, {"implementations": ("opencv",)},
    ):  # fmt: skip
        named = {"implementations": ("shared",), "sizes": ((1024, 1024),)} | changes
        assert published_for(Plan("Own", **named)) == ()
