"""The contents of charts as plain data, without Qt: points, slices, figures and sentences."""
