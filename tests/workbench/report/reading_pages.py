"""A page as tests see it: its elements in order, and its tables as rows of text."""

from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

VOID = ("meta", "img", "br", "link", "input")


@dataclass(eq=False)
class Element:
    """pieces: of text, its own and of all within."""

    tag: str
    attributes: dict
    parent: "Element | None" = field(repr=False)
    pieces: list = field(default_factory=list, repr=False)
    inside: list = field(default_factory=list, repr=False)

    def all(self, *tags):
        """Those within, in the page's order."""
        return [each for each in self.inside if each.tag in tags]

    @cached_property
    def text(self):
        return "".join(self.pieces)

    @cached_property
    def words(self):
        return " ".join(self.text.split())


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.root = self.open = Element("page", {}, None)

    def handle_starttag(self, tag, attributes):
        element = Element(tag, dict(attributes), self.open)
        for outer in outwards(self.open):
            outer.inside.append(element)
        if tag not in VOID:
            self.open = element

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.tag == tag, f"</{tag}> inside <{self.open.tag}>"
        self.open = self.open.parent

    def handle_data(self, data):
        for outer in outwards(self.open):
            outer.pieces.append(data)


def outwards(element):
    while element is not None:
        yield element
        element = element.parent


def read_page(text):
    """The page as one Element; fails where elements are not closed in order."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open is reader.root, f"<{reader.open.tag}> is never closed"
    return reader.root


def table(page, part_of_caption):
    """The one table whose caption holds these words: a list of {column: text}."""
    (found,) = [
        each for each in page.all("table") if part_of_caption in each.all("caption")[0].words
    ]
    head, *rows = [[cell.words for cell in row.all("th", "td")] for row in found.all("tr")]
    return [dict(zip(head, row, strict=True)) for row in rows]
