"""Anatomy of a launch: what each block and thread computes, and what its accesses cost.

tile_shapes   where the blocks of a pass stand on the picture, with their tiles and halos; layouts
              does so for the blocks of transforms
patterns      what every thread of a block loads and stores, in `from_*`: a rung's text as array
              expressions for one block (`launch_scene`), valid for any job and block shape
transactions  what a warp's accesses cost: sectors, lines, banks
parts         which accesses load, which share, which compute
block_counts  bytes, reuse and idle threads, per block and for the whole picture
anatomy_words all of it in sentences

Nothing here needs a GPU or a compiler.  The tests run the rungs' text on the CPU, record every
address, and compare those with the patterns.  Patterns are expressions rather than recordings,
because a recording holds for one kernel size, block shape, number of channels, pixel type, border
and picture only.
"""
