"""Steps as text, for people to write: a word of the command line, or a file in TOML.

    --step gaussian:7,sigma=1.5         border = "mirror"
    --step sobel_x,mix=0.5
                                        [[step]]
                                        filter = "gaussian"
                                        size = 7
                                        sigma = 1.5

What may be left out is as in a new step.  What is there is never replaced in silence: an unknown or
a useless word is an error, which names its line.  docs/steps.md has all words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

from kernels import filters
from kernels.core.errors import BadJobError, KernelError
from kernels.core.job import MAX_STEPS
from kernels.core.plain_data import LimitedTomlError, parse_toml, text_of_small_file
from kernels.engine.auto import AUTO
from kernels.filters import Filter
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan_keys import PLAN_KEYS, PlanKey, known_name, number, shown, toml, truth
from workbench.base.paths import asset
from workbench.model import bell
from workbench.model.intents import has_parameter, has_sizes, taken_in, weights_for
from workbench.model.state import Part, State, Step, is_part

SUFFIX = ".toml"
VERSION = 1
SHOWN = 60  # letters of what makes no sense
NEW = Step(implementation=AUTO.key)


class StepFileError(BadJobError):
    """Steps that make no sense, in one sentence.

    word, step  the word that it is about, and the number of the step, from 0; None: no step's
    """

    def __init__(self, sentence: str, word: str = "", step: int | None = None) -> None:
        super().__init__(sentence)
        self.word, self.step = word, step


def _implementation(key: str, value: Any) -> str:
    if isinstance(value, str) and is_own(value) and Path(value).name != value:
        raise StepFileError(f"{key} is the name of a file in your folder of kernels, not {value}.")
    named: str = AUTO.key if value == AUTO.key else PLAN_KEYS["implementations"].read(key, value)
    return named


def _part(key: str, value: Any) -> Part:
    numbers = re.fullmatch(r"(\d{1,7}),(\d{1,7}),(\d{1,7}),(\d{1,7})(?:,(\d{1,7}))?", str(value))
    part = tuple(int(each or 0) for each in numbers.groups()) if numbers else ()
    if not is_part(part):
        raise StepFileError(
            f'{key} is x, y, width and height, and maybe a feather, such as "0,0,640,200", '
            f"not {value!r}."
        )
    return cast("Part", part)


def _version(_key: str, value: Any) -> int:
    if type(value) is not int or value != VERSION:
        raise StepFileError(f"It is of version {shown(value)}; this program reads {VERSION}.")
    return value


# Fields of a Step -> its words, in the order in which they are written.
KEYS = {
    "filter": PLAN_KEYS["filters"],
    "ksize": replace(PLAN_KEYS["ksizes"], name="size"),
    "sigma": PLAN_KEYS["sigma"],
    "amount": PLAN_KEYS["amount"],
    "matrix": replace(PLAN_KEYS["matrix"], name="weights"),
    "offset": PlanKey("offset", number(float, -1, 1)),
    "mix": PlanKey("mix", number(float, 0, 1)),
    "is_on": PlanKey("on", truth),
    "implementation": replace(PLAN_KEYS["implementations"], read=_implementation),
    "block_xy": PLAN_KEYS["blocks"],
}
FIELDS = {key.name: field for field, key in KEYS.items()}
OF_LIST = {
    "version": _version,
    "about": PLAN_KEYS["note"].read,
    "border": PLAN_KEYS["borders"].read,
    "region": _part,
    "round_between_steps": truth,
}


def step_of(words: dict[str, Any]) -> Step:
    """The step that `words` describe, by the names of KEYS.  Raises StepFileError."""
    values: dict[str, Any] = {}
    for word, value in words.items():
        with _about(word):
            field = FIELDS[known_name("word", word, tuple(FIELDS))]
            values[field] = KEYS[field].read(word, value)
    if "filter" not in values:
        raise StepFileError('A step needs a filter, such as filter = "gaussian".')
    chosen = filters.get(values["filter"])
    for field in values:
        if field in _lacks(chosen):
            raise StepFileError(f"{chosen.title} takes no {KEYS[field].name}.", KEYS[field].name)
    if "matrix" in values:
        values.setdefault("ksize", len(values["matrix"]))
    elif has_parameter(chosen, "matrix"):
        raise StepFileError(f'{chosen.title} have to be given: weights = "0 1 0; 1 -4 1; 0 1 0".')
    is_sized = "ksize" in values
    values.setdefault("ksize", chosen.nearest_size(NEW.ksize))
    step = replace(NEW, chosen_implementation=values.get("implementation"), **values)
    if "sigma" in values and not is_sized:
        step = replace(step, ksize=bell.size_for(step))
    with _about("size"):
        weights_for(step)
    return step


def _lacks(chosen: Filter) -> set[str]:
    """The fields of a step that are of no account to a filter, but for its size."""
    lacks = {name for name in ("sigma", "amount", "matrix") if not has_parameter(chosen, name)}
    return lacks | {"offset"} if "matrix" in lacks else lacks


@contextmanager
def _about(word: str = "", step: int | None = None) -> Iterator[None]:
    """Make every expected failure a StepFileError that knows its word and step."""
    try:
        yield
    except KernelError as error:
        inner = error if isinstance(error, StepFileError) else StepFileError(str(error))
        raise StepFileError(str(error), inner.word or word, step) from None


def parse_step(text: str) -> Step:
    """The step that a word of the command line describes: "gaussian:7,sigma=1.5,mix=0.5".

    Raises StepFileError.
    """
    first, *others = text.split(",")
    key, *size = first.split(":", 1)
    said = [("filter", key), *(("size", each) for each in size)]
    for each in others:
        word, _, value = each.partition("=")
        said.append(("on", "false") if each.strip() == "off" else (word.strip(), value))
    words = {word: _value(word, value.strip()) for word, value in said}
    try:
        if len(words) < len(said):
            raise StepFileError("A word is given twice.")
        return step_of(words)
    except StepFileError as error:
        raise StepFileError(f"{text[:SHOWN]}{'…' * (len(text) > SHOWN)}: {error}") from None


def _value(word: str, text: str) -> Any:
    for kind in (int, float) if word != "weights" else ():
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def as_word(step: Step) -> str:
    """A step as a word of the command line, which `parse_step` reads."""
    words = to_words(step)
    first, size, is_on = words.pop("filter"), words.pop("size", None), words.pop("on", True)
    parts = [first if size is None else f"{first}:{size}"]
    parts += [f"{word}={value}" for word, value in words.items()]
    return ",".join(parts if is_on else [*parts, "off"])


def to_words(step: Step) -> dict[str, Any]:
    """A step as `step_of` reads it, without what is as in a new one.

    An implementation is there only where it was chosen; parameters only those that count.
    """
    chosen = filters.get(step.filter)
    needed = {"filter", "matrix", *(["ksize"] if has_sizes(chosen) else [])}
    usual = {**_values(NEW), **dict.fromkeys(needed)}
    without = _lacks(chosen) if has_sizes(chosen) else {*_lacks(chosen), "ksize"}
    return {
        KEYS[field].name: KEYS[field].write(value)
        for field, value in _values(step).items()
        if field not in without and value != usual[field]
    }


def _values(step: Step) -> dict[str, Any]:
    found = {field: getattr(step, field) for field in KEYS}
    return {**found, "implementation": step.chosen_implementation}


def is_list(state: State) -> bool:
    """True where what is taken is more than the selected step alone and whole."""
    return taken_in(state) != (state.selected,) or state.mix != 1


def changes_of_steps(steps: Sequence[Step]) -> dict[str, Any]:
    """Changes to a State that has these steps, the last one selected.  Raises StepFileError."""
    if not 1 <= len(steps) <= MAX_STEPS:
        raise StepFileError(f"A list has 1 to {MAX_STEPS} steps, not {len(steps)}.")
    return select(steps, len(steps) - 1)


def select(steps: Sequence[Step], at: int) -> dict[str, Any]:
    """Changes to a State that has these steps, with number `at` selected, from 0."""
    chosen: dict[str, Any] = {each.name: getattr(steps[at], each.name) for each in fields(Step)}
    chosen["result_levels"] = None  # which were those of other values
    return {**chosen, "before": tuple(steps[:at]), "after": tuple(steps[at + 1 :])}


def read(path: Path) -> dict[str, Any]:
    """Changes to a State that takes the steps of a file.

    Raises StepFileError, which names the file and the line.
    """
    try:
        text = text_of_small_file(path)
    except OSError as error:
        raise StepFileError(f"{path.name} cannot be read: {error.strerror}.") from error
    if text is None:
        raise StepFileError(f"{path.name} is no text, or too long for a list of steps.")
    return parse(text, path.name)


def parse(text: str, name: str = "The file") -> dict[str, Any]:
    """`read` for the text of a file."""
    try:
        return _changes(parse_toml(text, name))
    except LimitedTomlError as error:
        raise StepFileError(str(error)) from None
    except StepFileError as error:
        line = _line_of(text, error.word, error.step)
        raise StepFileError(f"{name}, line {line}: {error}") from None


def _changes(data: dict[str, Any]) -> dict[str, Any]:
    given, found = data.pop("step", []), {}
    for key, value in data.items():
        with _about(key):
            found[key] = OF_LIST[known_name("key", key, (*OF_LIST, "step"))](key, value)
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise StepFileError("A step begins with [[step]].", step=0)
    steps = []
    for at, words in enumerate(given):
        with _about(step=at):
            steps.append(step_of(words))
    with _about(step=MAX_STEPS):
        changes = changes_of_steps(steps)
    given = {key: found[key] for key in ("border", "region") if key in found}
    return {**changes, **given, "is_rounded": found.get("round_between_steps", False)}


_LONG_TEXT = re.compile(r'("""|\'\'\').*?\1', re.DOTALL)  # whose lines are no words
_HEAD = re.compile(r"\s*\[\[?\s*[\"']?step[\"']?\s*\]")


def _line_of(text: str, word: str, step: int | None) -> int:
    """The line where `word` of that step is given; else where the step begins, or the first."""
    begun, inside = 1, None
    known = re.compile(rf"\s*[\"']?{re.escape(word or 'step')}[\"']?\s*=")
    blank = _LONG_TEXT.sub(lambda found: "\n" * found[0].count("\n"), text)
    for at, line in enumerate(blank.split("\n"), start=1):
        if _HEAD.match(line):
            inside = 0 if inside is None else inside + 1
            begun = at if inside == step else begun
        elif known.match(line) and inside in (step, None):
            return at
    return begun


def to_text(state: State, about: str = "") -> str:
    """The file of all steps of `state`, which `parse` reads.

    about  a sentence for people
    """
    lines = [f"version = {VERSION}", *([f"about = {toml(about)}"] if about else [])]
    lines += [f"border = {toml(state.border)}"]
    lines += ["round_between_steps = true"] if state.is_rounded else []
    lines += [f'region = "{",".join(map(str, state.region))}"'] if state.region else []
    for each in state.steps:
        words = to_words(each).items()
        lines += ["", "[[step]]", *(f"{word} = {toml(value)}" for word, value in words)]
    return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class ReadyMade:
    """A list that comes with the program."""

    key: str  # the file's name, "edges_after_blur"
    about: str  # a sentence
    changes: dict[str, Any]  # as `read` gives them

    @property
    def title(self) -> str:
        """Its name in menus: "Edges after blur"."""
        return self.key[0].upper() + self.key[1:].replace("_", " ")


@cache
def ready_made() -> tuple[ReadyMade, ...]:
    """Every list of assets/steps."""
    texts = {each: each.read_text(encoding="utf-8") for each in asset("steps").glob(f"*{SUFFIX}")}
    return tuple(
        ReadyMade(path.stem, parse_toml(text, path.name)["about"], parse(text, path.name))
        for path, text in sorted(texts.items())
    )
