"""Pairs of a file to read and one to write: of a hundred thousand only the names are kept."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.base.same_file import identity
from workbench.batch.naming import Naming, PairingError


@dataclass(frozen=True, slots=True)
class FilePair:
    """A picture file and the file that its result is to be written to.

    source_shown, target_shown  what they are called, if not by their paths
    folder  what may have to be made for the target, below the folder that was named; None: nothing
    is_named  whether the user named the target itself, which may then be a device or a pipe
    """

    source: Path
    target: Path
    folder: Path | None = None
    source_shown: str = ""
    target_shown: str = ""
    is_named: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "source_shown", self.source_shown or str(self.source))
        object.__setattr__(self, "target_shown", self.target_shown or str(self.target))

    @property
    def name(self) -> str:
        """Return the source's name, without its folder."""
        return self.source.name or self.source_shown

    def absolute(self) -> FilePair:
        """Return the same by absolute paths, for a process that may have another current folder."""
        folder = self.folder.absolute() if self.folder is not None else None
        return replace(
            self, source=self.source.absolute(), target=self.target.absolute(), folder=folder
        )


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one folder whose results go into one folder.

    names  of the files in `source`
    below  `target`, where it may have to be made; None: it need not
    is_named  as in FilePair
    """

    source: Path
    target: Path
    names: tuple[str, ...]
    below: Path | None = None
    is_named: bool = False


class FilePairs(Collection[FilePair]):
    """The pairs of all groups, each made when it is its turn.

    rename  from a source's name to its target's
    """

    def __init__(self, groups: Iterable[Group], rename: Naming) -> None:
        self._groups, self._rename = tuple(groups), rename
        self._count = sum(len(group.names) for group in self._groups)

    def __iter__(self) -> Iterator[FilePair]:
        for group in self._groups:
            for name in group.names:
                target = group.target / self._rename(name)
                source = group.source / name
                yield FilePair(source, target, group.below, is_named=group.is_named)

    def __len__(self) -> int:
        return self._count

    def __contains__(self, pair: object) -> bool:
        return any(pair == each for each in self)

    @property
    def folders(self) -> set[Path]:
        """Return the folders of all targets."""
        return {group.target for group in self._groups}

    def part(self, is_wanted: Callable[[Path], bool]) -> FilePairs:
        """Return the pairs whose target is wanted, of which only the names are kept as well."""

        def names_of(group: Group) -> tuple[str, ...]:
            return tuple(
                name for name in group.names if is_wanted(group.target / self._rename(name))
            )

        groups = (replace(group, names=names_of(group)) for group in self._groups)
        return FilePairs(groups, self._rename)

    def refuse_losses(self) -> None:
        """Raise PairingError where an input, or another result, would be written onto.

        The disk is asked about files only where folders of the output hold some already.
        """
        targets: dict[Path, set[str]] = {}
        for group in self._groups:
            taken = targets.setdefault(group.target, set())
            before = len(taken)
            taken.update(map(os.path.normcase, map(self._rename, group.names)))
            if len(taken) < before + len(group.names):
                name = self._first_twice(group.target)
                raise PairingError(f"Several inputs are called {name} in the output; rename one.")
        used = {folder for folder in targets if _holds_files(folder)}
        originals = {identity(each.source) for each in self} if used else set()
        for each in self if used else ():
            if each.target.parent in used and identity(each.target) in originals:
                raise PairingError(f"{each.target} is an input; write to another file or folder.")

    def _first_twice(self, target: Path) -> str:
        """Return the first name that a second result in `target` would have as well."""
        names = (
            name
            for group in self._groups
            if group.target == target
            for name in map(self._rename, group.names)
        )
        taken: set[str] = set()
        while os.path.normcase(name := next(names)) not in taken:
            taken.add(os.path.normcase(name))
        return name


def _holds_files(folder: Path) -> bool:
    with suppress(OSError), os.scandir(folder) as entries:
        return any(True for _ in entries)
    return False
