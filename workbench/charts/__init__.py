"""The sweep and the history: pyqtgraph, imported when the first of them shows."""
