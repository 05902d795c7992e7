"""An implementation in words, as Markdown for its page and for the help, and what it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QTextBrowser

from kernels.core.job import Pick, Ran
from kernels.core.plain_data import parse_toml
from kernels.engine.engine import Implementation
from kernels.rungs.operands import Operands
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import BrokenRung, Rung, not_described
from workbench.base import numbers
from workbench.base.paths import asset
from workbench.panels.controls.tool_row import KIND_TITLES
from workbench.widgets.buttons import described

OWN = "Yours · it stands on the ladder beside the rungs"
STEPS = {"cpu": "implementation", "cuda": "rung"}
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")  # characters that Markdown would take for marks
NUMBER = re.compile(r"\{[^}]*\}")
KEY = "rung/"  # in front of a rung's key, in links to its page


class IdeaPage(QTextBrowser):
    """A page of Markdown on one implementation.

    Signals:
        chosen(key): the user followed a link to another implementation.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        described(self, "rung-idea-page", "Idea and resources")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("sentence", True)  # for the style sheet
        self.setOpenLinks(False)
        self.anchorClicked.connect(lambda url: self.chosen.emit(url.path().removeprefix(KEY)))
        self._shown = ""

    def show_page(self, markdown: str) -> None:
        """Show this text, from its beginning if it is another one."""
        if markdown != self._shown:
            self._shown = markdown
            self.setMarkdown(markdown)


def escaped(text: str) -> str:
    """Plain text as Markdown, line by line."""
    return SPECIAL.sub(r"\\\1", text).replace("\n", "  \n")


def link(title: str, key: str) -> str:
    """Markdown link to the help's page `key`."""
    return f"[{escaped(title)}](help:{key})"


def words_on(
    each: Implementation,
    known: Sequence[Implementation],
    pick: Pick | None = None,
    now: Sequence[str] = (),
) -> str:
    """Describe an implementation and its place among the others of its kind.

    known  all implementations
    pick   why `auto` picked it; None: it did not
    now    paragraphs on the present job
    """
    picked = f" · picked by Auto: {pick.why}" if pick else ""
    parts = [f"*{escaped(place_words(each, known) + picked)}*", f"**{escaped(each.idea)}**", *now]
    if isinstance(each, Rung):
        parts += _of_rung(each, known)
    if isinstance(each, BrokenRung):
        parts.append(escaped(each.reason))
    parts.append(f"On the command line and in files it is called `{each.key}`.")
    return "\n\n".join(filter(None, parts))


def place_words(chosen: Implementation, known: Sequence[Implementation]) -> str:
    """Its place among its kind: "CUDA · rung 3 of 23"."""
    if is_own(chosen.key):
        return OWN
    kind = chosen.kind
    same = [each for each in known if each.kind == kind and not is_own(each.key)]
    return f"{KIND_TITLES[kind]} · {STEPS[kind]} {same.index(chosen) + 1} of {len(same)}"


def _of_rung(rung: Rung, known: Sequence[Implementation]) -> Iterator[str]:
    before = [other for other in known if other.key == rung.after]
    then = [other for other in known if isinstance(other, Rung) and other.after == rung.key]
    if before:
        yield f"Changes one thing about {_links(before)}."
    if then:
        yield f"Changed further by {_links(then)}."
    yield escaped(" ".join(rung.lesson.split()))
    yield parse_toml(asset("help/forms.toml").read_text("utf-8"), "forms.toml")[rung.weights]
    yield escaped(rung.own_block or "It takes the block shape that you choose.")
    if len(rung.passes) > 1:
        names = ", ".join(f"`{each.library or each.function}`" for each in rung.passes)
        yield f"It takes {len(rung.passes)} launches: {names}."
    if rung.capability > (0, 0):
        yield "It needs compute capability {}.{} or higher.".format(*rung.capability)
    if rung.reduced_precision:
        yield (
            "Its error is far above that of float32, within a bound of its own; Auto never picks "
            "it."
        )
    if rung.finite_only:
        yield (
            "It rejects pictures that hold NaN or infinity, which it would spread beyond the "
            "filter's reach."
        )
    yield escaped(not_described(rung))
    if rung.requires:
        reasons = "\n".join(f"- {escaped(NUMBER.sub('…', why))}" for _, why in rung.requires)
        yield f"It rejects some jobs, and says why (… stands for a number):\n\n{reasons}"


def _links(implementations: Sequence[Implementation]) -> str:
    return ", ".join(link(each.title, f"{KEY}{each.key}") for each in implementations)


def resources(ran: Sequence[Ran], operands: Operands | None) -> list[str]:
    """Tables of what ran for the present settings, and the weights that it took."""
    parts = [_table(each) for each in ran]
    if operands is not None and (words := _operand_words(operands)):
        parts.append(escaped("\n".join(("Weights", *words))))
    return parts


def _operand_words(operands: Operands) -> list[str]:
    """Describe the operands of a launch beside pictures: "COLUMN: 5 float32 in constant memory"."""
    words = [
        f"{name}: {_shape(values.shape)} {values.dtype} in constant memory"
        for name, values in operands.constants.items()
    ]
    words += [
        f"an argument: {_shape(values.shape)} {values.dtype} in global memory"
        for values in operands.arguments
    ]
    return words + [f"{name} = {value}" for name, value in operands.knobs.items()]


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape))


def _table(ran: Ran) -> str:
    rows = [(name, value) for name, value in _rows(ran) if value]
    lines = [(escaped(ran.function), " "), ("---", "---"), *rows]
    return "\n".join(f"| {name} | {value} |" for name, value in lines)


def _rows(ran: Ran) -> list[tuple[str, str]]:
    if ran.grid is None or ran.block is None:
        return [("Threads", str(ran.threads))] if ran.threads else []
    (across, down), (x, y) = ran.grid, ran.block
    shared = numbers.byte_count(ran.shared_bytes) if ran.shared_bytes is not None else ""
    return [
        ("Grid", f"{across:,} × {down:,} blocks"),
        ("Block", f"{x} × {y} = {x * y:,} threads"),
        ("Registers", f"{ran.registers} per thread" if ran.registers is not None else ""),
        ("Shared", f"{shared} per block" if shared else ""),
    ]
