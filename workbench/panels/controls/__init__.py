"""The panel of settings, and the tool bar's controls."""
