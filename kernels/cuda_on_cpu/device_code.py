"""A rung's text as C++ for the CPU: once for each set of knobs, or with reports of its steps."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import tree_sitter_cuda
from tree_sitter import Language, Node, Parser

from kernels.core.job import Job
from kernels.rungs.cuda_text import macros_in, without_decorations, without_literals
from kernels.rungs.headers import SMALLEST, knobs
from kernels.rungs.operands import example_of
from kernels.rungs.own_kernels import is_own
from kernels.rungs.rung import Rung

Knobs = tuple[tuple[str, str], ...]
HEADERS = sorted(Path(__file__).parent.glob("cuda_*.h"))
# What CUDA has as well, and operators that no macro may be called by.
OPERATORS = "and or not xor bitand bitor compl and_eq or_eq xor_eq not_eq"
KEPT = frozenset(f"NULL assert defined {OPERATORS}".split())
OWN_WORDS = "printf", "malloc", "memcpy", "memset", "clock", "clock64"  # instead of C's
GENERATED = "generated"  # as a file's name in the compiler's messages: what nobody wrote
STRICT_MACROS = ("CUDA_ON_CPU", "__CUDACC__", "__CUDACC_RTC__", "__CUDA_ARCH__")
# The linker's names for where the shared memory of one set of macros begins and ends.
SHARED_OF = (
    'extern "C" {{ __attribute__((weak, visibility("hidden"))) extern char '
    "__start_cuda_shared_{0}[], __stop_cuda_shared_{0}[]; }}"
)
# CUDA's own way to ask for shared memory of a size that the launch decides.
EXTERN_SHARED = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\(\s*\w+\s*\)\s*)?"
    r"((?:(?!extern\b)[\w:\s])+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)


def functions_of(rung: Rung) -> tuple[str, ...]:
    """The CUDA functions of its passes, each once."""
    return tuple(dict.fromkeys(each.function for each in rung.passes if not each.library))


def knobs_of(rung: Rung, job: Job) -> Knobs:
    return tuple(sorted(rung.defines(job).items()))


def key_of(knobs: Knobs) -> str:
    """Short key of a set of macros: the names of its functions in a library end with it."""
    return hashlib.sha256(repr(knobs).encode()).hexdigest()[:12]


def generated(
    rung: Rung,
    sets: Iterable[Knobs],
    written: Callable[[str], str] = lambda text: text,
    *headers: str,
) -> str:
    """C++ with the rung's whole text for each set of macros, in namespaces of their own.

    written  changes a part's text, line by line
    headers  to include besides
    """
    by_key = {key_of(knobs): knobs for knobs in sets}
    # First, or g++ would not take it from where it is parsed.
    included = (f'#include "{each}"' for each in ("cuda_cpu.h", *headers))
    shared = (SHARED_OF.format(key) for key in by_key)
    parts = (_one(rung, key, knobs, written) for key, knobs in by_key.items())
    return "\n".join((*included, *shared, *parts)) + "\n"


def _one(rung: Rung, key: str, knobs: Knobs, written: Callable[[str], str]) -> str:
    # extern "C" looks through namespaces, so the passes must have names of their own.
    passes = [(name, f"{name}_{key}") for name in functions_of(rung)]
    # Whatever the text does to macros ends with it: every set begins as the first.
    macros = ("__shared__", *STRICT_MACROS, *macros_in(rung.source, ("define", "undef")))
    lines = [f'#pragma push_macro("{name}")' for name in macros]
    lines += ["#pragma pack()", "#undef __shared__", f"#define __shared__ SHARED_OF({key})"]
    lines += [f"#define {name} {value}" for name, value in (*knobs, *passes)]
    # Without a name, so that nothing in it is ever shared between libraries.
    own = (f"using cuda_cpu::words::{name};" for name in OWN_WORDS)
    lines.append(f"namespace rung_{key} {{ namespace {{ {' '.join(own)}")
    lines += [written(with_words(_guarded(rung))), f'#line 1 "{GENERATED}"']
    # What follows is ours, whatever words the text has for itself.
    lines += [*(f'#pragma pop_macro("{name}")' for name in macros), "} }"]
    lines += [f"#undef {name}" for name, _ in (*knobs, *passes)]
    shared = f"__start_cuda_shared_{key}, __stop_cuda_shared_{key}"
    for _, unique in passes:
        lines += [
            f'extern "C" const char* launch_{unique}(const cuda_cpu::Launch* how, '
            f"void** arguments) {{ return cuda_cpu::launch(*how, rung_{key}::{unique}, "
            f"arguments, {{{shared}}}); }}"
        ]
    lines.append(
        f'extern "C" long static_shared_bytes_{key}() '
        f"{{ return __stop_cuda_shared_{key} - __start_cuda_shared_{key}; }}"
    )
    for name in example_of(rung.weights).constants:
        lines.append(f'extern "C" void* {name}_{key}() {{ return &rung_{key}::{name}; }}')
    return "\n".join(lines)


@cache
def _of_the_runtime() -> frozenset[str]:
    """Macros that its headers define, most of them words of CUDA."""
    found = (re.findall(r"^#define (\w+)", path.read_text("utf-8"), re.M) for path in HEADERS)
    return frozenset(chain.from_iterable(found))


def _hidden(rung: Rung) -> str:
    """Undefine what a text has for itself or does not have, but C's library defines as a macro.

    Names that begin with _ are refused where it asks for them.
    """
    code = without_literals(rung.source)
    conditions = re.findall(r"^\s*(?:#|%:)\s*(?:if|elif)(.*)", code, re.M)
    asked = {*re.findall(r"\w+", " ".join(conditions))}
    given = {*knobs(SMALLEST), *example_of(rung.weights).knobs, *functions_of(rung)}
    given |= {*re.findall(r"#[ \t]*define[ \t]+(\w+)", rung.text.removesuffix(rung.source))}
    kept = given | KEPT | (_of_the_runtime() - asked)
    words = {*re.findall(r"\b[A-Za-z]\w*", code)} - kept
    return "".join(f"#undef {word}\n" for word in sorted(words))


def _guarded(rung: Rung) -> str:
    """The rung's whole text; a user kernel's own part knows nothing of this compiler's."""
    if not is_own(rung.key):
        return rung.text
    headers, line, _ = rung.text.removesuffix(rung.source).rpartition("#line ")
    strict = "#define IS_STRICT\n" if rung.is_strict else ""
    hidden = _hidden(rung) if rung.is_strict else ""
    guard = f'#line 1 "{GENERATED}"\n{hidden}{strict}#include "user_text.h"\n'
    return f"{headers}{guard}{line}{rung.text[len(headers) + len(line) :]}"


def with_words(text: str) -> str:
    """Replace declarations that no macro can express, on the same lines."""

    def replaced(found: re.Match[str]) -> str:
        lines = "\n" * found[0].count("\n")
        before = text[: found.start()].rpartition("\n#line ")[2]  # of the same file
        is_inside = before.count("{") > before.count("}")
        word = "DYNAMIC_SHARED" if is_inside else "DYNAMIC_SHARED_FOR_ALL"
        return f"{word}({found[1]}, {found[2]});{lines}"

    return EXTERN_SHARED.sub(replaced, text)


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


class Point(NamedTuple):
    """A statement: the line that it begins in, the function it is of, and where it stands."""

    line: int
    function: str
    at: int


class Variable(NamedTuple):
    """A variable of a function, known from place `begin` of the text on, up to `end`."""

    name: str
    function: str
    begin: int
    end: int


@lru_cache(maxsize=TEXTS_KEPT)
def told(rung: Rung) -> Told:
    """The rung's own source, without its headers, with reports of its steps."""
    return Told(with_words(rung.source))


@cache
def parser() -> Parser:
    return Parser(Language(tree_sitter_cuda.language()))


class Told:
    """A source that reports its steps: where a thread is, and the values of its variables.

    Words of stepping.h are put between the text's own, on the same lines, for whatever the grammar
    knows to be a statement.  Only in the rung's own file: what headers do is part of its
    statements.  A loop stands in braces then, so `#pragma unroll` goes: clang rejects it where no
    loop follows.

    text    the source with these words in it, on as many lines
    shared  names of arrays in shared memory
    """

    def __init__(self, source: str) -> None:
        self.points: list[Point] = []
        self.variables: list[Variable] = []
        self.shared: list[str] = []
        self._text = text = UNROLL.sub(_blank, source.encode())
        self._insertions: list[tuple[int, str]] = []
        self._function = ""
        self._names: dict[str, int] = {}  # of the function's variables, to their numbers
        self._arrays: set[str] = set()
        self._dynamic = [
            (each.end(), self._saw_shared(each[2].decode())) for each in SHARED.finditer(text)
        ]
        bare = SHARED.sub(_blank, text)
        bare = without_decorations(bare.decode("latin-1")).encode("latin-1")  # in as many bytes
        for node in _functions(parser().parse(bare).root_node):
            self._write_function(node)
        parts, last = [], 0
        for at, words in sorted(self._insertions, key=lambda each: each[0]):
            parts += [text[last:at], words.encode()]
            last = at
        self.text = b"".join((*parts, text[last:])).decode()

    def _put(self, at: int, words: str) -> None:
        self._insertions.append((at, words))

    def _put_step(self, at: int, line: int) -> None:
        self._put(at, f"{NEXT}step({len(self.points)}); ")
        self.points.append(Point(line, self._function, at))

    def _saw_shared(self, name: str) -> str:
        self.shared.append(name)
        return f" {NEXT}saw_shared({len(self.shared) - 1}, {name}); "

    def _declare(self, name: str, begin: int, end: int) -> None:
        self._names[name] = len(self.variables)
        self.variables.append(Variable(name, self._function, begin, end))

    def _saw(self, name: str, lvalue: str = "", indices: tuple[str, ...] = ()) -> str:
        values = ", ".join((str(self._names[name]), lvalue or name, *indices))
        return f" {NEXT}saw({values}); "

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
        name, begin = declarator.child_by_field_name("declarator"), body.start_byte + 1
        self._function, self._names, self._arrays = _text(name) if name else "", {}, set()
        self._put(begin, f" {NEXT}Call {SELF}call; ")
        self._put_step(begin, declarator.start_point[0] + 1)
        parameters = declarator.child_by_field_name("parameters")
        for each in parameters.named_children if parameters else ():
            given = each.child_by_field_name("declarator")
            found, is_array = _declared(given) if given else ("", False)
            if found:
                self._declare(found, body.start_byte, body.end_byte)
                self._put(begin, "" if is_array else self._saw(found))
        for end, words in self._dynamic:
            if body.start_byte < end <= body.end_byte:
                self._put(end, words)
        self._write_children(body)

    def _write_children(self, node: Node) -> None:
        value = node.child_by_field_name("value") if node.type == "case_statement" else None
        for child in node.named_children:
            if child != value:
                self._write_statement(child, node)

    def _write_statement(self, node: Node, parent: Node) -> None:
        if node.type in CONTAINERS:
            self._write_children(node)
        elif node.has_error and node.type != "if_statement":
            for child in node.named_children:
                if child.type in STATEMENTS or child.type in CONTAINERS:
                    self._write_statement(child, node)
        elif node.type in STATEMENTS:
            if _text(node) != ";":
                self._put_step(node.start_byte, node.start_point[0] + 1)
            if node.type in LOOPS:
                self._write_loop(node)
            elif node.type == "if_statement":
                self._write_body(node.child_by_field_name("consequence"))
                other = node.child_by_field_name("alternative")
                for last in other.named_children[-1:] if other else ():
                    self._write_body(last)
            elif node.type == "switch_statement":
                self._write_body(node.child_by_field_name("body"))
            elif node.type == "declaration":
                while parent.parent and parent.type not in ("compound_statement", "case_statement"):
                    parent = parent.parent
                specifiers = self._text[node.start_byte : node.end_byte].split(b"=")[0]
                for each in node.children_by_field_name("declarator"):
                    name, is_array = _declared(each)
                    if name and b"__shared__" in specifiers:
                        self._put(node.end_byte, self._saw_shared(name))
                    elif name:
                        self._declare(name, node.end_byte, parent.end_byte)
                        if is_array:
                            self._arrays.add(name)
                        elif each.type == "init_declarator":
                            self._put(node.end_byte, self._saw(name))
            elif node.type == "expression_statement":
                self._write_assigned(node, node.end_byte)

    def _write_body(self, node: Node | None, first: str = "") -> None:
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
        number = len(self.points) - 1
        loop = f"{SELF}loop{number}"
        self._put(node.start_byte, f"{{ {NEXT}Loop {loop}({number}); ")
        seen, header = "", node.child_by_field_name("initializer")
        if header is not None and header.type == "declaration":
            for each in header.children_by_field_name("declarator"):
                name = _declared(each)[0] if each.type == "init_declarator" else ""
                if name:
                    self._declare(name, node.start_byte + 1, node.end_byte)
                    seen += self._saw(name)
        self._write_body(node.child_by_field_name("body"), f" {loop}.next(); {seen}")
        self._put(node.end_byte, " }")

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
            indices.insert(0, f"int({_text(index)[1:-1]})")
            node = node.named_children[0]
        name = _text(node)
        if node.type != "identifier" or name not in self._names or len(indices) > 2:
            return
        if bool(indices) == (name in self._arrays):
            self._put(at, self._saw(name, _text(target), tuple(indices)))


def _blank(found: re.Match[bytes]) -> bytes:
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


def _declared(declarator: Node) -> tuple[str, bool]:
    """The name that is declared, "" if none or several; and whether it is an array's."""
    node: Node | None = declarator
    is_array = is_pointer = False
    while node is not None and node.type != "identifier":
        is_pointer |= node.type == "pointer_declarator"
        is_array |= node.type == "array_declarator" and not is_pointer
        inner = node.child_by_field_name("declarator")
        inner = inner or next((e for e in node.named_children if "declarator" in e.type), None)
        is_last = inner is None and node.type == "reference_declarator"
        node = node.named_children[-1] if is_last else inner
    return _text(node) if node else "", is_array
