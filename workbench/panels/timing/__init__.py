"""How long it took, how fast that is, and how the last runs compare."""
