"""What every room may use: numbers for people, themes, settings, background tasks, whole files."""
