"""What is looked at: the pictures, their timings, the gallery, messages and dialogs."""
