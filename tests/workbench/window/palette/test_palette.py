"""The palette finds everything there is to do, and the page of keys shows every key."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QTreeView

from kernels import filters
from kernels.pictures.generated import noise
from kernels.sweeps.plan_files import presets
from tests.workbench.driving import child, ready, settle, until
from workbench.model import intents
from workbench.widgets.actions import menu_lines
from workbench.window.palette import Palette, PaletteEntry, find

# -- finding


def names(query, *texts):
    found, is_right = find([PaletteEntry(t, "Menu", lambda: 0) for t in texts], query)
    return [each.name for each in found] if is_right else []


def test_names_are_found_by_initials_starts_and_words_in_any_order():
    assert names("gbl", "Gaussian blur") == ["Gaussian blur"]
    assert names("lbg", "Gaussian blur") == []
    assert names("tint", "Find the bug in the kernel") == []
    assert names("", "Gaussian blur", "Box blur") == ["Gaussian blur", "Box blur"]
    texts = ("Copy comparison", "Next implementation", "Close all sessions", "Open session")
    assert names("os", *texts)[0] == "Open session"
    assert names("cc", *texts)[0] == "Copy comparison"
    assert names("blur gau", "Box blur", "Gaussian blur") == ["Gaussian blur"]
    assert names("menu box", "Box blur", "Gaussian blur") == ["Box blur"]
    texts = ("Zoom out", "Zoom in", "Sharpen")
    assert names("please zoom into the picture", *texts) == []
    assert names("please zoom in, my picture!", *texts)[0] == "Zoom in"
    assert names("top_hat", "Top-hat") == ["Top-hat"]


def test_what_cannot_be_done_comes_last():
    able, not_able = (
        PaletteEntry("Save b", "", lambda: 0),
        PaletteEntry("Save", "", lambda: 0, reason="No."),
    )
    assert find([not_able, able], "save") == ([able, not_able], True)


FASTEST = "Compare all implementations"
# By the answer, or "~ the nearest" where there is none, what people type.
TYPED = {
    "Bilateral": "noise, denoise, reduce noise",
    "~ Custom weights": "make brighter, invert, invert colors",
    "~": "xyzzy, add noise, film grain, vintage, sepia, saturation, warm colors, mirror, rotate",
    "Grey": "grey, gray, convert to grayscale, greyscale, black and white",
    "Median": "remove dots, dust",
    "Non-local means": "grain",
    "Gaussian blur": "soften, blurring, low-pass",
    "~ Box blur": "motion blur, resize, pixelate, moon",
    "~ Gaussian blur": "bokeh, gausian",
    "Edges": "contour, outline, edge, find edges",
    "~ Edges": "canny",
    "~ Sobel X": "scharr",
    "Laplacian": "high pass",
    "Laplacian of Gaussian": "band pass",
    "Unsharp mask": "unsharp",
    "Sharpen": "crisp",
    "~ Sharpen": "deblur, sharpn",
    "~ Unsharp mask": "contrast, hdr, dehaze",
    "~ Median": "remove red eye",
    "~ Bilateral": "cartoon",
    "~ Percentile": "threshold",
    "~ Minimum (erosion)": "skeleton",
    "Closing": "fill holes",
    "Top-hat": "stars",
    "Emboss": "relief",
}


@pytest.fixture(scope="module")
def all_entries():
    return []


@pytest.mark.parametrize(
    ("typed", "answer"), [(word, answer) for answer in TYPED for word in TYPED[answer].split(", ")]
)
def test_the_answer_is_right_or_said_to_be_only_near(typed, answer, all_entries, request):
    if not all_entries:
        all_entries += request.getfixturevalue("window").dialogs.entries()
    wanted = answer.removeprefix("~").strip()
    found, is_right = filters.search(typed)
    assert (is_right, wanted) == (not answer.startswith("~"), found[0].title if found else "")
    seen, is_right = find(all_entries, typed)
    assert is_right == (not answer.startswith("~"))
    names = [each.name for each in seen]
    assert names[:1] == [wanted] if is_right and wanted else not wanted or wanted in names


ACTIONS = {
    **{"crop": "Select a part", "sketch": "Sketch", "delete": "Remove step"},
    **{"histogram": "Analysis", "dark": "Dark", "undo": "Undo", "batch": "Filter a folder"},
    **{"cut": "Select a part", "template": "New kernel", "transpose": "Weights"},
    **{"false color": "False colour", "save comparison": "Comparison"},
    **dict.fromkeys(("fastest", "which is the fastest here", "speed"), FASTEST),
    **dict.fromkeys(("why is this pixel 17?", "why is this pixel white"), "This pixel"),
    **{"explain this pixel": "This pixel", "why this value": "This pixel"},
    **{"time": "Timing", "fastest implementation": FASTEST},
    **{"transparency": "Settings", "alpha": "Settings", "block size": "Block shapes, live"},
    **{"dark mode": "Dark", "light mode": "Light", "undo last": "Undo", "go back": "Undo"},
    **{"cancel": "Undo", "stop": "Pause sweep", "quit program": "Quit", "exit": "Quit"},
    **{"zoom 200": "200 %", "zoom 400": "400 %", "centre": "Fit", "magnifier": "Zoom in"},
    **{"noise reduction": "Bilateral", "convert to grey": "Grey", "print": "Report"},
    **{"export pdf": "Report as PDF", "excel": "Report", "use cpu": "Sequential"},
    **{"hide toolbar": "Picture only", "hide labels": "Captions", "reset layout": "First layout"},
    **{"remove filter": "Remove step", "intensity": "Mix with its input", "graph": "Chart"},
    **{"tutorial": "Help", "bug report": "About and diagnostics", "show original": "Original"},
    **{"source code": "Implementation", "step through": "Begin stepping", "accuracy": "Mismatch"},
    **{"split screen": "Wipe", "deselect": "Filter all of the picture", "eyedropper": "This pixel"},
    **{"bigger text": "Larger letters", "smaller text": "Smaller letters", "recent files": "Open"},
    **{
        "blur then edges": "Edges after blur",
        "denoise then sharpen": "Denoise and sharpen",
        "undo everything": "Undo",
        "undo all": "Undo",
    },
    **{"many files": "Filter a folder", "factory reset": "Reset all settings", "demo": "Gallery"},
}


def test_actions_filters_implementations_and_presets_are_in_it(window):
    for typed, action in ACTIONS.items():
        found, is_right = find(window.dialogs.entries(), typed)
        assert is_right, typed
        assert found[0].name == action, typed
    places = {(entry.where.split(" ▸ ")[0], entry.name) for entry in window.dialogs.entries()}
    assert {("Filter", each.title) for each in filters.all_filters()} <= places
    assert {("Runs on", each.title) for each in intents.choices()} <= places
    assert {("Sweep preset", each.plan.title) for each in presets()} <= places
    assert {("Sweep", "Save as SVG"), ("Sweep", "Logarithmic scale")} <= places  # of no chart yet


@pytest.mark.parametrize("typed", ["before and after", "slide", "powerpoint", "save comparison"])
def test_pictures_before_and_after_are_found_by_what_they_are_for(typed, window):
    found, is_right = find(window.dialogs.entries(), typed)
    assert is_right
    assert {"Comparison", "Copy comparison"} <= {each.name for each in found}


def test_all_that_cannot_be_done_at_first_says_why(qtbot, make_window):
    window = make_window()
    until(qtbot, lambda: window.device)
    disabled = [line for line in menu_lines(window) if not line.action.isEnabled()]
    why_not = {each.name: each.reason for each in window.dialogs.entries() if each.reason}
    in_lists = {line.name for line in disabled if len(line.path) > 1} - why_not.keys()
    assert in_lists <= {"No list was opened or saved yet", "There are none", "Looking"}
    assert {line.name for line in disabled} - in_lists <= why_not.keys()
    for line in disabled:
        if line.name in why_not:
            assert why_not[line.name].endswith(".")
            assert why_not[line.name] != line.action.whatsThis()
    assert "(G)" in why_not["Crop to the part"]
    assert "16 bits or floats" in why_not["False colour"]
    assert "(Ctrl+B)" in why_not["Report"]
    assert "(Ctrl+B)" in why_not["Save as SVG"]


# -- the window


@pytest.fixture
def window(qtbot, make_window):
    return ready(qtbot, make_window(), noise(20, 30))


def opened(window):
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(window, Qt.Key.Key_P, both)
    palette = window.findChild(Palette)
    assert palette.isVisible()
    return palette


def line(palette):
    return child(palette, "palette-line", QLineEdit)


def listed(palette):
    model = child(palette, "palette-list", QTreeView).model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def chosen(palette):
    return child(palette, "palette-list", QTreeView).currentIndex().data()


def test_a_filter_is_chosen_with_the_keyboard_alone(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "boxb")
    assert chosen(palette) == "Box blur"
    settle(qtbot, window, lambda: QTest.keyClick(line(palette), Qt.Key.Key_Return))
    assert window.store.state.filter == "box"
    until(qtbot, lambda: window.findChild(Palette) is None)


def test_the_arrow_keys_go_through_what_was_found(window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "copy")
    first, second = listed(palette)[:2]
    assert chosen(palette) == first
    QTest.keyClick(line(palette), Qt.Key.Key_Down)
    assert chosen(palette) == second
    QTest.keyClick(line(palette), Qt.Key.Key_Up)
    QTest.keyClick(line(palette), Qt.Key.Key_Up)
    assert chosen(palette) == listed(palette)[-1]
    palette.close()


def test_what_cannot_be_done_says_why_and_stays(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "shared-memory tile")
    assert chosen(palette).startswith("Shared-memory tile · ")
    assert not child(palette, "palette-list", QTreeView).selectedIndexes()  # nor painted so
    assert "switched off" in child(palette, "palette-about", QLabel).text()
    QTest.keyClick(line(palette), Qt.Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(palette, Qt.Key.Key_Escape)
    assert window.store.state.implementation == "opencv"


def test_what_is_only_near_is_said_and_not_done_by_enter(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "invert")
    said = child(palette, "palette-about", QLabel).text()
    assert said == "No such filter or action here; nearest: Custom weights."
    QTest.keyClick(line(palette), Qt.Key.Key_Return)
    assert palette.isVisible()
    QTest.keyClick(line(palette), Qt.Key.Key_Down)
    settle(qtbot, window, lambda: QTest.keyClick(line(palette), Qt.Key.Key_Return))
    assert window.store.state.filter == "custom"


def test_a_click_does_what_the_row_says_and_the_palette_goes(qtbot, window):
    palette = opened(window)
    QTest.keyClicks(line(palette), "boxb")
    rows = child(palette, "palette-list", QTreeView)
    place = rows.visualRect(rows.model().index(0, 0)).center()
    left = Qt.MouseButton.LeftButton
    settle(qtbot, window, lambda: QTest.mouseClick(rows.viewport(), left, pos=place))
    assert window.store.state.filter == "box"
    until(qtbot, lambda: window.findChild(Palette) is None)
