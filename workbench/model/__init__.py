"""What is chosen, and the one place where that is kept."""
