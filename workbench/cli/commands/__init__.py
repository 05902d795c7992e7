"""One module a command, with `run(arguments) -> exit code`; `workbench.cli.main` parses for it."""

from __future__ import annotations
