"""Draws figures with pyqtgraph, on the screen and into files: import `painter` when drawing."""
