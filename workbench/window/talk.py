"""Steps of a talk: prepared beforehand, made from the ladder, or read from a TOML file.

    title = "From global memory to the limit"

    [[step]]
    name = "A block stages its tile"
    note = "Ask first: who reads this sample besides?"
    picture = "scene"
    choices = { filter = "gaussian", ksize = 15, implementation = "shared" }
    look = { panel = "anatomy", pixel = [400, 200] }

A picture is the name of a built-in one, or a path, relative to the file's folder.  The choices are
the fields of `State`; "none" stands for None.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any

import tomli_w

from kernels import filters
from kernels.core import plain_data
from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError, hint_of
from kernels.engine.engine import all_implementations
from kernels.pictures.generated import PICTURES
from workbench.files.image_files import PictureRef
from workbench.model import choices, intents
from workbench.model.state import State

ENDING = ".steps.toml"
FILE_TYPES = "Steps (*.toml);;All files (*)"
NONE = "none"
MAX_STEPS, MAX_LETTERS, MAX_NOTE = 200, 200, 4000  # of a talk, of a name, of a note
# Panels beside the picture, or instead of it; their titles are these names, capitalised.
PANELS = (
    *("anatomy", "pixel", "implementation", "blocks", "analysis", "weights", "timing", "kernel"),
)
CHART = "chart"  # no panel of the window, but a chart of its own
PAGES = ("idea", "ladder", "source", "ptx", "list")  # of the implementation
IN_FILE = ("name", "note", "picture", "choices", "look", "page")  # of a step
Area = tuple[float, float, float, float]


class TalkFileError(KernelError):
    """A failure to read a file of steps; str(error) is one sentence."""


@dataclass(frozen=True, slots=True)
class StepLook:
    """The view of a step, beside the choices: a part of the picture, a panel or a chart."""

    area: Area | None = None  # left, top, width, height in pixels of the picture; None: all
    panel: str = ""  # one of PANELS, or CHART; empty: the picture alone
    page: str = ""  # of the implementation: one of PAGES; of a chart: the key of its kind
    session: str = ""  # of a chart: the name of a recorded session, or a file
    pixel: tuple[int, int] | None = None  # that is explained, or whose thread is

    def to_data(self, folder: Path) -> dict[str, Any]:
        """Plain data, without defaults."""
        data = plain_data.to_plain(self)
        if self.session:
            data["session"] = _relative(Path(self.session), folder)
        return {name: value for name, value in data.items() if value}

    @classmethod
    def from_data(cls, data: Any, folder: Path) -> StepLook:
        """Parse plain data; an invalid field becomes the default one."""
        valid: dict[str, Any] = {}
        for name, value in data.items() if isinstance(data, dict) else ():
            with suppress(plain_data.NotPlainError):
                valid[name] = getattr(plain_data.from_plain(cls, {name: value}), name)
        look = cls(**valid)
        area, pixel, session = look.area, look.pixel, look.session
        is_area = area and min(area[2:]) > 0 and all(abs(each) < 1e9 for each in area)
        return replace(
            look,
            area=area if is_area else None,
            panel=look.panel if look.panel in (CHART, *PANELS) else "",
            page=look.page if look.panel == CHART or look.page in PAGES else "",
            pixel=pixel if pixel and min(pixel) >= 0 else None,
            session=str(folder / session) if "/" in session or "." in session else session,
        )


@dataclass(frozen=True, slots=True)
class TalkStep:
    """A step of a talk: one thing to show."""

    name: str
    data: dict[str, Any]  # choices, as `choices.to_data` gives them
    picture: PictureRef | None = None  # None: the one that is open
    look: StepLook = field(default_factory=StepLook)
    note: str = ""  # for the speaker

    def to_data(self, folder: Path = Path()) -> dict[str, Any]:
        """Plain data for JSON and TOML; paths below `folder` are relative to it."""
        picture = ""
        if (ref := self.picture) is not None:
            picture = ref.built_in or (_relative(ref.path, folder) if ref.path else "")
        data = {name: NONE if value is None else value for name, value in self.data.items()}
        page = {"page": ref.page} if ref is not None and ref.page > 1 else {}
        found = {"note": self.note, "picture": picture, "look": self.look.to_data(folder)}
        given = {name: value for name, value in found.items() if value}
        return {"name": self.name, "choices": data, **given, **page}

    @classmethod
    def from_data(cls, data: Any, folder: Path = Path()) -> TalkStep | None:
        """Parse the data of `to_data`; None for anything else."""
        if not isinstance(data, dict) or not isinstance(data.get("choices", {}), dict):
            return None
        if not (name := _text(data.get("name"))).strip():
            return None
        return cls(
            name[:MAX_LETTERS],
            {key: None if v == NONE else v for key, v in data.get("choices", {}).items()},
            _picture(data.get("picture"), folder, data.get("page")),
            StepLook.from_data(data.get("look"), folder),
            _text(data.get("note"))[:MAX_NOTE].strip(),
        )


Talk = tuple[str, tuple[TalkStep, ...]]  # its title and its steps


def steps_from(data: Any) -> tuple[TalkStep, ...]:
    """Parse the steps in the settings; anything else is left out."""
    found = map(TalkStep.from_data, data[:MAX_STEPS] if isinstance(data, list) else ())
    return tuple(step for step in found if step is not None)


def step_of(state: State, look: StepLook | None = None) -> TalkStep:
    """Make a step of the present picture, settings and look.  Raises KernelError."""
    ref = PictureRef.of(state.picture) if state.picture is not None else None
    job = intents.job_for(state)
    name = intents.job_caption(job) if job is not None else "A step"
    picture = ref if ref is not None and ref.can_load else None
    return TalkStep(name, choices.to_data(state), picture, look or StepLook())


def ladder_steps(state: State, device: Device | NoDevice | None) -> tuple[TalkStep, ...]:
    """Make a step for everything that can run the present job, in the ladder's order."""
    return tuple(
        TalkStep(each.title, {"implementation": each.key, "view_mode": "side"})
        for each in all_implementations()
        if intents.why_unavailable(state, each, device) is None
    )


def read_talk(path: Path) -> Talk:
    """Read a file of steps, such as that of the lecture in assets.  Raises TalkFileError.

    The picture of a step is the name of a built-in one, or a path, relative to the file's folder;
    its choices are the fields of `State`, where "none" stands for None.
    """
    name = path.name
    try:
        data = plain_data.parse_toml(plain_data.text_of_small_file(path) or "", name)
    except OSError as error:
        raise TalkFileError(f"{name} cannot be read: {error.strerror}.") from error
    except plain_data.LimitedTomlError as error:
        raise TalkFileError(str(error)) from None
    listed = data.get("step")
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_STEPS:
        raise TalkFileError(f"{name} has no steps, or more than {MAX_STEPS}; [[step]] begins each.")
    steps = []
    for number, each in enumerate(listed, 1):
        if (step := TalkStep.from_data(each, path.parent)) is None:
            raise TalkFileError(f"{name}: step {number} has no name, or choices that are none.")
        if reason := _why_not(each, step, path.parent):
            raise TalkFileError(f"{name}, step {number}: {reason}")
        steps.append(step)
    return _text(data.get("title"))[:MAX_LETTERS], tuple(steps)


def _why_not(data: dict[str, Any], step: TalkStep, folder: Path) -> str:
    """The reason why `step` is not all that `data` of a file says, in a sentence; "" if it is."""
    kept, look = step.to_data(folder), data.get("look")
    parts = [(step.data, None, choices.KEYS), (data, kept, set(IN_FILE))]
    if isinstance(look, dict):
        parts.insert(0, (look, kept.get("look", {}), {each.name for each in fields(StepLook)}))
    for given, taken, names in parts:
        for key, value in given.items():
            if key not in names:
                return f"There is no key {key!r}; {hint_of(key, sorted(names))}"
            if value and taken is not None and key not in taken:
                return f"{key} cannot be {short_repr(value)}."
    try:
        filters.get(str(step.data.get("filter", State().filter)))
    except KernelError as error:
        return str(error)
    lost = choices.recalled(step.data, State())[1]
    return f"It cannot have {lost[0]}." if lost else ""


def as_toml(title: str, steps: Sequence[TalkStep], folder: Path) -> str:
    """Format a file in `folder` that `read_talk` reads."""
    listed = [each.to_data(folder) for each in steps]
    return tomli_w.dumps({"title": title, "step": listed}, multiline_strings=True)


def _picture(given: Any, folder: Path, page: Any) -> PictureRef | None:
    """Parse a built-in picture's name or a path; settings of earlier versions hold a dictionary."""
    if isinstance(given, dict):
        return PictureRef.from_data(given)
    if not (name := _text(given)):
        return None
    if name in PICTURES:
        return PictureRef(PICTURES[name].title, built_in=name)
    return PictureRef(Path(name).name, folder / name, page=page if type(page) is int else 1)


def _relative(path: Path, folder: Path) -> str:
    is_below = folder != Path() and path.is_relative_to(folder)
    return path.relative_to(folder).as_posix() if is_below else str(path)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
