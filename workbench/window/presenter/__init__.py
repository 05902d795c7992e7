"""Presenter mode: the picture and its time, large, step by step, for a room to see."""
