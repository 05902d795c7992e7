"""Lists the small faults that can be planted in a Python file, as replacements in its text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

# Numbers and calls that only move or name things: no test should hold them.
COSMETIC = {
    *("setContentsMargins", "setSpacing", "addSpacing", "addStretch", "setFixedWidth"),
    *("setFixedHeight", "setFixedSize", "setMinimumWidth", "setMinimumHeight", "setMaximumWidth"),
    *("setMinimumSize", "setMaximumHeight", "setObjectName", "setWordWrap", "setSizePolicy"),
    *("setAlignment", "setFrameShape", "setTextFormat", "setIndent", "setMargin", "update"),
    *("setHorizontalSpacing", "setVerticalSpacing", "setStyleSheet", "QSize", "QMargins"),
    *("TypeVar", "cast", "field", "lru_cache", "getLogger", "updateGeometry", "setFlags"),
}
# Where things lie to the pixel is what the snapshots of whole windows are for.
LAYOUT = ("paint", "draw_", "sizeHint", "minimumSizeHint", "resizeEvent", "heightForWidth")
OF_NUMBERS = {"sign turned", "term dropped", "constant changed", "bound moved", "opposite"}
OF_NUMBERS |= {"arguments swapped", "units"}
UNITS = {1000, 1e-3, 1e6, 1e-6, 1e9, 1e-9, 1024, 1 << 20, 1 << 30, 100}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn},
    **{ast.NotIn: ast.In},
}
BOUNDS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult},
    **{ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr},
    **{ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift, ast.RShift: ast.LShift},
}
OPPOSITES = {"min": "max", "max": "min", "floor": "ceil", "ceil": "floor", "any": "all"}
OPPOSITES |= {"all": "any", "minimum": "maximum", "maximum": "minimum", "nanmin": "nanmax"}
PASSED_ON = {"clip", "abs", "round", "rint", "reversed", "sorted", "ascontiguousarray"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One fault: `new` in place of the text from `start` to `end` (offsets in characters)."""

    path: str
    function: str  # the innermost function's qualified name; "" in a module's or a class's body
    line: int
    kind: str
    start: int
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        """Names it whatever else stands in the file, as long as its function stays."""
        return f"{self.path}::{self.function}::{self.kind}::{self.old}::{self.new}"

    def planted(self, text: str) -> str:
        """Returns the file's `text` with the fault in it."""
        if text[self.start : self.end] != self.old:
            raise ValueError(f"{self.path} has changed at line {self.line}")
        return text[: self.start] + self.new + text[self.end :]


def mutants(path: str, text: str) -> list[Mutant]:
    """Lists every fault that can be planted in `text`; a few of them may not compile."""
    found = {each.name: each for each in _Finder(path, text).walk() if each.old != each.new}
    return list(found.values())


def compiles(text: str) -> bool:
    """Tells whether `text` is Python."""
    try:
        compile(text, "planted", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


class _Finder:
    """Walks one file's tree and remembers in which function it is."""

    def __init__(self, path: str, text: str) -> None:
        self.path, self.text = path, text
        lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in lines:
            self._starts.append(self._starts[-1] + len(line))
        self._lines = [line.encode() for line in lines]

    def walk(self) -> Iterator[Mutant]:
        """Yields the faults of the whole file."""
        yield from self._body(ast.parse(self.text).body, "", None)

    def _body(self, nodes: list[ast.AST] | list[ast.stmt], inside: str, whole: ast.AST | None):
        for node in nodes:
            yield from self._node(node, inside, whole)

    def _node(self, node: ast.AST, inside: str, whole: ast.AST | None) -> Iterator[Mutant]:
        """`whole` is the f-string that `node` lies in: only that has a place in the text."""
        if _left_out(node):
            return
        is_layout = inside.rpartition(".")[2].strip("_").startswith(LAYOUT)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{inside}.{node.name}".lstrip(".")
            arguments = [] if isinstance(node, ast.ClassDef) else _defaults(node.args)
            yield from self._body(arguments, name, whole)
            yield from self._body(node.body, name, whole)
            return
        for kind, replaced in _faults(node):
            if is_layout and kind in OF_NUMBERS:
                continue
            yield from self._mutant(kind, node, replaced, inside, whole)
        whole = whole or (node if isinstance(node, ast.JoinedStr) else None)
        yield from self._body(list(_children(node)), inside, whole)

    def _mutant(self, kind, node, replaced, inside, whole) -> Iterator[Mutant]:
        place = whole or node
        start, end = self._offset(place), self._offset(place, end=True)
        new = _unparsed(replaced, node) if whole is None else _within(whole, node, replaced)
        old = self.text[start:end]
        yield Mutant(self.path, inside, place.lineno, kind, start, end, old, new)

    def _offset(self, node: ast.AST, end: bool = False) -> int:
        line = (node.end_lineno if end else node.lineno) - 1
        column = node.end_col_offset if end else node.col_offset
        return self._starts[line] + len(self._lines[line][:column].decode())


def _left_out(node: ast.AST) -> bool:
    """Docstrings, imports and what only type checkers read."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Import() | ast.ImportFrom() | ast.Raise():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assert():
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case (ast.Call() as call) | ast.Expr(value=ast.Call() as call):
            return _called(call) in COSMETIC
    return False


def _defaults(arguments: ast.arguments) -> list[ast.AST]:
    return [each for each in (*arguments.defaults, *arguments.kw_defaults) if each is not None]


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What lies in `node`, without what are types: annotations, classes asked for or caught."""
    types = {"annotation", "returns", "decorator_list", "type_params", "pattern"}
    if isinstance(node, ast.ExceptHandler):
        types.add("type")
    if isinstance(node, ast.Call) and _called(node) in ("isinstance", "issubclass"):
        types.add("args")
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        types.add("comparators")  # what is looked for in has no order
    for name, value in ast.iter_fields(node):
        if name in types or (isinstance(node, ast.Subscript) and _is_type(node)):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield each


def _is_type(node: ast.Subscript) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("type", "list", "dict", "tuple")


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _unparsed(replaced: ast.AST, node: ast.AST) -> str:
    text = ast.unparse(replaced)
    return text if isinstance(node, ast.stmt | ast.Constant) else f"({text})"


def _within(whole: ast.AST, node: ast.AST, replaced: ast.AST) -> str:
    """The f-string with `replaced` in place of `node`, found by its place among all nodes."""
    at = next(index for index, each in enumerate(ast.walk(whole)) if each is node)
    copy = deepcopy(whole)
    target = list(ast.walk(copy))[at]

    class Replace(ast.NodeTransformer):
        def visit(self, each: ast.AST) -> ast.AST:
            return replaced if each is target else self.generic_visit(each)

    return ast.unparse(Replace().visit(copy))


def _faults(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yields the kind of each fault that `node` can have, and what stands there instead."""
    match node:
        case ast.Expr(value=ast.Call() as call):
            kind = "connect removed" if _called(call) == "connect" else "call removed"
            yield kind, ast.Pass()
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return value replaced", ast.Return(ast.Constant(None))
        case ast.AugAssign(op=op) if type(op) in ARITHMETIC:
            yield "sign turned", _with(node, op=ARITHMETIC[type(op)]())
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "branches swapped", ast.IfExp(test, orelse, body)
        case ast.expr():
            yield from _in_expression(node)


def _in_expression(node: ast.expr) -> Iterator[tuple[str, ast.AST]]:
    match node:
        case ast.Compare(ops=[op, *_]) if type(op) in COMPARISONS:
            yield "comparison turned", _with(node, ops=[COMPARISONS[type(op)](), *node.ops[1:]])
            if type(op) in BOUNDS:
                yield "bound moved", _with(node, ops=[BOUNDS[type(op)](), *node.ops[1:]])
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            if not (_is_text(left) or _is_text(right)):
                yield "sign turned", _with(node, op=ARITHMETIC[type(op)]())
            yield "term dropped", left
            yield "term dropped", right
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield "not dropped" if isinstance(node.op, ast.Not) else "sign turned", operand
        case ast.BoolOp(op=op, values=values):
            yield "and is or", _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
            yield "term dropped", _with(node, values=values[1:]) if values[2:] else values[1]
        case ast.Constant(value=value):
            yield from _other_constants(value)
        case ast.Call():
            yield from _in_call(node)
        case ast.Subscript(slice=ast.Slice() as part):
            yield from _other_slices(node, part)
        case ast.Dict(keys=[_, _, *_], values=[one, two, *more]):
            yield "values swapped", _with(node, values=[two, one, *more])
        case ast.Tuple(ctx=ast.Load(), elts=[_, _, *_]) | ast.List(elts=[_, _, *_]):
            yield "order reversed", _with(node, elts=node.elts[::-1])


def _other_constants(value: object) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(value, bool):
        yield "constant changed", ast.Constant(not value)
    elif isinstance(value, int | float) and value in UNITS:
        yield "units", ast.Constant(value * 1000)
    elif isinstance(value, int):
        yield "constant changed", ast.Constant(value + 1)
    elif isinstance(value, float):
        yield "constant changed", ast.Constant(value * 2)


def _in_call(node: ast.Call) -> Iterator[tuple[str, ast.AST]]:
    name, positional = _called(node), node.args
    if name in OPPOSITES:
        yield "opposite", _with(node, func=_renamed(node.func, OPPOSITES[name]))
    if name in PASSED_ON and positional and not isinstance(positional[0], ast.Starred):
        yield "call left out", positional[0]
    if name in ("sorted", "reversed") and positional:
        order = ast.Call(ast.Name("list"), [node], [])
        reverse = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
        yield "order reversed", ast.Subscript(order, reverse, ast.Load())
    if len(positional) > 1 and name not in ("isinstance", "issubclass", "getattr", *OPPOSITES):
        yield "arguments swapped", _with(node, args=[*positional[1::-1], *positional[2:]])
    for index, word in enumerate(node.keywords):
        if word.arg == "reverse" or (word.arg == "key" and name == "sorted"):
            rest = [*node.keywords[:index], *node.keywords[index + 1 :]]
            yield "order reversed", _with(node, keywords=rest)


def _other_slices(node: ast.Subscript, part: ast.Slice) -> Iterator[tuple[str, ast.AST]]:
    for name in ("lower", "upper", "step"):
        if getattr(part, name) is not None:
            yield "slice", _with(node, slice=_with(part, **{name: None}))


def _renamed(function: ast.expr, name: str) -> ast.expr:
    return _with(function, **({"id": name} if isinstance(function, ast.Name) else {"attr": name}))


def _with(node: ast.AST, **changed: object) -> ast.AST:
    fields = {name: getattr(node, name, None) for name in node._fields}
    return type(node)(**{**fields, **changed})


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
