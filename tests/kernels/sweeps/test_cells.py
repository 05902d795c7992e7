"""A plan is the product of its lists, once each; a cell is a job."""

import weakref

import numpy as np
import pytest

from kernels import filters
from kernels.core.cache import LruCache
from kernels.core.errors import BadJobError, OutOfMemoryError
from kernels.core.nonlinear import Rank
from kernels.pictures import generated
from kernels.sweeps import cell_jobs
from kernels.sweeps.cell_jobs import job_of
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan


def test_a_plan_is_the_product_of_its_lists_where_they_apply():
    plan = Plan("Two by three", ("sequential", "opencv"), sizes=((8, 8), (16, 8)), ksizes=(3, 5, 7))
    cells = plan.cells()
    assert len(cells) == len(set(cells)) == 12
    assert {(each.width, each.height) for each in cells} == {(8, 8), (16, 8)}
    assert plan.varied == ("sizes", "ksizes", "implementations")
    plan = Plan("", ("opencv", "shared"), caches=("cold", "warm"), devices=(1, 2))
    found = [(each.implementation, each.cache, each.devices) for each in plan.cells()]
    assert found == [
        ("opencv", None, 1),
        *(("shared", cache, devices) for cache in ("cold", "warm") for devices in (1, 2)),
    ]
    assert [job_of(cell).devices for cell in plan.cells()] == [1, 1, 2, 1, 2]
    plan = Plan("", ("opencv",), sizes=((8, 8), (16, 16)), pictures=("a.png", "noise"))
    found = [(each.picture, each.width, each.height) for each in plan.cells({"a.png": (30, 20)})]
    assert found == [("a.png", 30, 20), ("noise", 8, 8), ("noise", 16, 16)]
    assert job_of(Cell("opencv", filter="maximum", ksize=5)).filter == Rank(5, 100.0)


def test_only_what_has_block_shapes_and_a_cache_varies_in_them():
    plan = Plan("", ("opencv", "shared", "ring"), blocks=((8, 8), (32, 8)), caches=("cold", "warm"))
    found = [(each.implementation, each.block_xy, each.cache) for each in plan.cells()]
    assert found == [
        ("opencv", None, None),
        *(("shared", xy, cache) for cache in ("cold", "warm") for xy in ((8, 8), (32, 8))),
        ("ring", None, "cold"),
        ("ring", None, "warm"),
    ]


@pytest.mark.parametrize("kind", PICTURE_KINDS)
def test_a_cell_is_a_job(kind):
    cell = Cell("shared", (16, 4), "gaussian", 7, 1.5, border="mirror", picture=kind,
                width=30, height=20, channels=3, pixel_type="uint16")  # fmt: skip
    job = job_of(cell)
    assert (job.width, job.height, job.channels, job.pixel_type) == (30, 20, 3, "uint16")
    assert (job.implementation, job.block_xy, job.border) == ("shared", (16, 4), "mirror")
    assert (job.title, job.has_length) == ("Gaussian blur", False)
    np.testing.assert_array_equal(
        job.correlation.weights, filters.get("gaussian").weights(7, sigma=1.5)
    )


def test_a_gradient_and_own_weights_reach_the_job():
    assert job_of(Cell("gradient", filter="edges")).has_length
    matrix = ((0.0, 1.0, 0.0), (1.0, -4.0, 1.0), (0.0, 1.0, 0.0))
    assert job_of(Cell("shared", filter="custom", matrix=matrix)).correlation.weights.tolist() == [
        *map(list, matrix)
    ]
    strong = Cell("shared", filter="unsharp", amount=2.0)
    np.testing.assert_array_equal(
        job_of(strong).correlation.weights, filters.get("unsharp").weights(3, amount=2.0)
    )


def test_a_given_picture_is_brought_to_the_cell_s_form():
    given = {"a.png": generated.noise(20, 30, 3)}
    cell = Cell("opencv", picture="a.png", width=30, height=20)
    job = job_of(cell, given)
    assert (job.channels, job.pixel_type) == (1, "float32")
    assert 0 <= job.picture.min() < job.picture.max() <= 1
    assert job_of(cell, given).picture is job.picture
    as_it_is = Cell("opencv", picture="a.png", width=30, height=20, channels=3, pixel_type="uint8")
    picture = job_of(as_it_is, given).picture
    assert np.array_equal(picture, given["a.png"])
    assert not picture.flags.writeable
    assert given["a.png"].flags.writeable  # whoever gave it may go on with it


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"picture": "b.png"}, "no picture 'b.png'; choose from noise, photo, .*a.png"),
        ({"picture": "a.png"}, "a.png has 30×20 pixels, not 512×512"),
        ({"filter": "sobel_x", "ksize": 5}, "Sobel X has no size 5"),
        ({"filter": "gausian"}, "no filter 'gausian'"),
        ({"pixel_type": "int8"}, "nothing to filter"),
        ({"channels": 5}, "nothing to filter"),
        ({"width": 0}, "nothing to filter"),
        ({"border": "none"}, "Unknown border"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(changes, complaint):
    with pytest.raises(BadJobError, match=complaint):
        job_of(Cell("opencv", **changes), {"a.png": generated.noise(20, 30)})


def test_there_is_room_for_a_picture_before_it_is_made(monkeypatch):
    monkeypatch.setattr(cell_jobs, "_kept", LruCache(5000, lambda each: each.nbytes))
    first = weakref.ref(job_of(Cell("opencv", width=32, height=32)).picture)
    monkeypatch.setattr(
        cell_jobs, "of_kind", lambda *_: np.full((33, 32, 1), first() is not None, np.float32)
    )
    assert not job_of(Cell("opencv", width=32, height=33)).picture.any()


def test_a_picture_too_large_for_memory_is_refused_in_words(monkeypatch):
    def too_large(*facts):
        raise MemoryError

    monkeypatch.setattr(cell_jobs, "of_kind", too_large)
    with pytest.raises(OutOfMemoryError, match="90000² pixels does not fit into memory"):
        job_of(Cell("opencv", width=90_000, height=90_000))
