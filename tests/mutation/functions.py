"""Says in which function each line of a Python file lies."""

from __future__ import annotations

import ast


def functions_by_line(text: str) -> dict[int, str]:
    """Maps the lines of functions' bodies to the innermost function's qualified name."""
    found: dict[int, str] = {}

    def walk(node: ast.AST, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = inside
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{inside}.{child.name}".lstrip(".")
                if not isinstance(child, ast.ClassDef):
                    last = child.end_lineno or 0
                    found.update(dict.fromkeys(range(child.body[0].lineno, last + 1), name))
            walk(child, name)

    walk(ast.parse(text), "")
    return found
