"""The file formats: what each can hold, and its extensions; imports no NumPy and no kernels."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.files.picture_errors import ImageFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from workbench.imaging.pictures import Metadata

COMMENT = "Comment"  # the keyword of a text where a format has none
_CHANNELS_IN_WORDS = {1: "grey", 2: "grey with alpha", 3: "colour", 4: "colour with alpha"}
EXR_CHANNELS = ("Y", "YA", "RGB", "RGBA")  # names by how many there are
_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_READ: dict[str, list[str]] = _TABLE["read"]  # extensions by the format's family
KINDS = f"{', '.join(list(_READ)[:-1])} or {list(_READ)[-1]}"  # in a sentence
EXTENSIONS = tuple(extension for extensions in _READ.values() for extension in extensions)


@dataclass(frozen=True, slots=True)
class Format:
    """A file format that is written."""

    title: str
    family: str  # whose extensions are one type in dialogs, and have one writer
    extensions: tuple[str, ...]
    pixel_types: tuple[str, ...] = ("uint8", "uint16", "float16", "float32")
    channels: tuple[int, ...] = (1, 2, 3, 4)
    largest_side: int = 2**31 - 1  # in pixels
    has_quality: bool = False  # whether it knows a quality from 1 to 100
    can_be_lossless: bool = True  # whether it can also do without loss
    metadata: tuple[str, ...] = ("exif", "xmp", "iptc", "resolution")  # what it holds of it
    keywords: tuple[str, ...] = ()  # of texts that it holds; empty: any
    max_metadata_bytes: int = 2**31 - 1  # of each

    def kept(self, metadata: Metadata) -> Metadata:
        """What the format holds of them."""
        held = {name: getattr(metadata, name) for name in self.metadata}
        sizes = {name: len(each) for name, each in held.items() if isinstance(each, bytes)}
        lost = (name for name, size in sizes.items() if size > self.max_metadata_bytes)
        held["texts"] = tuple(
            (word, text)
            for word, text in held.get("texts", ())
            if word in (self.keywords or (word,)) and len(text.encode()) <= self.max_metadata_bytes
        )
        return type(metadata)(**held | dict.fromkeys(lost))

    def why_not(self, samples: NDArray[Any]) -> str | None:
        """A property of these samples that the format cannot hold, or None."""
        height, width, channels = samples.shape
        if str(samples.dtype) not in self.pixel_types:
            return f"{samples.dtype} samples"
        if channels not in self.channels:
            return f"{_CHANNELS_IN_WORDS[channels]} pictures"
        if max(height, width) > self.largest_side:
            return f"more than {self.largest_side:,} pixels per side"
        return None


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


FORMATS = tuple(
    Format(title, **{name: _frozen(each) for name, each in told.items()})
    for title, told in _TABLE["written"].items()
)
ALL_WRITTEN = frozenset(extension for each in FORMATS for extension in each.extensions)
WRITTEN: dict[str, tuple[str, ...]] = {}  # extensions by family
for _each in FORMATS:
    WRITTEN[_each.family] = WRITTEN.get(_each.family, ()) + _each.extensions


def option_of(family: str) -> str:
    """The name of a format's family as an option: jpegxl."""
    return family.lower().replace(" ", "")


# The usual extension of each format by its name as an option.
EXTENSION_OF = {option_of(family): extensions[0] for family, extensions in WRITTEN.items()}


def _file_type(title: str, extensions: Iterable[str]) -> str:
    """A line of a file dialog's list of types, as Qt has them."""
    return f"{title} ({' '.join(f'*{extension}' for extension in extensions)})"


PICTURES_FILTER = _file_type("All pictures", EXTENSIONS)
_READ_TYPES = (_file_type(title, extensions) for title, extensions in _READ.items())
OPEN_FILTER = ";;".join((PICTURES_FILTER, *_READ_TYPES, "All files (*)"))
SAVE_FILTER = ";;".join(_file_type(title, extensions) for title, extensions in WRITTEN.items())


def format_of(path: Path) -> Format:
    """The format that the extension names; raises ImageFileError where it names none."""
    extension = path.suffix.lower()
    found = next((each for each in FORMATS if extension in each.extensions), None)
    if found is None:
        known = ", ".join(each.extensions[0] for each in FORMATS)
        raise ImageFileError(
            f"Cannot save {path.name}: its extension names no format that is written; use one of "
            f"{known}."
        )
    return found


def extension_of(title: str) -> str:
    return next(each.extensions[0] for each in FORMATS if each.title == title)


def extension_for(source: Path | None, samples: NDArray[Any]) -> str:
    """The extension to propose for samples that came of the file `source`.

    Its own, where that format holds them; else PNG's, or for floats TIFF's.
    """
    own = source.suffix.lower() if source is not None else ""
    if any(own in each.extensions for each in able(samples)):
        return own
    return ".png" if samples.dtype.kind == "u" else ".tif"


def able(samples: NDArray[Any]) -> tuple[Format, ...]:
    """The formats that hold these samples as they are, the most usual first."""
    return tuple(each for each in FORMATS if each.why_not(samples) is None)
