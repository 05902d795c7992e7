"""Charts of sweeps, and of the last runs."""

# Actions of a chart's menu, with their tips.  Here, since the window's menus have them at a start.
COPY = "&Copy the chart", "With its title and its words."
SAVE_PNG = "Save as &PNG…", "With the settings and the plan inside."
SAVE_SVG = "Save as &SVG…", "As lines and letters, for print."
LOG = "&Logarithmic scale", "Equal steps for equal factors, or for equal differences."
PUBLISHED = (
    "P&ublished numbers, in grey",
    "What the authors of this plan's table measured, on their machine, in grey.",
)
SHOW_ALL = "Show &all, unpin", "Every line as it was at first."
