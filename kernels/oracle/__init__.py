"""The float64 reference, and the check of every output against it."""
