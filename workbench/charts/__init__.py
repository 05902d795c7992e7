"""Charts of sweeps, and of the last runs."""
