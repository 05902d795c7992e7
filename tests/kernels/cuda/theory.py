"""What a card's data sheet promises, to hold measured ceilings against."""

from kernels.core.device import Device

# Multiply-adds a clock and multiprocessor, where that is not 128 (CUDA C++ Programming Guide,
# "Throughput of Native Arithmetic Instructions").
LANES = {(6, 0): 64, (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}


def fma_tflop_s_in_theory(device: Device) -> float:
    """Two operations a lane and clock, at the highest clock: what no kernel can exceed."""
    lanes = LANES.get(device.compute_capability, 128) * device.multiprocessors
    return 2 * lanes * device.clock_khz / 1e9
