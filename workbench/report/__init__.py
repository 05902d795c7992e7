"""What a student hands in: sessions as a page, as LaTeX tables and as CSV.  Knows no window."""
