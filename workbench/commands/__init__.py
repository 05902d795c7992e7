"""One module a command, with `run(arguments) -> exit code`; `workbench.cli` parses for it."""

from __future__ import annotations


class CommandError(Exception):
    """An expected failure of a command.  str(error) is one sentence for the user."""

    def __init__(self, sentence: str, exit_code: int = 1) -> None:
        super().__init__(sentence)
        self.exit_code = exit_code
