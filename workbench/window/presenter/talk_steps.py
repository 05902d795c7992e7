"""The steps of a talk: what each shows, prepared beforehand or made from the ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernels.core.device import Device, NoDevice
from kernels.engine.engine import all_implementations
from workbench.files.picture_refs import PictureRef
from workbench.model import choices, intents
from workbench.model.intents import Changes
from workbench.model.state import FACTS, State

MAX_STEPS = 200
MAX_LETTERS = 200


@dataclass(frozen=True, slots=True)
class TalkStep:
    """A step of a talk: one thing to show.

    data     choices, as `choices.to_data` gives them
    picture  None: the one that is open
    """

    name: str
    data: dict[str, Any]
    picture: PictureRef | None = None

    def changes(self, state: State) -> Changes:
        """Return the choices of it that make sense here, as changes to `state`."""
        return choices.from_data(self.data, state)

    def to_data(self) -> dict[str, Any]:
        """Return the step as plain data, fit for JSON."""
        picture = self.picture.to_data() if self.picture else None
        return {"name": self.name, "choices": self.data, "picture": picture}

    @classmethod
    def from_data(cls, data: Any) -> TalkStep | None:
        """Return the step that `to_data` gave; None for anything else."""
        if not isinstance(data, dict) or not isinstance(data.get("choices"), dict):
            return None
        name = data.get("name")
        if not isinstance(name, str) or not name.strip():
            return None
        return cls(name[:MAX_LETTERS], data["choices"], PictureRef.from_data(data.get("picture")))


def steps_from(data: Any) -> tuple[TalkStep, ...]:
    """Return the steps in `data`, as a file holds them; anything else is left out."""
    if not isinstance(data, list):
        return ()
    return tuple(
        step for each in data[:MAX_STEPS] if (step := TalkStep.from_data(each)) is not None
    )


def step_of(state: State) -> TalkStep:
    """Return the present picture and settings as a step.  Raises KernelError."""
    # How pictures are shown is chosen on the stage.
    data = {n: value for n, value in choices.to_data(state).items() if not FACTS[n].is_view}
    ref = PictureRef.of(state.picture) if state.picture is not None else None
    job = intents.job_for(state)
    name = intents.job_caption(job) if job is not None else "A step"
    return TalkStep(name, data, ref if ref is not None and ref.can_load else None)


def ladder_steps(state: State, device: Device | NoDevice | None) -> tuple[TalkStep, ...]:
    """Return a step for everything that can run the present job, in the ladder's order."""
    return tuple(
        TalkStep(each.title, {"implementation": each.key})
        for each in all_implementations()
        if intents.why_unavailable(state, each, device) is None
    )
