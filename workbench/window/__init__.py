"""The window: puts the panels together, and offers what can be done in it."""
