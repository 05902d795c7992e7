"""The panels and modes of the window, a folder each; each takes the objects that it uses."""
