"""`workbench apply IN... OUT`: filter picture files, say how long it took, and check the answer."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path

from kernels import Engine, Result
from kernels.check import Check, checking
from kernels.errors import KernelError
from kernels.job import Sampling
from workbench import intents
from workbench.cli import FAILED, USAGE
from workbench.commands import CommandError
from workbench.commands.machine import engine_maker
from workbench.commands.options import PIXEL, changes_of, ignored
from workbench.commands.words import in_one_line
from workbench.files import image_files
from workbench.files.image_files import ImageFileError
from workbench.files.reducing import fit_of, reduced
from workbench.model.state import Picture, State


def run(arguments: Namespace) -> int:
    """Filter every file; one that fails does not keep the others from being done."""
    chosen = replace(State(), **changes_of(arguments, State()))
    engine = engine_maker(arguments)()
    pairs = plan(arguments.inputs, arguments.output)
    if note := ignored(arguments, *_chosen_implementation(engine, chosen, arguments)):
        print(f"workbench: {note}", file=sys.stderr)
    if len(pairs) > 1 or _names_folder(arguments.output):
        into: AbstractContextManager[None] = _folder(Path(arguments.output))
    else:
        into = nullcontext()
    with into:
        done = [_attempt(engine, chosen, *pair, arguments) for pair in pairs]
    return 0 if all(done) else FAILED


def plan(inputs: list[Path], output: str) -> list[tuple[Path, Path]]:
    """Which file each input is written to.  Raises CommandError rather than lose a picture."""
    targets = _targets(inputs, Path(output), _names_folder(output))
    originals = {each.resolve() for each in inputs}
    for target in targets:
        if target.resolve() in originals:
            raise CommandError(f"{target} is an input; write to another file or folder.", USAGE)
        if targets.count(target) > 1:
            raise CommandError(f"Several inputs are called {target.name}; rename one.", USAGE)
    return list(zip(inputs, targets, strict=True))


def _targets(inputs: list[Path], output: Path, is_folder: bool) -> list[Path]:
    if is_folder or output.is_dir():
        return [output / each.name for each in inputs]
    if len(inputs) == 1:
        if output.suffix:
            return [output]
        raise CommandError(
            f"{output} names no format; give it an extension such as .png, or end it with / for "
            "a folder.",
            USAGE,
        )
    if output.suffix.lower() in image_files.EXTENSIONS or output.is_file():
        raise CommandError(f"With several pictures, {output} must be a folder, not a file.", USAGE)
    return [output / each.name for each in inputs]


def _names_folder(output: str) -> bool:
    return output.endswith(("/", os.sep))


@contextmanager
def _folder(path: Path) -> Iterator[None]:
    """Makes `path` if it is not there; it goes again if nothing was written into it."""
    is_ours = not path.exists()
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise CommandError(
            f"Cannot make the folder {path}: {error.strerror}; choose another one."
        ) from error
    try:
        yield
    finally:
        if is_ours:
            with suppress(OSError):  # it is not empty
                path.rmdir()


def _chosen_implementation(
    engine: Engine, chosen: State, arguments: Namespace
) -> tuple[str, str | None]:
    """The implementation named, or else the one that any picture gets; and why none of the GPU."""
    if arguments.implementation is not None:
        return arguments.implementation, None
    job = intents.job_for(replace(chosen, picture=PIXEL))
    assert job is not None
    return engine.best_for(job), engine.why_not_auto(job)


def _attempt(
    engine: Engine, chosen: State, source: Path, target: Path, arguments: Namespace
) -> bool:
    """Filter one file; False, and a sentence on stderr, where that fails."""
    try:
        _apply(engine, chosen, source, target, arguments)
    except (ImageFileError, CommandError) as error:  # they name the file themselves
        sentence = str(error)
    except KernelError as error:
        sentence = f"{source.name}: {error}"
    else:
        return True
    print(f"workbench: {sentence}", file=sys.stderr)
    return False


def _apply(engine: Engine, chosen: State, source: Path, target: Path, arguments: Namespace) -> None:
    picture = image_files.load(source).stored_as(chosen.pixel_type)
    for note in picture.remarks:
        print(f"{source.name}: {note}")
    quality = _quality_for(target, picture, arguments)
    job = intents.job_for(replace(chosen, picture=picture))
    assert job is not None
    if arguments.implementation is None:
        job = replace(job, implementation=engine.best_for(job))
    result = engine.run(job, Sampling(check=not arguments.verify))
    if arguments.verify:
        result = _verified(engine, result)
    line = f"{source.name} → {target}: {chosen.filter} {in_one_line(result)}"
    if result.check is not None and not result.check.ok:
        raise CommandError(f"{line}; nothing was written.")
    image_files.save(target, reduced(target, result.picture), quality)
    print(line, flush=True)


def _quality_for(target: Path, picture: Picture, arguments: Namespace) -> int | None:
    """What `image_files.save` is to be given.

    Raises ImageFileError, before anything is worked out, where the file cannot hold a result, which
    is like the picture, and nobody allowed it to be changed.
    """
    fit = fit_of(target, picture.samples)
    if fit.why_not is not None:
        raise ImageFileError(f"Cannot save {target.name}: {fit}")
    if fit.changes and not arguments.reduce:
        said = str(fit).removesuffix(".")
        raise ImageFileError(
            f"Cannot save {target.name} as it is. {said}, and --reduce saves it all the same."
        )
    quality: int | None = arguments.quality
    if quality is not None and not fit.format.has_quality:
        print(f"workbench: {target.name}: {fit.format.title} knows no --quality.", file=sys.stderr)
        return None
    return quality


def _verified(engine: Engine, result: Result) -> Result:
    """`result` with every pixel held against the oracle, however long that takes."""
    job = result.job
    implementation = engine.implementation(job.implementation)
    checks = checking(job, result.picture, implementation.tolerance(job), max_taps=None)
    *_, check = _with_progress(checks)
    return replace(result, check=check)


def _with_progress(checks: Iterator[Check]) -> Iterator[Check]:
    """`checks`; where stderr is a terminal, a line there says how far they are, and goes again."""
    if not sys.stderr.isatty():
        yield from checks
        return
    said = ""
    try:
        for check in checks:
            line = f"checking against the oracle: {check.checked / check.total:.0%}"
            if line != said:
                print(f"\r{line}", end="", file=sys.stderr, flush=True)
                said = line
            yield check
    finally:
        print("\r" + " " * len(said), end="\r", file=sys.stderr, flush=True)
