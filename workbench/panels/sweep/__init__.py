"""The side panel of sweeps: what to measure, how it goes, and the sessions that are shown."""
