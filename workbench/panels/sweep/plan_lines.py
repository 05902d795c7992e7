"""The lines of the menu beside a plan that the window's menus have as well.

Each is its text, with & for the mnemonic, and its tip.
"""

OPEN_PLAN = "&Open plan…", "What to measure, from a TOML file."
SAVE_PLAN = (
    "&Save plan as…",
    "This plan as a TOML file, to be measured again, here or elsewhere.",
)
