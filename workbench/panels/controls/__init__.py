"""The left panel: what is chosen, and how it is changed."""
