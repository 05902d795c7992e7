"""Help with typing code: brackets, indents, comments, braces; each is one step of undo."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextBlock, QTextCursor

from workbench.widgets.code_view import one_step

OPENING, CLOSING = "([{", ")]}"
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\n])*"?|' + r"'(?:\\.|[^'\\\n])*'?", re.S
)

BEYOND = re.compile("[\U00010000-\U0010ffff]")  # letters that Qt counts as two


def bracket_pair(text: str, at: int) -> tuple[int, int] | None:
    """The places of the bracket beside the cursor and of its other half, or -1 for that.

    at  the cursor; a bracket behind it goes before one in front of it
    """
    text = BEYOND.sub("  ", text)
    code = NO_CODE.sub(lambda found: " " * len(found[0]), text)
    for place in (at, at - 1):
        if 0 <= place < len(code) and code[place] in OPENING + CLOSING:
            return place, _other_half(code, place)
    return None


def _other_half(code: str, place: int) -> int:
    """The place of the other half; -1: it is missing, or of another kind."""
    step = 1 if code[place] in OPENING else -1
    deeper, wanted = (OPENING, CLOSING)[::step]
    waiting: list[str] = []
    for at in range(place, len(code) if step == 1 else -1, step):
        letter = code[at]
        if letter in deeper:
            waiting.append(wanted[deeper.index(letter)])
        elif letter in wanted:
            if letter != waiting.pop():
                return -1
            if not waiting:
                return at
    return -1


STEP = 4  # spaces
COMMENT = re.compile(r"(\s*)// ?")
Move = QTextCursor.MoveOperation
KEEP = QTextCursor.MoveMode.KeepAnchor


def indent(cursor: QTextCursor) -> None:
    """Move the selected lines right; without a selection, go to the next stop."""
    with one_step(cursor):
        if not cursor.hasSelection():
            cursor.insertText(" " * (STEP - cursor.positionInBlock() % STEP))
            return
        for block in selected_lines(cursor):
            if block.text().strip():
                QTextCursor(block).insertText(" " * STEP)


def dedent(cursor: QTextCursor) -> None:
    """Move the selected lines, or that of the cursor, left by a stop."""
    with one_step(cursor):
        for block in selected_lines(cursor):
            spaces = _indentation(block.text())
            _remove(block, 0, (spaces % STEP or STEP) if spaces else 0)


def break_line(cursor: QTextCursor) -> None:
    """Begin a line that is indented as the one before, one stop more behind a brace."""
    with one_step(cursor):
        cursor.removeSelectedText()
        before = cursor.block().text()[: cursor.positionInBlock()]
        behind = cursor.block().text()[cursor.positionInBlock() :]
        spaces = _indentation(before)
        opens = before.rstrip().endswith("{")
        cursor.insertText("\n" + " " * (spaces + STEP * opens))
        if opens and behind.startswith("}"):
            cursor.insertText("\n" + " " * spaces)
            cursor.movePosition(Move.PreviousBlock)
            cursor.movePosition(Move.EndOfBlock)


def close_brace(cursor: QTextCursor) -> None:
    """Write a closing brace; one that begins its line moves a stop left."""
    with one_step(cursor):
        cursor.removeSelectedText()
        before = cursor.block().text()[: cursor.positionInBlock()]
        if before and not before.strip():
            _remove(cursor.block(), 0, min(STEP, len(before)))
        cursor.insertText("}")


def delete_stop(cursor: QTextCursor) -> bool:
    """Remove spaces back to the stop before; False: there is something else."""
    place = cursor.positionInBlock()
    before = cursor.block().text()[:place]
    if cursor.hasSelection() or not before or before.strip(" "):
        return False
    with one_step(cursor):
        _remove(cursor.block(), place - (place % STEP or STEP), place)
    return True


def toggle_comment(cursor: QTextCursor) -> None:
    """Put // before the selected lines, or take it away where all of them have it."""
    lines = [block for block in selected_lines(cursor) if block.text().strip()]
    with one_step(cursor):
        if lines and all(COMMENT.match(block.text()) for block in lines):
            for block in lines:
                found = COMMENT.match(block.text())
                assert found is not None
                _remove(block, found.end(1), found.end())
            return
        column = min((_indentation(block.text()) for block in lines), default=0)
        for block in lines:
            at = QTextCursor(block)
            at.setPosition(block.position() + column)
            at.insertText("// ")


def selected_lines(cursor: QTextCursor) -> list[QTextBlock]:
    """The lines that the selection touches; where it ends at a line's start, not that one."""
    document = cursor.document()
    first = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    if last.position() == cursor.selectionEnd() and last.blockNumber() > first.blockNumber():
        last = last.previous()
    numbers = range(first.blockNumber(), last.blockNumber() + 1)
    return [document.findBlockByNumber(number) for number in numbers]


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _remove(block: QTextBlock, begin: int, end: int) -> None:
    cursor = QTextCursor(block)
    cursor.setPosition(block.position() + begin)
    cursor.setPosition(block.position() + end, KEEP)
    cursor.removeSelectedText()
