"""The panel with numbers and curves of what is before and after the filter."""
