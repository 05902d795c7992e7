"""The float64 reference, and the check of every answer against it."""
