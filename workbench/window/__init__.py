"""The main window: it puts the panels together, and offers everything that can be done in it."""
