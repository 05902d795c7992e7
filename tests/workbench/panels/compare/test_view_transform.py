"""Where a picture stands: pure arithmetic, held against its own inverse."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.panels.compare.picture_layer import MAX_SCALE, MIN_SCALE, ViewTransform, fit

sizes = st.tuples(st.integers(1, 5000), st.integers(1, 5000))
points = st.tuples(st.floats(-3000, 3000), st.floats(-3000, 3000))
transforms = st.builds(ViewTransform, st.floats(MIN_SCALE, MAX_SCALE), points)


@given(transforms, points, sizes)
def test_to_picture_undoes_to_view(transform, point, view):
    back = transform.to_picture(transform.to_view(point, view), view)
    assert back == pytest.approx(point, abs=1e-6)


@given(sizes, sizes)
def test_fit_shows_the_whole_picture_and_touches_an_edge(picture, view):
    transform = fit(picture, view)
    shown = [extent * transform.scale for extent in picture]
    assert all(a <= b + 1e-6 for a, b in zip(shown, view, strict=True))
    touches = any(a == pytest.approx(b) for a, b in zip(shown, view, strict=True))
    assert touches or transform.scale == MAX_SCALE
    left, top = transform.origin(view)
    assert abs(left - (view[0] - shown[0]) / 2) <= 0.5
    assert abs(top - (view[1] - shown[1]) / 2) <= 0.5


@given(transforms, st.floats(0.1, 10), points, sizes)
def test_zooming_keeps_what_lies_under_the_pointer(transform, factor, point, view):
    zoomed = transform.zoomed_at(point, factor, view)
    for axis in (0, 1):
        before = transform.centre[axis] + (point[axis] - view[axis] / 2) / transform.scale
        after = zoomed.centre[axis] + (point[axis] - view[axis] / 2) / zoomed.scale
        assert after == pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize("start", [0.3, 0.99, 1.0, 1.2, 7.0])
def test_steps_pass_through_100_percent(start):
    transform = ViewTransform(start, (0.0, 0.0))
    direction = 1 if start < 1 else -1
    seen = [start]
    while (seen[-1] - 1) * direction < 0:
        transform = transform.stepped(direction)
        seen.append(transform.scale)
    assert seen[-1] == pytest.approx(1.0)


def test_it_moves_no_further_than_it_takes_to_show_an_area():
    near = ViewTransform(10.0, (50.0, 50.0))  # shows 45 to 55 across, 40 to 60 down
    view = (100, 200)
    assert near.showing((46, 46, 49, 49), view) == near
    assert near.showing((-1, 46, 2, 49), view).centre == (4.0, 50.0)
    assert near.showing((46, 70, 49, 75), view).centre == (50.0, 65.0)
    assert near.showing((0, 46, 31, 49), view).centre == (15.5, 50.0)  # larger than the view
