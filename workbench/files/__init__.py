"""Pictures in files: reading, writing, and the Kodak set."""
