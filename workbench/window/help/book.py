"""Help pages in chapters, and the search for words in them: pure, without Qt."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

MARKS = re.compile(r"!?\[([^\]]*)\]\([^)]*\)|[*`|\\]|^#+ |^\s*[-:]+\s*$", re.MULTILINE)


@dataclass(frozen=True)
class HelpPage:
    """A page about one subject.

    key      the name in links: "chart/roofline"
    text     Markdown, without the title; links to other pages are "help:KEY" or "help:KEY#section"
    picture  the name of a screenshot that belongs to it; "" for none
    """

    key: str
    chapter: str
    title: str
    text: str
    picture: str = ""

    @cached_property
    def plain(self) -> str:
        """Return title and text as one reads them, without Markdown's marks."""
        return f"{self.title}\n{MARKS.sub(lambda found: found[1] or '', self.text)}"


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page that has all the words.

    where  the line that has the first word
    """

    page: HelpPage
    where: str


class Book:
    """All pages of the help, in their order."""

    def __init__(self, pages: Iterable[HelpPage]) -> None:
        self.pages = tuple(pages)
        self._by_key = {page.key: page for page in self.pages}

    @property
    def chapters(self) -> dict[str, tuple[HelpPage, ...]]:
        """Return the pages of each chapter, by its title, in order."""
        titles = dict.fromkeys(page.chapter for page in self.pages)
        return {title: tuple(p for p in self.pages if p.chapter == title) for title in titles}

    def page(self, key: str) -> HelpPage | None:
        """Return the page called `key`; None where there is none."""
        return self._by_key.get(key)

    def find(self, query: str) -> list[SearchHit]:
        """Return the pages that have every word of `query`, or words that begin so, the best first.

        Pages with words in the title come first, then those that have them most often.
        """
        words = [_start_of_word(word) for word in query.casefold().split()]
        if not words:
            return []
        ranked = []
        for number, page in enumerate(self.pages):
            text, title = page.plain.casefold(), page.title.casefold()
            counts = [len(word.findall(text)) for word in words]
            if all(counts):
                in_title = sum(word.search(title) is not None for word in words)
                ranked.append((-in_title, -sum(counts), number, page))
        ranked.sort(key=lambda entry: entry[:3])
        return [SearchHit(page, _line_with(words[0], page)) for *_, page in ranked]


def _start_of_word(word: str) -> re.Pattern[str]:
    """Return a pattern that finds `word` where a word begins, or an unusual character stands."""
    return re.compile((r"\b" if word[0].isalnum() else "") + re.escape(word))


def _line_with(word: re.Pattern[str], page: HelpPage) -> str:
    """Return the first line below the title that has `word`, from a little before it on."""
    for line in page.plain.split("\n")[1:]:
        if (found := word.search(line.casefold())) is not None:
            start = line.rfind(" ", 0, max(found.start() - 30, 0)) + 1
            return ("… " if start else "") + line[start:].strip()
    return ""
