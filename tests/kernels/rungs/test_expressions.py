"""A header's expressions count; nothing else can be done with them."""

from __future__ import annotations

import pytest

from kernels.rungs.expressions import text_of, value_of, why_not_expression, why_not_template

KNOWN = {"KSIZE": 5, "WIDTH": 20, "SAMPLE": "uint8", "max": max}
NAMES = frozenset(KNOWN)


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
    assert value_of(text, KNOWN) == value


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
    assert why_not_template(sentence, NAMES) == ""
    assert text_of(sentence, KNOWN) == "Of “uint8” 10, it's {so}."
