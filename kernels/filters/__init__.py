"""Filters: add a module, or a row of `drawn`, and it is in window, command line and tests.

A filter is K×K weights: each sample of the output is the sum of its neighbours, each times its
weight; or one of those of `kernels.core.nonlinear`, such as a median: `nonlinear` has them.

A module has FILTERS, a tuple of `Filter`.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.core.errors import BadJobError
from kernels.core.nonlinear import Bilateral, Guided, NonLinear, NonLocalMeans
from kernels.core.plain_data import parse_toml
from kernels.core.search import Named, find
from kernels.core.step import Correlation
from kernels.filters.parameters import Parameter

GROUPS = ("Blur", "Sharpen", "Edges", "Order", "Colour", "Own")


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter, as a module of this folder describes it.

    order            where it stands in a list, smallest first
    sizes            the odd sizes it takes
    parameters       which `make` takes by name
    make             (ksize, *, ...) -> its weights, (ksize, ksize) float32, applied as drawn, or
                     its step
    gradient         whether a length is to follow the weights
    automatic_sigma  ksize -> the standard deviation without one, in pixels, where it takes a sigma
    group            the one of GROUPS that lists show it in
    idea             what it does, in a sentence
    """

    key: str
    title: str
    order: int
    sizes: range
    parameters: tuple[Parameter, ...]
    make: Callable[..., NDArray[np.float32] | NonLinear]
    gradient: bool = False
    automatic_sigma: Callable[[int], float] | None = None
    group: str = GROUPS[-1]
    idea: str = ""
    has_weights: bool = True  # whether it is a weighted sum
    is_grey: bool = False  # whether colours of its output become their luma
    usual_size: int | None = None  # to begin with; None: the one that is chosen already

    def weights(self, ksize: int, **parameters: Any) -> NDArray[np.float32]:
        """The filter's weights: (ksize, ksize) float32, read-only.

        parameters  as `of_size` has them
        Raises BadJobError for a size or a parameter out of range, and where it has no weights.
        """
        made = self.of_size(ksize, **parameters)
        if isinstance(made, Correlation):
            return made.weights
        raise BadJobError(f"{self.title} has no weights: it is no weighted sum.")

    def of_size(
        self, ksize: int, offset: float = 0.0, white: float = 1.0, **parameters: Any
    ) -> Correlation | NonLinear:
        """The filter as a step has it.

        offset      of a weighted sum, in sample values; of no account to others
        white       the sample value that parameters are parts of
        parameters  by name; one left out takes its default, one that is not in `self.parameters`
                    is ignored, so that a caller may pass all it knows
        Raises BadJobError for a size or a parameter out of range.
        """
        if ksize not in self.sizes:
            raise BadJobError(f"{self.title} has no size {ksize}; it takes {self.sizes_in_words}.")
        given = {p: parameters.get(p.name, p.default) for p in self.parameters}
        for parameter, value in given.items():
            parameter.check(self.title, value)
        made = self.make(ksize, **{p.name: v for p, v in given.items() if not p.is_of_step})
        if isinstance(made, Bilateral | NonLocalMeans | Guided):
            return made.scaled(white)
        if isinstance(made, NonLinear):
            return made
        weights = np.ascontiguousarray(made, np.float32)
        weights.flags.writeable = False
        return Correlation(weights, offset)

    def makes(self, made: Any) -> bool:
        """True if it gives `made`, a filter of a step that has its parameters' names as fields."""
        given = {each.name: getattr(made, each.name, each.default) for each in self.parameters}
        return not self.has_weights and bool(self.make(made.ksize, **given) == made)

    @property
    def sizes_in_words(self) -> str:
        """The sizes it takes: "odd sizes from 1 to 127"."""
        if len(self.sizes) == 1:
            return f"{self.sizes[0]} only"
        return f"odd sizes from {self.sizes[0]} to {self.sizes[-1]}"

    def nearest_size(self, ksize: int) -> int:
        return min(self.sizes, key=lambda size: abs(size - ksize))


def has_parameter(chosen: Filter, name: str) -> bool:
    return any(parameter.name == name for parameter in chosen.parameters)


def has_sizes(chosen: Filter) -> bool:
    """Return True if the size of its weights is the user's choice."""
    return len(chosen.sizes) > 1 and not has_parameter(chosen, "matrix")


@cache
def all_filters() -> tuple[Filter, ...]:
    """Every filter of this folder, in the order to show them."""
    names = (f"{__name__}.{info.name}" for info in pkgutil.iter_modules(__path__))
    modules = map(importlib.import_module, names)
    found = (each for module in modules for each in getattr(module, "FILTERS", ()))
    return tuple(sorted(found, key=lambda f: (f.order, f.title)))


def get(key: str) -> Filter:
    """Find the filter called `key`; raise BadJobError if there is none."""
    for each in all_filters():
        if each.key == key:
            return each
    known = ", ".join(f.key for f in all_filters())
    raise BadJobError(f"There is no filter {key!r}; {_hint(key)} {known}.")


def _hint(key: str) -> str:
    found, is_right = search(key)
    looks_like = partial(get_close_matches, key.lower(), [e.key for e in all_filters()], n=1)
    meant = looks_like(cutoff=0.8) or [each.key for each in found[:4] if is_right]
    if not meant and found:
        return f"nearest: {' or '.join(each.key for each in found)}. There are"
    meant = meant or looks_like()
    return f"did you mean {' or '.join(meant)}? There are" if meant else "choose from"


def named(each: Filter) -> Named:
    """A filter by its title, its group and the everyday words of words.toml."""
    its = _words().get(each.key, {})
    words = f"{each.group} {each.key} {its.get('words', '')}"
    return Named(each.title, words, tuple(its.get("near", ())), goes_first=True)


def absent() -> Sequence[str]:
    """Phrases for what no filter comes near."""
    phrases: Sequence[str] = _words()["absent"]["phrases"]
    return phrases


@cache
def _words() -> dict[str, Any]:
    path = Path(__file__).with_name("words.toml")
    return parse_toml(path.read_text("utf-8"), path.name)


def search(words: str) -> tuple[list[Filter], bool]:
    """Filters by their names or everyday words, the best first; False: they are only the nearest.

    Without words all of them.
    """
    numbers, is_right = find(words, [named(each) for each in all_filters()], absent())
    return [all_filters()[at] for at in numbers], is_right
