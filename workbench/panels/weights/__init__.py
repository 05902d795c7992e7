"""The weights editor: a grid to type in, what can be told of its numbers, and named weights."""
