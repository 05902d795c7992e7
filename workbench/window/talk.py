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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import tomli_w

from kernels.core.device import Device, NoDevice
from kernels.core.errors import KernelError
from kernels.core.plain_data import LimitedTomlError, parse_toml, text_of_small_file
from kernels.engine.engine import all_implementations
from kernels.pictures.generated import PICTURES
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.intents import Changes
from workbench.model.state import State

ENDING = ".steps.toml"
FILE_TYPES = "Steps (*.toml);;All files (*)"
NONE = "none"
MAX_STEPS, MAX_LETTERS, MAX_NOTE = 200, 200, 4000  # of a talk, of a name, of a note
# What may stand beside the picture, or instead of it, by the names that files have for it.
PANELS = {
    "anatomy": "Anatomy",
    "pixel": "Pixel",
    "implementation": "Implementation",
    "blocks": "Blocks",
    "analysis": "Analysis",
    "weights": "Weights",
    "timing": "Timing",
    "chart": "",  # no panel of the window, but a chart of its own
}
PAGES = ("idea", "ladder", "source", "ptx")  # of the implementation
Area = tuple[float, float, float, float]


class TalkFileError(KernelError):
    """A failure to read a file of steps; str(error) is one sentence."""


@dataclass(frozen=True, slots=True)
class StepLook:
    """The view of a step, beside the choices: a part of the picture, a panel or a chart.

    area     left, top, width and height in pixels of the picture; None: all of it
    panel    one of PANELS; empty: the picture alone
    page     of the implementation: one of PAGES; of a chart: the key of its kind
    session  of a chart: the name of a recorded session, or a file
    pixel    x and y of the pixel, or the thread, that is explained
    """

    area: Area | None = None
    panel: str = ""
    page: str = ""
    session: str = ""
    pixel: tuple[int, int] | None = None

    def to_data(self) -> dict[str, Any]:
        """Plain data, without what is as usual."""
        data: dict[str, Any] = {"panel": self.panel, "page": self.page, "session": self.session}
        data |= {"area": list(self.area or ()), "pixel": list(self.pixel or ())}
        return {name: value for name, value in data.items() if value}

    @classmethod
    def from_data(cls, data: Any) -> StepLook:
        """Parse plain data; what is no good is as usual."""
        given = data if isinstance(data, dict) else {}
        panel, page, session = (
            text if isinstance(text := given.get(name), str) else ""
            for name in ("panel", "page", "session")
        )
        area, pixel = _numbers(given.get("area"), 4), _numbers(given.get("pixel"), 2)
        return cls(
            (area[0], area[1], area[2], area[3]) if area and min(area[2:]) > 0 else None,
            panel if panel in PANELS else "",
            page,
            session,
            (int(pixel[0]), int(pixel[1])) if pixel and min(pixel) >= 0 else None,
        )


@dataclass(frozen=True, slots=True)
class TalkStep:
    """A step of a talk: one thing to show.

    data     choices, as `choices.to_data` gives them
    picture  None: the one that is open
    note     for the speaker
    """

    name: str
    data: dict[str, Any]
    picture: PictureRef | None = None
    look: StepLook = field(default_factory=StepLook)
    note: str = ""

    def changes(self, state: State) -> Changes:
        """Choices of the step that make sense here, as changes to `state`."""
        return choices.from_data(self.data, state)

    def to_data(self) -> dict[str, Any]:
        """Plain data, fit for JSON."""
        picture = self.picture.to_data() if self.picture else None
        more = {"look": self.look.to_data(), "note": self.note}
        return {"name": self.name, "choices": self.data, "picture": picture, **more}

    @classmethod
    def from_data(cls, data: Any) -> TalkStep | None:
        """Parse what `to_data` gave; None for anything else."""
        if not isinstance(data, dict) or not isinstance(data.get("choices"), dict):
            return None
        name, note = data.get("name"), data.get("note", "")
        if not isinstance(name, str) or not name.strip():
            return None
        return cls(
            name[:MAX_LETTERS],
            data["choices"],
            PictureRef.from_data(data.get("picture")),
            StepLook.from_data(data.get("look")),
            note[:MAX_NOTE] if isinstance(note, str) else "",
        )


@dataclass(frozen=True, slots=True)
class Talk:
    """Steps and their title."""

    title: str
    steps: tuple[TalkStep, ...]


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
    """Read a file of steps.  Raises TalkFileError."""
    name = path.name
    try:
        text = text_of_small_file(path)
        if text is None:
            raise TalkFileError(f"{name} is no file of steps: that is a small TOML file.")
        data = parse_toml(text, name)
    except OSError as error:
        raise TalkFileError(f"{name} cannot be read: {error.strerror}.") from error
    except LimitedTomlError as error:
        raise TalkFileError(str(error)) from None
    listed, title = data.get("step"), data.get("title", "")
    if not isinstance(listed, list) or not listed:
        raise TalkFileError(f"{name} has no steps: each begins with [[step]].")
    if len(listed) > MAX_STEPS:
        raise TalkFileError(f"{name} has more than {MAX_STEPS} steps.")
    steps = []
    for number, each in enumerate(listed, 1):
        if (step := _step(each, path.parent)) is None:
            raise TalkFileError(f"{name}: step {number} has no name, or choices that are none.")
        steps.append(step)
    return Talk(title[:MAX_LETTERS] if isinstance(title, str) else "", tuple(steps))


def as_toml(title: str, steps: Sequence[TalkStep], folder: Path) -> str:
    """Write the text of a file in `folder` that `read_talk` reads."""
    listed = [_written(each, folder) for each in steps]
    return tomli_w.dumps({"title": title, "step": listed}, multiline_strings=True)


def _step(data: Any, folder: Path) -> TalkStep | None:
    if not isinstance(data, dict) or not isinstance(data.get("choices", {}), dict):
        return None
    read = {name: None if v == NONE else v for name, v in data.get("choices", {}).items()}
    if (step := TalkStep.from_data({**data, "choices": read, "picture": None})) is None:
        return None
    look, name = step.look, data.get("picture")
    if "/" in look.session or "." in look.session:
        look = replace(look, session=str(folder / look.session))
    picture = None
    if isinstance(name, str) and name:
        is_built_in = name in PICTURES
        picture = (
            PictureRef(PICTURES[name].title, built_in=name)
            if is_built_in
            else PictureRef(Path(name).name, folder / name)
        )
    return replace(step, note=step.note.strip(), picture=picture, look=look)


def _written(step: TalkStep, folder: Path) -> dict[str, Any]:
    def relative(path: Path) -> str:
        return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)

    data: dict[str, Any] = {"name": step.name}
    if step.note:
        data["note"] = step.note
    if step.picture is not None:
        path = step.picture.path
        data["picture"] = step.picture.built_in or (relative(path) if path else "")
    data["choices"] = {
        name: NONE if value is None else _lists(value) for name, value in step.data.items()
    }
    if look := step.look.to_data():
        if "session" in look and Path(look["session"]).is_absolute():
            look["session"] = relative(Path(look["session"]))
        data["look"] = look
    return data


def _lists(value: Any) -> Any:
    return [_lists(each) for each in value] if isinstance(value, tuple | list) else value


def _numbers(value: Any, count: int) -> tuple[float, ...]:
    """Parse a list of `count` finite numbers; empty for anything else."""
    if not isinstance(value, list | tuple) or len(value) != count:
        return ()
    are_finite = all(type(each) in (int, float) and abs(each) < 1e9 for each in value)
    return tuple(map(float, value)) if are_finite else ()
