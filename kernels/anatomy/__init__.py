"""Anatomy of a launch: which block and which thread makes what, what it loads, and how well that
suits the memory.  Geometry alone: it needs no GPU.

shapes    where the blocks of a pass stand on the picture, with their tiles and halos
patterns  what every thread of a block loads and stores, step by step; one module a family of rungs
memory    what a warp's accesses cost: sectors, lines, banks
counts    of a block and of the picture: bytes, reuse, idle threads
words     all of it in sentences

The tests run the rungs' text on the CPU, keep every address, and compare.
"""
