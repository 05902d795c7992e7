"""One picture file from reading to writing, in steps that may run on different threads."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

from kernels import Engine, Job, Result, Sampling
from kernels.core.device_turns import outcome_of
from kernels.core.errors import CompileFailedError, KernelError, bug_in_words
from kernels.core.job import Progress
from kernels.core.safe_files import is_special
from kernels.rungs.own_kernels import is_own, text_hash
from workbench.base.memory import is_out_of_memory, memory_available_bytes, memory_there_bytes
from workbench.batch.journal import Stage, Status, make_folder, stamp_of
from workbench.batch.large_filtering import LargeAnswer, StripsDone, filtering_file
from workbench.batch.pairs import FilePair
from workbench.batch.stage_times import measuring
from workbench.files import image_files
from workbench.files.formats import format_of
from workbench.files.image_encoders import fit_of, reduced
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError, TooLargeError
from workbench.imaging.pictures import NO_METADATA, Metadata, Page, Picture
from workbench.model import intents
from workbench.model.state import State
from workbench.model.step_files import asked_of

Say = Callable[[str], None]
# Of a picture that does not fit into memory, where nobody says how much its strips may take; larger
# ones are no quicker.
STRIPS_BYTES, STRIPS_SHARE, FREE_SHARE = 1 << 30, 0.125, 0.25
# Each picture is filtered once, for its output alone, and no GPU's cache is emptied before.
UNTIMED = Sampling(max_samples=0, cache="warm")
OWN_TOO_LARGE = (
    "User kernels filter pictures as a whole. Choose a smaller picture, more memory, or another "
    "implementation."
)
IS_THERE = "{} is there already; --replace writes it anew."
LEADS_NOWHERE = "{} is a link to nothing; --replace writes the file that it names."
LOST = r"dropped|left out|(is|are) read\.|fewer digits|were rounded|cut off"  # in remarks
ANOTHER_PAGE = "--page takes another, or all."
FIND_ITS_BUG = "`workbench check --find-bug` with the kernel's file looks for the cause."


@dataclass(frozen=True, slots=True)
class Recipe:
    """The filtering that is done to every picture."""

    chosen: State  # filter, weights, border, pixel type and block; its picture does not count
    implementation: str | None = None  # None: the best; of a user kernel `chosen` has the source
    sampling: Sampling = field(default_factory=Sampling)
    check_every: int = 1  # of so many pictures one is checked, and the first is; 0: none
    quality: int | None = None  # as `image_files.save` has it
    reduce: bool = False  # as `image_encoders.reduced` does
    keeps_files: bool = False  # leave a file alone that is there already
    memory_bytes: int | None = None  # a picture that takes more is filtered in strips
    page: int = 1  # of each file, unless its pair names another

    def strips_bytes(self) -> tuple[int, bool]:
        """Memory for the strips of a large picture; True where it is less than at other times.

        Some rungs round by where a strip begins.
        """
        if self.memory_bytes is not None:
            return self.memory_bytes // 2, False
        usual = min(STRIPS_BYTES, int(memory_there_bytes() * STRIPS_SHARE))
        now = int(memory_available_bytes() * FREE_SHARE)
        return min(now, usual), now < usual

    @property
    def is_own(self) -> bool:
        return self.implementation is not None and is_own(self.implementation)

    @property
    def is_timed(self) -> bool:
        """True if filtering is timed, so that nothing else may be done meanwhile."""
        return self.sampling.max_samples > 0

    def sampling_of(self, outcome: Outcome) -> Sampling:
        is_due = outcome.is_due or (self.check_every and outcome.index % self.check_every == 0)
        return replace(self.sampling, check=self.sampling.check and bool(is_due))


def options_of(chosen: State, given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a batch, the filter's and the `given` ones, as its journal has them."""
    names = ("implementation", "format", "name", "quality", "reduce", "page")
    of_files = {"pixel_type": chosen.pixel_type, **{each: given[each] for each in names}}
    own = chosen.own_kernel
    return {**asked_of(chosen), **of_files, "user_kernel": own and text_hash(own.text)}


@dataclass(slots=True)
class Outcome:
    """The outcome of one picture so far."""

    pair: FilePair
    index: int = 0  # its place among all that are to be done
    is_due: bool = False  # it is checked in place of one that was not filtered
    keeps: bool = False  # leave a file alone that has the result's name by the end
    seconds: dict[Stage, float] = field(default_factory=dict)  # of each that it went through
    picture: Picture | None = None
    result: Result | None = None
    is_large: bool = False  # it does not fit into memory, and is filtered from file to file
    for_now: bool = False  # whether it does not because too little is free at the moment
    strips: StripsDone | None = None  # how far that is; None: nothing of it is finished
    large: LargeAnswer | None = None  # what came of that: it is written already
    error: str | None = None  # why it failed, one sentence; None: it did not
    is_wrong: bool = False  # the output was found to be wrong, or could not be checked
    log: str = ""  # of the compiler, where it was that; of a bug its traceback
    skipped: bool = False  # its file was there already and was left alone
    remarks: tuple[str, ...] = ()  # what was converted on the way in, one sentence each
    warnings: tuple[str, ...] = ()  # on options without effect, and on what is lost unasked
    metadata: Metadata = NO_METADATA
    unsynced: ExitStack | None = None  # brings its file to the disk and in its place
    device: int | None = None  # the GPU, where several share the pictures
    stamp: list[int] | None = None  # of the source as it was read

    @property
    def goes_on(self) -> bool:
        return self.error is None and not self.skipped

    @property
    def status(self) -> Status:
        """Its state in a word: "done" where there is nothing left to do."""
        if self.skipped:
            return "skipped"
        if self.error is None:
            return "done"
        return "wrong" if self.is_wrong else "failed"

    @property
    def is_lossy(self) -> bool:
        """True if the result lacks something of the picture, which is told."""
        said = " ".join((*self.remarks, *self.warnings)).lower()
        return self.status == "done" and re.search(LOST, said) is not None

    def line(self, output: str) -> dict[str, Any]:
        """Its line in the journal, where the result is called `output`."""
        line: dict[str, Any] = {
            "input": self.pair.source_shown,
            "output": output,
            "status": self.status,
            "error": self.error,
            "remarks": [*self.remarks, *self.warnings],
            "seconds": {stage: round(took, 6) for stage, took in self.seconds.items()},
        }
        if self.status == "done":
            line |= {"read": self.stamp, "written": stamp_of(self.pair.target)}
        return line if self.device is None else {**line, "device": self.device}

    def let_go(self) -> None:
        """Keep what the journal has, small enough to be sent to another process."""
        self.picture = self.result = self.large = self.unsynced = None
        self.metadata = NO_METADATA


def read(outcome: Outcome, recipe: Recipe, is_stopped: Callable[[], bool] = lambda: False) -> None:
    """Read the picture, and see that its file can hold the result, which is like it."""
    pair = outcome.pair
    with _failing(outcome):
        outcome.keeps = recipe.keeps_files and not pair.is_ours
        is_there = outcome.keeps and os.path.lexists(pair.target)
        if is_there and not pair.is_named:
            outcome.skipped = True
            return
        if is_there and not is_special(pair.target):
            said = IS_THERE if os.path.exists(pair.target) else LEADS_NOWHERE  # noqa: PTH110
            raise ImageFileError(said.format(pair.target_shown))
        # To write there might wait for ever, or change a file elsewhere.
        is_link = os.path.islink(pair.target)  # noqa: PTH114
        if not pair.is_named and (is_link or is_special(pair.target)):
            said = "a link, a device or a pipe has that name; remove it."
            raise ImageFileError(f"Cannot save {pair.target.name}: {said}")
        if pair.objection:
            raise ImageFileError(pair.objection)
        outcome.stamp = stamp_of(pair.source)
        try:
            with _timed(outcome, "decode"):
                page, most = pair.page or recipe.page, recipe.memory_bytes
                picture = image_files.load(
                    pair.source, page=page, is_stopped=is_stopped, max_bytes=most
                )
                outcome.picture = picture = picture.stored_as(recipe.chosen.pixel_type)
        except TooLargeError as error:
            outcome.is_large, outcome.for_now = True, error.for_now
            if recipe.is_own:
                outcome.error = f"{error.reason}. {OWN_TOO_LARGE}"
            elif format_of(pair.target).title != "TIFF":
                outcome.error = str(error)
            return
        outcome.remarks = (*picture.remarks, *_said_of(picture.page, pair))
        outcome.metadata = picture.metadata
        fit = fit_of(pair.target, outcome.picture.samples, outcome.metadata)
        if fit.why_not is not None or (fit.is_to_ask and not recipe.reduce):
            hint = "" if fit.why_not is not None else " --reduce saves it all the same."
            raise ImageFileError(f"Cannot save {pair.target.name} as it is. {fit}{hint}")
        lost = f"{fit.format.title}: {', '.join(fit.changes)}."
        if fit.is_to_ask:
            outcome.remarks += (lost,)
        elif fit.changes:
            outcome.warnings += (f"{pair.name}: {lost}",)
        if recipe.quality is not None and not fit.format.has_quality:
            outcome.warnings += (f"{pair.target.name}: {fit.format.title} knows no --quality.",)


def _said_of(page: Page, pair: FilePair) -> Iterator[str]:
    if page.count > 1 and not pair.page:
        yield f"Only {page} is kept; {ANOTHER_PAGE}"
    if os.path.islink(pair.target):  # noqa: PTH114 - `Path.is_symlink` may raise
        yield f"{pair.target_shown} is a link; what is written is {os.path.realpath(pair.target)}."


def filter_(engine: Engine, outcome: Outcome, recipe: Recipe, say: Say) -> None:
    """Filter, time and check what was read; on the engine's thread, and alone for the timing.

    What is large is read and written as well.
    """
    with _failing(outcome):
        if outcome.is_large:
            _filter_large(engine, outcome, recipe, say)
        else:
            _filter(engine, outcome, recipe, say)
        answer = outcome.large or outcome.result
        check, where = answer.check if answer else None, ""
        for each in outcome.result.steps if outcome.result else ():
            if each.check is not None and not each.check.ok:  # that step is to blame
                check, where = each.check, f"{each.job.title}: "
                break
        if check is not None and not check.ok:
            outcome.is_wrong = True
            outcome.error = f"{outcome.pair.name}: {where}{check}; nothing was written."
            if recipe.is_own:
                outcome.error += f" {FIND_ITS_BUG}"


def _filter(engine: Engine, outcome: Outcome, recipe: Recipe, say: Say) -> None:
    picture, outcome.picture = outcome.picture, None  # which the result's job holds from here on
    assert picture is not None
    job = intents.job_for(replace(recipe.chosen, picture=picture))
    assert job is not None
    job = _run_by_best(engine, job, recipe)
    steps = measuring(engine.filtering(job, recipe.sampling_of(outcome)))
    outcome.result, seconds = outcome_of(steps, lambda step: say(step.doing))
    outcome.seconds.update(seconds)


def _run_by_best(engine: Engine, job: Job, recipe: Recipe) -> Job:
    """`job`, of a single step run by what was named, or by the best there is."""
    whole = replace(job, region=None)
    if not replace(whole, opaque=None).is_one_launch:
        return job
    return job.but(implementation=recipe.implementation or engine.best_for(whole))


def _filter_large(engine: Engine, outcome: Outcome, recipe: Recipe, say: Say) -> None:
    pair, state = outcome.pair, recipe.chosen
    reach = sum(each.ksize // 2 + 1 for each in intents.taken_in(state))
    path, page = pair.source.absolute(), pair.page or recipe.page
    with LargePicture(path, state.pixel_type, 2 * reach, page=page) as picture:
        make_folder(pair.folder)
        outcome.remarks = (*picture.notes, *_said_of(picture.page, pair))
        outcome.metadata = picture.metadata
        job = intents.job_for(replace(state, picture=picture.sample(), region=None))
        assert job is not None
        region = intents.region_in(state, picture.height, picture.width)
        if region is not None or job.opaque is not None:
            job = _run_by_best(engine, job, recipe)
        sampling, (memory_bytes, is_less) = recipe.sampling_of(outcome), recipe.strips_bytes()
        steps = filtering_file(
            engine,
            picture,
            pair.target,
            job,
            recipe.implementation if job.is_one_launch else None,  # else each step says its own
            region=region,
            memory_bytes=memory_bytes,
            max_taps=sampling.check_taps if sampling.check else 0,
            for_now=outcome.for_now or is_less,
            keeps=outcome.keeps,
        )

        def tell(step: Progress) -> None:
            if isinstance(step, StripsDone):
                outcome.strips = step
                say(step.doing)

        with closing(steps):
            outcome.large = outcome_of(steps, tell)
    outcome.seconds.update(outcome.large.seconds)


def encode(outcome: Outcome, recipe: Recipe) -> None:
    """Write the result beside its file; `sync`, which has to follow, makes it that file."""
    assert outcome.result is not None
    target = outcome.pair.target
    with _failing(outcome), _timed(outcome, "encode"), ExitStack() as steps:
        make_folder(outcome.pair.folder)
        samples = reduced(target, outcome.result.picture)
        how = (recipe.quality, outcome.metadata, outcome.keeps)
        steps.enter_context(image_files.saving(target, samples, *how))
        outcome.unsynced = steps.pop_all()


def sync(outcome: Outcome) -> None:
    """Wait until the file is on the disk, and put it in its place; on any thread."""
    steps, outcome.unsynced = outcome.unsynced, None
    if steps is not None:
        with _failing(outcome), _timed(outcome, "sync"):
            steps.close()


@contextmanager
def _failing(outcome: Outcome) -> Iterator[None]:
    """Keep in words why a picture failed; a bug's traceback is the picture's log."""
    name = outcome.pair.name
    try:
        yield
    except BrokenPipeError:  # of the listener to `say`
        raise
    except ImageFileError as error:  # it names the file itself
        outcome.error = str(error)
    except KernelError as error:
        outcome.error = f"{name}: {error}"
        outcome.log = error.log.rstrip() if isinstance(error, CompileFailedError) else ""
    except Exception as error:  # noqa: BLE001 - told with its traceback, not swallowed
        if is_out_of_memory(error):
            outcome.error = f"{name}: out of memory; close other programs, or use fewer --jobs."
        else:
            outcome.error = f"{name}: {bug_in_words(error)}"
            outcome.log = traceback.format_exc().rstrip()


@contextmanager
def _timed(outcome: Outcome, stage: Stage) -> Iterator[None]:
    began = perf_counter()
    try:
        yield
    finally:
        outcome.seconds[stage] = perf_counter() - began
