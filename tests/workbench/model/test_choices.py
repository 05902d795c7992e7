"""What of a file's choices is taken over: all that makes sense, and nothing else."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.model import choices
from workbench.model.intents import weights_for
from workbench.model.state import FACTS, State


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("filter", nonsense) for nonsense in ("sharpest", 3, None, ["gaussian"], {})),
        *(("pixel_type", nonsense) for nonsense in ("float64", 16, [], {})),
        *(("ksize", nonsense) for nonsense in (4, -3, 129, 5.0, True, "5", [5], 10**30)),
        *(("sigma", nonsense) for nonsense in (-1, 0, 1e9, 10**400, "2", True, [2.0])),
        *(("sigma", nonsense) for nonsense in (float("nan"), float("inf"))),
        *(("amount", nonsense) for nonsense in (None, -1, 11, float("nan"), 10**400, "1")),
        *(("matrix", nonsense) for nonsense in ([], [[]], [[1, 2], [3, 4]], [[1, 2, 3]], "abc")),
        *(("matrix", nonsense) for nonsense in (["a"], [[{}]], [[None]], [[True]], [["1"]], 3)),
        *(("matrix", nonsense) for nonsense in ([[float("nan")]], [[1e39]], [[10**400]], [1])),
        *(("border", nonsense) for nonsense in ("round", None, [], {})),
        *(("implementation", nonsense) for nonsense in ("warp", None, ["opencv"])),
        *(("baseline", nonsense) for nonsense in ("shared", "none", 1)),
        *(("block_xy", nonsense) for nonsense in ([32], [0, 8], [32, 8.0], [2048, 1], "ab", 32)),
        *(("devices", nonsense) for nonsense in (0, -1, 2.0, True, "2", None)),
        *(("cache", nonsense) for nonsense in ("hot", None)),
        *(("view_mode", nonsense) for nonsense in ("upside down", 1)),
        ("picture", "someone else's"),
    ],
)
def test_nonsense_is_left_out_and_the_rest_is_taken(name, value):
    data = {"border": "wrap", "cache": "warm", name: value}
    expected = {"border": "wrap", "cache": "warm"}
    expected.pop(name, None)
    assert choices.from_data(data, State()) == expected


def test_of_choices_that_do_not_fit_together_the_others_stay():
    data = {"filter": "sobel_x", "ksize": 31, "border": "wrap"}
    changes, lost = choices.recalled(data, State())
    assert changes == {"filter": "sobel_x", "ksize": 3, "border": "wrap"}
    assert lost == ["kernel size 31"]
    huge = {"filter": "custom", "matrix": [[3e38, 3e38, 3e38]] * 3, "border": "wrap"}
    assert choices.from_data(huge, State())["border"] == "wrap"


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=9,
)


@given(st.dictionaries(st.sampled_from(choices.NAMES), anything))
def test_whatever_a_file_says_what_is_taken_makes_weights(data):
    state = replace(State(), **choices.from_data(data, State()))
    assert weights_for(state).shape == (state.ksize, state.ksize)
    json.dumps(choices.to_data(state), allow_nan=False)


def test_only_an_implementation_that_was_chosen_is_kept():
    state = State(implementation="opencv")
    assert "implementation" not in choices.to_settings(state)
    assert choices.to_data(state)["implementation"] == "opencv"
    lost = replace(state, chosen_implementation="shared")  # which cannot run now
    assert choices.to_settings(lost)["implementation"] == "shared"


def test_what_earlier_versions_wrote_is_read():
    data = {"signed_as": "offset", "free_ksize": 9}
    assert choices.from_data(data, State()) == {"negative_display": "offset", "last_free_ksize": 9}
    data |= {"negative_display": "scaled", "last_free_ksize": 7}
    assert choices.from_data(data, State()) == {"negative_display": "scaled", "last_free_ksize": 7}
    assert not {"signed_as", "free_ksize"} & choices.to_data(State()).keys()


def test_every_field_says_what_it_is_called_and_a_kept_one_takes_its_own_default():
    for name, facts in FACTS.items():
        assert facts.label
        assert set(facts.comes_with) <= FACTS.keys(), name
        assert facts.check is None or facts.check(getattr(State(), name)), name
