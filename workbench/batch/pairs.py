"""Input and output of a batch as pairs of files, and the names of outputs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import compress, groupby, islice
from pathlib import Path, PurePath

from kernels.core.errors import BadJobError
from workbench.base.paths import identity
from workbench.files import neighbours
from workbench.files.formats import ALL_WRITTEN, EXTENSION_OF, EXTENSIONS
from workbench.files.image_files import page_count
from workbench.files.picture_errors import ImageFileError, StoppedError
from workbench.model.intents import taken_in
from workbench.model.state import State

Naming = Callable[[str], str]  # from a picture's name to its result's, both without their folders
MAX_NAME = 255  # bytes, or characters on Windows, as nearly every file system has it
TOO_LONG = "The result's name {beginning}… is longer than file systems allow; choose a shorter one."
BRACES = re.compile(r"\{\{|\}\}|\{(?:stem|ext|filter|size)\}")


class PairingError(BadJobError):
    """Inputs and output do not fit together.

    about  which of them: "source", "target", the "pattern" of names; "": none by itself
    """

    def __init__(self, sentence: str, about: str = "") -> None:
        super().__init__(sentence)
        self.about = about


def naming(pattern: str | None, format_name: str | None, chosen: State) -> Naming:
    """The names of results.

    pattern      such as "{stem}_{filter}.png": {stem} and {ext} are the picture's, {filter} and
                 {size} those of `chosen`, of several steps with dashes between; one that names no
                 format gets an extension.  None: each is called as its picture
    format_name  one of EXTENSION_OF, for that extension; None: as the picture's

    Raises PairingError where the pattern makes no sense.
    """
    extension = EXTENSION_OF[format_name] if format_name is not None else None
    if pattern is None:
        return with_extension(extension)
    without = BRACES.sub("", pattern)
    if "{" in without or "}" in without:
        raise PairingError(
            f"In the name {pattern} only {{stem}}, {{ext}}, {{filter}}, {{size}} can stand in "
            "braces; write {{ and }} for braces themselves.",
            "pattern",
        )
    is_name = PurePath(pattern).name == pattern and os.sep not in pattern and pattern != ".."
    if not is_name or re.search("[\0-\x1f\x7f]", pattern):
        raise PairingError(
            f"The name {pattern} is one within the output folder, so no / and no control "
            "character can stand in it, and it is neither . nor .. alone.",
            "pattern",
        )
    if not (pattern.endswith(".{ext}") or PurePath(pattern).suffix.lower() in ALL_WRITTEN):
        pattern += extension or ".{ext}"
    elif extension is not None:
        said = f"The name {pattern} says the format already; choose none beside it."
        raise PairingError(said, "pattern")

    steps = taken_in(chosen)
    facts = {"filter": "-".join(each.filter for each in steps)}
    facts["size"] = "-".join(str(each.ksize) for each in steps)

    def named(name: str) -> str:
        stem, dot_ext = os.path.splitext(name)  # noqa: PTH122 - much quicker
        return pattern.format(stem=stem, ext=dot_ext[1:], **facts)

    return named


def with_extension(extension: str | None) -> Naming:
    """Names with `extension` in the place of their own; None: names as they are."""
    if extension is None:
        return str
    return lambda name: os.path.splitext(name)[0] + extension  # noqa: PTH122 - much quicker


@dataclass(frozen=True, slots=True)
class FilePair:
    """A picture file and the file that its result is to be written to."""

    source: Path
    target: Path
    folder: Path | None = None  # that may have to be made for the target; None: none
    is_named: bool = False  # the user named the target itself, which may be a device or a pipe
    source_shown: str = ""  # for the user; by default their paths
    target_shown: str = ""
    page: int = 0  # of the several in the source; 0: the one that is wanted of every file
    is_ours: bool = False  # the target is this batch's, of the source as it was then

    def __post_init__(self) -> None:
        shown = self.source_shown or str(self.source.parent / self.name)
        object.__setattr__(self, "source_shown", shown)
        object.__setattr__(self, "target_shown", self.target_shown or str(self.target))

    @property
    def name(self) -> str:
        """The source's name, without its folder, and its page where all are wanted."""
        name = self.source.name or str(self.source)
        return f"{name}, page {self.page:,}" if self.page else name

    @property
    def objection(self) -> str:
        """Why nothing can be saved under the source's own extension; empty if it can be."""
        said = f"Cannot save {self.source.name} under its own extension; choose --format png."
        return said * (not self.is_named and self.target.suffix.lower() not in ALL_WRITTEN)

    def absolute(self) -> FilePair:
        """The same by absolute paths, for a process that may have another current folder."""
        folder = self.folder and self.folder.absolute()
        source, target = self.source.absolute(), self.target.absolute()
        return replace(self, source=source, target=target, folder=folder)


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one folder whose results go into one folder."""

    source: Path
    target: Path
    names: tuple[str, ...]  # of the files in `source`
    below: Path | None = None  # `target`, where it may have to be made; None: it need not
    is_named: bool = False  # as in FilePair
    page: int = 0  # likewise
    pages: int = 0  # of the file

    def targets(self, rename: Naming) -> Iterator[str]:
        """Yield the names of the results: of page 3 of 12 of scan.tif it is scan-03.tif."""
        page = f"-{self.page:0{len(str(self.pages))}}" if self.page else ""
        for stem, extension in map(os.path.splitext, map(rename, self.names)):
            yield f"{stem}{page}{extension}"


@dataclass(frozen=True)
class FilePairs:
    """The pairs of all groups, each made when it is its turn."""

    groups: Sequence[Group]
    rename: Naming = str
    complaints: tuple[str, ...] = ()  # a sentence for each input without pictures
    shown: Mapping[Path, str] = field(default_factory=dict)  # other names of files for the user

    def __iter__(self) -> Iterator[FilePair]:
        for group in self.groups:
            for name, named in zip(group.names, group.targets(self.rename), strict=True):
                source, target = group.source / name, group.target / named
                names = self.shown.get(source, ""), self.shown.get(target, "")
                yield FilePair(source, target, group.below, group.is_named, *names, group.page)

    def __len__(self) -> int:
        return sum(len(group.names) for group in self.groups)

    @property
    def folders(self) -> set[Path]:
        return {group.target for group in self.groups}

    @contextmanager
    def without_empty_folders(self) -> Iterator[None]:
        """Remove folders in the end that were not there before, where nothing was written."""
        paths = {path for target in self.folders for path in (target, *target.parents)}
        made = sorted((path for path in paths if not os.path.lexists(path)), reverse=True)
        try:
            yield
        finally:
            for path in made:
                with suppress(OSError):  # it is not empty
                    path.rmdir()

    def part(self, is_wanted: Callable[[Path], bool]) -> FilePairs:
        """The pairs whose target is wanted, of which only the names are kept as well."""

        def part_of(group: Group) -> Group:
            targets = map(is_wanted, map(group.target.joinpath, group.targets(self.rename)))
            return replace(group, names=tuple(compress(group.names, targets)))

        return replace(self, groups=tuple(map(part_of, self.groups)))

    def by_page(self, is_stopped: Callable[[], bool] = lambda: False) -> FilePairs:
        """The same, with a pair for each page of a file that has several.

        Looks into each file.  Raises PairingError, and StoppedError once `is_stopped` says so.
        """
        groups: list[Group] = []
        for group, name in ((each, name) for each in self.groups for name in each.names):
            if is_stopped():
                raise StoppedError("Looking for pages was stopped.")
            count = 1
            with suppress(ImageFileError):  # which comes again when it is read
                count = page_count(group.source / name)
            pages = range(1, count + 1) if count > 1 else (0,)
            groups += (replace(group, names=(name,), page=page, pages=count) for page in pages)
        found = replace(self, groups=groups)
        found.refuse_losses()
        return found

    def refuse_losses(self) -> None:
        """Raise PairingError where an input, or another result, would be written onto.

        The disk is asked about files only where folders of the output hold some already.
        """
        targets: dict[Path, set[str]] = {}
        for group in self.groups:
            taken = targets.setdefault(group.target, set())
            for name in group.targets(self.rename):
                count = len(taken)
                taken.add(os.path.normcase(name))
                if len(taken) == count:
                    raise PairingError(self._collision(group.target / name), "pattern")
                if len(name if os.name == "nt" else os.fsencode(name)) > MAX_NAME:
                    raise PairingError(TOO_LONG.format(beginning=name[:40]), "pattern")
        used = {folder for folder in targets if _holds_files(folder)}
        originals = {identity(each.source) for each in self} if used else set()
        for each in self if used else ():
            if each.target.parent in used and identity(each.target) in originals:
                said = f"{each.target} is an input; write to another file or folder."
                raise PairingError(said, "target")

    def _collision(self, target: Path) -> str:
        same = os.path.normcase(target)
        one, two = islice((each for each in self if os.path.normcase(each.target) == same), 2)
        both = f"would both become {target.name}; rename one, or"
        if one.source.name == two.source.name:
            return f"{one.source_shown} and {two.source_shown} {both} leave it out."
        return f'{one.name} and {two.name} {both} name them "{{stem}}_{{ext}}.png" (batch --name).'


def _holds_files(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        return any(True for _ in entries)
    return False


def pairs_into(
    inputs: Sequence[Path], folder: Path, *, recursive: bool = False, rename: Naming = str
) -> FilePairs:
    """Pair each input with a file in `folder`.

    Raises PairingError rather than lose a picture, and where there is none of the inputs.
    """
    if not any(map(os.path.lexists, inputs)):
        raise PairingError(f"There is no file or folder {inputs[0]}; check the name.", "source")
    if os.path.isdir(folder) and identity(folder) in map(identity, inputs):  # noqa: PTH112
        raise PairingError(f"{folder} is a folder of inputs; write to another one.", "target")
    output = os.path.join(folder, "")  # noqa: PTH118 - a folder, whether it is there or not
    return pairs_of(inputs, output, recursive=recursive, rename=rename)


def pairs_of(
    inputs: Iterable[Path], output: str, *, recursive: bool = False, rename: Naming | None = None
) -> FilePairs:
    """Pair each input with the file that it is written to.

    inputs     files, and folders: of these the files that have a picture's extension and no dot in
               front of their name, as a person sorts them
    output     a file, or a folder: one that is there, or one whose name ends with a separator, or
               any where there are several inputs
    recursive  look into the folders in folders, too, but not through links; OUT gets the same ones
    rename     of what is written into a folder; None: a result is called as its picture
    Raises PairingError rather than lose a picture.
    """
    inputs = list(inputs)
    target = Path(output)
    is_folder = output.endswith(("/", os.sep)) or _is_folder(target)
    if not is_folder and (len(inputs) > 1 or _is_folder(inputs[0])):
        if target.suffix.lower() in EXTENSIONS or os.path.isfile(target):  # noqa: PTH113
            said = f"With several pictures, {target} must be a folder, not a file."
            raise PairingError(said, "target")
        is_folder = True
    if is_folder:
        complaints: list[str] = []
        groups = list(_groups(inputs, target, recursive, complaints))
        pairs = FilePairs(groups, rename or str, tuple(complaints))
    elif rename is not None:
        raise PairingError(
            f"The extension of {target} says its format; --format is for folders and -."
        )
    elif not target.suffix:
        raise PairingError(
            f"{target} names no format; give it an extension such as .png, or end it with / for a "
            "folder."
        )
    else:
        source = Group(inputs[0].parent, target.parent, (inputs[0].name,), is_named=True)
        pairs = FilePairs([source], lambda _: target.name)
    pairs.refuse_losses()
    return pairs


def _groups(
    inputs: list[Path], target: Path, recursive: bool, complaints: list[str]
) -> Iterator[Group]:
    """Yield the pictures that `inputs` mean; a folder without any becomes a complaint."""
    for folder, files in groupby(inputs, lambda each: None if _is_folder(each) else each.parent):
        if folder is not None:
            yield Group(folder, target, tuple(each.name for each in files))
            continue
        for each in files:
            before = len(complaints)
            found = list(_groups_in(each, target, recursive, complaints))
            yield from found
            if len(complaints) == before and not any(group.names for group in found):
                hint = "" if recursive else "; --recursive looks into the folders in it, too"
                complaints.append(f"There are no pictures in {each}{hint}.")


def _groups_in(top: Path, output: Path, recursive: bool, complaints: list[str]) -> Iterator[Group]:
    """Yield the pictures in `top`, however deep, but nothing of what lies in `output`."""
    left, outside = [(top, output)], identity(output)
    while left:
        folder, target = left.pop()
        try:
            names = _shown(neighbours.pictures_in(folder))
            with os.scandir(folder) as entries:  # without links, which may lead in circles
                folders = [each.name for each in entries if each.is_dir(follow_symlinks=False)]
        except OSError as error:
            complaints.append(f"Cannot look into {folder}: {error.strerror}.")
            continue
        yield Group(folder, target, tuple(names), target if target != output else None)
        if recursive:
            inner = sorted(_shown(folders), reverse=True)
            pairs = ((folder / name, target / name) for name in inner)
            left += [pair for pair in pairs if identity(pair[0]) != outside]


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - `Path.is_dir` may raise


def _shown(names: Iterable[str]) -> list[str]:
    """Leave out hidden names, such as what macOS puts beside each file on other disks."""
    return [name for name in names if not name.startswith(".")]
