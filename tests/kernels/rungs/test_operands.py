"""What a rung is told of a job: facts, operands and its header's expressions."""

import numpy as np
import pytest

from kernels.core.job import Job
from kernels.rungs.headers import MAX_WAVES, SMALLEST, Facts, blocks_down, why_not_expression
from kernels.rungs.operands import FORMS, band_words, operands_of
from tests.made_up import H200


def halves(words):
    """The first of the two halves in each word."""
    return (words & 0xFFFF).astype(np.uint16).view(np.float16).astype(np.float64)


def weights_in(words, ksize):
    """(n, K): what high and low halves add up to."""
    before = 15 + -(ksize // 2) % 8
    high, low = halves(words[..., 0])
    return (high + low)[:, before : before + ksize]


@pytest.mark.parametrize("ksize", [1, 3, 15, 31, 127])
def test_a_word_holds_a_weight_and_the_next_and_those_8_further(ksize):
    weights = np.random.default_rng(1).uniform(-(2**15), 2**15, (2, ksize))
    words = band_words(weights)
    assert words.shape[-2] % 16 == 0
    np.testing.assert_allclose(weights_in(words, ksize), weights, rtol=0, atol=2**-8)
    np.testing.assert_array_equal(words[..., :-1, :] >> 16, words[..., 1:, :] & 0xFFFF)
    np.testing.assert_array_equal(words[:, :, :-8, 1], words[:, :, 8:, 0])


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1, 1e6, 1e30])
@pytest.mark.parametrize("form", ["bands", "thin_bands"])
def test_scaled_weights_times_undo_are_the_weights(form, scale):
    column, row = np.random.default_rng(2).uniform(-1, 1, (2, 7)).astype(np.float32)
    weights = (np.outer(column, row) * scale).astype(np.float32)
    operands = operands_of(form, Job.of(np.zeros((1, 1, 1), np.float32), weights))
    found = weights_in(operands.arguments[0], 7)
    undo = float(operands.constants["UNDO"][0])
    product = found if form == "bands" else np.outer(found[1], found[0])
    largest = np.abs(weights).max()
    assert np.isfinite(product).all()
    np.testing.assert_allclose(product * undo, weights, rtol=0, atol=largest * 2**-20)


def time_of(count, strips, resident, rows, more):
    return -(-strips * count // resident) * (-(-rows // count) + more)


@pytest.mark.parametrize(
    ("strips", "resident", "rows", "more", "count"),
    [
        (48, 396, 512, 5, 8),  # one wave, nearly full
        (48, 132, 512, 17, 5),  # of one wave a quarter would be empty: two
        (64, 132, 512, 17, 2),
        (9, 528, 64, 2, 58),  # of a small picture each block has two
        (1, 528, 32, 2, 32),  # no more blocks than rows
        (192, 132, 2048, 17, 2),  # more strips than blocks at a time
        (1, 1, 1, 1, 1),
    ],
)
def test_as_few_waves_as_waste_little(strips, resident, rows, more, count):
    assert blocks_down(strips, resident, rows, more) == count
    own = time_of(count, strips, resident, rows, more)
    for waves in range(1, MAX_WAVES + 1):
        other = max(1, min(rows, waves * resident // strips))
        assert own <= time_of(other, strips, resident, rows, more)


KNOWN = {"KSIZE": 5, "WIDTH": 20, "SAMPLE": "uint8", "max": max}
NAMES = frozenset(KNOWN)
FACTS = Facts(SMALLEST, H200)
FACTS.update(KNOWN)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 * KSIZE + 1", 11),
        ("-(-WIDTH // 3) | 1", 7),
        ("KSIZE**2", 25),
        ("max(KSIZE, 7) << 2", 28),
        ("(3 if SAMPLE == 'uint8' and not KSIZE > 7 else 4) * 2", 6),
        ("\n 1 +\n 2", None),
    ],
)
def test_arithmetic_counts(text, value):
    if value is None:
        assert why_not_expression(text, NAMES)
        return
    assert why_not_expression(text, NAMES) == ""
    assert FACTS.value(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("().__class__", "WIDTH.real", "(lambda: 1)()", "[0] * 9", "'a' * 9", "SAMPLE * 9"),
        *("9**9**9", "(9**8)**8", "KSIZE**WIDTH", "1 << 99", "1 << KSIZE", "2**-1"),
        *("[a for a in (1,)]", "max(key=1)", "max(*(1, 2))", "(WIDTH := 3)", "open('x')"),
        *("__import__('os')", "f'{1}' == f'{1}'", "+".join("1" * 2000), "(" * 300 + ")" * 300),
    ],
)
def test_nothing_else_is_taken(text):
    assert why_not_expression(text, NAMES)


def test_a_sentence_has_its_numbers_in_it():
    sentence = "Of “{SAMPLE}” {2 * KSIZE}, it's {{so}}."
    assert why_not_expression(sentence, NAMES, is_template=True) == ""
    assert FACTS.text(sentence) == "Of “uint8” 10, it's {so}."


def test_what_is_kept_for_a_job_is_what_would_be_made_for_it():
    weights, picture = np.full((3, 3), 1 / 9, np.float32), np.zeros((40, 64, 4), np.uint8)
    like = [
        Job.of(picture, weights, border).but(filters_alpha=filters_alpha)
        for border in ("clamp", "wrap", "mirror")
        for filters_alpha in (False, True)
    ]
    for form in sorted(FORMS.keys() - {"list", "none", "numbers"}):
        for job in (*like, *reversed(like)):
            kept, made = operands_of(form, job), FORMS[form](job)
            assert kept.knobs == made.knobs, (form, job)
            assert len(kept.arguments) == len(made.arguments)
            for one, other in zip(kept.arguments, made.arguments, strict=True):
                np.testing.assert_array_equal(one, other)
