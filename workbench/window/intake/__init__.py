"""The way into the window for pictures, settings in a screenshot, sessions and plans."""
