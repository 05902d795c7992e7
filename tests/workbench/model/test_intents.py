"""From choices to work, or to the reason why there is none."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.core.device import NoDevice
from kernels.core.errors import BadJobError
from kernels.engine.engine import all_implementations
from kernels.filters.parameters import option_of
from tests.made_up import result
from tests.workbench.engines import DEVICE
from workbench.cli import main
from workbench.imaging.display_mapping import unclipped
from workbench.imaging.pictures import Picture
from workbench.model import choices, intents
from workbench.model.intents import weights_for
from workbench.model.state import FACTS, State

STATE = State(picture=Picture("noise", np.zeros((4, 5, 3), np.uint8)))
NO_DEVICE = NoDevice("There is no GPU.", "Buy one.")
IMPLEMENTATIONS = {each.key: each for each in all_implementations()}


def test_a_job_is_what_was_chosen_built_once_or_a_sentence():
    state = replace(STATE, filter="box", ksize=7, border="wrap", implementation="shared")
    job = intents.job_for(replace(state, block_xy=(16, 16)))
    assert job.picture is STATE.picture.samples
    np.testing.assert_allclose(job.correlation.weights, np.full((7, 7), 1 / 49))
    assert (job.border, job.implementation, job.block_xy) == ("wrap", "shared", (16, 16))
    assert job.title == "Box blur"
    with pytest.raises(BadJobError, match="takes"):
        intents.job_for(replace(STATE, filter="sobel_x", ksize=5))
    job = intents.job_for(STATE)
    assert intents.job_for(STATE) is job
    assert intents.job_for(replace(STATE)) is job  # an equal one
    assert intents.job_for(replace(STATE, border="wrap")).border == "wrap"


@pytest.mark.parametrize(
    ("name", "value", "changes"),
    [
        ("filter", "sobel_x", {"filter": "sobel_x", "ksize": 3, "last_free_ksize": 5}),
        ("filter", "box", {"filter": "box", "ksize": 5}),
        ("filter", "custom", {"filter": "custom", "ksize": 3, "last_free_ksize": 5}),
        ("matrix", ((2.0,),), {"matrix": ((2.0,),), "ksize": 1}),
        ("border", "wrap", {"border": "wrap"}),
        (
            "implementation",
            "shared",
            {"implementation": "shared", "chosen_implementation": "shared"},
        ),
    ],
)
def test_a_choice_brings_along_what_it_needs(name, value, changes):
    assert intents.changes_for(STATE, {name: value}) == changes


def test_the_size_is_there_again_after_filters_that_have_but_one():
    state = replace(STATE, ksize=9)
    for key, ksize in (
        ("sobel_x", 3),
        ("custom", 3),
        ("laplacian", 3),
        ("box", 9),
        ("gaussian", 9),
    ):
        state = replace(state, **intents.with_filter(state, key))
        assert state.ksize == ksize, key


def test_a_usual_size_is_taken_with_its_filter_and_given_back_after_it():
    state = replace(STATE, ksize=5)
    for key, chosen, ksize in (
        ("bilateral", None, 9),
        ("non_local_means", None, 21),
        ("laplacian", None, 3),
        ("median", None, 5),
        ("guided", 31, 9),
        ("gaussian", None, 31),  # it was the user's choice meanwhile
    ):
        state = replace(state, **intents.changes_for(state, {"filter": key}))
        assert state.ksize == ksize, key
        state = replace(state, ksize=chosen or state.ksize)
    sized = intents.changes_for(state, {"filter": "bilateral", "ksize": 7})
    assert sized["ksize"] == 7


def test_the_first_choice_is_auto_where_a_rung_can_run_and_a_block_may_be_the_reason():
    assert intents.first_choice(STATE, NO_DEVICE) == "opencv"
    assert intents.first_choice(STATE, DEVICE) == "auto"
    with_a_block_for_none = replace(STATE, block_xy=(1024, 1024))
    assert intents.first_choice(with_a_block_for_none, DEVICE) == "auto"
    without_room = replace(DEVICE, shared_bytes_per_block=-1)
    assert intents.first_choice(STATE, without_room) == "opencv"
    state = replace(STATE, block_xy=(1024, 1024))
    reason = intents.why_unavailable(state, IMPLEMENTATIONS["global"], DEVICE)
    assert "1024×1024" in reason
    assert intents.why_not_here(IMPLEMENTATIONS["global"], DEVICE) is None


@pytest.mark.parametrize(
    ("key", "device", "reason"),
    [
        ("opencv", None, None),
        ("opencv", NO_DEVICE, None),
        ("opencv", DEVICE, None),
        ("shared", None, intents.LOOKING),
        ("shared", NO_DEVICE, NO_DEVICE.reason),
        ("shared", DEVICE, None),
    ],
)
def test_what_cannot_run_has_its_reason(key, device, reason):
    assert intents.why_unavailable(STATE, IMPLEMENTATIONS[key], device) == reason


def test_a_baseline_is_the_same_work_on_the_cpu():
    job = intents.job_for(replace(STATE, implementation="shared", border="wrap"))
    state = replace(STATE, baseline="sequential")
    baseline = intents.baseline_for(job, state)
    assert baseline.implementation == "sequential"
    timed = result("sequential", job=baseline)
    assert intents.is_baseline_of(timed, job, state)
    assert not intents.is_baseline_of(timed, job, replace(state, baseline="opencv"))
    assert not intents.is_baseline_of(None, job, state)
    other = intents.job_for(replace(STATE, implementation="shared", border="zero"))
    assert not intents.is_baseline_of(timed, other, state)


def test_the_job_of_a_state_follows_its_picture_being_stored_as_floats():
    picture = Picture("whole", np.full((8, 9, 1), 7, np.uint8))
    state = replace(STATE, picture=picture, filter="sobel_x", ksize=3)
    assert intents.job_for(state).picture is picture.samples
    wide = unclipped(picture.samples)
    assert intents.job_for(state).picture is wide


@pytest.mark.parametrize("chosen", filters.all_filters(), ids=lambda each: each.key)
def test_what_a_filter_takes_is_a_choice_and_an_option(chosen, capsys):
    """A parameter that nobody can set would always have its default."""
    with pytest.raises(SystemExit):
        main.parse(["apply", "--help"])
    options = capsys.readouterr().out
    for parameter in chosen.parameters:
        assert parameter.name in {each.name for each in fields(State)}
        option = "--weights" if parameter.name == "matrix" else option_of(parameter.name)
        assert f"{option} " in options


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


def test_of_choices_that_do_not_fit_the_others_stay_and_earlier_names_are_read():
    data = {"filter": "sobel_x", "ksize": 31, "border": "wrap"}
    changes, lost = choices.recalled(data, State())
    assert changes == {"filter": "sobel_x", "ksize": 3, "border": "wrap"}
    assert lost == ["kernel size 31"]
    huge = {"filter": "custom", "matrix": [[3e38, 3e38, 3e38]] * 3, "border": "wrap"}
    assert choices.from_data(huge, State())["border"] == "wrap"
    data = {"signed_as": "offset", "free_ksize": 9}
    assert choices.from_data(data, State()) == {"negative_display": "offset", "last_free_ksize": 9}
    data |= {"negative_display": "scaled", "last_free_ksize": 7}
    assert choices.from_data(data, State()) == {"negative_display": "scaled", "last_free_ksize": 7}
    assert not {"signed_as", "free_ksize"} & choices.to_data(State()).keys()


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


def test_every_field_says_what_it_is_called_and_a_kept_one_takes_its_own_default():
    for name, facts in FACTS.items():
        assert facts.label
        assert set(facts.comes_with) <= FACTS.keys(), name
        assert facts.check is None or facts.check(getattr(State(), name)), name
