"""The row of steps, of which each is a chip."""
