"""The expressions of headers: numbers, names and arithmetic, and nothing that could do harm.

A header may be somebody else's, and is read before anybody has looked at it.  So there are no
attributes, no other functions than those that a name stands for, nothing of unbounded size, and
what takes long cannot be written.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from types import CodeType
from typing import Any

from kernels.core.errors import CannotRunError

MAX_CHARACTERS = 2000
MAX_EXPONENT = 8
MAX_SHIFT = 32
TEXTS = frozenset({"SAMPLE", "BORDER", "OFFSET"})  # names that stand for text
ARITHMETIC = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.BitAnd, ast.BitOr, ast.BitXor),
)
PLAIN = (ast.UnaryOp, ast.BoolOp, ast.IfExp, ast.Name, ast.Load, ast.unaryop, ast.boolop, ast.cmpop)


class _HarmfulError(ValueError):
    """An expression has something in it that headers do without."""


def why_not_expression(text: str, known: frozenset[str]) -> str:
    """Say what is wrong with an expression over the names in `known`; empty: nothing."""
    return _why_not(text, known, is_template=False)


def why_not_template(text: str, known: frozenset[str]) -> str:
    """Say what is wrong with a sentence with {expressions} over `known`; empty: nothing."""
    return _why_not(text, known, is_template=True)


def value_of(expression: str, values: Mapping[str, Any]) -> int:
    """Return what `expression` comes to, as an integer.

    Raises CannotRunError where it comes to nothing: a division by zero.
    """
    try:
        return int(eval(_compiled(expression), {"__builtins__": {}}, values))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise _comes_to_nothing(expression, error) from error


def text_of(template: str, values: Mapping[str, Any]) -> str:
    """Return `template` with each {expression} replaced by its value.  Raises CannotRunError."""
    try:
        return str(eval(_compiled(_of_template(template)), {"__builtins__": {}}, values))
    except (ArithmeticError, TypeError, ValueError) as error:
        raise _comes_to_nothing(template, error) from error


def _comes_to_nothing(expression: str, error: Exception) -> CannotRunError:
    return CannotRunError(
        f"The header's {expression.strip()!r} comes to nothing for this job: {error}."
    )


def _of_template(text: str) -> str:
    return f"f{text!r}"


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression.strip(), "<header>", "eval")


def _why_not(text: str, known: frozenset[str], *, is_template: bool) -> str:
    if len(text) > MAX_CHARACTERS:
        return f"it has {len(text)} characters, and may have {MAX_CHARACTERS}"
    try:
        tree = ast.parse(_of_template(text) if is_template else text.strip(), "<header>", "eval")
        if is_template:
            _refuse_harm_in_sentence(tree.body)
        else:
            _refuse_harm(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        return f"{text!r} is not an expression: {reason}"
    used = [each.id for each in ast.walk(tree) if isinstance(each, ast.Name)]
    unknown = next((name for name in used if name not in known), "")
    if not unknown:
        return ""
    near = get_close_matches(unknown, known, 1)
    guess = f"; the nearest is {near[0]}" if near else ""
    return f"{text!r} asks for {unknown}, which there is not{guess}"


def _refuse_harm(node: ast.AST) -> None:
    """Raise _HarmfulError unless `node` is arithmetic all through."""
    if isinstance(node, ast.BinOp):
        _refuse_growth(node)
    elif isinstance(node, ast.Call):
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise _HarmfulError("only functions with a name are called")
    elif isinstance(node, ast.Constant):
        if not isinstance(node.value, int | float):
            raise _HarmfulError(f"{node.value!r} is no number")
    elif _is_text(node):
        raise _HarmfulError("text can be compared, and no more")
    elif isinstance(node, ast.Compare):
        for compared in (node.left, *node.comparators):
            if not _is_text(compared):
                _refuse_harm(compared)
        return
    elif not isinstance(node, PLAIN):
        raise _HarmfulError(f"{type(node).__name__} is no arithmetic")
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.operator):
            _refuse_harm(each)


def _refuse_harm_in_sentence(sentence: ast.expr) -> None:
    for part in getattr(sentence, "values", ()):  # none where there are no braces
        if not isinstance(part, ast.FormattedValue):
            continue
        if part.format_spec is not None or part.conversion != -1:
            raise _HarmfulError("within braces stands an expression alone")
        if not _is_text(part.value):
            _refuse_harm(part.value)


def _is_text(node: ast.AST) -> bool:
    """Return whether `node` is text, which is for comparing: SAMPLE == 'uint8'."""
    if isinstance(node, ast.Name):
        return node.id in TEXTS
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _refuse_growth(node: ast.BinOp) -> None:
    """Raise _HarmfulError for numbers that could have any number of digits."""
    if isinstance(node.op, ARITHMETIC):
        return
    of_power = isinstance(node.op, ast.Pow)
    most = MAX_EXPONENT if of_power else MAX_SHIFT
    right = node.right.value if isinstance(node.right, ast.Constant) else None
    if not isinstance(right, int) or not 0 <= right <= most:
        raise _HarmfulError(f"a power or a shift is by a number from 0 to {most}")
    if of_power and any(_is_power(each) for each in ast.walk(node.left)):
        raise _HarmfulError("a power is of no other power")


def _is_power(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
