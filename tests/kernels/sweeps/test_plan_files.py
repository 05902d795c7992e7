"""Plans as TOML: what people write, what is written for them, and what is refused, and how."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import PlanFileError
from kernels.core.job import PIXEL_TYPES, Sampling
from kernels.core.sampling import SWEEP_SAMPLING
from kernels.engine.engine import all_implementations
from kernels.sweeps.plan import PICTURE_KINDS, Plan
from kernels.sweeps.plan_files import as_toml, plan_of, read_plan
from tests.letters import SHOWN
from tests.made_sessions import PLANS

MINIMAL = 'title = "A"\nimplementation = "shared"\n'


def refusal(text):
    with pytest.raises(PlanFileError) as refused:
        plan_of(text)
    sentence = str(refused.value)
    assert re.search(r"[.?]$", sentence)
    assert "\n" not in sentence
    return sentence


def test_people_write_it_so():
    plan = plan_of(
        """
        title = "Shared memory against registers"
        implementation = ["shared", "register_tile"]
        size = ["256x256", "640×480", 512]
        block = ["16x16", "32x8"]
        filter = ["gaussian", "custom"]
        matrix = "0 1 0; 1 -4 1; 0 1/2 0"
        picture = ["noise", "pictures/kodim01.png"]
        sigma = 2
        tolerance = 1e-5
        [sampling]
        max_samples = 50
        noise = 0
        check = false
        """
    )
    assert plan == Plan(
        title="Shared memory against registers",
        implementations=("shared", "register_tile"),
        sizes=((256, 256), (640, 480), (512, 512)),
        blocks=((16, 16), (32, 8)),
        filters=("gaussian", "custom"),
        matrix=((0.0, 1.0, 0.0), (1.0, -4.0, 1.0), (0.0, 0.5, 0.0)),
        pictures=("noise", "pictures/kodim01.png"),
        sigma=2.0,
        tolerance=1e-5,
        sampling=replace(SWEEP_SAMPLING, max_samples=50, noise=None, check=False),
    )


def test_a_value_may_stand_for_a_list_and_the_rest_is_as_usual():
    assert plan_of(MINIMAL + "kernel_size = 7") == Plan("A", ("shared",), ksizes=(7,))


def test_only_what_is_not_as_usual_is_written():
    plan = Plan("A", ("shared", "opencv"), sizes=((256, 256), (640, 480)), caches=("warm",))
    assert as_toml(plan) == (
        'title = "A"\nimplementation = ["shared", "opencv"]\nsize = [256, "640x480"]\n'
        'cache = "warm"\n'
    )


def some(values, most=3):
    return st.lists(values, min_size=1, max_size=most, unique=True).map(tuple)


TEXT = st.text(SHOWN, max_size=20)
TITLE = TEXT.filter(lambda text: text.strip())
# Those that take any odd size go with any other, as long as they are there.
ANY = [each.key for each in filters.all_filters() if 63 in each.sizes and each.key != "custom"]
REST = [each.key for each in filters.all_filters() if each.key not in (*ANY, "custom", "grey")]
NUMBER = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def plans(draw):
    """Plans that make sense."""
    has_three_only = draw(st.booleans())
    is_custom = draw(st.booleans())
    size = draw(st.sampled_from([3, 5])) if is_custom else 3
    ksizes = dict.fromkeys(draw(some(st.integers(2, 31).map(lambda n: 2 * n + 1))))
    ksizes |= {3: None} if has_three_only else {}
    ksizes |= {size: None} if is_custom else {}
    chosen = draw(some(st.sampled_from(ANY)))
    chosen += draw(some(st.sampled_from(REST))) if has_three_only else ()
    chosen += ("custom",) if is_custom else ()
    row = st.tuples(*[NUMBER] * size)
    side = st.integers(1, 99_999)
    samples = draw(st.integers(1, 1000))
    return Plan(
        title=draw(TITLE),
        implementations=draw(some(st.sampled_from([i.key for i in all_implementations()]))),
        sizes=draw(some(st.tuples(side, side))),
        ksizes=tuple(ksizes),
        blocks=draw(some(st.tuples(st.integers(1, 1024), st.integers(1, 1024)))),
        filters=chosen,
        borders=draw(some(st.sampled_from(BORDERS))),
        pictures=draw(some(st.sampled_from([*PICTURE_KINDS, "a.png", "my pictures/é.tif"]))),
        channels=draw(some(st.integers(1, 4))),
        pixel_types=draw(some(st.sampled_from(PIXEL_TYPES))),
        counts=draw(some(st.integers(1, 10_000))),
        caches=draw(some(st.sampled_from(["cold", "warm"]))),
        devices=draw(some(st.integers(1, 64))),
        sigma=draw(st.none() | st.floats(0.1, 64)),
        amount=draw(st.floats(0, 10)),
        matrix=draw(st.tuples(*[row] * size)) if is_custom else None,
        transfers=draw(st.booleans()),
        cell_seconds=draw(st.floats(0.001, 86_400)),
        sampling=Sampling(
            max_samples=samples,
            max_seconds=draw(st.floats(0, 100)),
            check=draw(st.booleans()),
            check_taps=draw(st.none() | st.integers(1, 10**10)),
            min_samples=draw(st.integers(1, samples)),
            noise=draw(st.none() | st.floats(1e-6, 1)),
            warmups=draw(st.integers(0, 10)),
            warmup_seconds=draw(st.floats(0, 10)),
        ),
        source=draw(TEXT),
        table=draw(TEXT),
        note=draw(TEXT),
        tolerance=draw(st.none() | st.floats(0, 1e300)),
    )


@given(plans())
def test_what_is_written_is_read_again(plan):
    assert plan_of(as_toml(plan)) == plan


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('implementation = "shared"', "title must"),
        (MINIMAL + "kernel_sizes = 3", "did you mean kernel_size?"),
        (MINIMAL + "[sampling]\ncache = 'cold'", "'cache'"),
        (MINIMAL + "sampling = 3", "sampling is a table"),
        (MINIMAL + "[sampling]\nmax_samples = 0", "max_samples must"),
        (MINIMAL + "[sampling]\ncheck_taps = 2.0", "check_taps must"),
        (MINIMAL + "[sampling]\nmax_seconds = nan", "max_seconds must"),
        (MINIMAL + "[sampling]\ncheck = 1", "check must"),
        (MINIMAL + "[sampling]\nmax_samples = 5", "min_samples, 10"),
        ('title = 3\nimplementation = "shared"', "title must"),
        ('title = " "\nimplementation = "shared"', "title must"),
        ('title = "A"\nimplementation = []', "implementation is an empty list"),
        ('title = "A"\nimplementation = "sharde"', "did you mean shared?"),
        (MINIMAL + "kernel_size = [3, 129]", "not 129."),
        (MINIMAL + "kernel_size = true", "not True."),
        (MINIMAL + 'size = "0x5"', "not '0x5'."),
        (MINIMAL + "size = [[256, 256]]", "not [256, 256]."),
        (MINIMAL + "size = 100000", "size must"),
        (MINIMAL + 'block = "2048x1"', "block must"),
        (MINIMAL + 'filter = "sobel_x"\nkernel_size = [5, 7]', "none of the kernel sizes 5, 7"),
        (MINIMAL + 'filter = ["sobel_x", "laplacian"]\nkernel_size = [3, 5]', "kernel size 5."),
        (MINIMAL + 'filter = "custom"\nmatrix = "1 2; 3 4"', "matrix: "),
        (MINIMAL + 'filter = "custom"\nmatrix = 1', "matrix must"),
        (MINIMAL + 'matrix = "1"', "no other takes one"),
        (MINIMAL + 'border = "none"', "zero, clamp"),
        (MINIMAL + 'picture = "mine"', "or a file such as photo.png"),
        (MINIMAL + "channels = 5", "channels must"),
        (MINIMAL + "sigma = 0", "sigma must"),
        (MINIMAL + "tolerance = inf", "tolerance must"),
        (MINIMAL + "note = [" + '"long", ' * 1000 + "]", "…."),
        (MINIMAL + "title = 3", "is not TOML"),
        ("a = " + "[" * 10_000, "is not TOML"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_key_and_what_is_allowed(text, complaint):
    sentence = refusal(text)
    assert complaint in sentence
    assert sentence.startswith("The plan")


@given(st.data())
def test_whatever_is_changed_about_a_plan_is_read_or_refused(data):
    text = as_toml(PLANS["five_steps"])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 20, len(text))))
    said = ""
    try:
        plan_of(text[:start] + data.draw(st.text(max_size=3)) + text[end:])
    except PlanFileError as error:
        said = str(error)
    assert len(said.splitlines()) <= 1


def test_a_file_is_named_where_something_is_wrong_with_it(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(MINIMAL + "ksize = 3")
    with pytest.raises(PlanFileError, match=re.escape(f"{path}: There is no key 'ksize'")):
        read_plan(path)
    path.write_text(MINIMAL, encoding="utf-8-sig")  # as Windows' editor saves it
    assert read_plan(path).title == "A"


@pytest.mark.parametrize("content", [b"\xff\xfe\0x", b"\x89PNG\r\n\x1a\n\0", b"#" * (2 << 20)])
def test_what_is_no_text_is_no_plan(content, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_bytes(content)
    with pytest.raises(PlanFileError, match="is not a plan: a plan is a small TOML file"):
        read_plan(path)
