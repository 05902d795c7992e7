"""The GPU: finding it, compiling, launching, moving pictures, timing."""
