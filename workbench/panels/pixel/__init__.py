"""This pixel: how one sample of the answer comes about, as a table and on the picture."""
