"""Plans as TOML, for people to write: one key a dimension, and a value may stand for a list of one.

What is left out is as `Plan` has it, but title and implementation have to be there; for what may be
None, 0 stands.  docs/sweeps.md has an example.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from kernels import filters
from kernels.core.errors import PlanFileError
from kernels.core.plain_data import parse_toml, text_of_small_file
from kernels.sweeps.plan import DIMENSIONS, Plan
from kernels.sweeps.plan_keys import KEYS, PLAN_KEYS, PlanKey, known_name, toml
from kernels.sweeps.step_words import StepFileError, list_words


def refuse_clashes(plan: Plan) -> None:
    """Raise PlanFileError unless each filter takes one of the sizes, and each size has a filter.

    Other pairs become cells with the reason why they cannot run.  Lists have both in their steps.
    """
    if any(plan.lists):
        return
    takes = {key: filters.get(key) for key in plan.filters}
    if (plan.matrix is None) == ("custom" in plan.filters):
        raise PlanFileError(
            'The filter "custom" needs a matrix, such as matrix = "0 1 0; 1 -4 1; 0 1 0", and no '
            "other takes one."
        )
    if plan.matrix is not None:
        side = len(plan.matrix)
        takes["custom"] = replace(takes["custom"], sizes=range(side, side + 1))
    for key, each in takes.items():
        if not set(plan.ksizes).intersection(each.sizes):
            lacks = f"none of the kernel sizes {', '.join(map(str, plan.ksizes))}"
            raise PlanFileError(f"The filter {key} takes {lacks}; it takes {each.sizes_in_words}.")
    for ksize in plan.ksizes:
        if not any(ksize in each.sizes for each in takes.values()):
            raise PlanFileError(f"None of the filters takes the kernel size {ksize}.")


NEEDED = ("title", "implementation")


def read_plan(path: Path) -> Plan:
    """Read a plan from a TOML file, with pictures as it names them.  Raises PlanFileError."""
    try:
        text = text_of_small_file(path)
    except OSError as error:
        raise PlanFileError(f"{path} cannot be read ({error.strerror}).") from error
    if text is None:
        raise PlanFileError(f"{path} is not a plan: a plan is a small TOML file.")
    return plan_of(text, str(path))


def plan_of(text: str, name: str = "The plan") -> Plan:
    """Parse a plan's TOML, which complaints call `name`.  Raises PlanFileError."""
    data = parse_toml(text, name)
    try:
        for each in data:
            known_name("key", each, tuple(KEYS.values()))
        if missing := [key for key in NEEDED if key not in data]:
            raise PlanFileError(f"{' and '.join(missing)} must be there.")
        found = {
            field: _read(field, key, data[key.name])
            for field, key in PLAN_KEYS.items()
            if key.name in data
        }
        lists = found.pop("lists", ())
        plan = Plan(**found)
        if lists:
            plan = with_lists(plan, lists, Path(name).parent, also=found)
        refuse_clashes(plan)
        return plan
    except (PlanFileError, StepFileError) as error:
        raise PlanFileError(f"{name}: {error}") from None


# Fields of a plan that the steps of a list have instead.
OF_STEPS = ("filters", "ksizes", "sigma", "amount", "matrix")


def with_lists(
    plan: Plan, texts: Iterable[str], folder: Path | None = None, also: Iterable[str] = ()
) -> Plan:
    """`plan` with lists of steps in place of its filter.

    texts, folder  as `step_words.list_words` takes them
    also           fields that were given beside them
    Raises PlanFileError where one of OF_STEPS was given or varies, StepFileError for no list.
    """
    if keys := [KEYS[each] for each in OF_STEPS if each in (*also, *plan.varied)]:
        raise PlanFileError(f"A list has {' and '.join(keys)} in its steps; give one or the other.")
    usual = Plan(title="", implementations=())
    lists = tuple(dict.fromkeys(list_words(each, folder) for each in texts))
    return replace(plan, lists=lists, **{each: getattr(usual, each) for each in OF_STEPS})


def as_toml(plan: Plan) -> str:
    """Write `plan` as TOML, without the values that are as usual."""
    usual, lines = Plan(title="", implementations=()), []
    for field, key in PLAN_KEYS.items():
        value = getattr(plan, field)
        if key.name not in NEEDED and value == getattr(usual, field):
            continue
        if field == "sampling":
            sampling = key.write(value).items()
            lines += ["", "[sampling]", *(f"{name} = {toml(each)}" for name, each in sampling)]
        elif field in DIMENSIONS and len(value) > 1:
            lines.append(f"{key.name} = {toml([key.write(each) for each in value])}")
        else:
            single = value[0] if field in DIMENSIONS else value
            lines.append(f"{key.name} = {toml(key.write(single))}")
    return "".join(f"{line}\n" for line in lines)


def _read(field: str, key: PlanKey, value: Any) -> Any:
    if field not in DIMENSIONS:
        return key.read(key.name, value)
    listed = value if isinstance(value, list) else [value]
    if not listed:
        raise PlanFileError(f"{key.name} is an empty list; leave it out, or name a value at least.")
    return tuple(key.read(key.name, each) for each in listed)


FOLDER = Path(__file__).parent / "presets"


@dataclass(frozen=True, slots=True)
class Preset:
    """A plan that comes with the program."""

    key: str  # the file's name without its number, "camerino_image_size"
    plan: Plan


@cache
def presets() -> tuple[Preset, ...]:
    """Every plan of the folder: those that reproduce a publication first."""
    files = sorted(FOLDER.glob("[0-9][0-9]_*.toml"))
    return tuple(Preset(path.stem.partition("_")[2], read_plan(path)) for path in files)
