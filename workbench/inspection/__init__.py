"""Looking closely: results kept beside the newest, and what the modes of comparing show."""
