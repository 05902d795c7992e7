"""Sentences and numbers that explain one output sample, and its way through the list."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFormLayout, QFrame, QSizePolicy

from kernels.core.borders import OUTSIDE
from kernels.core.errors import KernelError
from kernels.core.job import Job, Result
from kernels.core.nonlinear import Bilateral, Guided, Morphology, NonLocalMeans, Rank
from kernels.core.step import OUTPUT
from kernels.engine import step_list
from kernels.oracle.explain import AT_ONCE, Explained, value_at
from kernels.oracle.reference import to_pixel_type
from workbench.base import theme
from workbench.base.numbers import GAP, within
from workbench.base.plain_text import Label
from workbench.model import intents
from workbench.model.state import State
from workbench.model.step_files import select
from workbench.widgets.letters import factor_of
from workbench.widgets.watch import Watch

RULES = {
    "zero": "zero: pixels beyond the edge count as 0",
    "clamp": "clamp: the nearest edge pixel stands in",
    "reflect": "reflect: folded back at the edge, the edge pixel twice",
    "mirror": "mirror: folded back around the edge pixel",
    "wrap": "wrap: the opposite edge follows",
    "crop": "crop: pixels beyond the edge do not count",
}
ORDER = Rank | Morphology  # take samples as they are: `weights` say which
NEARBY = 4  # samples in order that are shown before and after what is taken
NARROW = 6  # characters that a number has in a narrow cell, where that is possible
VS = "\N{NO-BREAK SPACE}vs\N{NO-BREAK SPACE}"  # what is compared stays on its line
STANDS_IN, ZERO = "↪", "∅"
FOLLOW = "Double click: go to it, in a list a step before"


def exact(value: float) -> str:
    """Write a number with twelve significant digits, nearly all of a float64."""
    return minus(f"{value + 0.0:.12g}")  # + 0.0 turns -0 into 0


def short(value: float) -> str:
    """Write a number for a table's cell; samples of integer types whole."""
    return minus(f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value + 0.0:.4g}")


def narrow(value: float) -> str:
    """Write a number for a narrow cell, with as many digits as there is room for."""
    return minus(within(value, NARROW))


def stored(value: Any) -> str:
    """Write a sample with all digits of its type."""
    if not isinstance(value, np.floating):
        return minus(str(int(value)))
    return minus(f"{float(value):.9g}" if value.dtype == np.float32 else f"{float(value):.5g}")


def sentence(found: Explained, border: str, beyond: int | None = None) -> str:
    """Describe the sum, and the border's part in it.

    beyond  as if so many samples lay beyond the picture; None: as many as do
    """
    beyond = found.beyond if beyond is None else beyond
    if found.is_alpha:
        return "Alpha is copied, not filtered."
    begin = _how(found, border)
    if not beyond:
        return f"{begin} All lie inside the picture."
    return f"{begin} {beyond:,} beyond the picture. Border {RULES[border]}."


def _how(found: Explained, border: str) -> str:
    ksize, chosen = len(found.rows), found.filter
    count = f"{found.window.sum() - found.beyond * (border == 'crop'):,} samples"  # that count
    if found.slopes is not None:
        around = "the" if is_identity(found) else "the weighted"
        begin = f"gx and gy are Sobel's derivatives of {around} 3 × 3 pixels around it"
        return f"{begin}; the result is their magnitude √(gx² + gy²)."
    if found.ordered is not None:
        low, high = found.taken
        taken = f"number {high + 1}" if low == high else "the mean of the middle two"
        return f"{count} in order, of which {taken} is taken."
    match chosen:
        case Morphology(kind="gradient"):
            return f"The maximum of {count} less their minimum."
        case Morphology():
            first, second = EXTREMES[chosen.ranks[0].percentile]
            return f"The table has the {first} around each pixel; the {second} of {count} is taken."
        case Bilateral():
            return f"{count} of a disk, weighted by how near they are, and how alike in colour."
        case NonLocalMeans(patch=side):
            return f"{count}, weighted by how alike the {side} × {side} pixels around them are."
        case Guided():
            return f"Where {count} vary little, a is near 0, and the result their mean."
    return f"{ksize} × {ksize} = {ksize**2:,} samples, each times its weight, summed."


EXTREMES = {0.0: ("minimum", "maximum"), 100.0: ("maximum", "minimum")}  # of the first rank
LESS = {  # heading, and which is taken from which: the sample, then both extremes
    "gradient": ("Maximum − minimum", 1, 2),
    "top_hat": ("Sample − opening", 0, 2),
    "black_hat": ("Closing − sample", 2, 0),
}
FIGURES = {
    "weighted": "Σ weight × sample",
    "weights": "Σ weight",
    "mean": "Mean m",
    "variance": "Variance v",
    "a": "a = v / (v + ε)",
    "b": "b = (1 − a) m",
    "mean_a": "Mean of a: ā",
    "mean_b": "Mean of b: b̄",
}


def figures(found: Explained) -> dict[str, tuple[str, str]]:
    """Heading and value of all that leads to the result, by name, one of ROWS."""
    shown = {name: (FIGURES[name], exact(value)) for name, value in found.figures.items()}
    total = "Sum in float64"
    if found.ordered is not None:
        return {"order": ("In order", in_order(found))}
    if isinstance(found.filter, Morphology):
        names = EXTREMES[found.filter.ranks[0].percentile][-len(found.extremes) :]
        for row, name, extreme in zip(("first", "second"), names, found.extremes, strict=False):
            at = "beyond" if extreme.y == OUTSIDE else f"at x {extreme.x}, y {extreme.y}"
            shown[row] = name.capitalize(), f"{exact(extreme.value)} {at}"
        if found.extremes and (less := LESS.get(found.filter.kind)):
            ends = found.sample, found.extremes[0].value, found.extremes[-1].value
            shown["less"] = less[0], f"{exact(ends[less[1]])} − {exact(ends[less[2]])}"
        total = found.filter.kind.replace("_", "-").capitalize()
    elif found.apart is not None:
        total = "Mean in float64"
        alike = "\n".join(_heavy(found, at) for at in found.heaviest)
        shown["alike"] = "Most alike", alike or "None: the pixel stays as it is"
    elif isinstance(found.filter, Guided):
        total = "ā × sample + b̄"
    return shown | {"sum": (total, exact(found.total))}


def blended(found: Explained, job: Job | None) -> dict[str, tuple[str, str]]:
    """Heading and value of how the sample and the filter's output make what `job` gives."""
    blend = job.runs[-1].blend if job else OUTPUT
    # Where ranks are given back each pixel's own alpha, other channels have a part in it.
    if job is None or found.is_alpha or blend.opaque or blend[:2] == OUTPUT[:2]:
        return {}
    share, threshold = (float(np.float32(each)) for each in blend[:2])
    change = (float(found.rounded) if job.is_rounded else found.value) - found.sample
    shown = {"own": ("Sample", exact(found.sample)), "change": ("Change", exact(change))}
    if threshold:
        change = math.copysign(max(abs(change) - threshold, 0.0), change)
        shown["weakened"] = f"Weakened by {exact(threshold)}", exact(change)
    times = f"{blend.mix:g} × " if share != 1 else ""
    return shown | {"blended": (f"Sample + {times}change", exact(found.sample + share * change))}


def _heavy(found: Explained, at: tuple[int, int]) -> str:
    """Write one of `heaviest`: "x 12, y 30: d² 3.2, weight 0.98"."""
    assert found.apart is not None
    x, y = (minus(str(int(each))) for each in (found.columns[at[1]], found.rows[at[0]]))
    name = "c" if isinstance(found.filter, Bilateral) else "d²"
    return f"x {x}, y {y}: {name} {short(found.apart[at])}, weight {short(found.weights[at])}"


def in_order(found: Explained) -> str:
    """Write the samples in their order: less, taken in brackets, and more, each in a line."""
    assert found.ordered is not None
    low, high = found.taken
    words = [short(each) for each in found.ordered]
    less, more = words[max(low - NEARBY, 0) : low], words[high + 1 : high + 1 + NEARBY]
    less[:0] = [words[0], "…"] if low > NEARBY else []
    more += ["…", words[-1]] if high + 1 + NEARBY < len(words) else []
    taken = [f"[{each}]" for each in words[low : high + 1]]
    return "\n".join(" ".join(each) for each in (less, taken, more) if each)


def is_identity(found: Explained) -> bool:
    """True where the weights leave every sample unchanged."""
    middle = len(found.rows) // 2
    return bool(np.count_nonzero(found.weights) == 1 and found.weights[middle, middle] == 1)


def place(position: int, source: int, is_beyond: bool) -> str:
    """Write a row or column, and its replacement beyond the edge: "−2 ↪ 1"."""
    if not is_beyond:
        return str(position)
    number = minus(str(position))
    return f"{number} {ZERO}" if source == OUTSIDE else f"{number} {STANDS_IN} {source}"


def cell_tip(found: Explained, row: int, column: int, border: str) -> str:
    """Describe one neighbour: which pixel it is, and its product."""
    x, y = (minus(str(int(each))) for each in (found.columns[column], found.rows[row]))
    from_x, from_y = int(found.from_columns[column]), int(found.from_rows[row])
    parts = found.samples, found.weights, found.products
    sample, weight, product = (exact(each[row, column]) for each in parts)
    product = f"{sample} × {weight} = {product}"
    if isinstance(found.filter, ORDER):
        product = f"{sample}, {'taken' if found.weights[row, column] else 'not taken'}"
    elif found.apart is not None:
        product += f"\n{_heavy(found, (row, column)).partition(': ')[2]}"
    if not (found.beyond_rows[row] or found.beyond_columns[column]):
        return f"Pixel x {x}, y {y}\n{product}\n{FOLLOW}"
    if OUTSIDE in (from_x, from_y):
        return f"x {x}, y {y} is beyond the picture; {RULES[border]}\n{product}"
    reads = f"{border} reads x {from_x}, y {from_y}\n{product}\n{FOLLOW}"
    return f"x {x}, y {y} is beyond the picture; {reads}"


def difference(found: Explained, value: Any) -> str:
    """Compare an implementation's value with the exact one, in words."""
    if math.isnan(value) and math.isnan(found.value):
        return "none: both are NaN"
    if float(value) == found.value:
        return "0: exact"
    if not (math.isfinite(float(value)) and math.isfinite(found.value)):
        return f"undefined: {exact(float(value))}, where {exact(found.value)} is exact"
    off = minus(f"{float(value) - found.value:+.3g}")
    if isinstance(value, np.floating):
        return f"{off}{VS}exact"
    whole = int(value) - int(found.rounded)
    steps = minus(f"{whole:+d}") if whole else "0"
    return f"{off}{VS}exact, {steps}{VS}rounded"


def is_cut_off(found: Explained) -> bool:
    """True where the exact value is beyond the range of its integer type."""
    if isinstance(found.rounded, np.floating) or not math.isfinite(found.value):
        return False
    return abs(float(found.rounded) - found.value) > 0.5


def minus(number: str) -> str:
    """Replace the hyphen by a minus sign, as wide as a plus."""
    return number.replace("-", "−")


ROWS = (
    *("order", "first", "second", *FIGURES, "less"),
    *("sum", "offset", "together", "gx", "gy", "length"),
    *("rounded", "value", "difference", "tolerance"),
    *("own", "change", "weakened", "blended", "result", "alike"),
)
LONG = ("result", "alike")  # whose lines are below the heading, where none of them breaks


class NumbersCard(QFrame):
    """The card with a heading and a value for each of `ROWS` that there is."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("card", True)
        self._form = QFormLayout(self, horizontalSpacing=10, verticalSpacing=2)
        self._form.setContentsMargins(9, 6, 9, 6)
        self._labels: dict[str, tuple[Label, Label]] = {}
        for name in ROWS:
            title = Label(is_muted=True)
            font = theme.numbers_font()
            value = Label(name=f"pixel-{name}", font=font, wraps=True, is_selectable=True)
            self._labels[name] = title, value
            value.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
            for row in ((title,), (value,)) if name in LONG else ((title, value),):
                self._form.addRow(*row)
                self._form.setRowVisible(row[0], False)
        metrics = QFontMetrics(theme.numbers_font())
        self._least_px = metrics.horizontalAdvance("−12345.678901"), 2 * metrics.lineSpacing()
        self._form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        Watch(self, QEvent.Type.FontChange).seen.connect(self._make_room)
        self._make_room()

    def _make_room(self) -> None:
        """Give values room for a whole number, in the letters of the panel."""
        width, height = (round(factor_of(self) * each) for each in self._least_px)
        for name, (_, value) in self._labels.items():
            value.setMinimumWidth(width)
            if name == "difference":  # in two lines unless it is 0
                value.setMinimumHeight(height)

    def show_numbers(self, shown: Mapping[str, tuple[str, str]]) -> None:
        """Show heading and value by name, one of ROWS, and hide all other rows."""
        for name, labels in self._labels.items():
            texts = shown.get(name, ("", ""))
            if (labels[0].text(), labels[1].text()) != texts:
                for label, text in zip(labels, texts, strict=True):
                    label.setText(text)
                labels[1].setAccessibleName(": ".join(texts))
                for label in labels:
                    self._form.setRowVisible(label, name in shown)


Stop = tuple[int, Any]  # a step, from 0, or -1 for the original; the sample after it, None: unknown


def stops_of(state: State, result: Result | None, x: int, y: int, channel: int) -> Iterator[Stop]:
    """Yield the original's sample, and that after each step that is on, also behind the selected.

    result  of this list or one that begins alike: what it does not know is the reference's
    """
    if (job := intents.job_for(state)) is None:
        return
    yield -1, job.picture[y, x, channel]
    # What ran alone may be rounded, as nothing is within a list of floats.
    ran = (result.steps or (result,) * (not job.is_wide)) if result else ()
    known = zip(job.runs, ran[: intents.runs_known(job, result)], strict=False)
    for number, step in enumerate(state.steps):
        found: Any = None
        if not step.is_on:
            continue
        if number <= len(state.before) and (pair := next(known, None)):
            place = slice(y, y + 1), slice(x, x + 1)
            before, after = pair[1].job.picture[place], pair[1].picture[place]
            found = step_list.divided(job.opaque, step_list.blended(pair[0], before, after))
        with suppress(KernelError):  # of a step behind the selected one
            found = _exact_after(state, number, y, x) if found is None else found
        yield number, None if found is None else found[0, 0, channel]


def _exact_after(state: State, number: int, y: int, x: int) -> Any:
    """What the reference gives after a step, (1, 1, C); None: it takes too long beside others."""
    at = intents.job_for(replace(state, **select(state.steps, number)), is_newest=False)
    assert at is not None
    found = value_at(replace(at, region=None), y, x, AT_ONCE // len(state.steps))
    return found if found is None or not at.is_rounded else to_pixel_type(found, at.picture.dtype)


def links(state: State, stops: Sequence[Stop], shown: int) -> str:
    """Write the stops as links in rich text, the `shown` one bold."""
    texts = []
    for number, value in stops:
        title = f"{number + 1}{GAP}{intents.step_in_words(state.steps[number])}"
        written = "…" if value is None else minus(f"{value + 0.0:.7g}")  # + 0.0: no -0
        link = f'<a href="{number}">{title if number >= 0 else "Original"}{GAP}{written}</a>'
        texts.append(f"<b>{link}</b>" if number == shown else link)
    return " ▸ ".join(texts)
