"""Steps as a TOML file, which can be saved, opened, shared and written by hand.

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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tomli_w

from kernels.core.errors import KernelError
from kernels.core.limited_toml import LimitedTomlError, parse, text_of_small_file
from kernels.pictures.generated import PICTURES
from workbench.files.picture_refs import PictureRef
from workbench.window.presenter.talk_steps import MAX_LETTERS, MAX_STEPS, TalkStep

ENDING = ".steps.toml"
FILE_TYPES = "Steps (*.toml);;All files (*)"
NONE = "none"


class TalkFileError(KernelError):
    """A failure to read a file of steps; str(error) is one sentence."""


@dataclass(frozen=True, slots=True)
class Talk:
    """Steps and their title."""

    title: str
    steps: tuple[TalkStep, ...]


def is_talk(path: Path) -> bool:
    """Return whether `path` is, by its name, a file of steps."""
    return path.name.lower().endswith(ENDING)


def read_talk(path: Path) -> Talk:
    """Return the steps in a file.  Raises TalkFileError."""
    try:
        text = text_of_small_file(path)
    except OSError as error:
        raise TalkFileError(f"{path.name} cannot be read: {error.strerror}.") from error
    if text is None:
        raise TalkFileError(f"{path.name} is no file of steps: that is a small TOML file.")
    return talk_of(text, path.name, path.parent)


def talk_of(text: str, name: str, folder: Path) -> Talk:
    """Return the talk that TOML stands for.  Raises TalkFileError.

    name    what complaints call it
    folder  what the paths in it are relative to
    """
    try:
        data = parse(text, name)
    except LimitedTomlError as error:
        raise TalkFileError(str(error)) from None
    listed = data.get("step")
    if not isinstance(listed, list) or not listed:
        raise TalkFileError(f"{name} has no steps: each begins with [[step]].")
    if len(listed) > MAX_STEPS:
        raise TalkFileError(f"{name} has more than {MAX_STEPS} steps.")
    steps = []
    for number, each in enumerate(listed, 1):
        if (step := _step(each, folder)) is None:
            raise TalkFileError(f"{name}: step {number} has no name, or choices that are none.")
        steps.append(step)
    title = data.get("title", "")
    return Talk(title[:MAX_LETTERS] if isinstance(title, str) else "", tuple(steps))


def as_toml(title: str, steps: Sequence[TalkStep], folder: Path) -> str:
    """Return the text of a file in `folder` that `talk_of` makes these steps of again."""
    listed = [_written(each, folder) for each in steps]
    return tomli_w.dumps({"title": title, "step": listed}, multiline_strings=True)


def _step(data: Any, folder: Path) -> TalkStep | None:
    if not isinstance(data, dict) or not isinstance(data.get("choices", {}), dict):
        return None
    picked = {name: _read(value) for name, value in data.get("choices", {}).items()}
    step = TalkStep.from_data({**data, "choices": picked, "picture": None})
    if step is None:
        return None
    session = step.look.session
    if "/" in session or "." in session:
        step = replace(step, look=replace(step.look, session=str(folder / session)))
    return replace(step, note=step.note.strip(), picture=_picture(data.get("picture"), folder))


def _picture(name: Any, folder: Path) -> PictureRef | None:
    if not isinstance(name, str) or not name:
        return None
    if name in PICTURES:
        return PictureRef(PICTURES[name].title, built_in=name)
    return PictureRef(Path(name).name, folder / name)


def _read(value: Any) -> Any:
    return None if value == NONE else value


def _written(step: TalkStep, folder: Path) -> dict[str, Any]:
    data: dict[str, Any] = {"name": step.name}
    if step.note:
        data["note"] = step.note
    if step.picture is not None:
        data["picture"] = step.picture.built_in or _relative(step.picture.path, folder)
    data["choices"] = {
        name: NONE if value is None else _lists(value) for name, value in step.data.items()
    }
    if look := step.look.to_data():
        if "session" in look and Path(look["session"]).is_absolute():
            look["session"] = _relative(Path(look["session"]), folder)
        data["look"] = look
    return data


def _relative(path: Path | None, folder: Path) -> str:
    if path is None:
        return ""
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else str(path)


def _lists(value: Any) -> Any:
    return [_lists(each) for each in value] if isinstance(value, tuple | list) else value
