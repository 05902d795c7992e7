"""The report that a student hands in: a page, LaTeX tables and CSV.  Knows no window."""
