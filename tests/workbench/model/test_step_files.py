"""Steps as text and as data: all that counts comes back, and nonsense is told of with its line."""

import json
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import Engine, filters
from kernels.core.borders import BORDERS
from kernels.core.job import MAX_STEPS
from kernels.pictures.generated import noise
from kernels.sweeps import step_words
from kernels.sweeps.step_words import (
    KEYS,
    StepFileError,
    as_word,
    made_filter,
    parse_step,
    to_words,
)
from workbench.imaging.pictures import Picture
from workbench.model import choices, intents, step_files
from workbench.model.state import State, Step
from workbench.model.step_files import to_text


def parse(text, name="The file"):
    return step_files.changes_of(step_words.parse(text, name))


numbers = st.floats(-1e30, 1e30) | st.sampled_from([1 / 9, -0.0, 1e-7])
of_program = st.sampled_from([None, "auto", "opencv", "shared"])
of_any = of_program | st.just("my kernel.cu")


@st.composite
def steps(draw, implementations=of_any):
    """A step of any filter that makes weights; what does not count is drawn as well."""
    chosen = draw(st.sampled_from(filters.all_filters()))
    side = draw(st.sampled_from([1, 3]))
    row = st.tuples(*[numbers] * side)
    ksize = draw(st.sampled_from(chosen.sizes))
    named = draw(implementations)
    return Step(
        filter=chosen.key,
        ksize=side if chosen.key == "custom" else ksize,
        sigma=draw(st.none() | st.floats(0.1, 64)),
        amount=draw(st.floats(0, 10)),
        matrix=draw(st.tuples(*[row] * side)),
        offset=draw(st.floats(-1, 1)),
        mix=draw(st.floats(0, 1)),
        is_on=draw(st.booleans()),
        implementation=named or "auto",
        chosen_implementation=named,
        block_xy=draw(st.tuples(st.integers(1, 1024), st.integers(1, 1024))),
    )


def kept(step):
    """All of a step that counts, as its work and its fields say."""
    chosen = filters.get(step.filter)
    counts = {p.name: getattr(step, p.name) for p in chosen.parameters}
    names = ("filter", "ksize", "mix", "is_on", "chosen_implementation", "block_xy")
    offset = getattr(made_filter(step), "offset", None)
    return {name: getattr(step, name) for name in names}, counts, offset


@given(steps())
def test_a_word_brings_back_its_step(step):
    assert kept(parse_step(as_word(step))) == kept(step)


@given(st.lists(steps(), min_size=1, max_size=MAX_STEPS), st.sampled_from(BORDERS), st.booleans())
def test_a_file_brings_back_its_list(listed, border, is_rounded):
    state = State(border=border, is_rounded=is_rounded, **step_files.changes_of_steps(listed))
    text = to_text(state)
    again = replace(State(is_rounded=not is_rounded), **parse(text))
    assert list(map(kept, again.steps)) == list(map(kept, listed))
    assert (again.border, again.is_rounded, again.after) == (border, is_rounded, ())
    assert parse(to_text(again)) == parse(text)


@given(st.lists(steps(of_program), min_size=1, max_size=8), st.integers(0, 7))
def test_settings_and_screenshots_bring_back_every_step(listed, at):
    state = State(is_rounded=True, **step_files.select(listed, at % len(listed)))
    data = json.loads(json.dumps(choices.to_data(state)))
    changes, lost = choices.recalled(data, State(before=(Step(),) * 7))
    again = replace(State(), **changes)
    assert lost == []
    assert (again.before, again.after, again.is_rounded) == (state.before, state.after, True)
    mine, theirs = state.selected, again.selected
    assert theirs == replace(mine, chosen_implementation=None)


STEP = choices.to_data(State(before=(Step(),)))["before"][0]


@pytest.mark.parametrize(
    "broken",
    [
        *("abc", 3, {}, {"filter": "box"}, [3], ["filter"], [{}], [{"ksize": 3}]),
        *([{**STEP, "filter": "bix"}], [{**STEP, "ksize": 4}], [{**STEP, "mix": 1.5}]),
        *([{**STEP, "is_on": None}], [{**STEP, "matrix": [[1, 2]]}], [{**STEP, "sigma": "1"}]),
        *([{**STEP, "implementation": 3}], [{**STEP, "chosen_implementation": "x"}]),
        *([{**STEP, "filter": "sharpen"}], [STEP] * 8),
    ],
)
def test_steps_that_make_no_sense_are_left_out_and_told(broken):
    changes, lost = choices.recalled({"border": "wrap", "after": broken}, State())
    assert changes == {"border": "wrap"}
    assert len(lost) == 1
    assert lost[0].startswith("steps ")


def test_a_kernel_of_another_step_is_not_kept_and_a_filter_without_steps_is_alone():
    own = {**STEP, "implementation": "mine.cu", "chosen_implementation": "mine.cu"}
    changes, lost = choices.recalled({"before": [own, STEP]}, State())
    assert [each.implementation for each in changes["before"]] == ["auto", "opencv"]
    assert changes["before"][0].chosen_implementation is None
    assert len(lost) == 1
    listed = State(before=(Step("box"),), mix=0.5)
    changes = choices.from_data({"filter": "sharpen", "ksize": 3}, listed)
    assert replace(listed, **changes) == State(filter="sharpen", ksize=3)
    assert choices.from_data({"border": "wrap"}, listed) == {"border": "wrap"}


def test_every_choice_of_a_step_has_a_word_and_is_written_where_it_was_chosen():
    without = {"own_kernel", "last_free_ksize", "implementation"}
    assert set(KEYS) == {each.name for each in fields(Step)} - without
    here = Step(implementation="opencv", chosen_implementation="shared")  # which cannot run here
    assert to_words(here)["implementation"] == "shared"
    assert "implementation" not in to_words(replace(here, chosen_implementation=None))


BOX = '[[step]]\nfilter = "box"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: A list has 1 to 8 steps, not 0."),
        ("# one\nversion = 2\n" + BOX, "line 2: It is of version 2; this program reads 1."),
        ("version = true\n" + BOX, "line 1: It is of version True"),
        ('border = "rond"\n' + BOX, "line 1: There is no border 'rond'; choose from zero"),
        (BOX + "\nbordr = 2", "line 4: There is no word 'bordr'; choose from filter, size,"),
        ("\nrounded = true\n" + BOX, "line 2: There is no key 'rounded'; choose from version"),
        ("round_between_steps = 1\n" + BOX, "line 1: round_between_steps must be true or false"),
        ("step = 3", "line 1: A step begins with [[step]]."),
        ('\n[step]\nfilter = "box"', "line 2: A step begins with [[step]]."),
        (BOX * 9, "line 17: A list has 1 to 8 steps, not 9."),
        (BOX + "[[step]]\nsize = 3\n", "line 3: A step needs a filter"),
        (
            BOX + '[[ "step" ]]\nfilter = "bix"\n',
            "line 4: There is no filter 'bix'; did you mean box",
        ),
        ('[[step]]\n"filter"="custom"', "line 1: Custom weights have to be given"),
        ('[[step]]\nfilter="custom"\nweights="""\nsize = 3\n"""', "line 3: weights: 'size' is not"),
        (
            '[[step]]\nfilter="custom"\nsize=5\nweights="""\nsize = 3\n"""'.replace(
                "size = 3", "1"
            ),
            "line 3: Custom weights are 1×1, not 5×5.",
        ),
        (BOX + "size = 4", "line 3: size must be an odd number from 1 to 127, not 4."),
        (BOX + "size = true", "line 3: size must be an odd number"),
        ('[[step]]\nfilter="sharpen"\nsize=5', "line 3: Sharpen has no size 5; it takes 3 only."),
        (BOX + "sigma = 2.0", "line 3: Box blur takes no sigma."),
        (BOX + "offset = 0.5", "line 3: Box blur takes no offset."),
        (BOX + 'weights = "1"', "line 3: Box blur takes no weights."),
        (BOX + "mix = 1.5", "line 3: mix must be a number from 0 to 1, not 1.5."),
        (BOX + "mix = nan", "line 3: mix must be a number from 0 to 1"),
        (BOX + 'implementation = "sharde"', "line 3: There is no implementation 'sharde'; did you"),
        (BOX + 'implementation = "../mine.cu"', "line 3: implementation is the name of a file"),
        (BOX + 'block = "9999x1"', 'line 3: block must be threads such as "32x8"'),
        (BOX + "[step.more]\nx = 1", "line 1: There is no word 'more'"),
        ("size = \n", "is not TOML"),
        ('step = [{filter = "box"},\n{filter = "bix"}]', "line 1: There is no filter 'bix'"),
    ],
)
def test_what_makes_no_sense_is_one_sentence_with_its_line(text, said):
    with pytest.raises(StepFileError) as caught:
        parse(text, "mine.toml")
    sentence = str(caught.value)
    assert sentence.startswith(f"mine.toml, {said}" if said[:4] == "line" else f"mine.toml {said}")
    assert "\n" not in sentence


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("", "There is no filter ''"),
        ("gausian:7", "There is no filter 'gausian'; did you mean gaussian?"),
        ("gaussian:", "size must be an odd number"),
        ("box:1_1", "size must be an odd number"),
        ("gaussian:7,sgima=2", "There is no word 'sgima'; did you mean sigma?"),
        ("gaussian:7,sigma", "sigma must be a number from 0.1 to 64, not ''."),
        ("gaussian:7,size=5", "A word is given twice."),
        ("box,off,on=true", "A word is given twice."),
        ("custom:3", "Custom weights have to be given"),
    ],
)
def test_a_word_that_makes_no_sense_is_named(word, said):
    with pytest.raises(StepFileError) as caught:
        parse_step(word)
    assert str(caught.value).startswith(f"{word}: {said}")


def test_a_file_that_cannot_be_text_is_refused(tmp_path):
    path = tmp_path / "picture.toml"
    path.write_bytes(b"\x89PNG\0")
    with pytest.raises(StepFileError, match=r"picture\.toml is no text"):
        step_words.read(path)


@pytest.mark.parametrize("ready", step_words.ready_made().values(), ids=step_words.ready_made())
def test_what_comes_with_the_program_runs_is_right_and_says_what_it_does(ready):
    assert ready.about.endswith(".")
    picture = noise(40, 50, 3)
    job = intents.job_for(State(picture=Picture("", picture), **step_files.changes_of(ready)))
    result = Engine(use_gpu=False).run(job)
    assert result.check.ok
    assert not np.array_equal(result.picture, picture)
    assert len(job.runs) > 1


def test_a_part_of_the_picture_is_the_lists():
    state = replace(State(), region=(4, 3, 20, 15, 2))
    text = to_text(state)
    assert 'region = "4,3,20,15,2"' in text
    assert parse(text)["region"] == state.region
    assert "region" not in parse(to_text(State()))
    assert parse(text.replace('15,2"', '15"'))["region"] == (4, 3, 20, 15, 0)
    with pytest.raises(StepFileError, match="line 3: region is x, y, width and height"):
        parse(text.replace("4,3,20,15,2", "4,3,0,15"), "a.toml")
