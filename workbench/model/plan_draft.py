"""A plan in the making: its dimensions as lines of text, what they come to, and it in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random
from typing import Any

from kernels import filters
from kernels.core.borders import BORDERS
from kernels.core.device import Device, NoDevice
from kernels.core.errors import BadJobError, PlanFileError
from kernels.core.job import PIXEL_TYPES
from kernels.core.plain_data import table_beside
from kernels.engine import job_comparison
from kernels.engine.auto import AUTO
from kernels.filters import has_parameter
from kernels.pictures.generated import PICTURES
from kernels.rungs.rung import Rung
from kernels.sweeps.cell_jobs import Given, with_texts
from kernels.sweeps.estimate import estimated_s
from kernels.sweeps.plan import DIMENSIONS as FIELDS
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.plan_files import OF_STEPS, with_lists
from kernels.sweeps.plan_keys import PLAN_KEYS
from kernels.sweeps.record import Record
from kernels.sweeps.step_words import in_a_line, list_words, ready_made
from workbench.imaging.pictures import Picture
from workbench.model.cell_words import list_name, list_title
from workbench.model.intents import is_unclipped, like_step_job, or_none, taken_in
from workbench.model.state import State

THIS = "this"  # the picture that is open
MAX_DIGITS = 8  # of a whole number in a line
# Commas, semicolons and spaces separate a list's words, but not spaces around a ×.
BETWEEN = re.compile(r"[,;]|\s+(?![×xX*])(?<![×xX*]\s)")
BETWEEN_LISTS = re.compile(r",(?!\s*(?:\w+\s*=|off\b))")  # which is no comma inside a step

Values = tuple[Any, ...]
Here = Device | NoDevice | None
Ticks = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One list of a `kernels.sweeps.plan.Plan`, whose words are those of its file."""

    field: str  # its name there
    title: str  # before its line, with & for the mnemonic
    start: str  # an example
    tip: str  # the list's tooltip
    ticks: Ticks = ()  # the words there are with what they mean; none where there are too many
    lines: Ticks = ()  # whole lines to choose from, each with its meaning

    @property
    def name(self) -> str:
        """Title without the mnemonic."""
        return self.title.replace("&", "")

    def values(self, text: str, here: Here = None) -> Values:
        """Values that `text` lists, each once.

        here  the GPU that is to run it; None: not known yet
        Raises PlanFileError with a sentence for the user.
        """
        if not (words := self.words(text)):
            raise PlanFileError(f"{self.name}: list at least one, as in “{self.start}”.")
        found = (value for word in words for value in self._read(word, here))
        return tuple(dict.fromkeys(found))

    def words(self, text: str) -> list[str]:
        found = (BETWEEN_LISTS if self.field == "lists" else BETWEEN).split(text)
        return [word.strip() for word in found if word.strip()]

    def _read(self, word: str, here: Here) -> Values:
        """The value of a word, or the values of "grid" and the like."""
        match self.field, word:
            case "blocks", "presets":
                return job_comparison.PRESETS
            case "blocks", "grid":
                return tuple(job_comparison.block_grid(_gpu(word, here)))
            case "devices", "all":
                return tuple(range(1, _gpu(word, here).count + 1))
            case "pictures" | "lists", "this":
                return (THIS,)
            case "lists", _:
                return (list_words(word),)
        is_whole = word.isdecimal() and len(word) <= MAX_DIGITS
        return (PLAN_KEYS[self.field].read(self.name.lower(), int(word) if is_whole else word),)

    def text(self, values: Iterable[Any]) -> str:
        return ", ".join(map(self._word, values))

    def _word(self, value: Any) -> str:
        if self.field == "lists":
            return list_name(value)
        word = str(PLAN_KEYS[self.field].write(value))
        return word.replace("x", "×") if isinstance(value, tuple) else word


def pair(value: tuple[int, int]) -> str:
    return f"{value[0]}×{value[1]}"


def _gpu(word: str, here: Here) -> Device:
    if not isinstance(here, Device):
        raise PlanFileError(f"“{word}” depends on the GPU, and this computer has no GPU.")
    return here


_PICTURE_TIPS = (
    "every sample random, an evening by a lake, one value everywhere, hard edges, black to white"
)
# What the program knows; all else about dimensions stands in the table beside this file.
_KNOWN = {
    **{"borders": BORDERS, "pixel_types": PIXEL_TYPES, "pictures": PICTURE_KINDS},
    "presets": tuple(map(pair, job_comparison.PRESETS)),
}
_TICKS: dict[str, Iterable[tuple[str, str]]] = {
    "lists": ((THIS, "the list in the window"), *((e, r.about) for e, r in ready_made().items())),
    "filters": ((each.key, each.title) for each in filters.all_filters()),
    "borders": ((border, "") for border in BORDERS),
    "pixel_types": ((each, "") for each in PIXEL_TYPES),
    "pictures": (
        (THIS, "the picture that is open"),
        *zip(PICTURE_KINDS, _PICTURE_TIPS.split(", "), strict=True),
    ),
}


def _dimensions() -> Iterator[Dimension]:
    known = {name: ", ".join(each) for name, each in _KNOWN.items()}
    for name, said in table_beside(__file__).items():
        ticks = _TICKS.get(name) or map(tuple, said.get("ticks", ()))
        lines = ((line, meaning.format(**known)) for line, meaning in said.get("lines", ()))
        start = said["start"].format(**known)
        yield Dimension(name, said["title"], start, said["tip"], tuple(ticks), tuple(lines))


DIMENSIONS = tuple(_dimensions())
BY_FIELD = {each.field: each for each in DIMENSIONS}


def plan_title(plan: Plan) -> str:
    """Format the variation: "Image size × kernel size, Gaussian blur"."""
    of = [list_title(each) for each in plan.lists if each]
    if not (varied := [BY_FIELD[name].name for name in plan.varied if name in BY_FIELD]):
        one = f"{filters.get(plan.filters[0]).title} {plan.ksizes[0]}×{plan.ksizes[0]}"
        return of[0] if of else one
    what = " × ".join([varied[0], *(name[0].lower() + name[1:] for name in varied[1:])])
    of = of or [filters.get(key).title for key in plan.filters]
    return f"{what}, {', '.join(of[:2])}" + (", …" if len(of) > 2 else "")


def short(plan: Plan) -> str:
    """Plan title without its institution but with its table: "Image size, table 5.5"."""
    name = plan.title.split(": ", 1)[-1] if plan.source else plan.title
    name = name[0].upper() + name[1:]
    return f"{name}, table {plan.table}" if plan.table[:1].isdigit() else name


def varied_in_words(plan: Plan) -> str:
    """Format the variation with counts: "image size: 5 × implementations: 3"."""
    names = {name: each.name.lower() for name, each in BY_FIELD.items()}
    parts = (f"{names.get(name, name)}: {len(getattr(plan, name))}" for name in plan.varied)
    return " × ".join(parts)


def fixed_choices(plan: Plan) -> dict[str, Any]:
    """Values of a plan that do not vary, by the names of the State's fields."""
    names = {"filters": "filter", "ksizes": "ksize", "borders": "border", "blocks": "block_xy"}
    names |= {"caches": "cache", "devices": "devices"}
    if any(plan.lists):
        names = {name: names[name] for name in names if name not in OF_STEPS}
    lists = {name: getattr(plan, field) for field, name in names.items()}
    fixed = {name: values[0] for name, values in lists.items() if len(values) == 1}
    return fixed | {"sigma": plan.sigma, "amount": plan.amount}


MAX_CELLS = 20_000
NO_PICTURE = "Open a picture first."
TICKED = ("implementations", "own_texts", "transfers")  # of a plan: below its lines


class UnclearError(ValueError):
    """A draft that cannot be planned as it stands; str(error) is a sentence for the user.

    field  of the line it is about; "" where it is about none
    """

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.field = field


@dataclass(frozen=True, slots=True)
class Draft:
    """The content of the plan editor."""

    base: Plan | None = None  # a preset, or a plan from a file; else the State, where no line is
    texts: Mapping[str, str] = field(default_factory=dict)  # the lines, by their dimensions' fields
    implementations: tuple[str, ...] = ()  # keys of those to measure
    transfers: bool = False  # whether upload and download are measured as well
    own: tuple[Rung, ...] = ()  # user kernels, those to measure among them

    def plan(self, state: State, here: Here = None) -> Plan:
        """Make the plan to measure.  Raises UnclearError."""
        if not self.implementations:
            raise UnclearError("Tick at least one implementation.")
        texts = self.texts
        if self.base is None and _is_whole_list(state, texts):
            texts = {**texts, "lists": THIS}
        base = self.base or plan_of(state, is_step="lists" not in texts)
        # In the order of the plan, which tables and charts keep.
        keys = [each for each in base.implementations if each in self.implementations]
        keys = list(dict.fromkeys((*keys, *self.implementations)))
        made = replace(base, implementations=tuple(keys), transfers=self.transfers)
        made, _ = with_texts(made, self.own)
        # The first value of each list that no line varies any more.
        still = [name for name in base.varied if name in BY_FIELD and name not in texts]
        made = replace(made, **{name: getattr(base, name)[:1] for name in still})
        made = replace(made, **_lists(texts, here))  # type: ignore[arg-type]
        made = _with_steps(made, texts, state)
        # No rung alone has all kinds of steps; a preset's auto is kept, which has no box to tick.
        wants_auto = any(made.lists) or AUTO.key in base.implementations
        if wants_auto and isinstance(here, Device):
            made = replace(made, implementations=(*dict.fromkeys((*keys, AUTO.key)),))
        matrix = (made.matrix or state.matrix) if "custom" in made.filters else None
        made = replace(made, matrix=matrix)
        made = _with_pictures(made, texts, state)
        _check(made)
        if self.base is None:
            return replace(made, title=plan_title(made))
        if replace(made, **{each: getattr(base, each) for each in TICKED}) == base:
            return made
        return replace(
            made,
            title=f"{base.title.removesuffix(', changed')}, changed",
            source="",
            table="",
            note="",
        )


def _is_whole_list(state: State, texts: Mapping[str, str]) -> bool:
    """True where present steps are measured as they are: no line is about a single one of them."""
    is_able = len(taken_in(state)) > 1 and not state.is_rounded and state.region is None
    return is_able and not {"lists", *OF_STEPS} & texts.keys()


def plan_of(state: State, implementations: tuple[str, ...] = (), *, is_step: bool = True) -> Plan:
    """Make the present job a plan, one cell per implementation.  Raises UnclearError.

    is_step  of a list the selected step, of the pixel type that it is given
    """
    if state.picture is None:
        raise UnclearError(NO_PICTURE)
    height, width, channels = state.picture.samples.shape
    is_listed = is_step and len(taken_in(state)) > 1
    like = or_none(like_step_job, state) if is_listed else None
    stored = like.picture if like else state.picture.samples
    chosen = filters.get(state.filter)
    made = Plan(
        title="",
        implementations=implementations,
        sizes=((width, height),),
        ksizes=(state.ksize,),
        blocks=(state.block_xy,),
        filters=(state.filter,),
        borders=(state.border,),
        pictures=(given_name(state.picture),),
        channels=(channels,),
        pixel_types=("float32" if is_unclipped(state) else str(stored.dtype),),
        caches=(state.cache,),
        devices=(state.devices,),
        sigma=state.sigma if has_parameter(chosen, "sigma") else None,
        amount=state.amount if has_parameter(chosen, "amount") else 1.0,
        matrix=state.matrix if state.filter == "custom" else None,
    )
    return replace(made, title=plan_title(made))


# The built-in pictures by the names that files of plans have for them.
BUILT_IN = {f"{each.title}.png": each.make for each in PICTURES.values()}


def given_name(picture: Picture) -> str:
    """Name of the open picture in a plan: never that of a generated kind."""
    return f"my {picture.name}" if picture.name in PICTURE_KINDS else picture.name


def given(picture: Picture | None) -> Given:
    """The open picture's samples under its name in plans; nothing without a picture."""
    return {given_name(picture): picture.samples} if picture else {}


def texts_of(plan: Plan) -> dict[str, str]:
    """An editor's lines of `plan`: the dimensions that it varies."""
    shown = (BY_FIELD[name] for name in plan.varied if name in BY_FIELD)
    return {each.field: each.text(getattr(plan, each.field)) for each in shown}


def _lists(texts: Mapping[str, str], here: Here) -> dict[str, Values]:
    lists = {}
    for name, text in texts.items():
        try:
            lists[name] = BY_FIELD[name].values(text, here)
        except BadJobError as error:
            sentence = str(error)
            raise UnclearError(sentence[0].upper() + sentence[1:], name) from error
    return lists


def _with_steps(made: Plan, texts: Mapping[str, str], state: State) -> Plan:
    if not any(made.lists):
        return made
    if THIS in made.lists and state.is_rounded:
        raise UnclearError("A sweep does not round between steps: switch that off.", "lists")
    if THIS in made.lists and state.region is not None:
        raise UnclearError("A sweep filters whole pictures: Shift+G lets go of the part.", "lists")
    try:
        mine = in_a_line(taken_in(state)) if THIS in made.lists else ""
        return with_lists(made, (mine if e == THIS else e for e in made.lists), also=texts)
    except BadJobError as error:
        raise UnclearError(str(error), "lists") from error


def _with_pictures(made: Plan, texts: Mapping[str, str], state: State) -> Plan:
    """Give the plan's pictures their final names, and an open one its size.

    Where sizes vary and no pictures are listed, noise takes its place.
    """
    if "pictures" in texts:
        named = given_name(state.picture) if state.picture else THIS
        pictures = tuple(named if each == THIS else each for each in made.pictures)
        made = replace(made, pictures=pictures)
    if not (names := [each for each in made.pictures if each not in PICTURE_KINDS]):
        return made
    if "sizes" in texts and "pictures" not in texts:
        return replace(made, pictures=("noise",))
    if state.picture is None or names != [given_name(state.picture)]:
        raise UnclearError(NO_PICTURE if names == [THIS] else f"Open {names[0]} first.", "pictures")
    if len(names) < len(made.pictures):
        return made  # sizes are those of the others
    if "sizes" in texts:
        raise UnclearError("Your picture has one size: add kinds that are made in any.", "pictures")
    height, width, _ = state.picture.samples.shape
    return replace(made, sizes=((width, height),))


def _check(plan: Plan) -> None:
    if (count := prod(len(getattr(plan, name)) for name in FIELDS)) > MAX_CELLS:
        raise UnclearError(
            f"{count:,} measurements are too many: at most {MAX_CELLS:,} are allowed."
        )
    chosen = [filters.get(key) for key in plan.filters]
    if plan.matrix is not None:
        drawn = range(len(plan.matrix), len(plan.matrix) + 1)
        chosen = [replace(each, sizes=drawn) if each.key == "custom" else each for each in chosen]
    for ksize in plan.ksizes:  # of a size that only some of them take the others have no time
        if not any(ksize in each.sizes for each in chosen):
            takes = "; ".join(f"{each.title} takes {each.sizes_in_words}" for each in chosen)
            raise UnclearError(f"There is no size {ksize}: {takes}.", "ksizes")


MAX_ESTIMATED = 1000  # takes about 10 ms


def time_s(cells: Sequence[Cell], plan: Plan, seen: Sequence[Record] = ()) -> float:
    """Return about how many seconds `cells` of `plan` will take.

    seen  the records of it so far, in order
    More than MAX_ESTIMATED cells are judged by a sample of them.
    """
    if len(cells) <= MAX_ESTIMATED:
        return estimated_s(cells, seen, plan.sampling)
    some = Random(0).sample(cells, MAX_ESTIMATED)
    return estimated_s(some, seen, plan.sampling) * len(cells) / MAX_ESTIMATED
