"""Failures of a command: a sentence on stderr, and an exit code."""

from __future__ import annotations

import sys

FAILED, USAGE, INTERRUPTED = 1, 2, 130


class CommandError(Exception):
    """An expected failure of a command; str(error) is one sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code


def complain(sentence: object) -> None:
    """Print a sentence on stderr that says what is wrong; names in it cannot move the cursor."""
    from kernels.core.plain_data import without_controls

    print(without_controls(f"workbench: {sentence}"), file=sys.stderr)
