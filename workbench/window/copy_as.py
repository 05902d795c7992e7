"""The menu Edit ▸ Copy as: the present job as text on the clipboard."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from kernels import filters
from kernels.core.errors import KernelError
from kernels.core.job import Job, Result
from kernels.core.plain_data import parse_toml
from kernels.core.step import Correlation
from kernels.engine.auto import AUTO, usual_order
from kernels.engine.list_ways import LIST_RUNGS
from kernels.engine.own_kernel import OwnKernel
from kernels.export.cuda_program import cuda_program, cuda_program_of_list
from kernels.filters import has_parameter
from kernels.filters.parameters import DISK, NUMBERS
from kernels.pictures.generated import SCENE_FILE
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from kernels.sweeps.step_words import as_word, blend_of, made_filter
from workbench.base.paths import asset
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.intents import Choice, chosen_in, is_unclipped, part_of, taken_in, white_of
from workbench.model.state import FACTS, State, Step
from workbench.model.step_files import is_list, part_in_words
from workbench.session.kernel_folder import kernels_folder
from workbench.widgets.actions import Action, Actions
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.steps_menu import to_whole_list
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.panels.rung.rung_panel import RungPane

NO_PICTURE = "Open a picture first: the program is made for its size and pixel type."
INSTEAD = "In place of what runs on the CPU it has the kernel that a GPU would usually run."
NOT_YET = "The program takes what ran for each step: wait for the result."
NO_ALPHA = (
    "The program filters samples as they are: set Alpha to channels apart in Settings, or filter "
    "an opaque picture."
)
NO_PART = "The program filters whole pictures: Shift+G lets go of the part."
NOTHING = "Nothing was pointed at yet: point at a pixel."
NO_OWN = "But the command line takes no user kernel as a step of a list."


class CopyAs(QObject):
    """A menu that puts texts about the present job on the clipboard.

    rung  whose implementation is copied where the chosen one is no rung; else that of a usual GPU
    """

    def __init__(self, parts: Parts, rung: LazyPanel[RungPane]) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._live = parts.store, parts.worker, parts.live
        self._rung_panel, self._background = rung, parts.reading
        self._messages, self._read_out = parts.messages, parts.compare.read_out_row.read_out

    def actions(self) -> Actions:
        return {
            "Command line": partial(self._copy, command_line, "the command line"),
            "Python": partial(self._copy, python, "the Python script"),
            "CUDA C++": self._copy_cuda,
            "Pixel values": Action(self._copy_values, lambda: NOTHING * (not self._read_out.whole)),
        }

    def _copy(self, make: Callable[..., str], what: str) -> None:
        state = self._store.state
        _, note = source_of(state.picture)
        if make is command_line and intents.is_unclipped(state):
            note = f"It keeps what lies below zero: as float32, where white is 1. {note}".strip()
        if make is python and state.picture is not None and state.picture.built_in:
            note = ""  # the script makes the picture itself
        if make is command_line and is_list(state) and any(map(_own_of, taken_in(state))):
            note = f"{note} {NO_OWN}".strip()
        self._put(make(state), f"Copied {what}. {note}".strip())

    def _copy_values(self) -> None:
        QGuiApplication.clipboard().setText(self._read_out.whole)
        self._messages.show_message("info", "Copied the pixel values.")

    def _copy_cuda(self) -> None:
        try:
            job = intents.job_for(self._store.state)
        except KernelError as error:
            self._messages.show_error(error)
            return
        if job is None or job.region is not None:
            self._messages.show_message("info", NO_PICTURE if job is None else NO_PART)
        elif job.opaque is not None:
            self._messages.show_message("info", NO_ALPHA)
        elif job.is_one_launch:
            self._copy_rung(job)
        elif (rung := self._rung_of_list(job)) is not None:
            note = INSTEAD if (ran := self._ran(job)) is not None and not ran.list_way else ""
            made = partial(cuda_program, rung, job, self._worker.gpu)
            self._make(made, rung.title, rung.key, note)
        else:
            self._copy_rungs(job)

    def _copy_rung(self, job: Job) -> None:
        rung, note = self._rung_or_usual(self._rung(), job)
        job = job.but(implementation=rung.key)
        if self._picked() is rung and (result := self._live.result) is not None:
            job = job.but(block_xy=result.block_xy or job.block_xy)
        self._make(partial(cuda_program, rung, job, self._worker.gpu), rung.title, rung.key, note)

    def _rung_or_usual(self, chosen: Choice | None, job: Job) -> tuple[Rung, str]:
        """The chosen rung, or what Auto usually takes for `job`, with a sentence on that."""
        if isinstance(chosen, Rung):
            return chosen, ""
        rungs, device = usual_order(job), self._worker.gpu
        whys = ((e, e.why_not(job, device) if device else e.why_not_anywhere(job)) for e in rungs)
        return next((each for each, why in whys if not why), rungs[0]), INSTEAD

    def _rung_of_list(self, job: Job) -> Rung | None:
        """The rung that did the whole list in one launch, or was chosen for that."""
        ran = self._ran(job)
        way = (ran and ran.list_way) or job.list_way
        if any(run.blend.is_grey for run in job.runs):  # which one launch alone can do
            return LIST_RUNGS.get(way, next(iter(LIST_RUNGS.values())))
        return LIST_RUNGS.get(way)

    def _ran(self, job: Job) -> Result | None:
        result = self._live.result
        return result if result is not None and result.job.same_run(job) else None

    def _copy_rungs(self, job: Job) -> None:
        result, ways, note = self._ran(job), [], ""
        if result is None or not result.steps:
            self._messages.show_message("info", NOT_YET)
            return
        for each in result.steps:
            ran = intents.implementation_of(each.job, each.picked)
            rung, instead = self._rung_or_usual(ran, each.job)
            note = note or instead
            block_xy = each.block_xy or each.job.block_xy
            ways.append((rung, each.job.but(implementation=rung.key, block_xy=block_xy)))
        made = partial(cuda_program_of_list, ways, job, self._worker.gpu)
        self._make(made, f"{len(ways)} steps", "steps", note)

    def _make(self, made: Callable[[], str], what: str, key: str, note: str = "") -> None:
        """Make the program in the background: spectra and bands of weights take a while."""

        def put(text: str) -> None:
            lines = f"{len(text.splitlines())} lines; its first lines say how to compile it."
            self._put(text, f"Copied {what} as {key}.cu, {lines} {note}".rstrip())

        self._background.run(made, put, self._messages.show_error)

    def _rung(self) -> Choice | None:
        """The rung that was chosen or picked, or else the one in the panel Implementation."""
        if (picked := self._picked()) is not None:
            return picked
        if isinstance(chosen := intents.chosen_in(self._store.state), OwnKernel):
            key = re.sub(r"\W+", "_", Path(chosen.key).stem)  # fit for a program's name
            return replace(chosen.rung, key=key) if chosen.text else None
        return chosen if isinstance(chosen, Rung) else self._rung_panel.get().shown

    def _picked(self) -> Rung | None:
        state, result = self._store.state, self._live.result
        if result is None or result.picked is None:
            return None
        if result.job.implementation != state.implementation:
            return None
        found = intents.implementation(result.picked.implementation)
        return found if isinstance(found, Rung) else None

    def _put(self, text: str, sentence: str) -> None:
        QGuiApplication.clipboard().setText(text)
        part = part_in_words(self._store.state)
        sentence += f" It has {part[2:]}." if part else ""
        self._messages.show_message("info", sentence, actions=to_whole_list(self._store, part))


STAND_IN = "picture.png"


def source_of(picture: Picture | None) -> tuple[Path, str]:
    """File that a text may open for `picture`, and a note for the user."""
    if picture is None:
        return Path(STAND_IN), f"It filters {STAND_IN}, since no picture is open."
    if picture.path is not None:
        return picture.path, ""
    if picture.built_in == "scene":  # this one comes as a file
        return SCENE_FILE, ""
    return Path(STAND_IN), f"This picture has no file: save it as {STAND_IN} first."


def command_line(state: State) -> str:
    """Format `workbench apply …`, quoted for the shell of this system."""
    (path, _), stored = source_of(state.picture), _stored_as(state)
    made = no_option(f"{path.stem}-filtered{_extension(state)}")
    words = [*filter_words(state, stored), *_page_words(state.picture)]
    return in_shell(["apply", no_option(str(path)), made, *words])


def _page_words(picture: Picture | None) -> list[str]:
    page = picture.page.number if picture is not None else 1
    return ["--page", str(page)] if page > 1 else []


def in_shell(words: Sequence[str]) -> str:
    """Format `workbench` with its arguments, quoted for the shell of this system."""
    words = ["workbench", *words]
    return subprocess.list2cmdline(words) if os.name == "nt" else " ".join(map(_quoted, words))


def _quoted(word: str) -> str:
    """Quote a word; bytes that are no UTF-8 and that no clipboard takes, as bash writes them."""
    if not any("\udc80" <= letter <= "\udcff" for letter in word):
        return shlex.quote(word)
    escaped = os.fsencode(word).decode("latin-1").encode("unicode_escape").decode()
    return "$'{}'".format(escaped.replace("'", "\\'"))


def filter_words(state: State, stored: str | None) -> list[str]:
    """Options on how to filter: only those that make a difference.

    stored  pixel type to filter in; None: that of the file
    """
    words = _list_words(state) if is_list(state) else _one_filter(state)
    words += _option("border", state.border) + _option("alpha", state.alpha)
    if state.region is not None:
        words += _option("region", ",".join(map(str, state.region)))
    if stored is not None:
        words += _option("pixel_type", stored)
    runs_on = chosen_in(state)
    if not is_list(state):
        named = str(own_path(state)) if is_own(state.implementation) else state.implementation
        words += _option("implementation", named)
        if isinstance(runs_on, Rung | OwnKernel) and not runs_on.own_block:
            words += _option("block_xy", "{}x{}".format(*state.block_xy))
    if state.devices > 1 and runs_on.kind != "cpu":
        words += ["--device", ",".join(map(str, range(state.devices)))]
    return words


def _list_words(state: State) -> list[str]:
    words = []
    for each in taken_in(state):
        named = None if each.implementation == AUTO.key else each.implementation
        words += ["--step", as_word(replace(each, chosen_implementation=named))]
    words += _option("whole", state.whole)
    return [*words, "--round-between"] if state.is_rounded else words


def _one_filter(state: State) -> list[str]:
    chosen, words = filters.get(state.filter), []
    if has_parameter(chosen, "matrix"):
        words.append(f"--weights={'; '.join(' '.join(map(repr, row)) for row in state.matrix)}")
        words += [f"--offset={state.offset!r}"] if state.offset else []
    else:
        words += [*_option("filter", state.filter), *_option("ksize", state.ksize)]
    for each in NUMBERS:
        value = getattr(state, each.name)
        if value is not None and has_parameter(chosen, each.name):
            words += _option(each.name, value)
    words += ["--disk"] * (state.is_disk and has_parameter(chosen, "is_disk"))
    return words


def own_path(state: State | Step) -> Path:
    """Path of the chosen user kernel, which may not exist."""
    own, name = state.own_kernel, state.implementation
    return own.path if own is not None and own.name == name else kernels_folder() / name


def _option(name: str, value: object) -> list[str]:
    return [f"--{FACTS[name].option.replace('_', '-')}", str(value)]


def no_option(name: str) -> str:
    """Change a file's name so that it is not taken for an option."""
    return f"./{name}" if name.startswith("-") else name


def _extension(state: State) -> str:
    """Extension of a format that keeps every bit of the result."""
    if state.picture is not None and state.picture.large is not None:
        return ".tif"  # which is filtered in strips
    stored = _stored_as(state)
    if stored is None and state.picture is not None:
        stored = str(state.picture.samples.dtype)
    return ".tif" if np.dtype(stored or "uint8").kind == "f" else ".png"


def _stored_as(state: State) -> str | None:
    """Pixel type to filter in; None: that of the file."""
    return "float32" if is_unclipped(state) else state.pixel_type


def device_options(words: Sequence[str]) -> list[str]:
    """Filter the options that choose a GPU out of a command line."""
    found = []
    for word, following in zip(words, (*words[1:], ""), strict=False):
        if word == "--device":
            found += [word, following]
        elif word == "--no-gpu" or word.startswith("--device="):
            found.append(word)
    return found


_SCRIPT: dict[str, str] = parse_toml(asset("script.toml").read_text("utf-8"), "")


def python(state: State) -> str:
    """Write a Python script that computes the filtered picture as `filtered`."""
    origin, picture = _picture(state)
    steps, samples = taken_in(state), state.picture.samples if state.picture is not None else None
    has_own = any(map(_own_of, steps))
    names = ["Engine", "Job", "filters"]
    now = filters.get(state.filter)
    has_more = state.threshold or now.is_grey or not now.has_weights
    if in_steps := is_list(state) or has_more:
        chosen = [filters.get(each.filter) for each in steps]
        sums = ["Correlation"] * any(each.has_weights for each in chosen)
        length = ["Length"] * any(each.gradient for each in chosen)
        names = [*sums, "Engine", "Job", *length, "Step", "filters"]
    imports = [f"from kernels import {', '.join(names)}", origin]
    if part_of(state) is not None:
        imports.append("from kernels.core.job import Region")
    end = _SCRIPT["end_of_own"] if has_own else _SCRIPT["end"]
    return _SCRIPT["script"].format(
        title=", ".join(f"{filters.get(e.filter).title} {e.ksize}×{e.ksize}" for e in steps),
        imports="\n".join(["from pathlib import Path\n", *imports] if has_own else imports),
        # As the window does to keep values below zero.
        picture=f'{picture}.astype("float32")' if is_unclipped(state) else picture,
        job=_list(state, steps) if in_steps else _job(state),
        shape="(H, W, C)" if samples is None else samples.shape,
        dtype="like the picture" if samples is None or is_unclipped(state) else samples.dtype,
        end=end + _SCRIPT["end_of_list"] if is_list(state) and not has_own else end,
    )


def _job(state: State) -> str:
    chosen = state.selected
    more = "    gradient=True,\n" if filters.get(state.filter).gradient else ""
    added = _offset(state, chosen)
    more += f"    offset={added!r},\n" if added else ""
    more += _own(chosen, "    ") + _more_of_job(state)
    return _SCRIPT["job"].format(more=more, border=state.border, **_facts(state, chosen, 8))


def _list(state: State, steps: Sequence[Step]) -> str:
    words = ""
    for each in steps:
        mix = f"mix={each.mix!r}" if each.mix != 1 else ""
        is_gradient = filters.get(each.filter).gradient
        more = _own(each, " " * 12)
        more += f"            title={filters.get(each.filter).title!r},\n"
        more += f"            {mix},\n" if mix and not is_gradient else ""
        added = _offset(state, each)
        threshold = blend_of(each, white_of(state)).threshold
        more += f"            threshold={threshold!r},\n" if threshold else ""
        more += "            is_grey=True,\n" if filters.get(each.filter).is_grey else ""
        facts = _facts(state, each, 16)
        if filters.get(each.filter).has_weights:
            offset = f", offset={added!r}" if added else ""
            facts["weights"] = f"Correlation({facts['weights']}{offset})"
        words += _SCRIPT["step"].format(more=more, **facts)
        length = ", ".join(filter(None, ("Length()", mix)))
        words += f"        Step({length}),  # the length of its gradient\n" if is_gradient else ""
    more = "    is_rounded=True,\n" if state.is_rounded else ""
    return _SCRIPT["list"].format(steps=words, border=state.border, more=more + _more_of_job(state))


def _offset(state: State, step: Step) -> float:
    found = made_filter(step, white_of(state))
    return found.offset if isinstance(found, Correlation) else 0.0


def _facts(state: State, step: Step, indent: int) -> dict[str, object]:
    how = {"implementation": step.implementation, "block_xy": step.block_xy}
    return {"weights": _weights(state, step, " " * indent), **how}


def _own(step: Step, indent: str) -> str:
    """The line for a user kernel, where there is one."""
    own = _own_of(step)
    return f'{indent}own=Path({str(own)!r}).read_text(encoding="utf-8-sig"),\n' if own else ""


def _more_of_job(state: State) -> str:
    """Lines for several GPUs and a part of the picture, where there are any."""
    devices = f"    devices={state.devices},\n" if state.devices > 1 else ""
    if (job := intents.job_for(state)) is not None and job.opaque is not None:
        devices += f"    opaque={job.opaque!r},\n"
    return devices if (part := part_of(state)) is None else f"{devices}    region={part!r},\n"


def _own_of(step: Step) -> Path | None:
    return own_path(step) if is_own(step.implementation) else None


def _picture(state: State) -> tuple[str, str]:
    """Import, and the expression of the samples."""
    shown, stored = state.picture, state.pixel_type
    if shown is not None and shown.path is None and shown.built_in is not None:
        made, module = f"PICTURES[{shown.built_in!r}].make()", "kernels.pictures.generated"
        if stored is None:
            return f"from {module} import PICTURES", made
        return f"from {module} import PICTURES, stored_as", f"stored_as({made}, {stored!r})"
    named = ", page=".join((repr(str(source_of(shown)[0])), *_page_words(shown)[1:]))
    as_type = f".stored_as({stored!r})" if stored is not None else ""
    return "from workbench.files.image_files import load", f"load({named}){as_type}.samples"


def _weights(state: State, step: Step, indent: str) -> str:
    chosen, given = filters.get(step.filter), [str(step.ksize)]
    for each in (*NUMBERS, DISK):
        if has_parameter(chosen, each.name) and not each.is_of_step:
            value = getattr(step, each.name)
            given += [f"{each.name}={value!r}"] * (value is not None and value is not False)
    if has_parameter(chosen, "matrix"):
        rows = "".join(f"{indent}    {row!r},\n" for row in step.matrix)
        given.append(f"matrix=(\n{rows}{indent})")
    made = "weights" if chosen.has_weights else "of_size"
    if {each.name for each in chosen.parameters} & {"sigma_colour", "strength", "epsilon"}:
        given.append(f"white={white_of(state)!r}")
    return f"filters.get({step.filter!r}).{made}({', '.join(given)})"
