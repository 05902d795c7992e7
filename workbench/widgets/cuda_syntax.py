"""The grammar of CUDA C++, by tree-sitter: what each part of a text is, if it compiles or not."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser, Query, QueryCursor

Span = tuple[int, int, str]  # begin and length within a line, as Qt counts letters; the kind
ENCODING = "utf-16-le"  # two bytes for what Qt counts as one letter
KINDS = """
(comment) @comment
[(string_literal) (char_literal) (raw_string_literal) (system_lib_string)] @text
(number_literal) @number
[(primitive_type) (type_identifier) (placeholder_type_specifier) (true) (false) (this)] @word
[(preproc_call) (preproc_directive)] @directive
(identifier) @name
"""
# The group: a comment that is not closed, which the grammar takes for something else.
COMMENTS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(/\*)', re.DOTALL)
BUILT_IN = (
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
)  # and all that begin with __
MAX_LETTERS = 1 << 20  # of a line: up to its end
# Where two of them meet the one further right counts.
RANK = ("number", "word", "special", "directive", "text", "comment")


def spans_of(text: str) -> list[tuple[Span, ...]]:
    """Return the parts of each line that have a kind, one of RANK, in an order of their own.

    A line that stays has the same parts in the same order: else it would be coloured anew.
    """
    parser, query = _grammar()
    is_open = any(each[1] for each in COMMENTS.finditer(text))
    coded = (f"{text}*/" if is_open else text).encode(ENCODING, "surrogatepass")
    tree = parser.parse(coded, encoding="utf16le")
    lines: list[list[Span]] = [[] for _ in range(text.count("\n") + 1)]
    found = QueryCursor(query).captures(tree.root_node)
    found.setdefault("special", []).extend(filter(_is_built_in, found.pop("name", ())))
    for kind in RANK:
        for node in sorted(found.get(kind, ()), key=_place):
            (first, begin), (last, end) = node.start_point, node.end_point
            for line in range(first, min(last, len(lines) - 1) + 1):
                left = begin // 2 if line == first else 0
                right = end // 2 if line == last else MAX_LETTERS
                if right > left:
                    lines[line].append((left, right - left, kind))
    return [tuple(line) for line in lines]


def _place(node: Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _is_built_in(node: Node) -> bool:
    name = (node.text or b"").decode(ENCODING, "replace")
    return name in BUILT_IN or name.startswith("__")


@cache
def _grammar() -> tuple[Parser, Query]:
    language = Language(tree_sitter_cuda.language())
    kinds = {
        language.node_kind_for_id(number)
        for number in range(language.node_kind_count)
        if language.node_kind_is_visible(number) and not language.node_kind_is_named(number)
    }
    words = {kind for kind in kinds if kind and kind.replace("_", "a").isalnum()}
    query = [
        KINDS,
        _any_of((word for word in words if word.startswith("__")), "special"),
        _any_of((word for word in words if not word.startswith("__")), "word"),
        _any_of((kind for kind in kinds if kind and kind.startswith("#")), "directive"),
    ]
    return Parser(language), Query(language, "\n".join(query))


def _any_of(words: Iterable[str], kind: str) -> str:
    return "[" + " ".join(f'"{word}"' for word in sorted(words)) + f"] @{kind}"
