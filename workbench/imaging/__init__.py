"""Turn samples into what the screen shows: levels, differences, histograms.  No widgets."""
