"""Named weights, each in a small TOML file in the user's own folder, and from other files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from kernels.core import atomic_files
from kernels.core.errors import BadJobError, KernelError
from kernels.core.limited_toml import LimitedTomlError, parse
from workbench.base.data_folder import data_folder
from workbench.base.table_text import as_text, read_table, shortest
from workbench.panels.weights.weights_draft import WeightsDraft

MAX_FILE_BYTES = 1_000_000
MAX_NAME = 80
FILE_TYPES = "Weights (*.toml *.csv *.txt);;All files (*)"
SAVE_TYPES = "TOML, with name, divisor and offset (*.toml);;CSV (*.csv);;Text (*.txt)"


class WeightsFileError(KernelError):
    """A failure to read or write named weights; str(error) is one sentence."""


@dataclass(frozen=True, slots=True)
class Named:
    """Weights and their name."""

    name: str
    drawing: WeightsDraft


def default_folder() -> Path:
    """Return the folder of named weights."""
    return data_folder() / "weights"


class WeightsLibrary:
    """The named weights in a folder, which is made when the first are saved.

    All methods touch the disk and raise WeightsFileError; none needs Qt.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or default_folder()

    def all(self) -> tuple[tuple[Named, ...], tuple[str, ...]]:
        """Return what can be read, by name, and a sentence on each file that cannot."""
        found, broken = self._read()
        return tuple(sorted(found, key=lambda each: each.name.casefold())), broken

    def save(self, named: Named) -> Named | None:
        """Save weights under their name, and return those that had it before, or None."""
        check_name(named.name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WeightsFileError(
                f"The folder {self._folder} cannot be made: {atomic_files.reason(error)}."
            ) from error
        digest = hashlib.sha256(named.name.encode()).hexdigest()[:8]
        plain = re.sub(r"[^a-z0-9]+", "-", named.name.lower()).strip("-")[:40]
        known = {each.name: (each, path) for each, path in self._read()[0].items()}
        replaced, path = known.get(named.name, (None, self._folder / f"{plain}-{digest}.toml"))
        write_file(path, named)
        return replaced

    def rename(self, old: str, new: str) -> None:
        """Give weights a new name, but never that of others."""
        check_name(new)
        known = {each.name: each for each in self._read()[0]}
        if new in known:
            raise WeightsFileError(
                f"There already are weights called “{new}”; choose another name."
            )
        if old not in known:
            raise WeightsFileError(f"There are no weights called “{old}” any more.")
        self.save(Named(new, known[old].drawing))
        self.delete(old)

    def delete(self, name: str) -> None:
        """Remove the file of the weights with this name, if there is one."""
        try:
            for each, path in self._read()[0].items():
                if each.name == name:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise WeightsFileError(f"“{name}” cannot be deleted: {error.strerror}.") from error

    def _read(self) -> tuple[dict[Named, Path], tuple[str, ...]]:
        """Read all weights, each with its file; of two with one name, the first."""
        found: dict[Named, Path] = {}
        broken = []
        for path in sorted(self._folder.glob("*.toml")):
            try:
                named = read_file(path)
            except WeightsFileError as error:
                broken.append(str(error))
            else:
                if named.name not in [each.name for each in found]:
                    found[named] = path
        return found, tuple(broken)


def check_name(name: str) -> None:
    """Refuse a name that cannot be told from others with WeightsFileError."""
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise WeightsFileError(f"A name has 1 to {MAX_NAME} characters that can be seen.")


def read_file(path: Path) -> Named:
    """Read weights from a .toml of ours, or from rows of numbers. Raises WeightsFileError."""
    try:
        if not path.is_file():
            raise WeightsFileError(f"{path.name} is not a file.")
        if path.stat().st_size > MAX_FILE_BYTES:
            raise WeightsFileError(f"{path.name} is too large to hold weights.")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WeightsFileError(f"{path.name} is not a text file.") from error
    except OSError as error:
        raise WeightsFileError(f"{path.name} cannot be read: {error.strerror}.") from error
    try:
        if path.suffix.lower() == ".toml":
            return _from_toml(parse(text, path.name), path.stem)
        return Named(path.stem, WeightsDraft(read_table(text)))
    except LimitedTomlError as error:
        raise WeightsFileError(str(error)) from error
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise WeightsFileError(
            f"{path.name} holds no weights as this program writes them."
        ) from error
    except (BadJobError, WeightsFileError) as error:
        sentence = (
            str(error).removesuffix(" Nothing was changed.").removesuffix("; nothing was changed.")
        )
        raise WeightsFileError(f"{path.name}: {sentence.rstrip('.')}.") from error


def write_file(path: Path, named: Named) -> None:
    """Write a .toml with the cells as typed, or a .csv or .txt with the weights' numbers alone.

    Raises WeightsFileError, and then leaves the folder as it was.
    """
    drawing, matrix = named.drawing, named.drawing.matrix
    if matrix is None or drawing.added is None:
        raise WeightsFileError("Not all cells are numbers yet, so there are no weights to save.")
    if path.suffix.lower() == ".toml":
        # Spaces separate the numbers, so none may be within one: 1 / 9 becomes 1/9.
        rows = [" ".join("".join(cell.split()) for cell in row) for row in drawing.cells]
        more = {"divisor": drawing.divisor, "offset": drawing.offset}
        text = tomli_w.dumps({"name": named.name, **more, "rows": rows})
    else:
        cells = tuple(tuple(map(shortest, row)) for row in matrix)
        text = as_text(cells, "," if path.suffix.lower() == ".csv" else " ") + "\n"
    try:
        with atomic_files.replacing(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise WeightsFileError(
            f"{path.name} cannot be written: {atomic_files.reason(error)}."
        ) from error


def _from_toml(data: dict[str, Any], stem: str) -> Named:
    name, divisor = data.get("name", stem), str(data.get("divisor", "1"))
    offset = str(data.get("offset", "0"))
    rows = [row if isinstance(row, str) else " ".join(map(str, row)) for row in data["rows"]]
    table = "\n".join(rows)
    drawing = WeightsDraft(read_table(table), divisor, offset)
    is_complete = drawing.divided_by is not None and drawing.added is not None
    if not isinstance(name, str) or "[" in table or not is_complete:
        raise ValueError(data)
    check_name(name)
    return Named(name, drawing)
