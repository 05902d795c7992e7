"""The commands, a module each with `run(arguments) -> exit code`; `cli.main` parses for them."""

from __future__ import annotations
