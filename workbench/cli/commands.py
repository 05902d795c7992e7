"""The commands: what each does, its options, its help, and what runs it."""

from __future__ import annotations

import re
from argparse import ArgumentParser, _ActionsContainer
from typing import Any, NamedTuple

from workbench.base.paths import asset_table
from workbench.cli.argument_types import BENCHES, LISTS, TYPES, in_words
from workbench.files.formats import EXTENSION_OF


class Command(NamedTuple):
    """One command.

    summary   one sentence
    function  module and name in workbench.cli: `function(arguments) -> exit code`
    options   as `add_options` reads them
    epilog    the end of its help
    replaces  existing files, unless told otherwise
    """

    summary: str
    function: str
    options: str
    epilog: str = ""
    replaces: bool = False


_PARTS: dict[str, dict[str, Any]] = asset_table("commands.toml")


def _options(text: str) -> str:
    """Put the parts in that lines with an @ name, and the names that the program knows."""
    for name, known in (("formats", EXTENSION_OF), ("benches", BENCHES), ("lists", LISTS)):
        text = text.replace(f"{{{name}}}", in_words(list(known)))
    parts = _PARTS["parts"]
    put_in = lambda found: _options(parts[found[1]].replace("{}", found[2]))  # noqa: E731
    return re.sub(r"@(\w+) ?(.*)", put_in, text)


COMMANDS = {
    name: Command(**{**said, "options": _options(said["options"])})
    for name, said in _PARTS.items()
    if name != "parts"
}
WINDOW = COMMANDS.pop("window")  # which has no name

ENTRY = re.compile(r"\n+(?=\S|  \S)")
SPECIAL: dict[str, dict[str, Any]] = {
    "--no-replace --no-clobber": {"dest": "replace", "action": "store_false"},
    "--device N,…": {"dest": "devices"},
    "--implementation RUNG": {"required": True},
    "--disk": {"default": None},
    "--step STEP": {"action": "append"},
    "--list LIST": {"action": "append", "dest": "lists"},
}


def add_options(parser: ArgumentParser, text: str) -> None:
    """Add the options that `text` describes, each as its words and an explanation.

    `--json` is a flag, `--size K` takes a value of the type that TYPES has for it, and `inputs IN…`
    and `image [IMAGE]` are positional.  A line without an indent is the heading of a group.
    """
    group: _ActionsContainer = parser
    for entry in ENTRY.split(text.strip("\n")):
        if not entry.startswith(" "):
            group = parser.add_argument_group(entry.removesuffix(":"))
            continue
        words, explanation = re.split(r"  +|\n", entry.strip(), maxsplit=1)
        explanation = " ".join(explanation.split()).replace("%", "%%")
        *names, last = words.split()
        keywords: dict[str, Any] = {"help": explanation, **SPECIAL.get(words, {})}
        if last.startswith("-"):
            group.add_argument(*names, last, **{"action": "store_true", **keywords})
            continue
        metavar = last
        if not names[0].startswith("-"):
            metavar = last.strip("[]…")
            counts = (("…]", "*"), ("]", "?"), ("…", "+"))
            keywords["nargs"] = next((n for end, n in counts if last.endswith(end)), None)
        if default := re.search(r"\[default: (.+?)\]", explanation):
            keywords["default"] = default[1]
        kind = TYPES.get(words) or TYPES.get(metavar, str)
        group.add_argument(*names, metavar=metavar, type=kind, **keywords)
