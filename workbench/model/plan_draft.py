"""A plan in the making: the lines that stand in the panel's editor, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from random import Random

from kernels import filters
from kernels.core.errors import PlanFileError
from kernels.rungs.rung import Rung
from kernels.sweeps.cell_jobs import Given, with_texts
from kernels.sweeps.estimate import estimated_s
from kernels.sweeps.plan import DIMENSIONS as FIELDS
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.plan_files import refuse_clashes
from kernels.sweeps.record import Record
from workbench.imaging.pictures import Picture
from workbench.model.intents import has_parameter, is_unclipped
from workbench.model.plan_dimensions import BY_FIELD, THIS, Here, Values, plan_title
from workbench.model.state import State

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
    """The content of the plan editor.

    base             a preset, or a plan from a file, whose values stand where no line does; None:
                     those of the State do
    """

    base: Plan | None = None
    texts: Mapping[str, str] = field(default_factory=dict)  # the lines, by their dimensions' fields
    implementations: tuple[str, ...] = ()  # keys of those to measure
    transfers: bool = False  # whether upload and download are measured as well
    own: tuple[Rung, ...] = ()  # user kernels, those to measure among them

    def plan(self, state: State, here: Here = None) -> Plan:
        """Make the plan to measure.  Raises UnclearError."""
        if not self.implementations:
            raise UnclearError("Tick at least one implementation.")
        base = self.base or plan_of(state)
        # In the order of the plan, which tables and charts keep.
        keys = [each for each in base.implementations if each in self.implementations]
        keys = list(dict.fromkeys((*keys, *self.implementations)))
        made = replace(base, implementations=tuple(keys), transfers=self.transfers)
        made, _ = with_texts(made, self.own)
        # The first value of each list that no line varies any more.
        still = [name for name in base.varied if name in BY_FIELD and name not in self.texts]
        made = replace(made, **{name: getattr(base, name)[:1] for name in still})
        made = replace(made, **_lists(self.texts, here))  # type: ignore[arg-type]
        matrix = (made.matrix or state.matrix) if "custom" in made.filters else None
        made = replace(made, matrix=matrix)
        made = _with_pictures(made, self.texts, state)
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


def plan_of(state: State, implementations: tuple[str, ...] = ()) -> Plan:
    """Make the present job a plan, one cell per implementation.  Raises UnclearError."""
    if state.picture is None:
        raise UnclearError(NO_PICTURE)
    height, width, channels = state.picture.samples.shape
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
        pixel_types=("float32" if is_unclipped(state) else str(state.picture.samples.dtype),),
        caches=(state.cache,),
        devices=(state.devices,),
        sigma=state.sigma if has_parameter(chosen, "sigma") else None,
        amount=state.amount if has_parameter(chosen, "amount") else 1.0,
        matrix=state.matrix if state.filter == "custom" else None,
    )
    return replace(made, title=plan_title(made))


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
        except PlanFileError as error:
            sentence = str(error)
            raise UnclearError(sentence[0].upper() + sentence[1:], name) from error
    return lists


def _with_pictures(made: Plan, texts: Mapping[str, str], state: State) -> Plan:
    """Give the plan's pictures their final names, and an open one its size.

    The open picture has one size only: where sizes vary and no pictures are listed, noise takes its
    place.
    """
    if "pictures" in texts:
        named = given_name(state.picture) if state.picture else THIS
        pictures = tuple(named if each == THIS else each for each in made.pictures)
        made = replace(made, pictures=pictures)
    names = [each for each in made.pictures if each not in PICTURE_KINDS]
    if not names:
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
    try:
        refuse_clashes(plan)
    except PlanFileError as error:
        raise UnclearError(str(error), "ksizes") from error


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
