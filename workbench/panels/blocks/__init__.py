"""Live comparison of block shapes on the present job."""
