"""The help's pages written by hand, in assets/help: Markdown; most keys come from the menus."""

from __future__ import annotations

import re
from collections.abc import Callable

from workbench.base.assets_path import asset

# {Pin this result} is the action's key; {{Pin this result}} says where it stands in the menus.
KEY, PLACE = re.compile(r"\{([^{}]+)\}"), re.compile(r"\{\{([^{}]+)\}\}")
FILE_LINK = re.compile(r"\[([^\]]+)\]\((?!help:)[^)\s]+\)")
# Characters that Markdown would take for marks.
SPECIAL = re.compile(r"([\\`*_\[\]<>|#~])")

Lookup = Callable[[str], str]


def written(name: str, key_of: Lookup, place_of: Lookup) -> str:
    """Return the text of assets/help/NAME.md.

    key_of, place_of  give an action's key and its place in the menus, by its name; they raise
                      KeyError for others
    """
    text = asset(f"help/{name}.md").read_text(encoding="utf-8")
    text = PLACE.sub(lambda found: f"*{place_of(found[1])}*", text)
    return KEY.sub(lambda found: f"**{escaped(key_of(found[1]))}**", text)


def lesson(name: str) -> str:
    """Return the text of assets/help/NAME.md, which is also read outside of the program.

    Its title is left out, and so is where its links to other files lead.
    """
    text = asset(f"help/{name}.md").read_text(encoding="utf-8")
    return FILE_LINK.sub(r"\1", text.partition("\n\n")[2])


def escaped(text: str) -> str:
    """Return plain text as Markdown, line by line."""
    return SPECIAL.sub(r"\\\1", text).replace("\n", "  \n")


def link(title: str, key: str) -> str:
    """Return a Markdown link to the help's page `key`."""
    return f"[{escaped(title)}](help:{key})"


def sections(parts: dict[str, str]) -> str:
    """Return headings, each with its text."""
    return "\n\n".join(f"## {escaped(title)}\n\n{text}" for title, text in parts.items())
