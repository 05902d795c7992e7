"""Numbers in words and in tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.base import numbers
from workbench.base.columns import table, with_tables
from workbench.base.numbers import GAP


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0123456, "0.0123"),
        (0.00001234, "0.0000123"),
        (1.2, "1.20"),
        (12.3456, "12.3"),
        (99.96, "100"),
        (123.4, "123"),
        (1234.5, "1,230"),
        (-1.5, "-1.50"),
    ],
)
def test_three_digits_are_significant_and_never_an_exponent(value, text):
    assert numbers.three_digits(value) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0.00049, "0.490 µs"),
        (0.0123, "12.3 µs"),
        (0.9994, "999 µs"),
        (0.9996, "1.00 ms"),
        (1.234, "1.23 ms"),
        (999.7, "1.00 s"),
        (61_000, "61.0 s"),
        (0, "0 µs"),
    ],
)
def test_a_duration_takes_the_unit_that_suits_it_after_rounding(ms, text):
    assert numbers.duration(ms) == text.replace(" ", GAP)


def test_rates_and_sizes_have_their_usual_units():
    assert numbers.pixel_rate(843.2) == f"843{GAP}MP/s"
    assert numbers.pixel_rate(12_100) == f"12.1{GAP}GP/s"
    assert numbers.pixel_rate(0.0225) == f"22.5{GAP}kP/s"
    assert numbers.byte_rate(0.12) == f"120{GAP}MB/s"
    assert numbers.byte_rate(3400) == f"3.40{GAP}TB/s"
    assert numbers.byte_count(500) == f"500{GAP}B"
    assert (numbers.byte_count(1023), numbers.file_size(8)) == (f"1,023{GAP}B", f"8{GAP}B")
    assert numbers.byte_count(48 << 10) == f"48.0{GAP}KiB"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0042, "0.0042×"),
        (0.0996, "0.10×"),
        (0.42, "0.42×"),
        (0.999, "1.0×"),
        (4.21, "4.2×"),
        (12.34, "12.3×"),
        (123.4, "123×"),
    ],
)
def test_a_ratio_has_as_many_decimals_as_it_deserves(value, text):
    assert numbers.ratio(value) == text


@pytest.mark.parametrize(
    ("value", "text", "fine"),
    [
        (12.34, "12.3×", "12.3×"),
        (0.034, "29.4× slower", "29.4× slower"),
        (0.42, "2.4× slower", "2.38× slower"),
        (0.97, "1.0×", "1.03× slower"),
        (0.999, "1.0×", "1.00×"),
        (1.0, "1.0×", "1.00×"),
    ],
)
def test_what_is_slower_says_how_many_times(value, text, fine):
    assert numbers.speed_up(value) == text
    assert numbers.speed_up(value, numbers.fine_ratio) == fine
    how = "slower than" if "slower" in text else "as fast as"
    assert numbers.times_as_fast(value) == f"{text.removesuffix(' slower')} {how}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (2.41e-7, "2.4e-7"), (1.04, "1"), (99.4, "99"), (99.6, "100"), (123.4, "123")],
)
def test_an_error_has_few_digits_and_whole_numbers_no_exponent(value, text):
    assert numbers.error(value) == text


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (12.3, 11.9, 12.6, "12.3× (11.9× to 12.6×)"),
        (0.40, 0.38, 0.42, "2.5× slower (2.4× to 2.6×)"),
        (0.40, 0.40, 0.40, "2.5× slower"),
        (0.99, 0.95, 1.06, "1.0× (0.95× to 1.1×)"),
    ],
)
def test_the_interval_is_of_the_number_before_it(value, low, high, text):
    assert numbers.speed_up_between(value, low, high) == text


@given(st.floats(1e-9, 1e9))
def test_what_is_shown_is_within_half_a_percent_of_the_truth(ms):
    text, unit = numbers.duration(ms).split(GAP)
    shown = float(text.replace(",", "")) * {"µs": 1e-3, "ms": 1.0, "s": 1e3}[unit]
    assert shown == pytest.approx(ms, rel=0.0051)


def test_a_table_has_numbers_at_the_right_and_is_put_between_its_markers():
    assert (
        table(("what", "ms"), [("a", "1.5")], right=[1])
        == "| what | ms |\n| --- | --: |\n| a | 1.5 |"
    )
    text = "before\n<!-- one -->\nold\n<!-- /one -->\nafter\n"
    made = with_tables(text, {"one": r"a \1 | b"})
    assert made == "before\n<!-- one -->\n\na \\1 | b\n\n<!-- /one -->\nafter\n"
    assert with_tables(made, {"one": r"a \1 | b"}) == made
