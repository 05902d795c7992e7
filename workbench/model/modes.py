"""The modes of the window in the order in which one meets them, for papers, help and pictures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mode:
    """The name of a mode and what it is good for.

    words  a short paragraph, with the keys that lead there; its first sentence can stand alone
    """

    title: str
    words: str

    @property
    def first_sentence(self) -> str:
        """Return the first sentence of its words, with a full stop."""
        return self.words.partition(". ")[0].removesuffix(".") + "."


# The keys are those of `workbench shot --mode`, and the files' names in assets/screenshots/.
MODES = {
    "result": Mode(
        "Result",
        "Whatever is chosen is filtered, timed and checked at once, and the result fills the "
        "window. Holding **Space** shows the original; the wheel zooms, a drag moves, and zoom and "
        "place are kept from picture to picture. **E** comes back here from anywhere.",
    ),
    "wipe": Mode(
        "Wipe", "**W** lays before over after, with a divider to drag; **Shift+W** rotates it."
    ),
    "side": Mode(
        "Side by side",
        "**S** shows before and after next to each other, or one above the other, whichever makes "
        "them larger. They zoom and move together.",
    ),
    "difference": Mode(
        "Difference",
        "**D** shows after minus before, absolute or signed. The gain is chosen so that the "
        "difference fits the range, or set by you; the caption says which it is.",
    ),
    "values": Mode(
        "Values in the cells",
        "Zoomed in far enough, every pixel shows its values, each with its channel's letter. Above "
        "100 % no pixel is ever blended with its neighbours.",
    ),
    "pins": Mode(
        "Several results",
        "**K** keeps a result beside those to come, up to four at once: implementations, sizes or "
        "filters. They zoom and move together.",
    ),
    "analysis": Mode(
        "Analysis",
        "**H** opens histograms of before and after, a line profile, and PSNR, SSIM and the "
        "largest error. The profile follows a row, a column or any line drawn with Shift and a "
        "drag.",
    ),
    "mismatch": Mode(
        "Mismatch",
        "**M** compares every pixel with the float64 reference: blue was rounded differently, "
        "which is allowed; orange is wrong. **N** goes to the next.",
    ),
    "pixel": Mode(
        "This pixel",
        "**P** explains the pixel under the pointer: its neighbours, the weights, their products "
        "and the sum. It follows the pointer; a click holds the pixel. It also shows which pixel "
        "stands in beyond an edge, both derivatives of a gradient, and the implementation's value "
        "beside the exact one.",
    ),
    "anatomy": Mode(
        "Anatomy of a launch",
        "**A** takes a launch apart over the picture: blocks, tile and halo, warps and threads, "
        "idle ones too. It zooms to a block and goes through three parts with **Shift+A**: load, "
        "share, compute, each with what a warp's accesses touch lane by lane, and compares the "
        "loads with the plain kernel's. It is geometry, so it needs no GPU; the tests compare it, "
        "address by address, with the rungs' text run on the CPU.",
    ),
    "ladder": Mode(
        "Implementation and ladder",
        "**Ctrl+L** shows the idea of the chosen implementation, its source, its PTX and SASS, "
        "and what it takes of the device; **Ctrl+Shift+L** measures its place on the ladder. "
        "Without a GPU, times that came with the program stand there, marked as recorded.",
    ),
    "blocks": Mode(
        "Block shapes, live",
        "**Ctrl+K** times block shapes in turn on the current job and ranks them while you look. "
        "Each run is one sample, so that whatever drifts hits all shapes alike: bars with their "
        "quartiles, or a map of widths by heights, settle as samples come in. What is equal "
        "within 1 % or noise shares its place, and a click applies a shape. Without a GPU it "
        "shows what an H200 measured, marked as recorded.",
    ),
    "weights": Mode(
        "Weights",
        "**Ctrl+E** opens a grid of weights beside the picture, any odd size up to 31, and filters "
        "with it as you type. Paste from a spreadsheet or from code, start from any filter, "
        "normalise, flip, rotate, add an offset; sum, rank and frequency response follow. Weights "
        "can be named, and go to and from .toml, .csv and .txt files; a .toml file, plans and "
        "steps included, has at most 400,000 characters and 8 dots in a key.",
    ),
    "kernel": Mode(
        "Kernel",
        "**Ctrl+U** opens an editor for a CUDA kernel of your own, which is tried on the picture "
        "as you type, with or without a GPU. Begin with an empty kernel, with any rung to change "
        "one thing, or with a file, which your own editor can have open, too. Errors stand on "
        "their line, the answer is compared with the reference, and what it loads, stores and "
        "computes is counted. **Ctrl+Shift+U** finds the bug: bounds, races, barriers; **Ctrl+F6** "
        "shows the PTX or SASS of each line.",
    ),
    "error": Mode(
        "An error in a kernel",
        "What the compiler refuses stands on its line while you type: a mark beside the number, a "
        "wavy line below the place, and the sentence in the message bar. The last text that ran "
        "stays in use, and the window says so, until a later one runs. A kernel that crashes, "
        "hangs or writes where it may not ends a process of its own, and is told in the same way.",
    ),
    "race": Mode(
        "A bug found",
        "**Ctrl+Shift+U** runs the kernel on a small part of the picture, checks every access to "
        "the picture, the answer, weights, buffers and shared memory, and says what is wrong in "
        "one sentence, with line, thread and block. The line is marked, and the pixel that the "
        "thread computes is ringed. It finds accesses beyond an array, two threads that meet in "
        "memory with no barrier between them, barriers that not all threads come to, and launches "
        "of some rows that write others, even where the answer happens to be right; where it is "
        "wrong, also memory and variables that are read before they were written.",
    ),
    "stepping": Mode(
        "Stepping through a kernel",
        "**Alt+F8** walks through one block of the kernel, line by line (**F8**) or barrier by "
        "barrier (**F6**), with Shift back: it is run once on the CPU, and recorded. Each lane of "
        "the warp shows what it loads or stores at the line, beside the variables of any thread "
        "and the tile in shared memory, as a picture and as numbers. A click on the picture "
        "chooses the block and the thread that store that pixel; rungs are walked through like "
        "kernels of your own.",
    ),
    "sweep": Mode(
        "Sweep",
        "The Sweep panel measures whole tables, published ones among them, and draws their charts "
        "meanwhile. Without a GPU it shows what an H200 measured, marked as recorded. **Ctrl+B** "
        "starts and stops, **Ctrl+Shift+B** pauses, **F9** gives the chart a window of its own, "
        "**Ctrl+R** writes a report.",
    ),
    "presenter": Mode(
        "Presenter",
        "**F5** fills the screen, in letters for the back row, with steps forward and back by "
        "clicker. A step holds picture, settings, view, zoom, an open panel or a chart, and a note "
        "for the speaker; bars show the ladder so far. **Shift+F5** presents a lecture of 45 "
        "minutes that comes with the program. Esc puts everything back as it was.",
    ),
    "palette": Mode(
        "All actions",
        "**Ctrl+Shift+P** finds every action, filter, implementation, preset and session by its "
        "words, by everyday words for it, or by some letters.",
    ),
    "help": Mode(
        "Help",
        "**F1** explains each mode, number, implementation and chart, with a search; **Shift+F1** "
        "opens the page about what is under the pointer, **?** lists all keys.",
    ),
}
