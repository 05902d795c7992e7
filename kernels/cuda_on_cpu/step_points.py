"""Statements of a rung's source that report where a thread is, and the values of its variables.

Words of stepping.h are put between the text's own, on the same lines, for whatever the grammar
knows to be a statement.  Only in the rung's own file: what headers do is part of its statements.
A loop stands in braces then, so `#pragma unroll` goes: clang rejects it where no loop follows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from kernels.cuda_on_cpu.device_code import with_words
from kernels.rungs.cuda_text import without_decorations
from kernels.rungs.rung import Rung

NEXT, SELF = "::cuda_cpu::", "cuda_cpu_"
UNROLL = re.compile(rb"^[ \t]*#[ \t]*pragma[ \t]+unroll[^\n]*", re.M)
SHARED = re.compile(rb"\bDYNAMIC_SHARED\(([^(),]*),\s*(\w+)\s*\)\s*;")
SPLIT = re.compile(rb"^[ \t]*#.*\n\s*else\b", re.M)  # from its if, by a directive
LOOPS = ("for_statement", "while_statement", "do_statement", "for_range_loop")
STATEMENTS = (
    *(*LOOPS, "declaration", "expression_statement", "if_statement", "switch_statement"),
    *("return_statement", "break_statement", "continue_statement"),
)
CONTAINERS = (
    *("compound_statement", "case_statement", "preproc_if", "preproc_ifdef", "preproc_else"),
    "preproc_elif",
)
NOT_REPEATED = ("call_expression", "update_expression", "assignment_expression")
TEXTS_KEPT = 8  # as users change theirs
ASSIGNMENTS = {"assignment_expression": "left", "update_expression": "argument"}


@dataclass(frozen=True, slots=True)
class Point:
    """A statement: the line that it begins in, the function it is of, and where it stands."""

    line: int
    function: str
    at: int


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a function, known from place `begin` of the text on, up to `end`."""

    name: str
    function: str
    begin: int
    end: int


@dataclass(eq=False)
class Told:
    """A source that reports its steps.

    shared  names of arrays in shared memory
    """

    text: str = ""
    points: list[Point] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)


@lru_cache(maxsize=TEXTS_KEPT)
def told(rung: Rung) -> Told:
    """The rung's own source, without its headers, with reports of its steps."""
    return told_in(with_words(rung.source))


def told_in(text: str) -> Told:
    """Any source with reports of its steps."""
    writer = _Writer(text.encode())
    writer.write()
    return writer.told


@cache
def parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


class _Writer:
    """Words to be put into a text, collected by place."""

    def __init__(self, text: bytes) -> None:
        self._text = UNROLL.sub(_blank, text)
        self._insertions: list[tuple[int, str]] = []
        self._function = ""
        self._names: dict[str, int] = {}  # of the function's variables, to their numbers
        self._arrays: set[str] = set()
        self._shared_at: list[tuple[int, int, int, str]] = []
        self.told = Told()

    def write(self) -> None:
        """Find all statements, and make the text."""
        for found in SHARED.finditer(self._text):
            number = len(self.told.shared)
            self.told.shared.append(found[2].decode())
            self._shared_at.append((found.start(), found.end(), number, found[2].decode()))
        bare = SHARED.sub(_blank, self._text)
        bare = without_decorations(bare.decode("latin-1")).encode("latin-1")  # in as many bytes
        for node in _functions(parser().parse(bare).root_node):
            self._write_function(node)
        parts, last = [], 0
        for at, words in sorted(self._insertions, key=lambda each: each[0]):
            parts += [self._text[last:at], words.encode()]
            last = at
        self.told.text = b"".join((*parts, self._text[last:])).decode()

    def _put(self, at: int, words: str) -> None:
        self._insertions.append((at, words))

    # -- functions

    def _write_function(self, node: Node) -> None:
        body, declarator = node.child_by_field_name("body"), node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            declarator = declarator.child_by_field_name("declarator")
        if body is None or declarator is None or body.type != "compound_statement":
            return
        if re.search(rb"\b(constexpr|consteval)\b", self._text[node.start_byte : body.start_byte]):
            return
        if SPLIT.search(self._text, body.start_byte, body.end_byte):
            return
        name = declarator.child_by_field_name("declarator")
        self._function = _text(name) if name else ""
        self._names, self._arrays = {}, set()
        self._put(body.start_byte + 1, f" {NEXT}Call {SELF}call; ")
        self._put_step(body.start_byte + 1, declarator.start_point[0] + 1)
        parameters = declarator.child_by_field_name("parameters")
        for each in parameters.named_children if parameters else ():
            given = each.child_by_field_name("declarator")
            if given is not None and (found := _declared(given)) is not None:
                self._declare(found, body.start_byte, body.end_byte)
                if not _has_array(given):
                    self._see(_text(found), body.start_byte + 1)
        for start, end, number, shared in self._shared_at:
            if body.start_byte < start < body.end_byte:
                self._put(end, f" {NEXT}saw_shared({number}, {shared}); ")
        self._write_children(body)

    def _declare(self, name: Node, begin: int, end: int) -> None:
        self._names[_text(name)] = len(self.told.variables)
        self.told.variables.append(Variable(_text(name), self._function, begin, end))

    def _see(self, name: str, at: int, lvalue: str = "", indices: tuple[str, ...] = ()) -> None:
        rest = "".join(f", {index}" for index in indices)
        self._put(at, f" {NEXT}saw({self._names[name]}, {lvalue or name}{rest}); ")

    # -- statements

    def _write_children(self, node: Node) -> None:
        value = node.child_by_field_name("value") if node.type == "case_statement" else None
        for child in node.named_children:
            if child != value:
                self._write_statement(child, node)

    def _write_statement(self, node: Node, parent: Node) -> None:
        if node.type in CONTAINERS:
            self._write_children(node)
        elif node.type in STATEMENTS and not node.has_error:
            if _text(node) != ";":
                self._put_step(node.start_byte, node.start_point[0] + 1)
            if node.type in LOOPS:
                self._write_loop(node)
            elif node.type == "if_statement":
                self._write_body(node.child_by_field_name("consequence"))
                other = node.child_by_field_name("alternative")
                if other is not None and other.named_children:
                    self._write_body(other.named_children[-1])
            elif node.type == "switch_statement":
                self._write_body(node.child_by_field_name("body"))
            elif node.type == "declaration":
                while parent.parent and parent.type not in ("compound_statement", "case_statement"):
                    parent = parent.parent
                self._write_declaration(node, parent.end_byte)
            elif node.type == "expression_statement":
                self._write_assigned(node, node.end_byte)
        elif node.has_error:
            for child in node.named_children:
                if child.type in STATEMENTS or child.type in CONTAINERS:
                    self._write_statement(child, node)

    def _put_step(self, at: int, line: int) -> None:
        number = len(self.told.points)
        self.told.points.append(Point(line, self._function, at))
        self._put(at, f"{NEXT}step({number}); ")

    def _write_body(self, node: Node | None, first: str = "") -> None:
        """Write the body of a loop or a branch, in braces of its own where it has none."""
        if node is None:
            return
        if node.type == "compound_statement":
            self._put(node.start_byte + 1, first)
            self._write_children(node)
            return
        self._put(node.start_byte, "{ " + first)
        self._write_statement(node, node)
        self._put(node.end_byte, " }")

    def _write_loop(self, node: Node) -> None:
        number = len(self.told.points) - 1
        loop = f"{SELF}loop{number}"
        self._put(node.start_byte, f"{{ {NEXT}Loop {loop}({number}); ")
        seen = ""
        header = node.child_by_field_name("initializer")
        if header is not None and header.type == "declaration":
            given = header.children_by_field_name("declarator")
            names = [_declared(each) for each in given if each.type == "init_declarator"]
            for name in filter(None, names):
                self._declare(name, node.start_byte + 1, node.end_byte)
                seen += f"{NEXT}saw({self._names[_text(name)]}, {_text(name)}); "
        self._write_body(node.child_by_field_name("body"), f" {loop}.next(); {seen}")
        self._put(node.end_byte, " }")

    def _write_declaration(self, node: Node, scope_end: int) -> None:
        specifiers = self._text[node.start_byte : node.end_byte].split(b"=")[0]
        for each in node.children_by_field_name("declarator"):
            name = _declared(each)
            if name is None:
                continue
            if b"__shared__" in specifiers:
                number = len(self.told.shared)
                self.told.shared.append(_text(name))
                self._put(node.end_byte, f" {NEXT}saw_shared({number}, {_text(name)}); ")
                continue
            self._declare(name, node.end_byte, scope_end)
            if _has_array(each):
                self._arrays.add(_text(name))
            elif each.type == "init_declarator":
                self._see(_text(name), node.end_byte)

    def _write_assigned(self, node: Node, at: int) -> None:
        if node.type == "lambda_expression":
            return
        if node.type in ASSIGNMENTS:
            target = node.child_by_field_name(ASSIGNMENTS[node.type])
            if target is not None:
                self._write_target(target, at)
        for child in node.named_children:
            self._write_assigned(child, at)

    def _write_target(self, target: Node, at: int) -> None:
        indices: list[str] = []
        node = target
        while node.type == "subscript_expression":
            (*_, index) = node.named_children
            if any(each.type in NOT_REPEATED for each in _all(index)):
                return
            indices.insert(0, _text(index)[1:-1])
            node = node.named_children[0]
        name = _text(node)
        if node.type != "identifier" or name not in self._names or len(indices) > 2:
            return
        if bool(indices) == (name in self._arrays):
            self._see(name, at, _text(target), tuple(f"int({index})" for index in indices))


def _blank(found: re.Match[bytes]) -> bytes:
    """Spaces in place of a match, on as many lines."""
    return re.sub(rb"[^\n]", b" ", found[0])


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def _all(node: Node) -> Iterator[Node]:
    yield node
    for child in node.named_children:
        yield from _all(child)


def _functions(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type == "function_definition":
            yield child
        else:
            yield from _functions(child)


def _inner(node: Node) -> Node | None:
    found = node.child_by_field_name("declarator")
    return found or next((each for each in node.named_children if "declarator" in each.type), None)


def _declared(node: Node) -> Node | None:
    """The name that a declarator declares; None: none, or several."""
    while node.type != "identifier":
        inner = _inner(node)
        if inner is None and node.type == "reference_declarator":
            inner = node.named_children[-1]
        if inner is None:
            return None
        node = inner
    return node


def _has_array(node: Node | None) -> bool:
    while node is not None and node.type not in ("identifier", "pointer_declarator"):
        if node.type == "array_declarator":
            return True
        node = _inner(node)
    return False
