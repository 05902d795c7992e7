"""The modes of the window in the order in which one meets them, for README, help and pictures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mode:
    """What a mode is called and what it is good for.

    words  a short paragraph, with the keys that lead there
    """

    title: str
    words: str


# The keys are those of `workbench shot --mode`, and the files' names in assets/screenshots/.
MODES = {
    "side": Mode(
        "Side by side",
        "What is chosen on the left is filtered and timed at once. The picture before and after "
        "share one view: the wheel zooms, a drag moves, and holding Space shows the original.",
    ),
    "wipe": Mode(
        "Wipe",
        "**W** lays one over the other, with a divider to drag; **Shift+W** turns it.",
    ),
    "difference": Mode(
        "Difference",
        "**D** shows after minus before, absolute or signed, made as much stronger as fits or as "
        "is asked for; the caption says by how much.",
    ),
    "values": Mode(
        "Values in the cells",
        "Where pixels are large enough, their values stand in them; above 100 % no pixel is ever "
        "blended with its neighbours.",
    ),
    "pins": Mode(
        "Several results",
        "**K** keeps a result beside those to come: implementations, sizes or filters, up to four "
        "at once, zoomed and moved together.",
    ),
    "analysis": Mode(
        "Analysis",
        "**H** opens the histograms of before and after, a profile along a row, a column or any "
        "line drawn with Shift and a drag, and PSNR, SSIM and the largest error.",
    ),
    "mismatch": Mode(
        "Mismatch",
        "**M** holds every pixel against the float64 oracle: blue was rounded otherwise, which is "
        "allowed, orange is wrong. **N** goes to the next.",
    ),
    "pixel": Mode(
        "This pixel",
        "**P** explains the pixel under the pointer: its neighbours, the weights, the products and "
        "their sum, which pixel stands in beyond an edge, and the implementation's value beside "
        "the exact one.",
    ),
    "anatomy": Mode(
        "Anatomy of a launch",
        "**A** takes a launch apart over the picture: blocks, tile and halo, warps and threads, "
        "idle ones too; what a warp's accesses touch lane by lane, and every number in words. It "
        "is geometry, so it needs no GPU; the tests compare it, address by address, with the "
        "rungs' text run on the CPU.",
    ),
    "ladder": Mode(
        "Rung and ladder",
        "**Ctrl+L** tells the idea of the chosen implementation and shows its source text, its PTX "
        "and what it takes of the device; **Ctrl+Shift+L** measures its place on the ladder.",
    ),
    "blocks": Mode(
        "Block shapes, live",
        "**Ctrl+K** runs block shapes in turn on the present job, a sample each, so that whatever "
        "drifts hits all alike: bars with their quartiles, or a map of widths by heights, settle "
        "while you look; what is equal within 1 % or noise shares its place, and a click applies "
        "a shape. Without a GPU the CPU implementations take turns.",
    ),
    "weights": Mode(
        "Weights",
        "**Ctrl+E** opens a grid of any odd size to 31: type, paste from a spreadsheet or from "
        "code, start from any filter, normalise, flip, turn, add an offset; sum, rank and "
        "frequency response follow, and every valid change is filtered at once. Weights can be "
        "named, and go to and from .toml, .csv and .txt files; a .toml, plans included, has "
        "400,000 characters and 8 dots in a key at most.",
    ),
    "sweep": Mode(
        "Sweep",
        "The panel Sweep measures whole tables, published ones among them, and draws them while it "
        "does; without a GPU it shows what an H200 measured, marked as recorded. **Ctrl+B** starts "
        "and stops, **Ctrl+Shift+B** pauses, **F9** gives the chart a window of its own, "
        "**Ctrl+R** writes a report.",
    ),
    "presenter": Mode(
        "Presenter",
        "**F5** fills the screen, in letters for the back row, with steps forward and back by "
        "clicker: those prepared in View ▸ Presenter, or else the ladder on the open picture. Esc "
        "puts everything back as it was.",
    ),
    "palette": Mode(
        "All actions",
        "**Ctrl+Shift+P** finds every action, filter, implementation, preset and session by some "
        "letters of its name.",
    ),
    "help": Mode(
        "Help",
        "**F1** opens it: what each mode, number, implementation and chart is, with a search; "
        "**Shift+F1** the page about what is under the pointer, **?** all keys.",
    ),
}
