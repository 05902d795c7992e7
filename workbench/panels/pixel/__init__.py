"""The computation of one output sample, as a table and on the picture."""
