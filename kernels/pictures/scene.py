"""A landscape painted by arithmetic: gradients, textures, thin lines and hard edges in one picture.

Everything is float64 and every random number comes from a seeded generator, so that the picture
is the same, byte for byte, on every computer.  Colours are sRGB values from 0 to 1; coordinates
are pixels, x to the right and y down; a shape is its coverage of each pixel, 0 to 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

HEIGHT, WIDTH = 512, 768
SHORE = 334  # the row where the lake begins
SUN = (240.0, 288.0)
PLANET, PLANET_RADIUS = (552.0, 132.0), 78.0
SEED = 42

Floats = NDArray[np.float64]
Window = tuple[slice, slice]
WHOLE: Window = (slice(0, HEIGHT), slice(0, WIDTH))


def paint() -> NDArray[np.uint8]:
    """The picture, (512, 768, 3) uint8."""
    rng = np.random.default_rng(SEED)
    canvas = _sky()
    _stars(canvas, rng)
    _moon(canvas, rng)
    _planet(canvas, rng)
    _clouds(canvas, rng)
    _mountains(canvas, rng)
    _bridge(canvas)
    _lake(canvas, rng)
    _boat(canvas)
    _reeds(canvas, rng)
    return np.asarray(np.rint(canvas.clip(0, 1) * 255), np.uint8)


# -- brushes ---------------------------------------------------------------------------------------


def _grid(window: Window = WHOLE) -> tuple[Floats, Floats]:
    """(x, y) of the pixels' centres, as a row and a column that broadcast."""
    rows, columns = window
    x = np.arange(columns.start, columns.stop, dtype=np.float64)[None, :]
    y = np.arange(rows.start, rows.stop, dtype=np.float64)[:, None]
    return x, y


def _window(left: float, top: float, right: float, bottom: float) -> Window:
    """The pixels of a box, and a margin for antialiasing, as far as they are in the picture."""
    rows = np.clip((int(top) - 2, int(bottom) + 3), 0, HEIGHT)
    columns = np.clip((int(left) - 2, int(right) + 3), 0, WIDTH)
    return slice(*rows.tolist()), slice(*columns.tolist())


def _lay(canvas: Floats, colour: Floats | tuple[float, ...], cover: Floats, at: Window) -> None:
    """Paint `colour`, one or (h, w, 3), over a window of the canvas, as far as `cover` hides it."""
    part = canvas[at]
    part += cover[:, :, None] * (np.asarray(colour) - part)


def _inside(signed_distance: Floats) -> Floats:
    """Coverage of a shape from how many pixels inside it (positive) a pixel's centre lies."""
    return np.clip(signed_distance + 0.5, 0, 1)


def _line(
    canvas: Floats,
    start: tuple[float, float],
    end: tuple[float, float],
    width: float,
    colour: tuple[float, ...],
) -> None:
    (x0, y0), (x1, y1) = start, end
    at = _window(min(x0, x1) - width, min(y0, y1) - width, max(x0, x1) + width, max(y0, y1) + width)
    x, y = _grid(at)
    length = np.hypot(x1 - x0, y1 - y0)
    along = ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length
    across = ((y - y0) * (x1 - x0) - (x - x0) * (y1 - y0)) / length
    ends = _inside(np.minimum(along, length - along))
    _lay(canvas, colour, np.minimum(width, 1) * _inside(max(width, 1) / 2 - abs(across)) * ends, at)


def _polygon(canvas: Floats, corners: list[tuple[float, float]], colour: tuple[float, ...]) -> None:
    """A convex one, its corners clockwise on the screen."""
    xs, ys = zip(*corners, strict=True)
    at = _window(min(xs), min(ys), max(xs), max(ys))
    x, y = _grid(at)
    cover = np.ones(np.broadcast(x, y).shape)
    for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
        inside = ((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0)) / np.hypot(x1 - x0, y1 - y0)
        cover *= _inside(inside)
    _lay(canvas, colour, cover, at)


def _noise(
    height: int,
    width: int,
    cells: float,
    rng: np.random.Generator,
    octaves: int = 4,
    stretch: float = 1.0,
) -> Floats:
    """Cloudy noise, (height, width), about -1 to 1.

    cells    how many cells the first octave has in a row; each octave has twice as many
    stretch  how many times wider than high a cell is
    """
    total = np.zeros((height, width))
    for octave in range(octaves):
        size = width / (cells * 2**octave)
        rows, down = _cells(height, size / stretch, rng)
        columns, across = _cells(width, size, rng)
        lattice = rng.uniform(-1, 1, (rows[-1] + 2, columns[-1] + 2)) / 2**octave
        lines = lattice[rows] + down[:, None] * (lattice[rows + 1] - lattice[rows])
        steps = lines[:, 1:] - lines[:, :-1]
        total += lines[:, columns] + across * steps[:, columns]
    return total


def _cells(count: int, size: float, rng: np.random.Generator) -> tuple[NDArray[np.intp], Floats]:
    """For each of `count` pixels its cell, and how far it lies in there, eased at both ends."""
    at = np.arange(count) / size + rng.random()
    cell = at.astype(np.intp)
    part = at - cell
    return cell, part * part * (3 - 2 * part)


def _ramp(where: Floats, stops: list[tuple[float, tuple[int, int, int]]]) -> Floats:
    """Colours, (..., 3), between the stops (position, 8-bit colour), as a gradient tool does it."""
    positions = [position for position, _ in stops]
    colours = np.array([colour for _, colour in stops]) / 255
    return np.stack([np.interp(where, positions, colours[:, c]) for c in range(3)], axis=-1)


# -- from far to near ------------------------------------------------------------------------------


def _sky() -> Floats:
    x, y = _grid()
    down = np.broadcast_to(y / SHORE, (HEIGHT, WIDTH))
    sky = _ramp(
        down,
        [
            (0.00, (13, 17, 48)),
            (0.30, (40, 42, 98)),
            (0.55, (103, 66, 128)),
            (0.76, (205, 98, 104)),
            (0.90, (250, 158, 92)),
            (1.00, (255, 214, 140)),
        ],
    )
    from_sun = np.hypot(x - SUN[0], (y - SUN[1]) * 1.4)
    sky += np.exp(-from_sun / 90)[:, :, None] * (0.34, 0.20, 0.06)
    _lay(sky, (1.0, 0.97, 0.84), _inside(21 - np.hypot(x - SUN[0], y - SUN[1])), WHOLE)
    return sky


def _stars(canvas: Floats, rng: np.random.Generator) -> None:
    for _ in range(230):
        star_x, star_y = rng.uniform(4, WIDTH - 5), 4 + 196 * rng.random() ** 1.5
        bright = rng.random() ** 3 * (1 - star_y / 230)
        at = _window(star_x - 1, star_y - 1, star_x + 1, star_y + 1)
        x, y = _grid(at)
        glow = np.exp(-((x - star_x) ** 2 + (y - star_y) ** 2) / (0.5 + 0.7 * bright))
        canvas[at] += (0.18 + 0.9 * bright) * glow[:, :, None] * (1.0, 0.96, 0.9)


def _sphere(x: Floats, y: Floats, radius: float) -> tuple[Floats, Floats]:
    """(height above the disc's centre plane, light from the sun below left), each (h, w)."""
    rise = np.sqrt(np.clip(radius**2 - x**2 - y**2, 0, None))
    light = (-0.62 * x + 0.38 * y + 0.69 * rise) / radius
    return rise, light.clip(0, 1)


def _moon(canvas: Floats, rng: np.random.Generator) -> None:
    centre_x, centre_y, radius = 118.0, 84.0, 25.0
    at = _window(centre_x - radius, centre_y - radius, centre_x + radius, centre_y + radius)
    x, y = _grid(at)
    x, y = x - centre_x, y - centre_y
    _, light = _sphere(x, y, radius)
    ground = 0.80 + 0.10 * _noise(light.shape[0], light.shape[1], 5, rng)
    for _ in range(22):
        crater_x, crater_y = rng.normal(0, 0.45 * radius, 2)
        size = rng.uniform(1.2, 4.2)
        distance = np.hypot(x - crater_x, y - crater_y) / size
        ground -= 0.16 * np.exp(-(distance**2)) - 0.12 * np.exp(-(((distance - 1.3) / 0.3) ** 2))
    shade = (ground * (0.10 + 0.95 * light))[:, :, None] * (1.0, 0.97, 0.92)
    _lay(canvas, shade, _inside(radius - np.hypot(x, y)), at)


def _planet(canvas: Floats, rng: np.random.Generator) -> None:
    centre_x, centre_y = PLANET
    reach = 2.3 * PLANET_RADIUS
    at = _window(
        centre_x - reach, centre_y - 0.52 * reach, centre_x + reach, centre_y + 0.52 * reach
    )
    x, y = _grid(at)
    x, y = x - centre_x, y - centre_y
    tilt = np.deg2rad(-19)
    u, v = x * np.cos(tilt) + y * np.sin(tilt), y * np.cos(tilt) - x * np.sin(tilt)
    rings, cover = _rings(u, v)
    _lay(canvas, rings, cover * (v < 0), at)
    _lay(canvas, _gas(x, y, u, v, rng), _inside(PLANET_RADIUS - np.hypot(x, y)), at)
    _lay(canvas, rings, cover * (v >= 0), at)


def _gas(x: Floats, y: Floats, u: Floats, v: Floats, rng: np.random.Generator) -> Floats:
    """The planet's banded face, (h, w, 3), in the light of the sun."""
    rise, light = _sphere(x, y, PLANET_RADIUS)
    swirls = _noise(v.shape[0], v.shape[1], 14, rng, stretch=3)
    bands = (v - 0.30 * rise) / PLANET_RADIUS + 0.028 * swirls
    stripe = 0.5 + 0.30 * np.sin(11 * bands) + 0.16 * np.sin(27 * bands + 1)
    face = _ramp(
        stripe + 0.07 * np.sin(61 * bands),
        [
            (0.0, (126, 62, 66)),
            (0.3, (196, 116, 92)),
            (0.6, (236, 190, 142)),
            (1.0, (255, 240, 214)),
        ],
    )
    shadow_of_rings = 1 - 0.45 * np.exp(-(((v + 15 - 0.02 * u) / 5) ** 2))
    return np.asarray(face * ((0.05 + 1.05 * light**0.8) * shadow_of_rings)[:, :, None])


def _rings(u: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Colour, (h, w, 3), and coverage of the rings round the planet."""
    flat = 0.24
    reach = np.hypot(u, v / flat).clip(1)
    radius = reach / PLANET_RADIUS
    edge = PLANET_RADIUS * reach / np.hypot(u, v / flat**2).clip(1)  # pixels for one of radius
    grooves = np.zeros(u.shape)
    for frequency, phase, weight in ((21, 0, 0.16), (47, 1, 0.14), (103, 2, 0.13)):
        too_fine = np.exp(-((frequency / edge) ** 2) / 6)
        grooves += weight * too_fine * np.sin(frequency * radius + phase)
    body = _inside((radius - 1.36) * edge) * _inside((2.26 - radius) * edge)
    gap = _inside((radius - 1.90) * edge) * _inside((1.97 - radius) * edge)
    colour = _ramp(
        0.62 + grooves, [(0.0, (110, 84, 92)), (0.6, (214, 176, 146)), (1.0, (255, 236, 206))]
    )
    shadow_of_planet = np.clip(-v / 8, 0, 1) * np.exp(-(((u - 104) / 22) ** 4))
    colour *= (1 - 0.85 * shadow_of_planet)[:, :, None]
    return colour, body * (1 - 0.92 * gap) * np.clip(0.72 + grooves, 0, 0.96)


def _clouds(canvas: Floats, rng: np.random.Generator) -> None:
    rows = slice(150, SHORE)
    _, y = _grid((rows, WHOLE[1]))
    streaks = _noise(SHORE - 150, WIDTH, 4, rng, octaves=5, stretch=7)
    cover = np.clip(streaks - 0.15, 0, 1) * np.clip((y - 160) / 90, 0, 1) * 0.85
    light = _ramp(
        np.clip((y - 170) / 150 + 0.25 * streaks, 0, 1),
        [(0.0, (112, 78, 134)), (0.55, (246, 140, 118)), (1.0, (255, 226, 168))],
    )
    _lay(canvas, light, cover, (rows, WHOLE[1]))


_FAR = (
    *((0, 250), (36, 226), (84, 276), (170, 304), (240, 308), (300, 300), (352, 268), (398, 226)),
    *(
        (424, 194),
        (446, 214),
        (500, 262),
        (556, 282),
        (612, 254),
        (650, 226),
        (684, 172),
        (700, 206),
    ),
    *((730, 232), (768, 256)),
)
_MIDDLE = (
    (0, 276),
    (70, 292),
    (150, 316),
    (330, 318),
    (440, 306),
    (560, 290),
    (668, 262),
    (768, 280),
)
_NEAR = ((0, 312), (60, 322), (120, 337), (520, 338), (600, 322), (700, 300), (768, 290))


def _mountains(canvas: Floats, rng: np.random.Generator) -> None:
    _chain(canvas, rng, _FAR, 13, ((84, 66, 118), (226, 142, 126)), snow_line=240)
    _chain(canvas, rng, _MIDDLE, 12, ((50, 44, 88), (132, 82, 108)), snow_line=0)
    ridge = _chain(canvas, rng, _NEAR, 5, ((19, 24, 46), (44, 42, 66)), snow_line=0)
    _pines(canvas, rng, ridge)


def _chain(
    canvas: Floats,
    rng: np.random.Generator,
    outline: tuple[tuple[int, int], ...],
    rough: float,
    colours: tuple[tuple[int, int, int], tuple[int, int, int]],
    snow_line: float,
) -> Floats:
    """One chain of mountains, lit from the left; returns the row of its ridge for each column."""
    xs, ys = zip(*outline, strict=True)
    teeth = 1 - 2 * abs(_noise(1, WIDTH, 9, rng, octaves=6)[0])
    ridge: Floats = np.interp(np.arange(WIDTH), xs, ys) - rough * teeth
    at = (slice(int(ridge.min()) - 1, SHORE), WHOLE[1])
    _, y = _grid(at)
    height = y.size
    rock = -abs(_noise(height, WIDTH, 13, rng, octaves=5, stretch=0.7))
    folds = np.clip(0.40 + 7 * np.gradient(rock, axis=1) - 3 * np.gradient(rock, axis=0), 0, 1)
    dark, bright = (np.array(colour) / 255 for colour in colours)
    face = dark + folds[:, :, None] * (bright - dark)
    haze = ((y - ridge) / (SHORE - ridge.min())).clip(0, 1) ** 2
    face += (0.22 * haze)[:, :, None] * (1.0, 0.72, 0.62)
    gullies = _noise(height, WIDTH, 46, rng, octaves=3, stretch=0.25)
    snow = _inside((snow_line + 20 * gullies - y) / 2) * (0.30 + 0.70 * folds)
    face += snow[:, :, None] * (np.array((1.0, 0.87, 0.84)) - face)
    _lay(canvas, face, _inside(y - ridge), at)
    return ridge


def _pines(canvas: Floats, rng: np.random.Generator, ridge: Floats) -> None:
    for foot_x in np.sort(rng.uniform(0, WIDTH, 230)):
        foot_y = ridge[int(foot_x)] + 3
        if foot_y > SHORE - 2:
            continue
        height = rng.uniform(9, 25)
        at = _window(foot_x - height / 3, foot_y - height, foot_x + height / 3, foot_y)
        x, y = _grid(at)
        down = (y - foot_y + height).clip(0)
        branch = 0.55 + 0.45 * (down / 3.3 % 1)
        shape = _inside(0.26 * down * branch - abs(x - foot_x)) * (y <= foot_y) * (down > 0)
        _lay(canvas, (0.055, 0.075, 0.135), shape, at)


def _bridge(canvas: Floats) -> None:
    """Hung from cables, in the distance: the thinnest lines of the picture."""
    steel, deck, top, span, end = (0.13, 0.10, 0.19), 317.0, 246.0, 180.0, 486.0

    def cable(x: float) -> float:
        """The row of the cable: a parabola between the towers at x = 150 and 330, and on."""
        from_middle = (x - 150) % span - span / 2
        return deck - 8 - (deck - 8 - top) * (from_middle / (span / 2)) ** 2

    for x in np.arange(0, 420, 4.5).tolist():
        _line(canvas, (x - 0.3, cable(x)), (x + 4.8, cable(x + 4.5)), 1.3, steel)
    for x in range(6, 420, 9):
        _line(canvas, (x, cable(x)), (x, deck), 0.6, steel)
    _line(canvas, (-5, deck), (end, deck), 3.2, steel)
    for tower in (150, 330):
        for leg in (-3.5, 3.5):
            _line(canvas, (tower + leg, top - 4), (tower + leg, SHORE), 2.4, steel)
        for rung in (top, 270, 294):
            _line(canvas, (tower - 4, rung), (tower + 4, rung), 1.6, steel)


def _lake(canvas: Floats, rng: np.random.Generator) -> None:
    """What stands above the shore, upside down, shaken by waves that grow towards us."""
    rows = slice(SHORE, HEIGHT)
    x, y = _grid((rows, WHOLE[1]))
    depth = (y - SHORE) / (HEIGHT - SHORE)
    waves = _noise(HEIGHT - SHORE, WIDTH, 5, rng, octaves=5, stretch=9)
    ripples = np.sin(26 * np.log1p(9 * depth) * 2.2 + 5 * waves)
    from_y = SHORE - 1 - (y - SHORE) * 1.62 - (2 + 9 * depth) * waves - 1.5 * depth * ripples
    from_x = x + (1.5 + 10 * depth) * waves + 2.0 * depth * ripples
    mirrored = _sampled(canvas, from_x, from_y.clip(0, SHORE - 1))
    tint = np.array((0.09, 0.13, 0.27))
    water = mirrored + (0.22 + 0.30 * depth)[:, :, None] * (tint - mirrored)
    water += (0.035 * ripples * (0.3 + depth))[:, :, None]
    path = np.exp(-(((x - SUN[0] - 3 * waves) / (16 + 70 * depth)) ** 2))
    glints = np.clip(waves + 0.55 * ripples - 0.35, 0, 1) * path * (1.25 - depth)
    canvas[rows] = water + glints[:, :, None] * (1.0, 0.78, 0.46)


def _sampled(picture: Floats, x: Floats, y: Floats) -> Floats:
    """The picture at real positions, linearly between pixels, (h, w, 3)."""
    x = x.clip(0, WIDTH - 1.001)
    left, top = x.astype(int), y.astype(int)
    right_part, lower_part = (x - left)[:, :, None], (y - top)[:, :, None]
    upper = picture[top, left] * (1 - right_part) + picture[top, left + 1] * right_part
    lower = picture[top + 1, left] * (1 - right_part) + picture[top + 1, left + 1] * right_part
    return np.asarray(upper * (1 - lower_part) + lower * lower_part)


def _boat(canvas: Floats) -> None:
    """A sloop and, paler, its reflection."""
    for flip, strength in ((-0.75, 0.35), (1.0, 1.0)):

        def at(x: float, y: float, flip: float = flip) -> tuple[float, float]:
            return 452 + 1.15 * x, 392 + 1.15 * flip * y

        def tone(*colour: float, strength: float = strength) -> tuple[float, ...]:
            water = (0.33, 0.25, 0.35)
            return tuple(w + strength * (c - w) for c, w in zip(colour, water, strict=True))

        def sail(
            corners: list[tuple[float, float]], colour: tuple[float, ...], flip: float = flip
        ) -> None:
            _polygon(canvas, corners if flip > 0 else corners[::-1], colour)

        sail([at(3, -66), at(38, -9), at(3, -9)], tone(0.98, 0.90, 0.80))
        sail([at(-3, -60), at(-3, -9), at(-30, -7)], tone(0.93, 0.42, 0.30))
        for height in (-48, -34, -20):
            _line(
                canvas,
                at(3, height),
                at(3 + (height + 66) * 0.61, height),
                0.7,
                tone(0.55, 0.42, 0.45),
            )
        sail([at(-34, -5), at(44, -5), at(33, 4), at(-24, 4)], tone(0.10, 0.09, 0.17))
        _line(canvas, at(-33, -3), at(42, -3), 1.2, tone(0.96, 0.90, 0.82))
        _line(canvas, at(0, 0), at(0, -74), 1.8, tone(0.16, 0.12, 0.18))
        _line(canvas, at(0, -73), at(-36, -5), 0.7, tone(0.16, 0.12, 0.18))
        _line(canvas, at(0, -73), at(44, -5), 0.7, tone(0.16, 0.12, 0.18))
        sail([at(0, -74), at(10, -71.5), at(0, -69)], tone(0.95, 0.75, 0.25))


def _reeds(canvas: Floats, rng: np.random.Generator) -> None:
    dark = (0.030, 0.045, 0.085)
    for _ in range(150):
        near_left = rng.random() < 0.42
        foot_x = rng.normal(20, 52) if near_left else rng.normal(735, 62)
        height = rng.uniform(30, 120) * np.exp(
            -(((foot_x - (0 if near_left else WIDTH)) / 130) ** 2)
        )
        bend, width = rng.normal(0, 0.30) * height, rng.uniform(1.0, 2.6)
        at = _window(foot_x - abs(bend), HEIGHT - height, foot_x + abs(bend), HEIGHT)
        x, y = _grid(at)
        up = ((HEIGHT - y) / height).clip(0, 1)
        middle = foot_x + bend * up**2
        slant = np.sqrt(1 + (2 * bend * up / height) ** 2)
        blade = _inside(width / 2 * (1 - up**2) - abs(x - middle) / slant) * (up < 1)
        if rng.random() < 0.22:  # a bulrush
            head = _inside(2.6 - abs(x - middle)) * _inside(9 - abs(y - HEIGHT + 0.86 * height))
            blade = np.maximum(blade, head)
        _lay(canvas, dark, blade, at)
