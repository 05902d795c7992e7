"""The panels on time: how long a run took, how fast that is, and how the last runs compare."""
