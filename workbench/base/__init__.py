"""Numbers for people, themes, settings, background tasks: what every room may use."""
