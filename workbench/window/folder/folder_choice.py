"""The folders and names of a batch as they are chosen, the command that says so, and what it does.

All of it but the choosing: the plan is made off the GUI thread, as a folder may hold a hundred
thousand pictures.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.batch.into_folder import naming, pairs_into
from workbench.batch.journal import last_run
from workbench.batch.naming import PairingError
from workbench.files.format_names import EXTENSION_OF
from workbench.model.intents import is_unclipped
from workbench.model.state import State
from workbench.window.copying.command_line import filter_words, no_option

SHOWN = 200  # names, of whatever number
CLIPPED = "Negative results become 0; the format TIFF keeps them, as float32."
KEPT = "Negative results are kept, as float32."


@dataclass(frozen=True, slots=True)
class FolderChoice:
    """The choices about files; those about the filter are the window's.

    source, target  folders; empty: none is chosen yet
    pattern         of names, such as "{stem}_{filter}"; empty: each is called as its picture
    format_name     one of EXTENSION_OF; empty: as the picture's
    recursive       the folders in the folder as well
    replace         write files anew that are there already
    reduce          round to 8 bits, and put what is transparent on white, where that is needed
    devices         the GPUs, as --device has them; empty: the window's
    """

    source: str = ""
    target: str = ""
    pattern: str = ""
    format_name: str = ""
    recursive: bool = False
    replace: bool = False
    reduce: bool = False
    devices: str = ""

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> FolderChoice:
        """Return what settings remember, without what makes no sense."""
        usual = asdict(cls())
        kept = {name: data[name] for name in usual if type(data.get(name)) is type(usual[name])}
        choice = cls(**{**usual, **kept})
        return choice if choice.format_name in EXTENSION_OF else replace(choice, format_name="")

    @property
    def as_data(self) -> dict[str, Any]:
        """Return what settings are to remember."""
        return asdict(self)

    @property
    def is_whole(self) -> bool:
        """Return whether both folders are chosen."""
        return bool(self.source and self.target)


@dataclass(frozen=True, slots=True)
class FolderPlan:
    """Everything that a batch would do.

    count     pictures
    names     the first of them: (picture, its result, whether that is there already)
    known     pictures that the last run, which was stopped, is done with; None: there was none
    failed    of these without a result: (path, sentence)
    warnings  a sentence for each folder that cannot be looked into
    """

    count: int
    names: tuple[tuple[str, str, bool], ...]
    known: int | None = None
    failed: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()


def words_of(choice: FolderChoice, state: State, *, resume: bool = False) -> list[str]:
    """Return the words after `workbench` that do it."""
    words = ["batch", no_option(choice.source or "IN"), no_option(choice.target or "OUT")]
    words += filter_words(state, _stored_as(choice, state))
    words += [f"--name={choice.pattern}"] if choice.pattern else []  # it may begin with a dash
    words += ["--format", choice.format_name] if choice.format_name else []
    words += ["--device", choice.devices] if choice.devices else []
    given = {**asdict(choice), "resume": resume}
    return words + [
        f"--{each}" for each in ("recursive", "replace", "reduce", "resume") if given[each]
    ]


def note_on(choice: FolderChoice, state: State) -> str:
    """Return what becomes of results that files of whole numbers do not hold; empty: nothing."""
    if not is_unclipped(state):
        return ""
    return KEPT if _stored_as(choice, state) == "float32" else CLIPPED


def plan_of(choice: FolderChoice, state: State) -> FolderPlan:
    """Return what would be done.

    Raises PairingError and JournalError, with the sentence for the user.
    """
    try:
        return _plan_of(choice, state)
    except OSError as error:
        raise PairingError(f"Cannot look into {error.filename}: {error.strerror}.") from error


def _plan_of(choice: FolderChoice, state: State) -> FolderPlan:
    source, target = Path(choice.source), Path(choice.target)
    if not source.is_dir():
        raise PairingError(f"There is no folder {source}; choose another one.")
    rename = naming(choice.pattern or None, choice.format_name or None, state)
    found = pairs_into([source], target, recursive=choice.recursive, rename=rename)
    if not found.pairs:
        raise PairingError(_nothing_in(choice, found.complaints))
    _refuse_unwritable(target)
    last = last_run(target)
    is_left = last.asked is not None and not last.is_over
    return FolderPlan(
        count=len(found.pairs),
        names=tuple(
            (str(pair.source.relative_to(source)), str(pair.target.relative_to(target)), is_there)
            for pair in islice(found.pairs, SHOWN)
            for is_there in (os.path.lexists(pair.target),)
        ),
        known=len(last.known) if is_left else None,
        failed=tuple(last.failed.items()) if is_left else (),
        warnings=found.complaints,
    )


def _stored_as(choice: FolderChoice, state: State) -> str | None:
    keeps = choice.format_name == "tiff" and is_unclipped(state)
    return "float32" if keeps else state.pixel_type


def _nothing_in(choice: FolderChoice, complaints: tuple[str, ...]) -> str:
    if choice.recursive or any(each.startswith("Cannot") for each in complaints):
        return complaints[0]
    return f"There are no pictures in {choice.source}; “Subfolders” looks into those as well."


def _refuse_unwritable(target: Path) -> None:
    """Refuse a folder that can neither be written into nor made."""
    there = next(each for each in (target, *target.absolute().parents) if each.exists())
    if not there.is_dir():
        raise PairingError(f"{there} is a file; choose a folder to write into.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PairingError(f"Nothing can be written into {there}; choose another folder.")
