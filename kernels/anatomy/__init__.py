"""Anatomy of a launch: what each block and thread computes and loads, and how that suits the
memory.

tile_shapes   where the blocks of a pass stand on the picture, with their tiles and halos; layouts
              for those of transforms
patterns      what every thread of a block loads and stores, in `from_*`: a rung's text in array
              expressions of one block (`launch_scene`), so that any job and block shape has its own
transactions  what a warp's accesses cost: sectors, lines, banks
block_counts  of a block and of the picture: bytes, reuse, idle threads
anatomy_words all of it in sentences

It needs no GPU and no compiler.  The tests run the rungs' text on the CPU, record every address,
and compare them with these.  The patterns are no recordings, as a trace holds for one size of
weights, block shape, number of channels, pixel type, border and picture.
"""
