"""The steps of a talk: what each shows, prepared beforehand or made from the ladder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kernels.core.device import Device, NoDevice
from kernels.engine.engine import all_implementations
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.intents import Changes
from workbench.model.state import State

MAX_STEPS = 200
MAX_LETTERS = 200
MAX_NOTE = 4000  # characters
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


@dataclass(frozen=True, slots=True)
class StepLook:
    """The view of a step, beside the choices: a part of the picture, a panel or a chart.

    area     left, top, width and height in pixels of the picture; None: all of it
    panel    one of PANELS; empty: the picture alone
    page     of the implementation: one of PAGES; of a chart: the key of its kind
    session  whose chart it is: the name of a recorded one, or a file
    pixel    x and y: which one is explained, or whose thread
    """

    area: Area | None = None
    panel: str = ""
    page: str = ""
    session: str = ""
    pixel: tuple[int, int] | None = None

    def to_data(self) -> dict[str, Any]:
        """Return the look as plain data, without what is as usual."""
        data: dict[str, Any] = {"panel": self.panel, "page": self.page, "session": self.session}
        data |= {"area": list(self.area or ()), "pixel": list(self.pixel or ())}
        return {name: value for name, value in data.items() if value}

    @classmethod
    def from_data(cls, data: Any) -> StepLook:
        """Return the look that `to_data` gave; what is no good is as usual."""
        if not isinstance(data, dict):
            return cls()
        texts = {name: data.get(name, "") for name in ("page", "session")}
        texts = {name: text for name, text in texts.items() if isinstance(text, str)}
        panel = data.get("panel", "")
        return cls(
            area=_area(data.get("area")),
            panel=panel if isinstance(panel, str) and panel in PANELS else "",
            pixel=_pixel(data.get("pixel")),
            **texts,
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
        """Return the choices of it that make sense here, as changes to `state`."""
        return choices.from_data(self.data, state)

    def to_data(self) -> dict[str, Any]:
        """Return the step as plain data, fit for JSON."""
        picture = self.picture.to_data() if self.picture else None
        more = {"look": self.look.to_data(), "note": self.note}
        return {"name": self.name, "choices": self.data, "picture": picture, **more}

    @classmethod
    def from_data(cls, data: Any) -> TalkStep | None:
        """Return the step that `to_data` gave; None for anything else."""
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


def steps_from(data: Any) -> tuple[TalkStep, ...]:
    """Return the steps in `data`, as a file holds them; anything else is left out."""
    if not isinstance(data, list):
        return ()
    return tuple(
        step for each in data[:MAX_STEPS] if (step := TalkStep.from_data(each)) is not None
    )


def step_of(state: State, look: StepLook | None = None) -> TalkStep:
    """Return the present picture, settings and look as a step.  Raises KernelError."""
    ref = PictureRef.of(state.picture) if state.picture is not None else None
    job = intents.job_for(state)
    name = intents.job_caption(job) if job is not None else "A step"
    picture = ref if ref is not None and ref.can_load else None
    return TalkStep(name, choices.to_data(state), picture, look or StepLook())


def ladder_steps(state: State, device: Device | NoDevice | None) -> tuple[TalkStep, ...]:
    """Return a step for everything that can run the present job, in the ladder's order."""
    return tuple(
        TalkStep(each.title, {"implementation": each.key, "view_mode": "side"})
        for each in all_implementations()
        if intents.why_unavailable(state, each, device) is None
    )


def _area(value: Any) -> Area | None:
    if not _are_numbers(value, 4) or min(value[2:]) <= 0:
        return None
    left, top, width, height = map(float, value)
    return left, top, width, height


def _pixel(value: Any) -> tuple[int, int] | None:
    if not _are_numbers(value, 2) or min(value) < 0:
        return None
    return int(value[0]), int(value[1])


def _are_numbers(value: Any, count: int) -> bool:
    """Return whether `value` is a list of so many finite numbers."""
    return (
        isinstance(value, list | tuple)
        and len(value) == count
        and all(type(each) in (int, float) and abs(each) < 1e9 for each in value)
    )
