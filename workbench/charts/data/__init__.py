"""What a chart shows, as plain data: points, slices, figures and sentences.  No Qt."""
