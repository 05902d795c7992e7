"""The chosen implementation: its idea, its place on the ladder, its source, PTX and SASS."""
