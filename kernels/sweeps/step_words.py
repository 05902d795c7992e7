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
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

from kernels import filters
from kernels.core.errors import BadJobError, KernelError
from kernels.core.job import MAX_STEPS
from kernels.core.nonlinear import NonLinear
from kernels.core.plain_data import LimitedTomlError, parse_toml, text_of_small_file
from kernels.core.step import LENGTH, Blend, Correlation, Step
from kernels.filters import Filter, gaussian, has_parameter, has_sizes
from kernels.filters.parameters import NUMBERS
from kernels.rungs.own_kernels import is_own
from kernels.sweeps.plan import Matrix
from kernels.sweeps.plan_keys import PLAN_KEYS, PlanKey, known_name, number, one_of, shown, truth

SUFFIX = ".toml"
VERSION = 1
# Ways to run a list as a whole on a GPU, as `engine.list_ways` has them.
WHOLES = ("auto", "graph", "strips", "list_tiles", "list_ring")
ALPHAS = ("premultiplied", "apart")  # ways to filter a picture with transparent pixels
SHOWN = 60  # letters of what makes no sense
IDENTITY: Matrix = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 0.0))
Part = tuple[int, int, int, int, int]  # x, y, width, height, feather, in pixels
MAX_SIDE = 1 << 20


@dataclass(frozen=True, slots=True)
class WrittenStep:
    """A step of a list as it was chosen or written; docs/steps.md has its words."""

    filter: str = "gaussian"
    ksize: int = 5
    sigma: float | None = None
    amount: float = 1.0
    matrix: Matrix = IDENTITY
    percentile: float = 25.0
    is_disk: bool = False
    sigma_colour: float = 0.1
    patch: int = 7
    strength: float = 0.04
    epsilon: float = 0.01
    threshold: float = 0.0
    offset: float = 0.0  # a part of white
    mix: float = 1.0
    is_on: bool = True
    chosen_implementation: str | None = None  # None: the best there is
    block_xy: tuple[int, int] = (32, 8)


@dataclass(frozen=True, slots=True)
class WrittenList:
    """What a file of steps says; None where it leaves something to the program."""

    steps: tuple[WrittenStep, ...]
    about: str = ""
    border: str | None = None
    region: Part | None = None
    round_between_steps: bool = False
    alpha: str | None = None
    whole: str | None = None


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
    return str(PLAN_KEYS["implementations"].read(key, value))


def is_part(value: Any) -> bool:
    """Return True for a part of a picture: x, y, width, height, and what its edges fade over."""
    is_whole = all(type(each) is int and 0 <= each <= MAX_SIDE for each in value)
    return len(value) == 5 and is_whole and min(value[2:4]) > 0


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


# Fields of a WrittenStep -> its words, in the order in which they are written.
KEYS = {
    "filter": PLAN_KEYS["filters"],
    "ksize": replace(PLAN_KEYS["ksizes"], name="size"),
    **{each.name: PlanKey.of(each) for each in NUMBERS},
    "matrix": replace(PLAN_KEYS["matrix"], name="weights"),
    "is_disk": PlanKey("disk", truth),
    "offset": PlanKey("offset", number(float, -1, 1)),
    "mix": PlanKey("mix", number(float, 0, 1)),
    "is_on": PlanKey("on", truth),
    "chosen_implementation": replace(PLAN_KEYS["implementations"], read=_implementation),
    "block_xy": PLAN_KEYS["blocks"],
}
FIELDS = {key.name: field for field, key in KEYS.items()}
OF_LIST = {
    "version": _version,
    "about": PLAN_KEYS["note"].read,
    "border": PLAN_KEYS["borders"].read,
    "region": _part,
    "round_between_steps": truth,
    "alpha": one_of(lambda: ALPHAS),
    "whole": one_of(lambda: WHOLES),
}


def step_of(words: dict[str, Any]) -> WrittenStep:
    """The step that `words` describe, by the names of KEYS.  Raises StepFileError."""
    values: dict[str, Any] = {}
    for word, value in words.items():
        with _about(word):
            name = FIELDS[known_name("word", word, tuple(FIELDS))]
            values[name] = KEYS[name].read(word, value)
    if "filter" not in values:
        raise StepFileError('A step needs a filter, such as filter = "gaussian".')
    chosen = filters.get(values["filter"])
    for name in values:
        if name in _lacks(chosen):
            raise StepFileError(f"{chosen.title} takes no {KEYS[name].name}.", KEYS[name].name)
    if "matrix" in values:
        values.setdefault("ksize", len(values["matrix"]))
    elif has_parameter(chosen, "matrix"):
        raise StepFileError(f'{chosen.title} have to be given: weights = "0 1 0; 1 -4 1; 0 1 0".')
    if values.get("sigma") is not None:
        values.setdefault("ksize", gaussian.size_for(values["sigma"], chosen))
    usual = chosen.usual_size or chosen.nearest_size(WrittenStep().ksize)
    step = WrittenStep(**{"ksize": usual, **values})
    with _about("size"):
        made_filter(step)
    return step


# Parameters of filters, by the fields of a step that have them.
PARAMETERS = (*(each.name for each in NUMBERS), "matrix", "is_disk")


def made_filter(step: Any, white: float = 1.0) -> Correlation | NonLinear:
    """The filter of a step, or of what has the fields of one.

    The same choices give the same array of weights.  Raises BadJobError for a size or a parameter
    out of range.

    white  the sample value that parameters and the offset are parts of
    """
    given = tuple(getattr(step, name) for name in PARAMETERS)
    of = 1.0 if filters.get(step.filter).has_weights else white  # weights are the same array
    found = _made(step.filter, step.ksize, of, given)
    if isinstance(found, Correlation) and step.offset:
        takes_it = has_parameter(filters.get(step.filter), "matrix")
        return Correlation(found.weights, step.offset * white) if takes_it else found
    return found


@lru_cache(maxsize=64)
def _made(
    key: str, ksize: int, white: float, parameters: tuple[Any, ...]
) -> Correlation | NonLinear:
    given = dict(zip(PARAMETERS, parameters, strict=True))
    return filters.get(key).of_size(ksize, white=white, **given)


def blend_of(step: Any, white: float = 1.0) -> Blend:
    """How a step's output and its input make what it gives; arguments as `made_filter` has them.

    Detail weaker than a threshold stays as it is, stronger counts by that much less, before amount.
    """
    has_threshold = has_parameter(filters.get(step.filter), "threshold")
    return Blend(step.mix, step.threshold * step.amount * white if has_threshold else 0.0)


def job_steps(step: WrittenStep, white: float = 1.0, **how: Any) -> tuple[Step, ...]:
    """A step as a Job has it, with the length of a gradient behind it where its filter has one.

    white  as `made_filter` has it
    how    fields of a job's Step: on what it runs
    """
    chosen = filters.get(step.filter)
    made = Step(
        made_filter(step, white),
        mix=1.0 if chosen.gradient else step.mix,
        threshold=blend_of(step, white).threshold,
        is_grey=chosen.is_grey,
        title=chosen.title,
        **how,
    )
    return (made, replace(LENGTH, mix=step.mix) if step.mix != 1 else LENGTH)[: 1 + chosen.gradient]


def _lacks(chosen: Filter) -> set[str]:
    """The fields of a step that are of no account to a filter, but for its size."""
    lacks = {name for name in PARAMETERS if not has_parameter(chosen, name)}
    return lacks | {"offset"} if "matrix" in lacks else lacks


@contextmanager
def _about(word: str = "", step: int | None = None) -> Iterator[None]:
    """Make every expected failure a StepFileError that knows its word and step."""
    try:
        yield
    except KernelError as error:
        inner = error if isinstance(error, StepFileError) else StepFileError(str(error))
        raise StepFileError(str(error), inner.word or word, step) from None


def parse_step(text: str) -> WrittenStep:
    """The step that a word of the command line describes: "gaussian:7,sigma=1.5,mix=0.5".

    Raises StepFileError.
    """
    first, *others = text.split(",")
    key, *size = first.split(":", 1)
    said = [("filter", key), *(("size", each) for each in size)]
    for each in others:
        word, _, value = each.partition("=")
        said.append(("on", "false") if each.strip() == "off" else (word.strip(), value))
    words = {word.replace("-", "_"): _value(word, value.strip()) for word, value in said}
    try:
        if len(words) < len(said):
            raise StepFileError("A word is given twice.")
        return step_of(words)
    except StepFileError as error:
        raise StepFileError(f"{text[:SHOWN]}{'…' * (len(text) > SHOWN)}: {error}") from None


def _value(word: str, text: str) -> Any:
    for kind in (int, float) if word != "weights" and "_" not in text else ():
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)


def as_word(step: WrittenStep) -> str:
    """A step as a word of the command line, which `parse_step` reads."""
    words = to_words(step)
    first, size, is_on = words.pop("filter"), words.pop("size", None), words.pop("on", True)
    parts = [first if size is None else f"{first}:{size}"]
    written = {word: "true" if value is True else value for word, value in words.items()}
    parts += [f"{word}={value}" for word, value in written.items()]
    return ",".join(parts if is_on else [*parts, "off"])


def to_words(step: WrittenStep) -> dict[str, Any]:
    """A step as `step_of` reads it, without what is as in a new one.

    An implementation is there only where it was chosen; parameters only those that count.
    """
    chosen, usual = filters.get(step.filter), WrittenStep()
    needed = {"filter", "matrix", *(["ksize"] if has_sizes(chosen) else [])}
    without = _lacks(chosen) if has_sizes(chosen) else {*_lacks(chosen), "ksize"}
    return {
        key.name: key.write(getattr(step, name))
        for name, key in KEYS.items()
        if name not in without and (name in needed or getattr(step, name) != getattr(usual, name))
    }


def read(path: Path) -> WrittenList:
    """The steps of a file.  Raises StepFileError, which names the file and the line."""
    try:
        text = text_of_small_file(path)
    except OSError as error:
        raise StepFileError(f"{path.name} cannot be read: {error.strerror}.") from error
    if text is None:
        raise StepFileError(f"{path.name} is no text, or too long for a list of steps.")
    return parse(text, path.name)


def parse(text: str, name: str = "The file") -> WrittenList:
    """`read` for the text of a file."""
    try:
        return _parsed(parse_toml(text, name))
    except LimitedTomlError as error:
        raise StepFileError(str(error)) from None
    except StepFileError as error:
        line = _line_of(text, error.word, error.step)
        raise StepFileError(f"{name}, line {line}: {error}") from None


def _parsed(data: dict[str, Any]) -> WrittenList:
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
        refuse_number(len(steps))
    found.pop("version", None)
    return WrittenList(tuple(steps), **found)


def refuse_number(steps: int) -> None:
    """Raise StepFileError unless a list may have so many steps."""
    if not 1 <= steps <= MAX_STEPS:
        raise StepFileError(f"A list has 1 to {MAX_STEPS} steps, not {steps}.")


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


@cache
def ready_made() -> dict[str, WrittenList]:
    """The lists that come with the program, by their files' names: "edges_after_blur"."""
    files = sorted(Path(__file__).with_name("lists").glob(f"*{SUFFIX}"))
    return {each.stem: read(each) for each in files}


# -- a list in a line of a plan

AND = " + "


def list_words(text: str, folder: Path | None = None) -> str:
    """A plan's list in a line, in the words that its cells have: "gaussian:7 + sobel_x".

    text    steps with " + " between, or the name of a list that comes along, or of a file
    folder  where files are; None: none is read
    Steps that are off are left out, as are implementations and block shapes, which the plan has.
    Raises KernelError, also where a file says what a sweep does not do.
    """
    if text in ready_made():
        return in_a_line(ready_made()[text].steps)
    if text.endswith(SUFFIX):
        if folder is None:
            raise StepFileError(f"Open {text} as the window's steps, and write “this”.")
        found = read(folder / text)
        for key in ("region", "round_between_steps", "alpha", "whole"):
            if getattr(found, key):
                raise StepFileError(f"{text} has {key}, which a sweep does not: leave it out.")
        return in_a_line(found.steps)
    if not re.search(r"[:,+]", text):
        keys = [each.key for each in filters.all_filters()]
        more = "" if folder is None else ", or a file such as mine.toml"
        known_name("list", text, (*ready_made(), *keys), more)
    return in_a_line(map(parse_step, re.split(r"\s\+\s", text)))


def in_a_line(steps: Iterable[WrittenStep]) -> str:
    """Steps that are on, as `list_words` has them."""
    xy = WrittenStep().block_xy
    on = [replace(e, chosen_implementation=None, block_xy=xy) for e in steps if e.is_on]
    if not on:
        raise StepFileError("No step of the list is on.")
    refuse_number(len(on))
    return AND.join(map(as_word, on))


@lru_cache(maxsize=256)
def steps_in(words: str) -> tuple[WrittenStep, ...]:
    """The steps of a list in a line; none of an empty one.  Raises StepFileError."""
    return tuple(map(parse_step, words.split(AND))) if words else ()
