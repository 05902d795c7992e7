"""A page as tests see it: its elements in order, and its tables as rows of text."""

from functools import cached_property
from html.parser import HTMLParser

VOID = ("meta", "img", "br", "link", "input")


class Page:
    """All elements of a page and all pieces of its text, in its order."""

    def __init__(self):
        self.elements, self.pieces = [], []


class Element:
    """One element; what is within it is a part of the page's lists."""

    def __init__(self, tag, attributes, parent, page):
        self.tag, self.attributes, self.parent, self._page = tag, attributes, parent, page
        page.elements.append(self)
        self._begin = self._end = len(page.elements), len(page.pieces)

    def end(self):
        """Have within it all that the page has got since it began."""
        self._end = len(self._page.elements), len(self._page.pieces)

    @property
    def inside(self):
        """Those within, in the page's order."""
        return self._page.elements[self._begin[0] : self._end[0]]

    def all(self, *tags):
        """Those within of these kinds, in the page's order."""
        return [each for each in self.inside if each.tag in tags]

    @cached_property
    def text(self):
        return "".join(self._page.pieces[self._begin[1] : self._end[1]])

    @cached_property
    def words(self):
        return " ".join(self.text.split())


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self._page = Page()
        self.root = self.open = Element("page", {}, None, self._page)

    def handle_starttag(self, tag, attributes):
        element = Element(tag, dict(attributes), self.open, self._page)
        if tag not in VOID:
            self.open = element

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.tag == tag, f"</{tag}> inside <{self.open.tag}>"
        self.open.end()
        self.open = self.open.parent

    def handle_data(self, data):
        self._page.pieces.append(data)


def read_page(text):
    """The page as one Element; fails where elements are not closed in order."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.open is reader.root, f"<{reader.open.tag}> is never closed"
    reader.root.end()
    return reader.root


def table(page, part_of_caption):
    """The one table whose caption holds these words: a list of {column: text}."""
    (found,) = [
        each for each in page.all("table") if part_of_caption in each.all("caption")[0].words
    ]
    head, *rows = [[cell.words for cell in row.all("th", "td")] for row in found.all("tr")]
    return [dict(zip(head, row, strict=True)) for row in rows]
