"""The summary of weights: sum, rank and frequency response, in numbers, words, a picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QFrame, QWidget

from workbench.base.plain_text import Label
from workbench.panels.weights.response_view import ResponseView
from workbench.panels.weights.weight_facts import as_html, facts, response, response_in_words
from workbench.widgets.boxes import HBox, VBox

TITLE = "What these weights do"
UNKNOWN = as_html([(name, "–", "") for name in ("Sum", "Σ|w|", "Rank")])


class WeightsSummary(QFrame):
    """The box with sum, rank and frequency response of the weights.

    Attributes:
        response: what of it is about the frequency response.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(TITLE)
        self.setProperty("card", True)
        self._facts = Label(name="weights-facts", wraps=True)
        self._facts.setTextFormat(Qt.TextFormat.RichText)
        self._facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._facts.setToolTip("Rank: how many separable filters add up to this one.")
        self._response = ResponseView()
        self._in_words = Label(name="weights-response-words", is_muted=True, wraps=True)
        self._in_words.setMinimumHeight(4 * self._in_words.fontMetrics().lineSpacing())
        self._in_words.setAlignment(Qt.AlignmentFlag.AlignTop)
        log = QCheckBox("Logarithmic")
        log.setObjectName("weights-log")
        log.setToolTip(
            "In decibels, down to 60 dB below the largest: shows how well the rest is suppressed."
        )
        log.toggled.connect(self._response.show_logarithmic)
        heading = Label("Frequency response")
        heading.setBuddy(self._response)
        top = HBox()
        top.add((heading, 1), log)
        self.response = QWidget()
        VBox(self.response, 0).add(top, (self._response, 1), self._in_words)
        column = VBox(self)
        column.add(self._facts, (self.response, 1))

    def show_weights(self, weights: NDArray[np.float32] | None, offset: float) -> None:
        """Describe weights, (K, K); None: some cell is no number.

        offset  what is added, as a part of white
        """
        values = None if weights is None else response(weights)
        self._facts.setText(UNKNOWN if weights is None else as_html(facts(weights, offset)))
        words = "" if weights is None or values is None else response_in_words(weights, values)
        self._response.show_response(values, words)
        self._in_words.setText(words)
