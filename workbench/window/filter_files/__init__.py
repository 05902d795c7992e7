"""Filter files: a folder of pictures, or one picture larger than memory, in the background."""
