"""Load and save pictures, and refer to them without their pixels."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from kernels.core import safe_files
from kernels.pictures.generated import PICTURES
from workbench.base.disk import disk_in_words
from workbench.files.formats import format_of
from workbench.files.picture_errors import ImageFileError, LargePictureError, TooLargeError
from workbench.imaging.pictures import NO_METADATA, Metadata, Picture


def load(
    path: str | Path,
    *,
    page: int = 1,
    ask: bool = False,
    is_stopped: Callable[[], bool] = lambda: False,
    max_bytes: int | None = None,
) -> Picture:
    """Read a picture by its content, whatever its extension; safe on any thread.

    page        number, from 1, of the page, frame or plane
    ask         raise LargePictureError, before any memory is taken, where the user is to be asked
    is_stopped  is asked now and then; True: StoppedError is raised there
    max_bytes   raise TooLargeError where filtering it takes more, or more than is free
    returns     samples as the workbench wants them; `notes` say what was converted on the way
    raises      ImageFileError
    """
    path = Path(path).absolute()
    _check_readable(path)
    from workbench.files import image_decoders  # Pillow and tifffile: not before they are needed

    samples, notes, metadata, shown = image_decoders.decode(path, page, ask, is_stopped, max_bytes)
    picture = Picture(path.name, samples, path, tuple(notes), metadata=metadata, page=shown)
    return picture.looked_through()


def page_count(path: Path) -> int:
    """Return how many pages, frames or planes a file has.  Raises ImageFileError."""
    _check_readable(path)
    from workbench.files import image_decoders

    return image_decoders.page_count(path)


def save(
    path: str | Path,
    samples: NDArray[Any],
    quality: int | None = None,
    metadata: Metadata = NO_METADATA,
) -> None:
    """Write samples, (H, W, C) of any pixel type, in the format that the extension names.

    quality   1 to 100, where the format knows one; None: without any loss where it can, else high
    metadata  as `Picture.metadata` has them; left out where the format cannot hold them
    Raises ImageFileError, and then leaves the folder as it was.
    """
    with saving(path, samples, quality, metadata):
        pass


@contextmanager
def saving(
    path: str | Path,
    samples: NDArray[Any],
    quality: int | None = None,
    metadata: Metadata = NO_METADATA,
    keeps: bool = False,
) -> Iterator[None]:
    """Do as `save` does, in two steps: all is written when the block begins.

    It is on the disk and in its place when the block has ended, which may be on another thread.

    keeps  leave a file alone that is there, and raise ImageFileError
    """
    path = Path(path).absolute()
    from workbench.files import image_encoders

    write = image_encoders.writer_for(path, samples)
    kept = format_of(path).kept(metadata)
    with (
        disk_in_words(ImageFileError, f"Cannot save {path.name}"),
        safe_files.replacing(path, keeps=keeps) as file,
    ):
        write(file, samples, quality, kept)
        yield


def _check_readable(path: Path) -> None:
    """Refuse what is no readable file before any decoder sees it (a pipe would block for ever)."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ImageFileError(f"{path.name or path} is a folder; choose a picture inside it.")
        if not stat.S_ISREG(status.st_mode):
            raise ImageFileError(f"{path.name} is a device, not a file; choose a picture file.")
        path.open("rb").close()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise ImageFileError(
            f"There is no file {path.name} in {path.parent}; check the name."
        ) from error
    except OSError as error:
        raise ImageFileError(
            f"Cannot open {path.name}: {error.strerror}; choose another file."
        ) from error
    if status.st_size == 0:
        raise ImageFileError(f"{path.name} is empty (0 bytes); get it again from its source.")


def load_any_size(
    path: str | Path,
    *,
    page: int = 1,
    ask: bool = False,
    is_stopped: Callable[[], bool] = lambda: False,
    say: Callable[[float], None] = lambda _: None,
    is_reduced: bool = False,
) -> Picture:
    """Read a picture, of a TIFF that does not fit into memory a reduced copy.

    page, ask, is_stopped  as `load` has them; about a copy nothing is asked
    say                    gets the share of a copy that has been read now and then
    is_reduced             read a copy of a TIFF in any case

    Raises ImageFileError.
    """
    path = Path(path).absolute()
    try:
        if not is_reduced:
            return load(path, page=page, ask=ask, is_stopped=is_stopped)
    except (LargePictureError, TooLargeError) as error:
        from workbench.files.from_tiff import is_tiff  # tifffile: not before it is needed

        has_copy = is_tiff(path)
        if isinstance(error, LargePictureError):
            error.has_copy = has_copy
        if not has_copy or isinstance(error, LargePictureError):
            raise
    from workbench.files.large_pictures import load_reduced

    return load_reduced(path, is_stopped, say, page)


@dataclass(frozen=True, slots=True)
class PictureRef:
    """A reference to a picture.

    path, built_in, page  as in `Picture`; without the first two there is no way back to it
    """

    name: str
    path: Path | None = None
    built_in: str | None = None
    page: int = 1

    @classmethod
    def of(cls, picture: Picture) -> PictureRef:
        return cls(picture.name, picture.path, picture.built_in, picture.page.number)

    @property
    def can_load(self) -> bool:
        return self.path is not None or self.built_in in PICTURES

    def is_of(self, picture: Picture | None) -> bool:
        """True if `picture` is the one meant, in any pixel type."""
        return picture is not None and PictureRef.of(picture) == self

    def load(self) -> Picture:
        """Load the picture, which may take a while.  Raises ImageFileError."""
        if self.path is not None:
            return load_any_size(self.path, page=self.page)
        if self.built_in not in PICTURES:
            raise ImageFileError(f"{self.name} came from no file, so it cannot be opened again.")
        built_in = PICTURES[self.built_in]
        return Picture(built_in.title, built_in.make(), built_in=self.built_in)

    def to_data(self) -> dict[str, Any]:
        """The reference as JSON can hold it."""
        path = str(self.path) if self.path else None
        return {"name": self.name, "path": path, "built_in": self.built_in, "page": self.page}

    @classmethod
    def from_data(cls, data: Any) -> PictureRef | None:
        """Make a reference of `to_data`'s result; None for anything that leads to no picture."""
        if not isinstance(data, dict) or not isinstance(data.get("name"), str):
            return None
        path, built_in, page = data.get("path"), data.get("built_in"), data.get("page")
        found = cls(
            data["name"],
            Path(path) if isinstance(path, str) and path else None,
            built_in if isinstance(built_in, str) else None,
            page if type(page) is int and page > 0 else 1,
        )
        return found if found.can_load else None
