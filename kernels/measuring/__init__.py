"""Measure several jobs beside each other, and find the quickest."""
