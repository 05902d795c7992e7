"""The present job as text that runs it again: a command line, or a Python script."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels import filters
from kernels.engine.own_kernel import OwnKernel
from kernels.pictures.generated import SCENE_FILE
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung
from workbench.files.kernel_files import kernels_folder
from workbench.model.intents import chosen_in, has_parameter, is_unclipped, offset_for
from workbench.model.state import FACTS, Picture, State

STAND_IN = "picture.png"


@dataclass(frozen=True, slots=True)
class CopySource:
    """The file that a copied text opens.

    path  of the picture's file, or of the file to save it as
    note  a sentence for the user, where one is needed
    """

    path: Path
    note: str = ""


def source_of(picture: Picture | None) -> CopySource:
    """Return the file that a text may open for `picture`."""
    if picture is None:
        return CopySource(Path(STAND_IN), f"It filters {STAND_IN}, since no picture is open.")
    if picture.path is not None:
        return CopySource(picture.path)
    if picture.built_in == "scene":  # this one comes as a file
        return CopySource(SCENE_FILE)
    return CopySource(Path(STAND_IN), f"This picture has no file: save it as {STAND_IN} first.")


def command_line(state: State) -> str:
    """Return `workbench apply …`, quoted for the shell of this system."""
    return in_shell(words_of(state))


def in_shell(words: Sequence[str]) -> str:
    """Return `workbench` with these words behind it, quoted for the shell of this system."""
    words = ["workbench", *words]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def words_of(state: State, target: str = "") -> list[str]:
    """Return the words after `workbench`: only options that make a difference.

    target  the file to write; empty: one beside the picture's
    """
    path = source_of(state.picture).path
    made = target or f"{path.stem}-filtered{_extension(state)}"
    names = [no_option(str(path)), no_option(made)]
    return ["apply", *names, *filter_words(state, _stored_as(state))]


def filter_words(state: State, stored: str | None) -> list[str]:
    """Return the options that say how to filter: only those that make a difference.

    stored  pixel type to filter in; None: that of the file
    """
    chosen, words = filters.get(state.filter), []
    if has_parameter(chosen, "matrix"):
        words.append(f"--weights={in_one_line(state)}")
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
    words += _option("implementation", _named(state))
    if _takes_block(state):
        words += _option("block_xy", "{}x{}".format(*state.block_xy))
    if state.devices > 1 and chosen_in(state).kind != "cpu":
        words += ["--device", ",".join(map(str, range(state.devices)))]
    return words


def _named(state: State) -> str:
    """Return what --implementation takes: of a kernel of the user's own its path."""
    return str(own_path(state)) if is_own(state.implementation) else state.implementation


def own_path(state: State) -> Path:
    """Return where the file of the user's own kernel that is chosen lies, or would."""
    own, name = state.own_kernel, state.implementation
    return own.path if own is not None and own.name == name else kernels_folder() / name


def _option(name: str, value: object) -> list[str]:
    """Return the option that sets the State field `name`, and its value as it is typed."""
    return [f"--{FACTS[name].option.replace('_', '-')}", str(value)]


def no_option(name: str) -> str:
    """Return a file's name, changed so that it is not taken for an option."""
    return f"./{name}" if name.startswith("-") else name


def in_one_line(state: State) -> str:
    """Return the weights exactly: "0.0 1.0 0.0; 1.0 -4.0 1.0; 0.0 1.0 0.0"."""
    return "; ".join(" ".join(map(repr, row)) for row in state.matrix)


def _extension(state: State) -> str:
    """Return the extension of a format that keeps every bit of the result."""
    if state.picture is not None and state.picture.large is not None:
        return ".tif"  # which is filtered in strips
    stored = _stored_as(state)
    if stored is None and state.picture is not None:
        stored = str(state.picture.samples.dtype)
    return ".tif" if np.dtype(stored or "uint8").kind == "f" else ".png"


def _stored_as(state: State) -> str | None:
    """Return the pixel type to filter in; None: that of the file.

    It is float32 where the window keeps values below zero, as a file of floats does, too.
    """
    return "float32" if is_unclipped(state) else state.pixel_type


def _takes_block(state: State) -> bool:
    chosen = chosen_in(state)
    return isinstance(chosen, Rung | OwnKernel) and not chosen.own_block


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
"""{about}"""

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
{said}
'''
SAID = 'print(f"{result.kernel.median_ms:.4g} ms; {result.check}")'
SAID_OF_OWN = 'print(result.check, f"{result.kernel.median_ms:.4g} ms" if result.kernel else "")'


def python(state: State) -> str:
    """Return a Python script that computes the filtered picture as `filtered`."""
    chosen = filters.get(state.filter)
    imports, picture = _picture(state)
    shown = state.picture
    samples = shown.samples if shown is not None else None
    if is_unclipped(state):  # as the window does to keep values below zero
        picture += '.astype("float32")'
    return SCRIPT.format(
        about=f"{chosen.title} {state.ksize}×{state.ksize}, as Filter Workbench computes it.",
        imports="\n".join((*_path(state), "from kernels import Engine, Job, filters", *imports)),
        said=SAID_OF_OWN if is_own(state.implementation) else SAID,
        picture=picture,
        weights=_weights(state),
        border=state.border,
        implementation=state.implementation,
        block_xy=state.block_xy,
        more=_more(state),
        shape="(H, W, C)" if samples is None else samples.shape,
        dtype="like the picture" if samples is None or is_unclipped(state) else samples.dtype,
    )


def _path(state: State) -> tuple[str, ...]:
    """Return the import that reading a kernel of the user's own takes."""
    return ("from pathlib import Path\n",) if is_own(state.implementation) else ()


def _picture(state: State) -> tuple[tuple[str, ...], str]:
    """Return the lines that it imports, and the expression for the picture's samples."""
    shown, stored = state.picture, state.pixel_type
    if shown is not None and shown.path is None and shown.built_in is not None:
        made = f"PICTURES[{shown.built_in!r}].make()"
        if stored is None:
            return ("from kernels.pictures.generated import PICTURES",), made
        return (
            "from kernels.pictures.generated import PICTURES, stored_as",
        ), f"stored_as({made}, {stored!r})"
    loaded = f"load({str(source_of(shown).path)!r})"
    if stored is not None:
        loaded += f".stored_as({stored!r})"
    return ("from workbench.files.image_files import load",), f"{loaded}.samples"


def _more(state: State) -> str:
    """Return the arguments that only few jobs have."""
    more = "    gradient=True,\n" if filters.get(state.filter).gradient else ""
    if offset := offset_for(state):
        more += f"    offset={offset!r},\n"
    more += f"    devices={state.devices},\n" if state.devices > 1 else ""
    if is_own(state.implementation):
        path = str(own_path(state))
        more += f'    own=Path({path!r}).read_text(encoding="utf-8-sig"),\n'
    return more


def _weights(state: State) -> str:
    chosen = filters.get(state.filter)
    given = [str(state.ksize)]
    given += [
        f"{name}={getattr(state, name)!r}"
        for name in ("sigma", "amount")
        if has_parameter(chosen, name) and getattr(state, name) is not None
    ]
    if has_parameter(chosen, "matrix"):
        rows = "".join(f"            {row!r},\n" for row in state.matrix)
        given.append(f"matrix=(\n{rows}        )")
    return f"filters.get({state.filter!r}).weights({', '.join(given)})"
