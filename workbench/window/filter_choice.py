"""Choices about files, the command for them, and the plan of the files it would write.

The plan is made off the GUI thread, as a folder may hold a hundred thousand pictures.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, get_args

from kernels.rungs.own_kernels import is_own
from kernels.sweeps.step_words import parse_step
from workbench.base import numbers
from workbench.base.memory import memory_there_bytes
from workbench.batch.filtering import options_of
from workbench.batch.journal import Status, last_run, place_of
from workbench.batch.large_filtering import is_begun
from workbench.batch.pairs import FilePairs, PairingError, naming, pairs_into
from workbench.batch.stage_times import losses_in_words, verdict
from workbench.files.formats import ALL_WRITTEN, EXTENSION_OF, EXTENSIONS, FORMATS, option_of
from workbench.model.intents import is_unclipped
from workbench.model.state import State
from workbench.model.step_files import changes_of_steps, select
from workbench.session.batch_process import BatchEnd
from workbench.window.copy_as import filter_words, no_option

SHOWN = 200  # names in the list
PATH_LETTERS = 60  # of a journal's path, within a sentence
MIN_BYTES, MAX_BYTES = 64 << 20, 2 << 30  # of a quarter of the memory, for one large picture
MAX_LETTERS = 20_000 if os.name == "nt" else 1_000_000  # of names that a command can have
TOO_MANY = "{:,} pictures are too many to be named one by one; select fewer, or choose the folder."
IS_THERE = "is there already"
NOT_UTF8 = "The name {} is not in UTF-8, so it cannot be passed on from here; rename it."
CLIPPED = "Negative results become 0; the format TIFF keeps them, as float32."
KEPT = "Negative results are kept, as float32."
OTHERS = "A run into {folder} was stopped with another {other}: choose that, or “Start again”."
STOPPED = "Stopped. What is finished is kept in {}.part, and Resume does the rest."


@dataclass(frozen=True, slots=True)
class FilterChoice:
    """Choices about files; the filter is the window's."""

    source: str = ""  # a folder, or a file; empty: none is chosen yet
    target: str = ""  # likewise
    pattern: str = ""  # of names, such as "{stem}_{filter}"; empty: each is called as its picture
    format_name: str = ""  # one of EXTENSION_OF; empty: as the picture's
    recursive: bool = False  # the folders in the folder as well
    replace: bool = False  # write files anew that are there already
    reduce: bool = False  # round to 8 bits, put what is transparent on white
    all_pages: bool = False  # a result for each page of a file; else for the first one
    devices: str = ""  # the GPUs, as --device has them; empty: the window's
    quality: int = 0  # 1 to 100, of the formats that have one; 0: the usual one
    files: tuple[str, ...] = ()  # these of the folder; none: all of them; never remembered
    is_file: bool = False  # one picture larger than memory, from file to file; never remembered
    page: int = 1  # of that

    @property
    def has_quality(self) -> bool:
        named = (each for each in FORMATS if self.format_name in ("", option_of(each.family)))
        return not self.is_file and any(each.has_quality for each in named)

    @property
    def inputs(self) -> list[str]:
        return list(self.files) or [self.source]

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> FilterChoice:
        """Parse remembered settings; values of a wrong type are left out."""
        usual = asdict(cls())
        kept = {name: data[name] for name in usual if type(data.get(name)) is type(usual[name])}
        alone = {"is_file": False, "files": (), "page": 1}
        choice = cls(**{**usual, **kept, **alone})
        return choice if choice.format_name in EXTENSION_OF else replace(choice, format_name="")


def beside(folder: str) -> str:
    """The folder for results of a folder, or file, unless another is chosen; empty: none is."""
    folder = folder.lstrip().rstrip("\r\n\t/" + os.sep)
    stem, extension = os.path.splitext(folder)  # noqa: PTH122 - of a text that may be no path
    folder = stem if extension.lower() in EXTENSIONS else folder  # the pages of one file
    return f"{folder}-filtered" if folder else ""


def shown(path: str) -> str:
    """A path as Qt can have it: with U+FFFD for each byte that is no UTF-8."""
    return os.fsencode(path).decode(errors="replace")


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """Everything that a run would do."""

    count: int  # pictures
    names: tuple[tuple[str, str, str], ...]  # the first: picture, result, "done" or "is there …"
    known: int | None = None  # of these, what a stopped run has finished; None: there was none
    failed: tuple[tuple[str, str], ...] = ()  # of these without a result: (path, sentence)
    journal: str = ""  # of that run
    objection: str = ""  # why that run cannot be resumed
    warnings: tuple[str, ...] = ()  # a sentence for each folder that cannot be looked into
    memory: int = 0  # bytes that one large picture may take; 0: any

    @property
    def in_words(self) -> str:
        """The number of pictures, and how many a stopped run has finished."""
        words = f"{numbers.plural(self.count, 'picture')}."
        if self.memory and self.known is not None:
            words = "A run that was stopped has finished some rows."
        elif self.known is not None:
            failed = f" and failed at {len(self.failed):,}" if self.failed else ""
            left = f"the other {self.count - self.known:,}" if self.known else "them all"
            done = f"{self.known:,}" if self.known else "none"
            words = f"{words} A run that was stopped has done {done} of them{failed}; "
            words += f"Resume does {left}.{_journal_in_words(self.journal)}"
        return " ".join((words, *self.warnings))


def words_of(choice: FilterChoice, state: State, *, resume: bool = False) -> list[str]:
    """The arguments of `workbench` that do it."""
    words = ["apply" if choice.is_file else "batch"]
    words += map(no_option, [each or "IN" for each in choice.inputs] + [choice.target or "OUT"])
    words += filter_words(state, _stored_as(choice, state))
    if choice.is_file:
        words += ["--page", str(choice.page)] if choice.page > 1 else []
        words += ["--replace"]  # the dialog that asked for the name has asked about that
        return [*words, "--device", choice.devices] if choice.devices else words
    words += [f"--name={choice.pattern}"] if choice.pattern else []  # it may begin with a dash
    words += ["--format", choice.format_name] if choice.format_name else []
    words += ["--quality", str(choice.quality)] if choice.quality and choice.has_quality else []
    words += ["--page", "all"] if choice.all_pages else []
    words += ["--device", choice.devices] if choice.devices else []
    given = {**asdict(choice), "resume": resume}
    return words + [
        f"--{each}" for each in ("recursive", "replace", "reduce", "resume") if given[each]
    ]


def note_on(choice: FilterChoice, state: State) -> str:
    """Sentence on negative results, which integer files cannot hold; empty: there are none."""
    if not is_unclipped(state):
        return ""
    return KEPT if _stored_as(choice, state) == "float32" else CLIPPED


def plan_of(choice: FilterChoice, state: State, is_stopped: Callable[[], bool]) -> FilterPlan:
    """Make the plan of a choice.  Raises PairingError and JournalError.

    is_stopped  is asked now and then; True: StoppedError is raised there
    """
    for each in (choice.source, *choice.files):
        if shown(each) != each or ("\ufffd" in each and not os.path.lexists(each)):
            raise PairingError(NOT_UTF8.format(shown(each)), "source")
    try:
        return _file_plan(choice) if choice.is_file else _plan_of(choice, state, is_stopped)
    except OSError as error:
        raise PairingError(f"Cannot look into {error.filename}: {error.strerror}.") from error


def _plan_of(choice: FilterChoice, state: State, is_stopped: Callable[[], bool]) -> FilterPlan:
    source, target = Path(choice.source), Path(choice.target)
    if not source.exists():
        raise PairingError(f"There is no folder or file {source}; choose another one.", "source")
    rename = naming(choice.pattern or None, choice.format_name or None, state)
    if sum(map(len, choice.files)) > MAX_LETTERS:
        raise PairingError(TOO_MANY.format(len(choice.files)), "source")
    inputs = list(map(Path, choice.inputs))
    found = pairs_into(inputs, target, recursive=choice.recursive, rename=rename)
    if choice.all_pages:
        found = found.by_page(is_stopped)
    if not found:
        is_told = choice.recursive or any(each.startswith("Cannot") for each in found.complaints)
        nothing = f"There are no pictures in {source}; “Subfolders” looks into those as well."
        raise PairingError(found.complaints[0] if is_told else nothing, "source")
    _reject_unwritable(target)
    last = last_run(journal := place_of(inputs, target))
    is_left = last.asked is not None and not last.is_over
    others = ", ".join(last.differing(_options(choice, state))) if is_left else ""
    left = {each.target for each in last.left(found, target)} if is_left else set()
    return FilterPlan(
        count=len(found),
        names=tuple(
            (
                os.path.relpath(pair.source, source if source.is_dir() else source.parent),
                str(pair.target.relative_to(target)),
                "done"
                if is_left and pair.target not in left
                else IS_THERE * os.path.lexists(pair.target),
            )
            for pair in islice(found, SHOWN)
        ),
        known=len(found) - len(left) if is_left else None,
        failed=tuple(last.failed.items()) if is_left else (),
        journal=str(journal),
        objection=OTHERS.format(folder=target, other=others.replace("_", " ")) if others else "",
        warnings=(*found.complaints, *_unwritten(found)),
    )


def _options(choice: FilterChoice, state: State) -> dict[str, Any]:
    """What the command of `words_of` writes into its journal."""
    words = list(pairwise(filter_words(state, _stored_as(choice, state))))
    if steps := [parse_step(word) for option, word in words if option == "--step"]:
        state = replace(state, **changes_of_steps(steps))
    given: dict[str, Any] = {"implementation": dict(words).get("--implementation")}
    given |= {"format": choice.format_name or None, "name": choice.pattern or None}
    given |= {"quality": (choice.has_quality and choice.quality) or None, "reduce": choice.reduce}
    given |= {"page": 0 if choice.all_pages else None}
    own = state.own_kernel if is_own(given["implementation"] or "") else None
    return options_of(replace(state, pixel_type=_stored_as(choice, state), own_kernel=own), given)


def _unwritten(pairs: FilePairs) -> list[str]:
    kinds = [each.target.suffix for each in pairs if each.target.suffix.lower() not in ALL_WRITTEN]
    names = ", ".join(sorted(set(kinds)))
    why = f"{len(kinds):,} will fail, as {names} is not written: choose a format for all."
    return [why] if kinds else []


def _file_plan(choice: FilterChoice) -> FilterPlan:
    source, target = Path(choice.source), Path(choice.target)
    allowed = min(max(memory_there_bytes() // 4, MIN_BYTES), MAX_BYTES)
    return FilterPlan(
        count=1,
        names=((source.name, target.name, IS_THERE * target.exists()),),
        known=0 if is_begun(target) else None,
        memory=allowed,
    )


def _stored_as(choice: FilterChoice, state: State) -> str | None:
    keeps = (choice.is_file or choice.format_name == "tiff") and is_unclipped(state)
    return "float32" if keeps else state.pixel_type


def _reject_unwritable(target: Path) -> None:
    there = next(each for each in (target, *target.absolute().parents) if each.exists())
    if not there.is_dir():
        raise PairingError(f"{there} is a file; choose a folder to write into.", "target")
    if not os.access(there, os.W_OK | os.X_OK):
        raise PairingError(f"Nothing can be written into {there}; choose another folder.", "target")


def whole_list(state: State) -> State:
    """The choices with the last step selected: what is seen may be less than is to be done."""
    return replace(state, **select(state.steps, len(state.steps) - 1)) if state.after else state


def _journal_in_words(path: str) -> str:
    """A journal's path, elided in the middle; empty: there is none."""
    short = path if len(path) <= PATH_LETTERS else f"{path[:20]}…{path[21 - PATH_LETTERS :]}"
    return f"\nJournal: {short}." if path else ""  # in a line of its own


def end_in_words(end: BatchEnd, choice: FilterChoice, failure: str, known: int = 0) -> str:
    """The sentence on the end of a run.

    failure  why one large picture has no result
    known    pictures that the run before had done
    """
    took, target = numbers.duration(end.seconds * 1e3), Path(choice.target).name
    if end.how == "refused":
        return (failure if choice.is_file else "") or end.complaint
    if choice.is_file:
        done = failure or f"Finished after {took}: {target}."
        return STOPPED.format(target) if end.how == "stopped" else done
    parts = [f"{end.counts[each]:,} {each}" for each in get_args(Status) if end.counts.get(each)]
    parts += [f"{known:,} done before"] * bool(known)
    verb = "Finished" if end.how == "ended" else "Stopped"
    checked = verdict(end.verified, end.counts)
    counted = f"{verb} after {took}: {', '.join(parts) or 'none'}{checked and f'; {checked}'}."
    named = f"{end.filter}." if end.filter else ""
    said = counted, named, *losses_in_words(end.cut, end.lossy, "“All pages”")
    return " ".join(filter(None, said)) + _journal_in_words(end.journal) * bool(named)
