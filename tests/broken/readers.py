"""What the program reads, kind by kind: sound files, who reads them, and how that may refuse."""

import gzip
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.core.errors import KernelError
from kernels.core.job import PIXEL_TYPES
from kernels.sweeps import step_words
from kernels.sweeps.plan_files import as_toml, presets, read_plan
from kernels.sweeps.session_files import SessionFile, read_session
from tests import made_sessions
from tests.conftest import ROOT
from tests.picture_files import all_kinds, samples
from workbench.base.paths import asset
from workbench.base.settings import Settings
from workbench.charts.data.figure import Choices
from workbench.charts.data.points import Data
from workbench.charts.kinds import chart_kinds
from workbench.files import image_files
from workbench.files.large_pictures import LargePicture
from workbench.files.picture_errors import ImageFileError
from workbench.model import choices, step_files
from workbench.model.state import State, Step
from workbench.panels.weights.named_weights import Named, read_file, write_file
from workbench.panels.weights.weights_draft import WeightsDraft
from workbench.session.exporter import read_settings, save_png
from workbench.window.talk import steps_from


@dataclass(frozen=True)
class Reader:
    """One kind.

    files     makes {name: bytes}, sound ones
    read      reads a path; returns what is wrong with what it gave, or None
    expected  how it may refuse, with one sentence
    """

    files: Callable[[], dict[str, bytes]]
    read: Callable[[Path], str | None]
    expected: tuple[type[Exception], ...]


def _picture(path: Path) -> str | None:
    picture = image_files.load(path)
    found: Any = picture.samples
    if found.ndim != 3 or 0 in found.shape or found.shape[2] > 4:
        return f"a shape of {found.shape}"
    if str(found.dtype) not in PIXEL_TYPES or not found.flags.c_contiguous:
        return f"samples of {found.dtype}, contiguous: {found.flags.c_contiguous}"
    if not all(note.endswith((".", "”.")) for note in picture.notes):
        return f"notes that are no sentences: {picture.notes}"
    return None


def _rows(path: Path) -> str | None:
    """Read a TIFF some rows at a time; what is read so has to be what is read as a whole."""
    with LargePicture(path, kept=4) as picture:
        read = [
            picture.rows(top, min(top + 7, picture.height)) for top in range(0, picture.height, 7)
        ]
    found, whole = np.concatenate(read), image_files.load(path).samples
    if found.shape != whole.shape or found.tobytes() != whole.tobytes():
        return f"other rows than those of the whole, {found.shape} and {whole.shape}"
    return None


def _tiffs() -> dict[str, bytes]:
    """Of those that are read some rows at a time."""
    names = [name for name in all_kinds() if name.endswith(".tif") and name != "fax.tif"]
    return {name: each for name, each in all_kinds().items() if name in names}


def _session(path: Path) -> str | None:
    data = Data((read_session(path),), Choices())
    for kind in chart_kinds():  # what the window makes of it at once
        if kind.why_not(data) is None:
            kind.figure(data)
    return None


def _plan(path: Path) -> str | None:
    plan = read_plan(path)
    as_toml(plan)
    return None


def _steps(path: Path) -> str | None:
    """Read a list; what is read can be written, and is the same when it is read again."""
    changes = step_files.changes_of(step_words.read(path))
    text = step_files.to_text(replace(State(), **changes))
    again = step_files.changes_of(step_words.parse(text))
    return None if again == {"border": "clamp", **changes} else f"it becomes {again}"


def _weights(path: Path) -> str | None:
    read_file(path)
    return None


def _settings(path: Path) -> str | None:
    settings = Settings(path)
    choices.from_data(settings.get("choices", {}), State())
    steps_from(settings.get("presentation", []))
    assert all(isinstance(each, Path) for each in settings.recent_files())
    return None


def _screenshot(path: Path) -> str | None:
    found = read_settings(path)
    if found is not None:
        choices.from_data(found, State())
    return None


def _written(write: Callable[[Path], Any], name: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _sessions() -> dict[str, bytes]:
    def write(path: Path) -> None:
        made = made_sessions.a_session("ksizes")
        with SessionFile.create(path, made.plan, made.machine) as file:
            for record in made.records[:6]:
                file.append(record)

    packed = asset("recorded").joinpath("goettingen_ladder.jsonl.gz").read_bytes()
    made = {"a.jsonl": _written(write, "a.jsonl"), "recorded.jsonl.gz": packed}
    return made | {"recorded.jsonl": gzip.decompress(packed)}


def _plans() -> dict[str, bytes]:
    return {f"{each.key}.toml": as_toml(each.plan).encode() for each in presets()}


def _lists() -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in (ROOT / "kernels/sweeps/lists").iterdir()}


def _all_weights() -> dict[str, bytes]:
    cells = tuple(tuple("0.25" if (x + y) % 2 else "-1/3" for x in range(5)) for y in range(5))
    named = Named("soaked", WeightsDraft(cells))
    names = ("w.toml", "w.csv", "w.txt")
    return {name: _written(lambda path: write_file(path, named), name) for name in names}


def _all_settings() -> dict[str, bytes]:
    def write(path: Path) -> None:
        settings = Settings(path)
        settings.set("choices", choices.to_data(State(before=(Step("box"),), after=(Step(),))))
        settings.set("recent", ["/a/b.png", "/c d/e.tif"])
        step = {"name": "One", "choices": choices.to_data(State()), "picture": None}
        settings.set("presentation", [step, step])
        settings.set("sweep", {"open": True, "preset": "camerino_image_size"})
        settings.save()

    return {"settings.json": _written(write, "settings.json")}


def _screenshots() -> dict[str, bytes]:
    data = choices.to_data(State()) | {"built_in": "scene", "plan": "ksizes = [3, 5]"}
    made = _written(lambda path: save_png(path, samples(), json.loads(json.dumps(data))), "s.png")
    return {"screenshot.png": made}


READERS = {
    "pictures": Reader(all_kinds, _picture, (ImageFileError,)),
    "rows": Reader(_tiffs, _rows, (ImageFileError,)),
    "sessions": Reader(_sessions, _session, (KernelError,)),
    "plans": Reader(_plans, _plan, (KernelError,)),
    "steps": Reader(_lists, _steps, (KernelError,)),
    "weights": Reader(_all_weights, _weights, (KernelError,)),
    "settings": Reader(_all_settings, _settings, ()),
    "screenshots": Reader(_screenshots, _screenshot, (ImageFileError,)),
}
