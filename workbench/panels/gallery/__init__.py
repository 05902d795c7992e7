"""Pictures to begin with: the Kodak set, and those made by code."""
