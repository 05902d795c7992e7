"""One picture file from reading to writing, in three steps that may run on different threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from kernels import Engine, Result, Sampling
from kernels.core.errors import CompileFailedError, KernelError
from kernels.core.job import Progress
from workbench.batch.pairs import FilePair
from workbench.files import image_files
from workbench.files.picture_errors import ImageFileError
from workbench.files.reducing import fit_of, reduced
from workbench.model import intents
from workbench.model.state import Picture, State

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Recipe:
    """The filtering that is done to every picture.

    chosen           filter, weights, border, pixel type and block; its picture does not count
    implementation   None: the best that can run it
    verify           check every pixel, however long that takes
    quality, reduce  of what is written: see `image_files.save` and `reducing`
    keeps_files      leave a file alone that is there already
    """

    chosen: State
    implementation: str | None = None
    verify: bool = False
    quality: int | None = None
    reduce: bool = False
    keeps_files: bool = False


@dataclass(slots=True)
class Outcome:
    """The outcome of one picture so far.

    error    why it failed, one sentence; None: it did not
    log      of the compiler, where it was that
    skipped  its file was there already and was left alone
    remarks  what was converted on the way in, one sentence each
    warnings what was asked for and had no effect
    exif     as `Picture.exif` has it
    """

    pair: FilePair
    picture: Picture | None = None
    result: Result | None = None
    error: str | None = None
    log: str = ""
    skipped: bool = False
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    exif: bytes | None = None

    @property
    def goes_on(self) -> bool:
        """Return whether there is still something to do."""
        return self.error is None and not self.skipped

    @property
    def is_wrong(self) -> bool:
        """Return whether the result was found to be wrong, or could not be checked."""
        return (
            self.result is not None and self.result.check is not None and not self.result.check.ok
        )


def read(pair: FilePair, recipe: Recipe, is_stopped: Callable[[], bool] = lambda: False) -> Outcome:
    """Read the picture, and see that its file can hold the result, which is like it."""
    outcome = Outcome(pair)
    try:
        if recipe.keeps_files and _is_there(pair.target):
            outcome.skipped = True
            return outcome
        picture = image_files.load(pair.source, is_stopped=is_stopped)
        outcome.picture = picture.stored_as(recipe.chosen.pixel_type)
        outcome.remarks, outcome.exif = outcome.picture.remarks, outcome.picture.exif
        _refuse_misfit(outcome, recipe)
    except ImageFileError as error:  # it names the file itself
        outcome.error = str(error)
    except MemoryError:
        outcome.error = f"{pair.name}: there is too little memory; close other programs."
    return outcome


def filter_(engine: Engine, outcome: Outcome, recipe: Recipe, say: Say) -> None:
    """Filter, time and check what was read; on the engine's thread, and alone for the timing."""
    picture, outcome.picture = outcome.picture, None  # which the result's job holds from here on
    assert picture is not None
    try:
        outcome.result = _result(engine, picture, recipe, say)
    except KernelError as error:
        outcome.error = f"{outcome.pair.name}: {error}"
        outcome.log = error.log.rstrip() if isinstance(error, CompileFailedError) else ""
        return
    if outcome.is_wrong:
        outcome.error = f"{outcome.pair.name}: {outcome.result.check}; nothing was written."


def write(outcome: Outcome, recipe: Recipe) -> None:
    """Write the result: whole, or not at all."""
    assert outcome.result is not None
    target = outcome.pair.target
    try:
        with _folder(outcome.pair.folder):
            samples = reduced(target, outcome.result.picture)
            image_files.save(target, samples, recipe.quality, outcome.exif)
    except ImageFileError as error:
        outcome.error = str(error)
    except MemoryError:
        outcome.error = f"Cannot save {target.name}: there is too little memory."


@contextmanager
def _folder(path: Path | None) -> Iterator[None]:
    """Make `path`, and take it away again if nothing is written into it.  Raises ImageFileError."""
    if path is None or path.is_dir():
        yield
        return
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ImageFileError(f"Cannot make the folder {path}: {error.strerror}.") from error
    try:
        yield
    except BaseException:
        with suppress(OSError):  # somebody else has put something there
            path.rmdir()
        raise


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _result(engine: Engine, picture: Picture, recipe: Recipe, say: Say) -> Result:
    """Return the result of `job`.  Raises KernelError."""
    job = intents.job_for(replace(recipe.chosen, picture=picture))
    assert job is not None
    job = replace(job, implementation=recipe.implementation or engine.best_for(job))
    sampling = Sampling(check_taps=None) if recipe.verify else Sampling()
    result: Result | None = None
    for step in engine.filtering(job, sampling):
        if isinstance(step, Progress):
            say(step.doing)
        else:
            result = step
    assert result is not None
    return result


def _refuse_misfit(outcome: Outcome, recipe: Recipe) -> None:
    """Raise ImageFileError where the file cannot hold such a picture.

    Unless the user allowed it to be reduced.
    """
    assert outcome.picture is not None
    target = outcome.pair.target
    fit = fit_of(target, outcome.picture.samples, outcome.exif)
    if fit.why_not is not None:
        raise ImageFileError(f"Cannot save {target.name}: {fit}")
    if fit.changes and not recipe.reduce:
        said = str(fit).removesuffix(".")
        raise ImageFileError(
            f"Cannot save {target.name} as it is. {said}, and --reduce saves it all the same."
        )
    if recipe.quality is not None and not fit.format.has_quality:
        outcome.warnings = (f"{target.name}: {fit.format.title} knows no --quality.",)
