"""What a job must cost, worked out rather than measured: bytes, operations, occupancy, roofline."""
