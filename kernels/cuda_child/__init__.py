"""A kernel of the user's own on the GPU: in a process of its own, which it may crash or hang."""
