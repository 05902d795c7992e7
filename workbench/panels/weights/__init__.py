"""The weights editor: a grid to type in, the properties of its numbers, and named weights."""
