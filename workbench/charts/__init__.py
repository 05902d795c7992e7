"""Charts of sweeps, and of the last runs: pyqtgraph, imported when the first of them shows."""

# Lines of the menu of a chart, with their tips.
LINES = {
    "&Copy the chart": "With its title and its words.",
    "Save as &PNG…": "With the settings and the plan inside.",
    "Save as &SVG…": "As lines and letters, for print.",
    "&Logarithmic scale": "Equal steps for equal factors, or for equal differences.",
    "P&ublished numbers, in grey": "What the authors of this plan's table measured, in grey.",
    "Show &all, unpin": "Every line as it was at first.",
}
# Why one of them does nothing now.
NO_CHART = "There is no chart yet: first measure something (Ctrl+B), or open a session."
NO_SCALE = "This chart has no axis of numbers."
UNPUBLISHED = "Only for plans that repeat a published table."
ALL_SHOWN = "Every line is as it was at first."
