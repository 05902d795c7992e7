"""Anatomy of a launch: what each block and thread computes, and what its accesses cost.

launch_shapes  where the blocks of a pass stand on the picture, with their tiles and halos
record         what every thread of a block loads and stores, as the CPU runtime recorded it in the
               rung's own text (`kernels.cuda_on_cpu.recording`); bytes, reuse, idle threads
transactions   what a warp's accesses cost: sectors, lines, banks
anatomy_words  all of it in sentences
"""
