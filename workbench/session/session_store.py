"""Sweeps that write their measurements to a session's file as they go, and where those are kept."""

from __future__ import annotations

import os
import re
import textwrap
import unicodedata
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kernels.core.device import Device, NoDevice
from kernels.core.errors import SessionFileError
from kernels.core.job import Progress
from kernels.engine.engine import Engine
from kernels.sweeps.cell_jobs import Given, Paths, read_same_texts, read_texts
from kernels.sweeps.machine import cpu, this_machine
from kernels.sweeps.plan import PICTURE_KINDS, Cell, Plan
from kernels.sweeps.plan_run import cells_of, sweeping
from kernels.sweeps.record import Machine, Record, Session
from kernels.sweeps.session_files import SUFFIXES, SessionFile, read_session, resume
from workbench.base.paths import asset, data_folder

RECORDED = "recorded"  # the folder in assets
MAX_SHOWN = 12  # kept sessions in the menu
LOOKING = Progress("looking at this computer")
NOT_KEPT = "{} The sweep continues, but what it measures from now on is not kept."


@dataclass(frozen=True, slots=True)
class Began:
    """The first step of a sweep."""

    session: Session  # what was measured before, none in a new one
    cells: tuple[Cell, ...]  # all of them, measured or not
    path: Path | None  # of its file; None: it is not kept in one


@dataclass(frozen=True, slots=True)
class NotKept:
    """A step with the reason why the file cannot be written any more."""

    sentence: str


Step = Began | NotKept | Progress | Record


def measuring(
    plan: Plan, given: Given, path: Path | None, kernels: Paths, engine: Engine
) -> Iterator[Step]:
    """Run a new sweep, for a worker to drive, that is kept in a new file.

    path     None: in the folder of sessions, with time and title as its name
    kernels  user kernels; read as it begins.  Raises CannotRunError for a missing one
    """
    yield LOOKING
    planned, texts = read_texts(plan, kernels)
    machine = this_machine(engine)
    now = datetime.now()
    place, file, complaint = path or new_path(plan, now), None, ""
    try:
        file = SessionFile.create(place, planned, machine)
    except SessionFileError as error:
        complaint = NOT_KEPT.format(error)
    session = Session(planned, machine, now.timestamp())
    with file or nullcontext():
        yield Began(session, cells_of(planned, given), place if file else None)
        if complaint:
            yield NotKept(complaint)
        yield from _kept(sweeping(planned, engine, given, texts=texts), file)


def resuming(path: Path, given: Given, kernels: Paths, engine: Engine) -> Iterator[Step]:
    """Run the rest of the sweep in a session's file.  Raises SessionFileError."""
    yield LOOKING
    begun = read_session(path)
    refuse_other_pictures(begun, given)
    texts = read_same_texts(begun.plan, kernels)
    session, file = resume(path, this_machine(engine))
    with file:
        yield Began(session, cells_of(session.plan, given), path)
        yield from _kept(sweeping(session.plan, engine, given, session.records, texts), file)


def is_session(path: Path) -> bool:
    """Return True for a session's file by its name, or a folder with one."""
    # Of a name that is too long `Path.is_file` would raise.
    return path.name.endswith(SUFFIXES) or os.path.isfile(path / "session.jsonl")  # noqa: PTH113


def is_plan(path: Path) -> bool:
    return path.suffix == ".toml"


def is_named_for_sweep(path: Path) -> bool:
    """Return True for the name of a session, a plan or a table."""
    return path.name.endswith(SUFFIXES) or is_plan(path) or path.suffix.lower() == ".csv"


def new_path(plan: Plan, now: datetime) -> Path:
    """New path for a sweep begun `now`, with time and title in its name."""
    stem = f"{now:%Y-%m-%d %H%M%S} {slug(plan.title)}".strip()
    names = (stem, *(f"{stem} {number}" for number in range(2, 100)))
    paths = (folder() / f"{name}{SUFFIXES[0]}" for name in names)
    return next(path for path in paths if not path.exists())


def saved_sessions() -> list[Path]:
    """The newest MAX_SHOWN sessions that are kept.  Raises SessionFileError."""
    found = [path for path in _listed(folder()) if path.name.endswith(SUFFIXES)]
    return sorted(found, reverse=True)[:MAX_SHOWN]  # their names begin with the time


def slug(title: str) -> str:
    """Part of a file's name from a title, without accents: "image-size-gaussian-blur"."""
    plain = re.sub(r"[\u0300-\u036f]", "", unicodedata.normalize("NFD", title.lower()))
    words = re.sub(r"[\W²]+", " ", re.sub(r"(?<=\d)×(?=\d)", "x", plain))
    first, *_ = *textwrap.wrap(words, 60), ""
    return first.replace(" ", "-")


def bundled() -> list[Path]:
    """Recorded sessions that came with the program.  Raises SessionFileError."""
    return sorted(path for path in _listed(asset(RECORDED)) if is_session(path))


def _listed(where: Path) -> list[Path]:
    try:
        return [*where.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise SessionFileError(f"Cannot list {where}: {error.strerror}.") from error


def can_grow(path: Path | None) -> bool:
    """Return True if records can be added: not packed, not one of the program's own."""
    return path is not None and path.suffix != ".gz" and asset(RECORDED) not in path.parents


def is_this_machine(machine: Machine, device: Device | NoDevice | None) -> bool:
    """Return True if a session of `machine` can be resumed on this computer."""
    if device is None:
        return False
    return (machine.cpu, machine.gpu) == (cpu(), device.name if isinstance(device, Device) else "")


def folder() -> Path:
    return data_folder() / "sessions"


def refuse_other_pictures(session: Session, given: Given) -> None:
    """Reject other pictures or sizes than `session` measures.  Raises SessionFileError."""
    for name in session.plan.pictures:
        if name in PICTURE_KINDS:
            continue
        if name not in given:
            raise SessionFileError(f"Open {name} first: it is what this session measures.")
        sizes = {(e.cell.width, e.cell.height) for e in session.records if e.cell.picture == name}
        height, width = given[name].shape[:2]
        if sizes - {(width, height)}:
            raise SessionFileError(
                f"{name} has {width}×{height} pixels now, and this session measured another."
            )


def _kept(
    steps: Iterator[Progress | Record], file: SessionFile | None
) -> Iterator[NotKept | Progress | Record]:
    for step in steps:
        if file is not None and isinstance(step, Record):
            try:
                file.append(step)
            except SessionFileError as error:
                file = None
                yield NotKept(NOT_KEPT.format(error))
        yield step
