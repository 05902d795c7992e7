"""Times of the newest run, and the history of the last ones."""
