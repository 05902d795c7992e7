"""The user's choices as one immutable value, and the facts about its fields; no Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, get_args

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.errors import BadJobError
from kernels.core.job import MAX_STEPS, PIXEL_TYPES
from kernels.core.nonlinear import MAX_KSIZE, MAX_PATCH
from kernels.core.timing import Cache
from kernels.engine.auto import AUTO
from kernels.engine.engine import all_implementations
from kernels.filters import parameters
from kernels.filters.parameters import Parameter
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import Matrix
from kernels.sweeps.step_words import ALPHAS, IDENTITY, WHOLES, Part, WrittenStep, is_part
from workbench.imaging.display_mapping import BARE, MAX_GAIN, MIN_GAIN, NegativeDisplay, Tone
from workbench.imaging.pictures import Picture

Check = Callable[[Any], bool]  # of a value from a file; may raise as well
SIZES = range(1, MAX_KSIZE + 1, 2)  # of weights


@dataclass(frozen=True, slots=True)
class FieldFacts:
    """Everything known about one field of the State but its type."""

    label: str  # its name in "Undo kernel size 5 → 7"
    check: Check | None = None  # of a value read from a file; None: the field is not kept in files
    reruns: bool = False  # True if a change of it asks for another result
    older_key: str = ""  # the key that earlier versions wrote it under
    option: str = ""  # the command line's option, without dashes: "size"
    is_gradual: bool = False  # True if it is dragged, held or typed on the way to another value
    is_wordless: bool = False  # True if no value of it can be told in a word or two
    comes_with: tuple[str, ...] = ()  # fields that bring a change of this along, without mention
    is_view: bool = False  # True if it only says how pictures are looked at


def choice(
    default: Any,
    label: str,
    check: Check | None = None,
    flags: str = "",
    *,
    comes_with: str = "",
    **names: str,
) -> Any:
    """Make a field of the State with its default and its FieldFacts.

    flags       the facts that are true, separated by spaces
    comes_with  names of fields, likewise
    """
    told = dict.fromkeys(flags.split(), True)
    known = FieldFacts(label, check, comes_with=tuple(comes_with.split()), **told, **names)  # type: ignore[arg-type]
    return field(default=default, metadata={"facts": known})


def one_of(*values: Any) -> Check:
    return lambda value: value in values


def or_none(check: Check) -> Check:
    """`check`, which None passes as well."""
    return lambda value: value is None or check(value)


def is_filter(value: Any) -> bool:
    return value in [each.key for each in filters.all_filters()]


def is_implementation(value: Any) -> bool:
    """Return True for an implementation's key or a user kernel's file name."""
    if type(value) is str and is_own(value):
        return Path(value).name == value
    return value == AUTO.key or value in _keys(("cpu", "cuda"))


def _keys(kinds: tuple[str, ...]) -> list[str]:
    return [each.key for each in all_implementations() if each.kind in kinds]


def is_block(value: Any) -> bool:
    """Return True for a block's (x, y) in threads."""
    return len(value) == 2 and all(type(n) is int and 1 <= n <= 1024 for n in value)


def is_matrix(value: Any) -> bool:
    """Return True for rows of numbers that can be weights."""
    if not all(type(n) in (int, float) for row in value for n in row):
        return False
    try:
        filters.get("custom").weights(len(value), matrix=value)
    except BadJobError:
        return False
    return True


def _whole(allowed: range) -> Check:
    return lambda value: type(value) is int and value in allowed


def _number(low: float, high: float) -> Check:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _parameter(parameter: Parameter) -> Check:
    def check(value: Any) -> bool:
        if type(value) not in (int, float):
            return False
        try:
            parameter.check("", value)
        except BadJobError:
            return False
        return True

    return check


ViewMode = Literal["result", "wipe", "side", "difference", "mismatch"]
Divider = Literal["upright", "level"]
DifferenceKind = Literal["absolute", "signed"]


@dataclass(frozen=True, slots=True)
class OwnFile:
    """File of a user kernel, and the source that was read."""

    path: Path
    text: str = field(repr=False)

    @property
    def name(self) -> str:
        """Name of the file, which is the implementation's key."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Step(WrittenStep):
    """A step of the list, as chosen: fields as those of the State."""

    implementation: str = "opencv"
    own_kernel: OwnFile | None = None
    last_free_ksize: int | None = None


_fields_of_step = attrgetter(*(each.name for each in fields(Step)))


def are_steps(value: Any) -> bool:
    facts = {each.name: FACTS[each.name].check for each in fields(Step)}
    return all(
        check is None or check(getattr(step, name))
        for step in value
        for name, check in facts.items()
    )


def _of(parameter: Parameter) -> Any:
    facts = parameter.title.lower(), _parameter(parameter), "reruns is_gradual"
    return choice(parameter.default, *facts, option=parameter.name)


@dataclass(frozen=True, slots=True, weakref_slot=True)
class State:
    """Everything the user has chosen; never a widget, a result or a GPU array.

    The fields that a Step has as well are those of the selected step, which all panels show.

    Beside each field stand its FieldFacts.  Of several that change at once, the first in this
    order gives the undo step its name.

    implementation         the one to run now
    chosen_implementation  the one the user chose, which may not run here at the moment; None: the
                           best there is, see `intents.implementation_for`
    own_kernel       the file of a user kernel that was read last, as `implementation` names it;
                     None: none was.  See `session.kernel_folder`
    devices          how many GPUs share the rows of the picture
    matrix           the weights of the filter "custom"
    offset           what is added to what these give, as a part of white: -1 to 1
    last_free_ksize  the size that was chosen last where the filter left a choice; None: not known
    sigma            None: the filter's own default for its size
    mix              share of the step's output in what it gives; the rest is its input
    is_on            whether the step is taken at all
    before, after    the steps before and after the selected one
    compared         the step, from 0, that the result is compared with; None: the original
    region           the part of the picture that is filtered, in pixels of its file; None: all
    is_rounded       whether samples are rounded to the picture's type between steps
    alpha            how pictures with transparent pixels are filtered: with colours weighted by
                     alpha and alpha as well, or with channels apart and alpha as it is
    whole            how a list runs as a whole on a GPU
    pixel_type       what pictures are stored as when they are opened; None: as in their files
    reference        what the result is compared with in place of the original
    aside            choices that come back when two files are compared no longer
    levels           sample values shown as black and white; None: 0 and the picture's white
    tone             how bright pictures are shown, on top of the levels
    result_levels    the same for results that swing around zero; None: as suits how they are shown
    negative_display how results that swing around zero are shown: see `imaging.display_mapping`;
                     None: as suits the filter
    divider          of the wipe: between left and right, or between above and below
    difference       how after minus before is shown
    gain             what that is multiplied by; None: so that it fits the range
    """

    picture: Picture | None = choice(None, "picture", None, "reruns")
    filter: str = choice("gaussian", "filter", is_filter, "reruns", option="filter")
    implementation: str = choice(
        *("opencv", "implementation", is_implementation, "reruns"),
        option="implementation",
        comes_with="picture",
    )
    chosen_implementation: str | None = choice(
        None, "chosen implementation", comes_with="picture implementation"
    )
    own_kernel: OwnFile | None = choice(
        None, "kernel's text", None, "reruns is_wordless", comes_with="implementation"
    )
    block_xy: tuple[int, int] = choice(
        *((32, 8), "block shape", is_block, "reruns is_gradual"),
        option="block",
        comes_with="implementation",
    )
    devices: int = choice(1, "devices", _whole(range(1, 1 << 31)), "reruns is_gradual")
    matrix: Matrix = choice(
        IDENTITY, "weights", is_matrix, "reruns is_wordless", comes_with="filter"
    )
    offset: float = choice(
        0.0, "offset", _number(-1, 1), "reruns is_gradual", comes_with="filter matrix"
    )
    ksize: int = choice(
        *(5, "kernel size", _whole(SIZES), "reruns is_gradual"),
        option="size",
        comes_with="filter matrix",
    )
    last_free_ksize: int | None = choice(
        *(None, "size to go back to", or_none(_whole(SIZES))),
        older_key="free_ksize",
        comes_with="filter",
    )
    sigma: float | None = choice(
        None, "sigma", or_none(_parameter(parameters.SIGMA)), "reruns is_gradual", option="sigma"
    )
    amount: float = _of(parameters.AMOUNT)
    percentile: float = _of(parameters.PERCENTILE)
    is_disk: bool = choice(False, "shape", one_of(True, False), "reruns", option="disk")
    sigma_colour: float = _of(parameters.SIGMA_COLOUR)
    patch: int = choice(
        parameters.PATCH.default,
        "patch",
        _whole(range(1, MAX_PATCH + 1, 2)),
        "reruns is_gradual",
        option="patch",
    )
    strength: float = _of(parameters.STRENGTH)
    epsilon: float = _of(parameters.EPSILON)
    threshold: float = _of(parameters.THRESHOLD)
    mix: float = choice(1.0, "mix with the input", _number(0, 1), "reruns is_gradual")
    is_on: bool = choice(True, "step", one_of(True, False), "reruns")
    before: tuple[Step, ...] = choice((), "steps", are_steps, "reruns is_wordless")
    after: tuple[Step, ...] = choice((), "steps", are_steps, "is_wordless", comes_with="before")
    compared: int | None = choice(
        None, "step compared with", or_none(_whole(range(MAX_STEPS))), "is_view is_wordless"
    )
    region: Part | None = choice(
        *(None, "part of the picture", or_none(is_part), "reruns is_gradual is_wordless"),
        option="region",
        comes_with="picture",
    )
    is_rounded: bool = choice(False, "rounding between steps", one_of(True, False), "reruns")
    border: str = choice("clamp", "border", one_of(*BORDERS), "reruns", option="border")
    alpha: str = choice(ALPHAS[0], "alpha", one_of(*ALPHAS), "reruns", option="alpha")
    whole: str = choice(WHOLES[0], "whole list", one_of(*WHOLES), "reruns", option="whole")
    pixel_type: str | None = choice(
        None, "pixel type", one_of(None, *PIXEL_TYPES), option="pixel_type"
    )
    levels: tuple[float, float] | None = choice(
        None, "black and white", None, "is_gradual is_wordless", comes_with="picture"
    )
    tone: Tone = choice(BARE, "exposure", None, "is_gradual is_wordless", comes_with="picture")
    result_levels: tuple[float, float] | None = choice(
        *(None, "black and white of the result", None, "is_gradual is_wordless"),
        comes_with="picture filter negative_display",
    )
    negative_display: NegativeDisplay | None = choice(
        None, "negative values", one_of(None, *get_args(NegativeDisplay)), older_key="signed_as"
    )
    baseline: str = choice("opencv", "baseline", lambda key: key in _keys(("cpu",)))
    cache: Cache = choice("cold", "L2 cache", one_of(*get_args(Cache)), "reruns")
    reference: Picture | None = choice(None, "file compared with", None, "is_view is_wordless")
    aside: tuple[tuple[str, Any], ...] = choice((), "choices put aside", None, "is_wordless")
    view_mode: ViewMode = choice("result", "view", one_of(*get_args(ViewMode)), "is_view")
    divider: Divider = choice("upright", "divider", one_of(*get_args(Divider)), "is_view")
    difference: DifferenceKind = choice(
        "absolute", "difference", one_of(*get_args(DifferenceKind)), "is_view"
    )
    gain: float | None = choice(
        None, "gain", or_none(_number(MIN_GAIN, MAX_GAIN)), "is_gradual is_view"
    )

    @property
    def selected(self) -> Step:
        return Step(*_fields_of_step(self))

    @property
    def steps(self) -> tuple[Step, ...]:
        return (*self.before, self.selected, *self.after)


def has_row(state: State) -> bool:
    """Return True where there is more to a list than one plain step."""
    return len(state.steps) > 1 or not state.is_on or state.mix != 1


# FieldFacts by the field's name and in order.
FACTS: dict[str, FieldFacts] = {each.name: each.metadata["facts"] for each in fields(State)}


def changed_fields(old: State, new: State) -> list[str]:
    """Names of the fields that differ, in the order of the State's fields."""
    return [name for name in FACTS if getattr(old, name) != getattr(new, name)]
