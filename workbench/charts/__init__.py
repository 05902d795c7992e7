"""Charts of sweeps, and of the last runs: pyqtgraph, imported when the first of them shows."""
