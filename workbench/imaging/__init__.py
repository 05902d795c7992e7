"""From samples to what the screen shows: levels, differences, histograms.  No widgets."""
