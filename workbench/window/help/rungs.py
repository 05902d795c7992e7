"""Help pages about each implementation, made from its own description."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kernels.engine.auto import AUTO
from kernels.engine.engine import Implementation, all_implementations
from kernels.rungs.rung import BrokenRung, Rung
from workbench.panels.rung.idea_page import KINDS, STEPS, block_words, undescribed_words
from workbench.window.help.book import HelpPage
from workbench.window.help.texts import escaped, link

CHAPTER = "Implementations"
# By the form of a rung's weights, as in `kernels.rungs.operands.FORMS`.
WEIGHTS = {
    "global": "The weights lie in global memory, as the picture does.",
    "constant": "The weights lie in constant memory, which answers a whole warp at once where all "
    "its lanes ask for the same one.",
    "separable": "The weights are taken apart into a column and a row: 2·K products instead of K².",
    "byte_band": "The weights are taken apart into a column and a row; the row comes as a band "
    "matrix of halves, word by word as the lanes of a warp hold it.",
    "digit_bands": "The weights are taken apart into a column and a row; the row comes as a band "
    "matrix of 8-bit digits, the column as one of halves, word by word as the lanes of a warp hold "
    "them.",
    "low_rank": "The weights are taken apart into a few columns and rows that add up to them: as "
    "many as their rank.",
    "fixed_point": "The weights come as integers of one to three bytes, as many as they need, "
    "which tensor cores multiply.",
    "uniform": "All weights are one number, so that a sum is updated, not begun anew.",
    "spectrum": "The weights come as their Fourier transform, which a picture's is multiplied by.",
    "spectrum_and_roots": "The weights come as their Fourier transform, which a picture's is "
    "multiplied by, and the roots of unity that it takes.",
    "bands": "The weights come as band matrices of halves, which tensor cores multiply.",
    "thin_bands": "The weights' column and row come as band matrices of halves, which tensor cores "
    "multiply.",
}
NUMBER = re.compile(r"\{[^}]*\}")


def pages(overview: str) -> list[HelpPage]:
    """Return the overview, a page about Auto, then one for each implementation in order.

    overview  the page written by hand
    """
    known = list(all_implementations())
    rows = "\n".join(
        f"| {link(each.title, key_of(each))} | {escaped(each.idea)} |" for each in known
    )
    table = f"| | idea |\n|---|---|\n{rows}"
    auto = (
        f"{escaped(AUTO.idea)}\n\nWhat it picked, and why, stands in the strip below the pictures."
    )
    return [
        HelpPage("rungs", CHAPTER, "The ladder", f"{overview}\n\n{table}", "ladder"),
        HelpPage("rung/auto", CHAPTER, AUTO.title, auto),
        *(HelpPage(key_of(each), CHAPTER, each.title, _text(each, known)) for each in known),
    ]


def key_of(implementation: Implementation) -> str:
    """Return the key of the page about an implementation."""
    return f"rung/{implementation.key}"


def _text(each: Implementation, known: Sequence[Implementation]) -> str:
    own_kind = [other for other in known if other.kind == each.kind]
    place = f"{KINDS[each.kind]} · {STEPS[each.kind]} {own_kind.index(each) + 1} of {len(own_kind)}"
    parts = [f"*{place}*", f"**{escaped(each.idea)}**"]
    if isinstance(each, Rung):
        parts += _of_rung(each, known)
    if isinstance(each, BrokenRung):
        parts.append(escaped(each.reason))
    parts.append(f"On the command line and in files it is called `{each.key}`.")
    return "\n\n".join(parts)


def _of_rung(rung: Rung, known: Sequence[Implementation]) -> list[str]:
    before = [other for other in known if other.key == rung.after]
    then = [other for other in known if isinstance(other, Rung) and other.after == rung.key]
    parts = [
        escaped(" ".join(rung.lesson.split())),
        f"It changes one thing about {_links(before)}." if before else "",
        f"Changed further by {_links(then)}." if then else "",
        WEIGHTS[rung.weights],
        escaped(block_words(rung)),
        _launches(rung),
        f"It needs compute capability {rung.capability[0]}.{rung.capability[1]} or higher."
        if rung.capability > (0, 0)
        else "",
        "Its error is far above that of float32, within a bound of its own; Auto never picks it."
        if rung.reduced_precision
        else "",
        "It refuses pictures that hold NaN or infinity, which it would spread beyond the filter's "
        "reach."
        if rung.finite_only
        else "",
        escaped(undescribed_words(rung)),
    ]
    if rung.requires:
        reasons = "\n".join(f"- {escaped(NUMBER.sub('…', why))}" for _, why in rung.requires)
        parts.append(f"It refuses some jobs, and says why (… stands for a number):\n\n{reasons}")
    return [part for part in parts if part]


def _launches(rung: Rung) -> str:
    if len(rung.passes) == 1:
        return ""
    names = ", ".join(f"`{each.library or each.function}`" for each in rung.passes)
    return f"It takes {len(rung.passes)} launches: {names}."


def _links(implementations: Sequence[Implementation]) -> str:
    return ", ".join(link(each.title, key_of(each)) for each in implementations)
