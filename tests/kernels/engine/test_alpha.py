"""Pictures with transparent pixels: colours weighted by alpha, filtered, and divided again."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from kernels import Engine, Job, Sampling, filters
from kernels.core.borders import BORDERS
from kernels.core.errors import BadJobError
from kernels.core.job import Region
from kernels.core.nonlinear import Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import LENGTH, Correlation, Step
from kernels.engine.step_list import divided
from kernels.oracle.checking import checking
from kernels.oracle.reference import filtered, to_pixel_type

CHECKED = Sampling(max_samples=0, check_taps=None)
WHITE = {"uint8": 255.0, "uint16": 65535.0, "float16": 1.0, "float32": 1.0}


def weighing(name, ksize=3, offset=0.0, **how):
    return Step(Correlation(filters.get(name).weights(ksize), offset), **how)


BOX, SOBEL, MEDIAN = weighing("box"), weighing("sobel_x"), Step(Rank(3, 50))
LISTS = {
    "box": (BOX,),
    "sharpen": (weighing("sharpen"),),
    "slopes": (SOBEL,),
    "length": (SOBEL, LENGTH),
    "median": (MEDIAN,),
    "offset": (weighing("box", offset=0.25),),
    "embossed": (weighing("emboss", offset=0.5, mix=0.75), BOX),
    "mixed": (weighing("gaussian", 5, mix=0.5),),
    "weakened": (weighing("unsharp", 5, threshold=0.125),),
    "list": (BOX, MEDIAN, weighing("sharpen", mix=0.75)),
}


def picture_of(seed, height, width, channels, pixel_type):
    """A picture with opaque, clear and half-clear pixels side by side."""
    rng, white = np.random.default_rng(seed), WHITE[pixel_type]
    samples = rng.uniform(0, white, (height, width, channels))
    samples[..., -1] *= rng.integers(0, 3, (height, width)) / 2
    samples[..., -1][rng.random((height, width)) < 0.4] = white
    return to_pixel_type(samples, np.dtype(pixel_type))


def job_of(picture, steps, **how):
    white = WHITE[str(picture.dtype)]
    scaled = []
    for each in steps:
        chosen = each.filter
        if isinstance(chosen, Correlation) and chosen.offset:
            chosen = replace(chosen, offset=chosen.offset * white)
        scaled.append(replace(each, filter=chosen, threshold=each.threshold * white))
    return Job(picture, tuple(scaled), opaque=white, **how)


def by_hand(picture, weights, white):
    """Weighted sums over the inside, worked out pixel by pixel."""
    size = len(weights)
    height, width, channels = picture.shape
    out = np.zeros((height - size + 1, width - size + 1, channels))
    for y, x in np.ndindex(out.shape[:2]):
        around = picture[y : y + size, x : x + size].astype(float)
        alpha = around[..., -1] / white
        mass = (weights * alpha).sum()
        for channel in range(channels - 1):
            total = (weights * alpha * around[..., channel]).sum()
            out[y, x, channel] = total / mass if mass > 0 else 0
        out[y, x, -1] = mass * white
    return out


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [2, 4])
def test_colours_are_means_weighted_by_alpha(pixel_type, channels):
    picture = picture_of(1, 9, 11, channels, pixel_type)
    found = filtered(job_of(picture, (BOX,)))[1:-1, 1:-1]
    expected = by_hand(picture, BOX.filter.weights.astype(float), WHITE[pixel_type])
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("steps", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("pixel_type", WHITE)
@pytest.mark.parametrize("is_rounded", [False, True])
def test_every_list_is_verified(steps, pixel_type, is_rounded):
    """On one implementation after the other."""
    picture = picture_of(2, 20, 17, 4, pixel_type)
    turn = list(LISTS.values()).index(steps) + list(WHITE).index(pixel_type) + is_rounded
    implementation = ("sequential", "parallel", "opencv")[turn % 3]
    steps = tuple(replace(each, implementation=implementation) for each in steps)
    job, engine = job_of(picture, steps, is_rounded=is_rounded, border="mirror"), Engine()
    if engine.why_not(job):
        pytest.skip(engine.why_not(job))
    result = engine.run(job, CHECKED)
    assert result.picture.dtype == picture.dtype
    assert all(each.check.ok for each in (*result.steps, result)), result.check
    assert len(result.steps) == len(job.runs)


@given(st.data())
@settings(max_examples=25)
def test_what_cannot_be_seen_colours_nothing(data):
    pixel_type = data.draw(st.sampled_from(sorted(WHITE)))
    steps = LISTS[data.draw(st.sampled_from(sorted(LISTS)))]
    steps = tuple(replace(each, implementation="parallel") for each in steps)
    picture = picture_of(data.draw(st.integers(0, 99)), 9, 8, 4, pixel_type)
    border = data.draw(st.sampled_from([each for each in BORDERS if each != "crop"]))
    other = picture.copy()
    hidden = (np.nan, np.inf, 1.0) if "float" in pixel_type else (WHITE[pixel_type],) * 3
    other[..., :3][picture[..., -1] == 0] = hidden
    engine = Engine()
    one, two = (
        engine.run(job_of(each, steps, border=border), CHECKED) for each in (picture, other)
    )
    assert np.array_equal(one.picture, two.picture)


def test_a_white_shape_on_clear_black_stays_white():
    picture = np.zeros((16, 16, 4), np.uint8)
    picture[4:12, 4:12] = 255
    found = Engine().run(job_of(picture, (weighing("gaussian", 5),)), CHECKED).picture
    is_seen = found[..., -1] > 0
    assert (found[..., :3][is_seen] == 255).all()
    assert 0 < found[3, 8, -1] < 255  # and its edge is soft


@pytest.mark.parametrize("steps", LISTS.values(), ids=LISTS)
def test_opaque_pictures_are_as_without_alpha(steps):
    picture = picture_of(3, 12, 14, 4, "float32")
    picture[..., -1] = 1
    found = filtered(job_of(picture, steps))
    plain = filtered(job_of(np.ascontiguousarray(picture[..., :3]), steps))
    assert found[..., :3] == pytest.approx(plain, abs=1e-6)
    assert found[..., -1] == pytest.approx(1, abs=1e-6)


def test_what_gives_differences_leaves_alpha():
    picture = picture_of(4, 12, 14, 4, "uint8")
    differences = ((Step(Morphology(3, kind)),) for kind in ("gradient", "top_hat", "black_hat"))
    for steps in ((SOBEL,), (SOBEL, LENGTH), *differences):
        found = Engine().run(job_of(picture, steps), CHECKED).picture
        assert np.array_equal(found[..., -1], picture[..., -1])


@pytest.mark.parametrize("channels", [2, 4])
def test_a_median_is_that_of_products_over_that_of_alpha(channels):
    """By hand; where the median of alpha is below half a level it fades to the pixel."""
    picture = picture_of(9, 9, 11, channels, "float32")
    picture[1:5, 1:8, -1] *= 1e-5
    picture[5:, :5, -1] = 0
    picture[7, 2, -1] = 1
    found = filtered(job_of(picture, (MEDIAN,)))[1:-1, 1:-1]
    products = picture.astype(float)
    products[..., :-1] *= products[..., -1:]
    medians = np.median(sliding_window_view(products, (3, 3), (0, 1)), (3, 4))
    own = picture[1:-1, 1:-1].astype(float)
    kinds = set()
    for at in np.argwhere(own[..., -1] > 2**-17):
        pixel, (*products, alpha) = own[tuple(at)], medians[tuple(at)]
        share = min(alpha * 2**17, 1)
        expected = (1 - share**2) * pixel[:-1]
        expected += np.array(products) * share**2 / max(alpha, 1e-30)
        assert found[tuple(at)][:-1] == pytest.approx(expected)
        kinds.add(np.sign(share) + (share == 1))
    assert kinds == {0, 1, 2}
    assert np.array_equal(found[..., -1], own[..., -1])
    made = Engine().run(job_of(picture, (MEDIAN,))).picture[1:-1, 1:-1]
    assert made[own[..., -1] > 2**-17] == pytest.approx(found[own[..., -1] > 2**-17], rel=1e-4)


RANKS = [Rank(5, percentile) for percentile in (0, 30, 50, 100)]
OTHERS = [Morphology(3, "opening"), Morphology(3, "closing")]
OTHERS += [Bilateral(5, 2, 0.2), NonLocalMeans(5, 3, 0.3)]


@pytest.mark.parametrize("implementation", ["sequential", "parallel", "opencv"])
@pytest.mark.parametrize("channels", [2, 4])
@pytest.mark.parametrize("chosen", [*RANKS, *OTHERS], ids=str)
def test_no_colour_is_beyond_those_that_are_seen_nearby(chosen, channels, implementation):
    """For order and for means a clear pixel is no colour, neither black nor the one it hides."""
    is_rounded = implementation == "opencv"  # else its medians take no large ones, nor two channels
    white = 255 if is_rounded else 1
    picture = picture_of(8, 20, 19, channels, "uint8" if is_rounded else "float32")
    picture[..., :-1] = (picture[..., :-1] / 2 + white / 4).astype(picture.dtype)
    picture[6:14, 5:15, -1] = 0
    picture[..., :-1][picture[..., -1] == 0] = white
    step = Step(getattr(chosen, "scaled", lambda _: chosen)(white), implementation)
    job = job_of(picture, (step,), border="mirror", is_rounded=is_rounded)
    if why_not := Engine().why_not(job):
        pytest.skip(why_not)
    result = Engine().run(job, CHECKED)
    assert result.check.ok
    least, leeway = (white / 3, 3) if is_rounded else (1e-3, 1e-4)  # products were rounded
    colours = result.picture[result.picture[..., -1] > least][:, :-1].astype(float)
    seen = picture[picture[..., -1] > 0][:, :-1].astype(float)
    assert (colours >= seen.min(0) - leeway).all()
    assert (colours <= seen.max(0) + leeway).all()


def test_a_negative_colour_at_a_rank_is_not_divided_by_another_pixels_alpha():
    picture = np.full((7, 7, 4), 0.5, np.float32)
    picture[..., 3], picture[3, 3, :3], picture[3, 4, 3] = 1, -0.1, 0.01
    result = Engine().run(job_of(picture, (Step(Rank(3, 0), "parallel"),)), CHECKED)
    assert result.check.ok
    assert result.picture[..., :3].min() == np.float32(-0.1)


def test_a_shape_of_one_colour_keeps_it():
    """A guided filter of a shape of white, the one of all channels, which it smooths alike."""
    picture = np.zeros((16, 16, 4), np.uint8)
    picture[4:12, 4:12] = picture[2, 2:14] = 255  # with a line of one pixel
    for chosen in (*RANKS, *OTHERS[:2], Guided(5, 600.0), Bilateral(5, 2, 99.0)):
        found = Engine().run(job_of(picture, (Step(chosen),)), CHECKED).picture
        assert (found[..., :3][found[..., -1] > 0] == 255).all()
        assert found[8, 8, -1] > 250
        if chosen in (*RANKS, *OTHERS[:2]):
            assert np.array_equal(found[..., -1], picture[..., -1])


@given(st.data())
@settings(max_examples=25)
def test_ranks_leave_alpha_to_the_last_bit_and_show_no_colour_that_nobody_sees(data):
    one_of = [sorted(WHITE), [2, 4], [*RANKS, *OTHERS[:2]], [1.0, 0.4], [0.0, 0.1]]
    one_of += [[None, Region(2, 3, 9, 8, 3)], [False, True], range(99)]
    pixel_type, channels, chosen, mix, threshold, part, is_grey, seed = (
        data.draw(st.sampled_from(each)) for each in one_of
    )
    picture, white = picture_of(seed, 15, 14, channels, pixel_type), WHITE[pixel_type]
    picture[..., -1] *= picture[..., -1] > data.draw(st.floats(0, 0.9)) * white
    step = Step(chosen, mix=mix, threshold=threshold, is_grey=is_grey)
    result = Engine().run(job_of(picture, (step,), border="mirror", region=part), CHECKED)
    assert result.check.ok
    assert np.array_equal(result.picture[..., -1], picture[..., -1])
    reach, leeway, is_seen = chosen.reach, white * 1e-3 + (white > 1), picture[..., -1] > 0
    for sign in (1, -1) if not is_grey else ():
        seen = np.where(is_seen[..., np.newaxis], sign * picture[..., :-1].astype(float), -np.inf)
        seen = np.pad(seen, ((reach, reach), (reach, reach), (0, 0)), "reflect")
        most = sliding_window_view(seen, (2 * reach + 1,) * 2, (0, 1)).max((3, 4))
        found = sign * result.picture[..., :-1].astype(float)
        assert (found <= most + leeway)[is_seen].all()


@pytest.mark.parametrize("is_rounded", [False, True])
@pytest.mark.parametrize("pixel_type", ["uint8", "float32"])
@pytest.mark.parametrize("after", [(), (BOX,), (MEDIAN,)], ids=len)
@pytest.mark.parametrize("border", BORDERS)
def test_errors_before_a_median_are_allowed_and_faults_found(pixel_type, is_rounded, after, border):
    """Alpha fades from opaque to clear, so that the median of what is seen is nearly nothing."""
    picture, white = picture_of(11, 32, 40, 4, pixel_type), WHITE[pixel_type]
    picture[..., -1] = (white * np.clip(np.linspace(1.5, -0.5, 40), 0, 1)).astype(pixel_type)
    picture[::3, ::2, -1] = white
    picture[12:20, :12, :3] //= 8
    steps = (weighing("gaussian", 5), MEDIAN, *after)
    steps = tuple(replace(each, implementation="parallel") for each in steps)
    engine = Engine()
    result = engine.run(job_of(picture, steps, is_rounded=is_rounded, border=border), CHECKED)
    assert result.check.ok
    wrong, tolerance = result.picture.copy(), engine.tolerance(result)
    wrong[16, 5, 1] = white
    *_, check = checking(result.job, wrong, tolerance, None)
    assert (check.wrong, check.worst) == (1, (16, 5, 1))


def test_outside_a_part_not_a_bit_changes():
    picture = picture_of(5, 12, 14, 4, "uint8")
    job = job_of(picture, (weighing("gaussian", 5),), region=Region(3, 2, 6, 7, 1))
    result = Engine().run(job, CHECKED)
    assert result.check.ok
    is_outside = job.share()[..., 0] == 0
    assert np.array_equal(result.picture[is_outside], picture[is_outside])
    assert not np.array_equal(result.picture, picture)


@pytest.mark.parametrize("pixel_type", ["uint8", "float32"])
def test_a_wrong_output_is_found(pixel_type):
    picture = picture_of(6, 20, 20, 4, pixel_type)
    picture[:8, :8, 3] = WHITE[pixel_type]
    engine, (y, x) = Engine(), (3, 4)
    result = engine.run(job_of(picture, (BOX,)), CHECKED)
    worst = 4 if pixel_type == "uint8" else 4 * result.check.bound
    for channel in (0, 3):
        wrong = result.picture.copy()
        wrong[y, x, channel] -= type(wrong[y, x, channel])(worst)
        tolerance = engine.tolerance(result)
        *_, check = checking(result.job, wrong, tolerance, None)
        assert (check.wrong, check.worst[:2]) == (1, (y, x))


def test_division_never_grows_without_a_bound():
    given = np.array([[[1e-9, 0, 0, 1e-12], [0.5, 0.25, 0, 0.5], [1, 1, 1, -1]]], np.float32)
    found = divided(1.0, given)
    assert np.isfinite(found).all()
    assert np.array_equal(found[0, 1], [1, 0.5, 0, 0.5])
    assert np.array_equal(found[0, 2], [0, 0, 0, -1])  # floats are not clipped


def test_floats_keep_an_alpha_of_any_scale():
    picture = picture_of(7, 9, 8, 4, "float32")
    one = filtered(job_of(picture, (BOX,)))
    picture[..., 3] *= 255
    found = filtered(job_of(picture, (BOX,)))
    assert found[..., 3] == pytest.approx(255 * one[..., 3])
    is_seen = one[..., 3] > 0.01
    assert found[is_seen][:, :3] == pytest.approx(one[is_seen][:, :3])


def test_alpha_is_one_only_where_there_is_one():
    grey = np.zeros((4, 4, 1), np.uint8)
    assert Job(grey, (BOX,), opaque=255.0).opaque is None
    with pytest.raises(BadJobError, match="opaque"):
        Job(np.zeros((4, 4, 4), np.uint8), (BOX,), opaque=-1.0)
