"""The panel with numbers and curves of the pictures before and after the filter."""
