"""Kernels of the user's own in plans: their texts, read once, and told apart by their SHA-256."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from kernels.core.errors import CannotRunError, SessionFileError
from kernels.rungs.headers import HeaderError
from kernels.rungs.own_kernels import is_own, read_own_kernel, text_hash
from kernels.rungs.rung import Rung
from kernels.sweeps.cell_jobs import Texts
from kernels.sweeps.plan import NOT_READ, OwnText, Plan

Paths = Mapping[str, Path]  # of files of the user's own, by their names
OTHER_TEXT = (
    "{key} has another text now than the one that this session measures; measure it in a new "
    "sweep, or put the text of then in its place."
)


def with_texts(plan: Plan, rungs: Iterable[Rung]) -> tuple[Plan, Texts]:
    """Return `plan` with what tells the texts of these kernels of the user's own apart, and them.

    Those that it does not measure are left out.
    """
    measured = [each for each in rungs if each.key in plan.implementations]
    own = tuple(
        OwnText(each.key, text_hash(each.source), bool(each.own_block)) for each in measured
    )
    return replace(plan, own_texts=own), {text_hash(each.source): each.source for each in measured}


def read_texts(plan: Plan, paths: Paths) -> tuple[Plan, Texts]:
    """Return `plan` as `with_texts`, with the texts that its files have now.

    Raises CannotRunError for one that is not there, or makes no kernel.
    """
    return with_texts(plan, [_read(key, paths) for key in filter(is_own, plan.implementations)])


def read_same_texts(plan: Plan, paths: Paths) -> Texts:
    """Return the texts that `plan`, which was begun before, measures.

    Raises SessionFileError where a file has another one by now, and as `read_texts`.
    """
    now, texts = read_texts(plan, paths)
    for then, found in zip(plan.own_texts, now.own_texts, strict=True):
        if then.sha256 != found.sha256:
            raise SessionFileError(OTHER_TEXT.format(key=then.key))
    return texts


def _read(key: str, paths: Paths) -> Rung:
    if key not in paths:
        raise CannotRunError(NOT_READ.format(key=key))
    try:
        return read_own_kernel(paths[key])
    except HeaderError as error:
        raise CannotRunError(str(error)) from error
