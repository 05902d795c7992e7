"""Dataclasses to what JSON can hold and back: exact, or refused with the place and the reason."""

import json
import math
from dataclasses import dataclass
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.core.plain_data import NotPlainError, from_plain, to_plain
from tests.letters import SHOWN


@dataclass(frozen=True)
class Inner:
    size: tuple[int, int] | None = None
    note: str = ""


@dataclass(frozen=True)
class Outer:
    name: str
    count: int
    share: float
    kind: Literal["cold", "warm"] | None
    samples: tuple[float, ...]
    outcome: Inner | str
    inner: Inner | None = None
    limits: dict[str, int] | None = None
    ok: bool = True


WHOLE = st.integers(1 - (1 << 63), (1 << 63) - 1)
INNER = st.builds(Inner, st.none() | st.tuples(WHOLE, WHOLE), st.text(SHOWN))
OUTER = st.builds(
    Outer,
    name=st.text(SHOWN),
    count=WHOLE,
    share=st.floats(allow_nan=False),
    kind=st.sampled_from(["cold", "warm", None]),
    samples=st.lists(st.floats(allow_nan=False), max_size=5).map(tuple),
    outcome=INNER | st.text(SHOWN),
    inner=st.none() | INNER,
    limits=st.none() | st.dictionaries(st.text(SHOWN), WHOLE, max_size=3),
    ok=st.booleans(),
)
GOOD = {"name": "a", "count": 1, "share": 0.5, "kind": "cold", "samples": [1.5], "outcome": "no"}


@given(OUTER)
def test_what_was_written_is_read_again(value):
    assert from_plain(Outer, json.loads(json.dumps(to_plain(value), allow_nan=False))) == value


@pytest.mark.parametrize("control", ["\x1b", "\x07", "\r", "\x7f", "\x9b", "\u202e", "\u2066"])
def test_what_a_terminal_obeys_is_not_read(control):
    evil = f"a{control}\tb\n"
    read = from_plain(Outer, GOOD | {"name": evil, "outcome": evil, "limits": {evil: 1}})
    assert (read.name, read.outcome, read.limits) == ("a\tb\n", "a\tb\n", {"a\tb\n": 1})
    with pytest.raises(NotPlainError) as refused:
        from_plain(Outer, GOOD | {evil: 1})
    assert control not in str(refused.value)


def test_nan_survives_digits_are_significant_ones_and_a_type_without_a_form_is_a_bug():
    read = from_plain(Outer, GOOD | {"share": to_plain(math.nan)})
    assert math.isnan(read.share)
    assert to_plain((123.456789, 1.23456789e-5, 123456789), 6) == [123.457, 1.23457e-5, 123456789]
    with pytest.raises(TypeError, match="no plain form"):
        from_plain(complex, 1)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"count": "1"}, "count is not a whole number"),
        ({"count": True}, "count is not a whole number"),
        ({"count": 1 << 63}, "count is not a whole number"),
        ({"name": 3}, "name is not a text"),
        ({"ok": 1}, "ok is not true or false"),
        ({"share": "much"}, "share is not a number"),
        ({"share": 10**400}, "share is not a number"),
        ({"share": None}, "share is not a number"),
        ({"kind": "tepid"}, "kind is none of"),
        ({"samples": 1.5}, "samples is not a list"),
        ({"samples": [1.5, "x"]}, "samples[1] is not a number"),
        ({"inner": {"size": [1]}}, "inner.size is not"),
        ({"inner": {"sise": [1, 2]}}, "inner.sise is not known"),
        ({"outcome": {"note": 3}}, "outcome.note is not a text"),
        ({"outcome": None}, "outcome is not an object"),
        ({"limits": {"a": 1.5}}, "limits.a is not a whole number"),
        ({"colour": "red"}, "colour is not known"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(change, complaint):
    with pytest.raises(NotPlainError) as refused:
        from_plain(Outer, GOOD | change)
    assert str(refused.value).startswith(complaint)
