"""The lines of a chart's menu that the window's menus have as well, even before there is a chart.

Each is its text, with & for the mnemonic, and its tip.
"""

SAVE_SVG = "Save as &SVG…", "As lines and letters, for print."
LOG = "&Logarithmic scale", "Equal steps for equal factors, or for equal differences."
PUBLISHED = (
    "P&ublished numbers, in grey",
    "What the authors of this plan's table measured, on their machine, in grey.",
)
SHOW_ALL = "Show &all, unpin", "Every line as it was at first."
