"""Pictures to choose from: a folder's, the Kodak set, and those made by code."""
