"""What comes into the window: pictures, settings in a screenshot, sessions and plans."""
