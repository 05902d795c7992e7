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
from kernels.core.device import Device
from kernels.core.errors import KernelError
from kernels.core.job import Job
from kernels.engine.engine import Implementation
from kernels.engine.own_kernel import OwnKernel
from kernels.export.cuda_program import cuda_program
from kernels.pictures.generated import SCENE_FILE
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from workbench.files.kernel_files import kernels_folder
from workbench.imaging.pictures import Picture
from workbench.model import intents
from workbench.model.intents import chosen_in, has_parameter, is_unclipped, offset_for
from workbench.model.state import FACTS, State
from workbench.widgets.actions import Actions
from workbench.widgets.lazy_panel import LazyPanel
from workbench.window.window_layout import Parts

if TYPE_CHECKING:
    from workbench.panels.rung.rung_panel import RungPane

NO_PICTURE = "Open a picture first: the program is made for its size and pixel type."
ON_CPU = (
    "{title} has no CUDA source. Choose a GPU implementation, or look at one in Implementation."
)


class CopyAs(QObject):
    """A menu that puts texts about the present job on the clipboard.

    rung  whose implementation is copied where the chosen one is no rung
    """

    def __init__(self, parts: Parts, rung: LazyPanel[RungPane]) -> None:
        super().__init__(parts.window)
        self._store, self._worker, self._live = parts.store, parts.worker, parts.live
        self._rung_panel, self._background = rung, parts.reading
        self._messages = parts.messages

    def actions(self) -> Actions:
        """Lines of the menu Edit ▸ Copy as."""
        return {
            "Command line": partial(self._copy, command_line, "the command line"),
            "Python": partial(self._copy, python, "the Python script"),
            "CUDA C++": self._copy_cuda,
        }

    def _copy(self, make: Callable[..., str], what: str) -> None:
        state = self._store.state
        _, note = source_of(state.picture)
        if make is command_line and intents.is_unclipped(state):
            note = f"It keeps what lies below zero: as float32, where white is 1. {note}".strip()
        if make is python and state.picture is not None and state.picture.built_in:
            note = ""  # the script makes the picture itself
        self._put(make(state), f"Copied {what}. {note}".strip())

    def _copy_cuda(self) -> None:
        state, rung = self._store.state, self._rung()
        try:
            job = intents.job_for(state)
        except KernelError as error:
            self._messages.show_message("error", str(error))
            return
        if job is None:
            self._messages.show_message("info", NO_PICTURE)
        elif not isinstance(rung, Rung):
            title = rung.title if rung else "The chosen kernel"
            self._messages.show_message("info", ON_CPU.format(title=title))
        else:
            self._make(rung, job)

    def _make(self, rung: Rung, job: Job) -> None:
        """Make the program in the background: spectra and bands of weights take a while."""
        device = self._worker.device
        device = device if isinstance(device, Device) else None
        job = replace(job, implementation=rung.key)
        if self._picked() is rung and (result := self._live.result) is not None:
            job = replace(job, block_xy=result.block_xy or job.block_xy)
        self._background.run(
            lambda: cuda_program(rung, job, device),
            lambda text: self._put(
                text,
                f"Copied {rung.title} as {rung.key}.cu, {len(text.splitlines())} lines; its first "
                "lines say how to compile it.",
            ),
            lambda error: self._messages.show_message("error", str(error)),
        )

    def _rung(self) -> Implementation | None:
        """The rung that was chosen or picked, or else the one in the panel Implementation."""
        picked = self._picked()
        if picked is not None:
            return picked
        chosen = intents.chosen_in(self._store.state)
        if isinstance(chosen, OwnKernel):
            key = re.sub(r"\W+", "_", Path(chosen.key).stem)  # fit for a program's name
            return replace(chosen.rung, key=key) if chosen.text else None
        return chosen if isinstance(chosen, Rung) else self._rung_panel.get().shown

    def _picked(self) -> Rung | None:
        """The rung that `auto` picked for the present job."""
        state, result = self._store.state, self._live.result
        if result is None or result.picked is None:
            return None
        if result.job.implementation != state.implementation:
            return None
        found = intents.implementation(result.picked.implementation)
        return found if isinstance(found, Rung) else None

    def _put(self, text: str, sentence: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._messages.show_message("info", sentence)


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
    return in_shell(["apply", no_option(str(path)), made, *filter_words(state, stored)])


def in_shell(words: Sequence[str]) -> str:
    """Format `workbench` with its arguments, quoted for the shell of this system."""
    words = ["workbench", *words]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def filter_words(state: State, stored: str | None) -> list[str]:
    """Options on how to filter: only those that make a difference.

    stored  pixel type to filter in; None: that of the file
    """
    chosen, words = filters.get(state.filter), []
    if has_parameter(chosen, "matrix"):
        rows = "; ".join(" ".join(map(repr, row)) for row in state.matrix)
        words.append(f"--weights={rows}")
        words += [f"--offset={state.offset!r}"] if state.offset else []
    else:
        words += [*_option("filter", state.filter), *_option("ksize", state.ksize)]
    for name in ("sigma", "amount"):
        value = getattr(state, name)
        if value is not None and has_parameter(chosen, name):
            words += _option(name, value)
    words += _option("border", state.border)
    if stored is not None:
        words += _option("pixel_type", stored)
    named = str(own_path(state)) if is_own(state.implementation) else state.implementation
    words += _option("implementation", named)
    runs_on = chosen_in(state)
    if isinstance(runs_on, Rung | OwnKernel) and not runs_on.own_block:
        words += _option("block_xy", "{}x{}".format(*state.block_xy))
    if state.devices > 1 and runs_on.kind != "cpu":
        words += ["--device", ",".join(map(str, range(state.devices)))]
    return words


def own_path(state: State) -> Path:
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


SCRIPT = '''\
"""{title} {ksize}×{ksize}, as Filter Workbench computes it."""

{imports}

picture = {picture}
job = Job(
    picture,
    {weights},
    border={border!r},
    implementation={implementation!r},
    block_xy={block_xy!r},
{more})
result = Engine().run(job)

filtered = result.picture  # {shape}, {dtype}
{end}
'''
END = 'print(f"{result.kernel.median_ms:.4g} ms; {result.check}")'
END_OF_OWN = 'print(result.check, f"{result.kernel.median_ms:.4g} ms" if result.kernel else "")'


def python(state: State) -> str:
    """Write a Python script that computes the filtered picture as `filtered`."""
    origin, picture = _picture(state)
    imports, more = ["from kernels import Engine, Job, filters", origin], ""
    if filters.get(state.filter).gradient:
        more += "    gradient=True,\n"
    if offset := offset_for(state):
        more += f"    offset={offset!r},\n"
    if state.devices > 1:
        more += f"    devices={state.devices},\n"
    is_user_kernel = is_own(state.implementation)
    if is_user_kernel:
        imports.insert(0, "from pathlib import Path\n")
        more += f'    own=Path({str(own_path(state))!r}).read_text(encoding="utf-8-sig"),\n'
    samples = state.picture.samples if state.picture is not None else None
    return SCRIPT.format(
        title=filters.get(state.filter).title,
        ksize=state.ksize,
        imports="\n".join(imports),
        # As the window does to keep values below zero.
        picture=f'{picture}.astype("float32")' if is_unclipped(state) else picture,
        weights=_weights(state),
        border=state.border,
        implementation=state.implementation,
        block_xy=state.block_xy,
        more=more,
        shape="(H, W, C)" if samples is None else samples.shape,
        dtype="like the picture" if samples is None or is_unclipped(state) else samples.dtype,
        end=END_OF_OWN if is_user_kernel else END,
    )


def _picture(state: State) -> tuple[str, str]:
    """Import, and the expression of the samples."""
    shown, stored = state.picture, state.pixel_type
    if shown is not None and shown.path is None and shown.built_in is not None:
        made, module = f"PICTURES[{shown.built_in!r}].make()", "kernels.pictures.generated"
        if stored is None:
            return f"from {module} import PICTURES", made
        return f"from {module} import PICTURES, stored_as", f"stored_as({made}, {stored!r})"
    path, _ = source_of(shown)
    as_type = f".stored_as({stored!r})" if stored is not None else ""
    loaded = f"load({str(path)!r}){as_type}.samples"
    return "from workbench.files.image_files import load", loaded


def _weights(state: State) -> str:
    chosen, given = filters.get(state.filter), [str(state.ksize)]
    for name in ("sigma", "amount"):
        if has_parameter(chosen, name) and (value := getattr(state, name)) is not None:
            given.append(f"{name}={value!r}")
    if has_parameter(chosen, "matrix"):
        rows = "".join(f"            {row!r},\n" for row in state.matrix)
        given.append(f"matrix=(\n{rows}        )")
    return f"filters.get({state.filter!r}).weights({', '.join(given)})"
