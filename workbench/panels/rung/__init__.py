"""The chosen implementation: idea, ladder, source, PTX and SASS."""
