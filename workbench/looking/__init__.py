"""What looking closely needs, worked out off the GUI thread: no widget is in here."""
