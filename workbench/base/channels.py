"""The names of a picture's channels."""

# By how many there are.
CHANNELS = {
    1: ("grey",),
    2: ("grey", "alpha"),
    3: ("red", "green", "blue"),
    4: ("red", "green", "blue", "alpha"),
}
