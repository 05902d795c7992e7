"""Published numbers stand beside their cells, with their source and what to know of it."""

from collections import Counter

import pytest

from kernels.sweeps.plan import Plan
from kernels.sweeps.presets import presets
from kernels.sweeps.published import left_out, published_for, rows

PLANS = {preset.key: preset.plan for preset in presets()}


def test_every_published_number_belongs_to_a_preset_or_says_why_not():
    shown = Counter(
        (each.source, each.gpu, each.table, each.cell.implementation, each.milliseconds)
        for plan in PLANS.values()
        for each in published_for(plan)
    )
    for row in rows():
        number = (row.source, row.gpu, row.table, row.implementation, row.milliseconds)
        assert (shown[number] > 0) != (left_out(row) is not None), row
    assert len(rows()) == 600
    assert sum(left_out(row) is not None for row in rows()) == 1


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


def test_a_number_stands_at_its_cell():
    (found,) = (
        each
        for each in published_for(PLANS["camerino_block_shape"])
        if (each.gpu, each.cell.implementation, each.cell.block_xy)
        == ("Tesla T4", "shared", (32, 8))
    )
    assert found.milliseconds == 0.688
    assert (found.table, found.by) == ("5.10", "Università di Camerino")


def test_a_plan_of_one_s_own_shows_what_fits_from_anywhere():
    own = Plan("Own", ("shared",), sizes=((1024, 1024),), ksizes=(3,), blocks=((16, 16),))
    assert {each.by for each in published_for(own)} == {
        "Università di Camerino",
        "Politecnico di Milano 2024/2025",
    }


def test_what_differs_shows_nothing():
    for changes in (
        {"pixel_types": ("uint16",)}, {"channels": (2,)}, {"ksizes": (9,)}, {"counts": (2,)},
        {"sizes": ((1000, 1000),)}, {"implementations": ("opencv",)},
    ):  # fmt: skip
        named = {"implementations": ("shared",), "sizes": ((1024, 1024),)} | changes
        assert published_for(Plan("Own", **named)) == ()


def test_every_publication_has_its_note():
    notes = {each.by: each.note for plan in PLANS.values() for each in published_for(plan)}
    assert len(notes) == 5
    for note in notes.values():
        assert note.endswith("one unvectorised CPU thread.")
    assert "they do not compare memories" in notes["Università di Firenze 2025/2026"]
    assert "which is refused there" in notes["Politecnico di Milano 2024/2025"]
    assert "transfers are left out" in notes["BCCN Göttingen 2011"]
    assert "Printed in seconds" in notes["Università di Firenze"]
