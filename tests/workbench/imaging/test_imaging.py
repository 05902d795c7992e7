"""Differences, mismatches, similarity and histograms of pictures."""

import math

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from kernels import filters
from kernels.core.cache import all_finite
from kernels.core.job import Job
from kernels.core.verdict import Tolerance
from kernels.oracle.reference import filtered, to_pixel_type
from kernels.pictures.generated import noise
from workbench.imaging import analyses, differences
from workbench.imaging.analyses import along, around_zero, comparing, counting, distances, in_words
from workbench.imaging.differences import (
    COLORS,
    DIFFERS,
    MAX_COUNTED,
    WRONG,
    searching,
    subtracting,
)
from workbench.imaging.display import NAN_BGR, show, to_display
from workbench.imaging.display_mapping import DisplayMapping, is_signed, natural_display
from workbench.imaging.pictures import Picture


def last(steps):
    return [step for step in steps if step is not None][-1]


def difference(*pictures, **how):
    return last(subtracting(*pictures, **how))


def bgr(display, x, y, level=0):
    return tuple(int(v) for v in display.pixels[level][y, x, :3])


def test_what_a_window_asks_of_all_samples_is_known_once_a_picture_is_stored(monkeypatch):
    stored = Picture("a", noise(20, 30, 4)).stored_as("float32")

    def again(*_, **__):
        raise AssertionError("the samples are looked through again")

    monkeypatch.setattr("kernels.core.cache.np.isfinite", again)
    monkeypatch.setattr("workbench.imaging.pictures.white", again)
    assert all_finite(stored.samples)
    assert stored.is_transparent


# -- how signed results are shown


SIGNED = np.array([[[-0.5]], [[0.0]], [[0.25]], [[1.5]]], np.float32)


@pytest.mark.parametrize(
    ("negative_display", "greys"),
    [
        ("clip", (0, 0, 64, 255)),
        ("absolute", (128, 0, 64, 255)),
        ("offset", (0, 128, 191, 255)),
        ("scaled", (85, 128, 149, 255)),
    ],
)
def test_each_way_to_show_values_below_zero(negative_display, greys):
    shown = show(SIGNED, DisplayMapping(None, negative_display)).pixels[0][..., 0].ravel()
    assert np.abs(shown.astype(int) - greys).max() <= 1
    assert SIGNED.min() == -0.5  # the data are what they were


def test_slopes_are_read_without_their_sign_and_others_around_grey():
    def natural(key):
        chosen = filters.get(key)
        return natural_display(chosen.weights(chosen.nearest_size(9)))

    assert {natural(f"{name}_{axis}") for name in ("sobel", "prewitt") for axis in "xy"} == {
        "absolute"
    }
    second = ("laplacian", "laplacian_diagonal", "laplacian_of_gaussian")
    assert {natural(key) for key in second} == {"scaled"}


def test_a_result_is_fitted_by_its_numbers_and_not_by_a_few_extremes():
    samples = np.array([[[2.0, 9.0], [-2.0, 9.0], [np.inf, 9.0], [np.nan, 9.0]]], np.float32)
    assert around_zero(samples, "scaled") == (-2.0, 2.0)
    assert around_zero(samples, "absolute") == (0.0, 2.0)
    flat = np.zeros((2, 2, 1), np.float32)
    assert around_zero(flat, "scaled") is None
    assert (show(flat, DisplayMapping(None, "scaled")).pixels[0][..., 0] == 128).all()
    samples = np.zeros((1000, 1100, 1), np.float32)
    samples[::2] = 10.0
    samples[::2, ::500] = -900.0  # 0.3 % of what is not zero
    assert around_zero(samples, "scaled") == (-10.0, 10.0)
    samples = np.zeros((3000, 1000, 1), np.float32)
    samples[1501, 333] = -7.0
    assert around_zero(samples, "scaled") == (-7.0, 7.0)


@pytest.mark.parametrize(
    ("subject", "lamp", "share", "darkest", "lightest"),
    [(0.2, 900, 0.01, -1, 1), (0.085, 900, 0.0004, 0, 2), (1e-3, 1.0, 0.01, 6, 8)],
)
def test_auto_exposure_shows_the_subject_and_not_the_lamp(subject, lamp, share, darkest, lightest):
    samples = np.full((100, 100, 3), subject, np.float16)
    samples.reshape(-1, 3)[: round(share * 10_000)] = lamp
    assert darkest < analyses.auto_ev(samples, (0.0, 1.0)) < lightest


@pytest.mark.parametrize("most", [1.0, 4.0])
def test_auto_exposure_clips_nothing_of_an_ordinary_picture(most):
    light = (np.arange(1, 4097) / 4096).reshape(64, 64, 1) ** 2.2 * most
    assert analyses.auto_ev(light.astype(np.float32), (0.0, 1.0)) == -math.log2(most)
    whole = np.uint16([[[0], [1000], [32768]]])
    assert analyses.auto_ev(whole, (0.0, 65536.0)) == 1
    assert analyses.auto_ev(whole * 0, (0.0, 65536.0)) is None


def test_filters_that_swing_around_zero_are_known():
    swinging = {
        each.key
        for each in filters.all_filters()
        if each.has_weights and is_signed(each.weights(each.nearest_size(5)), each.gradient)
    }
    assert {"sobel_x", "sobel_y", "laplacian", "laplacian_of_gaussian"} <= swinging
    assert swinging.isdisjoint({"gaussian", "box", "sharpen", "unsharp", "identity", "gradient"})
    assert not is_signed(np.full((3, 3), 3e38, np.float32), gradient=False)  # nor is it too much


def _locked(samples):
    samples.flags.writeable = False
    return samples


# -- differences


def test_an_absolute_difference_is_multiplied_saturates_and_leaves_alpha_out():
    one = np.array([[[10, 0, 7], [0, 200, 7]]], np.uint8)
    other = np.array([[[0, 3, 7], [5, 0, 7]]], np.uint8)
    found = difference(one, other, 255.0, gain=10.0)
    assert (found.gain, found.largest) == (10.0, 200.0)
    assert bgr(found.display, 0, 0) == (0, 30, 100)
    assert bgr(found.display, 1, 0) == (0, 255, 50)
    one, other = noise(6, 5, 4), noise(6, 5, 4)
    other[..., 3] ^= 255
    assert difference(one, other, 255.0).largest == 0


def test_a_signed_difference_is_blue_below_and_orange_above_zero():
    one = np.array([[[0.0], [0.5], [1.0], [np.nan]]], np.float32)
    found = difference(one, np.full((1, 4, 1), 0.5, np.float32), 1.0, is_signed=True, gain=1.0)
    below, nothing, above, unknown = (bgr(found.display, x, 0) for x in range(4))
    assert below[0] > below[2] + 80
    assert min(nothing) > 240
    assert above[2] > above[0] + 80
    assert unknown == NAN_BGR


@pytest.mark.parametrize(
    ("largest", "gain"), [(0.0, 1000.0), (1.0, 200.0), (100.0, 2.0), (255.0, 1.0), (900.0, 1.0)]
)
def test_the_gain_that_suits_is_a_round_one_from_1_to_1000(largest, gain):
    one = np.full((4, 5, 1), largest, np.float32)
    assert difference(one, np.zeros_like(one), 255.0).gain == gain


@pytest.mark.parametrize("pixel_type", [np.uint8, np.uint16, np.float32])
def test_a_few_large_differences_do_not_set_the_gain(pixel_type):
    one = np.zeros((40, 50, 1), pixel_type)
    one[:, ::2] = 4
    one[0, ::10] = 255  # 5 of 1000 that differ
    found = difference(one, np.zeros_like(one), 255.0)
    assert (found.gain, found.largest) == (50.0, 255.0)
    one[1, 0] = 255  # one more, and they are too many to be left off the scale
    assert difference(one, np.zeros_like(one), 255.0).gain == 1.0


@pytest.mark.parametrize("pixel_type", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_gain_goes_by_the_colours_of_every_so_many_th_pixel(pixel_type, channels):
    height, width = 331, 477
    colours = channels - (channels in (2, 4))
    apart = next(n for n in range(1, 9) if height * width * colours <= n * n * MAX_COUNTED)
    one = np.full((height, width, channels), 250, pixel_type)
    one[::apart, ::apart, :colours] = 40
    assert apart > 1
    assert difference(one, np.zeros_like(one), 255.0).gain == 5.0  # of 250 it would be 1


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_the_quick_way_of_8_bits_shows_what_the_other_does(channels, is_signed):
    one, other = noise(90, 70, channels), noise(90, 70, channels)[::-1].copy()
    for gain in (None, 1.0, 2.5, 40.0):
        how = {"is_signed": is_signed, "gain": gain}
        quick = difference(one, other, 255.0, **how)
        slow = difference(one.astype(np.uint16), other.astype(np.uint16), 255.0, **how)
        assert np.array_equal(quick.display.pixels[0], slow.display.pixels[0])
        assert (quick.gain, quick.largest) == (slow.gain, slow.largest)


@pytest.mark.parametrize("is_signed", [False, True])
def test_what_is_not_finite_is_magenta_and_counted(is_signed):
    one = np.array([[[0.5], [np.inf], [np.nan], [3e38], [np.nan], [-np.inf]]], np.float32)
    other = np.array([[[0.25], [0.0], [0.0], [-3e38], [np.nan], [-np.inf]]], np.float32)
    found = difference(one, other, 1.0, is_signed=is_signed)
    assert (found.largest, found.not_finite) == (0.25, 3)  # 6e38 is more than float32 holds
    assert [x for x in range(6) if bgr(found.display, x, 0) == NAN_BGR] == [1, 2, 3]
    assert str(found).endswith("largest 0.25 · 3 not finite: magenta")


# -- mismatch


def a_job(shape=(150, 200, 3)):
    return Job.of(_locked(noise(*shape)), filters.get("gaussian").weights(5), "mirror")


def searched(job, answer, **how):
    return last(searching(job, answer, to_display(answer), Tolerance(25), **how))


def right_answer(job):
    return to_pixel_type(filtered(job), job.picture.dtype)


def test_of_a_right_answer_no_pixel_differs():
    job = a_job()
    found = searched(job, right_answer(job))
    assert (found.differing, found.wrong, found.compared) == (0, 0, 150 * 200)
    assert found.next_after(0, 1) is None
    assert (str(found), found.scope) == ("no pixel differs", "all compared")


def test_wrong_pixels_are_found_in_their_order_and_gone_to_around_the_ends():
    job = a_job()
    answer = right_answer(job)
    for x, y in ((190, 3), (5, 70), (6, 149)):
        answer[y, x, 1] ^= 64
    found = searched(job, answer)
    places = [3 * 200 + 190, 70 * 200 + 5, 149 * 200 + 6]
    assert found.wrong == found.differing == 3
    assert found.places == places
    assert found.furthest == 64
    assert [found.next_after(at, 1) for at in (-1, *places)] == [*places, places[0]]
    assert [found.next_after(at, -1) for at in places] == [places[-1], *places[:2]]


def test_a_wrong_pixel_is_seen_at_any_zoom():
    job = a_job((1030, 1290, 1))
    answer = right_answer(job)
    answer[1029, 1289] ^= 128
    found = searched(job, answer)
    for level, pixels in enumerate(found.display.pixels):
        height, width = pixels.shape[:2]
        assert bgr(found.display, width - 1, height - 1, level) == COLORS[WRONG]
    assert level == 2


def test_one_off_is_only_rounded_otherwise():
    job = a_job((20, 20, 1))
    exact = filtered(job)[..., 0]
    apart = abs(exact % 1 - 0.5)
    y, x = np.unravel_index(apart.argmin(), apart.shape)
    answer = right_answer(job)
    answer[y, x] = 2 * math.floor(exact[y, x]) + 1 - answer[y, x]  # the other neighbour
    found = last(
        searching(job, answer, to_display(answer), Tolerance(25, 1e6))
    )  # a bound that allows it
    assert (found.wrong, found.differing) == (0, 1)
    assert bgr(found.display, x, y) == COLORS[DIFFERS]
    assert found.places == [y * 20 + x]


def test_what_is_in_view_is_compared_first(monkeypatch):
    job = a_job((300, 300, 1))
    monkeypatch.setattr(differences, "TELL_S", 0.0)
    answer = right_answer(job)
    first = next(
        iter(searching(job, answer, to_display(answer), Tolerance(25), (200, 220, 200, 210)))
    )
    seen = first.display.pixels[0][..., 0] > 60
    assert seen[192:256, 192:256].all()
    assert first.compared == 64 * 64
    assert not first.is_over


# -- similarity


def ssim_by_scipy(a, b, full):
    """Of one channel, straight from the paper's formula (13), windows wholly inside."""

    def mean(values):
        return gaussian_filter(values, 1.5, truncate=3.4)[5:-5, 5:-5]  # reach: round(3.4 · 1.5)

    a, b = a.astype(float), b.astype(float)
    c1, c2 = (0.01 * full) ** 2, (0.03 * full) ** 2
    ma, mb = mean(a), mean(b)
    va, vb, both = mean(a * a) - ma**2, mean(b * b) - mb**2, mean(a * b) - ma * mb
    top = (2 * ma * mb + c1) * (2 * both + c2)
    return float((top / ((ma**2 + mb**2 + c1) * (va + vb + c2))).mean())


# One window, one strip, several.
@pytest.mark.parametrize("height", [11, 40, 300])
@pytest.mark.parametrize(
    ("pixel_type", "full"), [("uint8", 255.0), ("uint16", 65535.0), ("float32", 1.0)]
)
def test_ssim_is_what_scipy_finds(height, pixel_type, full):
    one, apart = noise(height, 37, 3, pixel_type), noise(height, 37, 3, pixel_type, seed=1)
    other = np.clip(one.astype(float) + apart / 8.0 - full / 16, 0, full).astype(pixel_type)
    found = last(comparing(one, other, full))
    wanted = np.mean([ssim_by_scipy(one[..., c], other[..., c], full) for c in range(3)])
    assert found.ssim == pytest.approx(wanted, abs=1e-9)
    squares = np.mean((one.astype(float) - other) ** 2)
    assert found.psnr_db == pytest.approx(10 * math.log10(full**2 / squares), abs=1e-9)
    assert found.largest == np.abs(one.astype(float) - other).max()
    assert found.full == full


def test_nan_is_not_hidden_and_an_infinite_error_is_endlessly_unlike():
    one = noise(20, 20, 1, "float32")
    other = one.copy()
    other[3, 4] = np.nan
    found = last(comparing(one, other, 1.0))
    assert math.isnan(found.largest)
    assert math.isnan(found.psnr_db)
    assert math.isnan(found.ssim)
    other = one.copy()
    other[3, 4] = np.inf
    found = last(comparing(one, other, 1.0))
    assert (found.largest, found.psnr_db) == (math.inf, -math.inf)
    assert math.isnan(found.ssim)


# -- histograms


def test_numbers_of_a_few_values_by_hand():
    ((found,),) = last(counting((np.array([0, 10, 10, 255], np.uint8).reshape(2, 2, 1),)))
    assert found.channel == "grey"
    assert (found.numbers.low, found.numbers.high, found.numbers.mean) == (0, 255, 68.75)
    assert found.numbers.percentiles == (0, 10, 255)
    assert found.counts[[0, 10, 255]].tolist() == [1, 2, 1]
    assert found.counts.sum() == 4


@pytest.mark.parametrize("pixel_type", ["uint8", "uint16", "float16", "float32"])
def test_numbers_are_those_of_numpy(pixel_type):
    samples = noise(300, 41, 3, pixel_type)
    found = last(counting((samples, samples[::-1] // 2 if samples.dtype.kind == "u" else samples)))
    for channel, histogram in enumerate(found[0]):
        values = samples[..., channel].astype(np.float64)
        wanted = np.percentile(values, (1, 50, 99), method="inverted_cdf")
        numbers = histogram.numbers
        assert numbers.percentiles == pytest.approx(tuple(wanted))
        assert (numbers.low, numbers.high) == (values.min(), values.max())
        assert numbers.mean == pytest.approx(values.mean())
        assert histogram.counts.sum() == values.size
    assert np.array_equal(found[0][0].edges, found[1][0].edges)


def test_values_that_are_no_numbers_are_counted_apart():
    samples = np.array([0.0, 1.0, np.nan, np.inf], np.float32).reshape(4, 1, 1)
    ((found,),) = last(counting((samples,)))
    assert found.numbers.not_finite == 2
    assert (found.numbers.low, found.numbers.high, found.numbers.mean) == (0, 1, 0.5)
    ((found,),) = last(counting((np.full((2, 2, 1), np.nan, np.float32),)))
    assert math.isnan(found.numbers.mean)
    assert found.numbers.not_finite == 4


@pytest.mark.parametrize(
    ("pictures", "first", "width", "last_edge"),
    [
        (((0, 255),), -0.5, 1, 255.5),
        (((0, 300),), -0.5, 2, 301.5),
        (((0, 65535),), -0.5, 256, 65535.5),
        (((7, 4095),), 6.5, 16, 4102.5),
    ],
)
def test_bins_of_16_bits_hold_as_many_whole_numbers_each(pictures, first, width, last_edge):
    ((found,),) = last(counting((np.array(pictures, np.uint16).reshape(1, -1, 1),)))
    assert (found.edges[0], found.edges[-1]) == (first, last_edge)
    assert set(np.diff(found.edges)) == {width}
    assert found.counts[[0, -1]].tolist() == [1, 1]


def test_so_do_those_of_whole_numbers_beside_floats_below_zero():
    ramp = np.arange(256, dtype=np.uint8).reshape(16, 16, 1)
    swinging = np.linspace(-200, 200, 256, dtype=np.float32).reshape(16, 16, 1)
    (before,), (after,) = last(counting((ramp, swinging)))
    inside = before.counts[(before.edges[:-1] > 0) & (before.edges[1:] < 255)]
    assert set(inside) == {2}  # no comb
    assert after.counts.sum() == 256


def test_rows_columns_and_slanted_lines():
    samples = np.arange(12, dtype=np.uint8).reshape(3, 4, 1)
    row = (0, 1), (3, 1)
    assert along(samples, row).ravel().tolist() == [4, 5, 6, 7]
    assert along(samples, ((2, 0), (2, 2))).ravel().tolist() == [2, 6, 10]
    assert along(samples, ((0, 0), (2, 2))).ravel().tolist() == [0, 5, 10]
    assert along(samples, ((3, 2), (0, 2))).ravel().tolist() == [11, 10, 9, 8]
    assert along(samples, ((-5, 0), (9, 0))).ravel().tolist() == [0, 1, 2, 3]
    assert along(samples, ((1, 1), (1, 1))).ravel().tolist() == [5]
    assert distances(samples, row).tolist() == [0, 1, 2, 3]
    assert distances(samples, ((2, 0), (0, 2))).tolist() == pytest.approx([0, 2**0.5, 8**0.5])
    assert distances(samples, ((-5, 0), (9, 0))).tolist() == pytest.approx([5, 6, 7, 8])
    assert in_words(((0, 1), (3, 1))) == "row 1, x 0 to 3"
    assert in_words(((2, 0), (2, 2))) == "column 2, y 0 to 2"
    assert in_words(((0, 0), (3, 4))) == "(0, 0) to (3, 4), 5 pixels long"
