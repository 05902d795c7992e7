"""The user's choices, the one place where they are kept, and the work that follows from them."""
