"""A Python script that computes what the window shows."""

from __future__ import annotations

from kernels import filters
from kernels.rungs.own_kernels import is_own
from workbench.model.intents import has_parameter, is_unclipped, offset_for
from workbench.model.state import State
from workbench.window.copying.command_line import own_path, source_of

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
