"""Break a file's bytes: as disks and networks do, and as those who mean it would."""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
NUMBERS = (
    *(0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 127, 128, 255, 256, 4095, 30_000, 65_535, 65_536),
    *(100_000, 2**24, 2**31 - 1, 2**31, 2**32 - 1),
)
HEADER = 160  # bytes in which most formats say what they hold
WORDS = (
    b"1e999",
    b"-1",
    b"null",
    b"[" * 5000,
    b"{}",
    b'"',
    b"\0",
    b"\xff\xfe",
    b"99999999999999999999",
)
TOKENS = b'"{}[]=:,\n 0123456789.-e'


def broken(rng, name, files):
    """(name, bytes): the file `name` of `files`, {name: bytes}, after one to three mutations."""
    data = files[name]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        mutation = rng.choice(_mutations_of(data))
        data = mutation(rng, data, files)
    if rng.random() < 0.05:
        name = f"{name.rpartition('.')[0]}.{rng.choice(sorted(files)).rpartition('.')[2]}"
    return name, data


def _mutations_of(data):
    if data.startswith(SIGNATURE):
        return (*ANY, *ANY, _png_field, _png_field, _png_chunks, _png_rows)
    if data[:4] in (b"II*\0", b"MM\0*"):
        return (*ANY, *ANY, _tiff_entry, _tiff_entry, _tiff_entry)
    if data.isascii() or b"\0" not in data[:200]:
        return (*ANY, _word, _word, _line, _token)
    return ANY


# -- whatever the format ---------------------------------------------------------------------------


def _cut(rng, data, _files):
    return data[: _somewhere(rng, data)]


def _flip(rng, data, _files):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8, 40))):
        if data:
            data[_somewhere(rng, data)] ^= 1 << rng.randrange(8)
    return bytes(data)


def _replace(rng, data, _files):
    start = _somewhere(rng, data)
    length = min(rng.choice((1, 2, 4, 16, 100, 1000)), len(data) - start)
    run = rng.choice((bytes(length), b"\xff" * length, rng.randbytes(length)))
    return data[:start] + run + data[start + length :]


def _remove(rng, data, _files):
    start = _somewhere(rng, data)
    return data[:start] + data[start + rng.choice((1, 2, 4, 50, 500)) :]


def _insert(rng, data, _files):
    start = _somewhere(rng, data)
    return data[:start] + rng.randbytes(rng.choice((1, 2, 4, 50, 500))) + data[start:]


def _repeat(rng, data, _files):
    start = _somewhere(rng, data)
    run = data[start : start + rng.choice((4, 12, 64, 512))]
    return data[:start] + run * rng.choice((2, 20)) + data[start:]


def _number(rng, data, _files):
    """A number in the header, be it a size, a length or an offset, becomes another, often huge."""
    start = rng.randrange(min(len(data), HEADER)) if data else 0
    order, size = rng.choice("<>"), rng.choice("BHI")
    number = rng.choice(NUMBERS) % (1 << 8 * struct.calcsize(size))
    return _put(data, start, struct.pack(order + size, number))


def _join(rng, data, files):
    other = files[rng.choice(sorted(files))]
    return rng.choice((data + other, data[: _somewhere(rng, data)] + other, other[:40] + data))


def _empty(rng, data, _files):
    return b"" if rng.random() < 0.2 else data[: rng.randrange(30)]


ANY = (_cut, _flip, _replace, _remove, _insert, _repeat, _number, _number, _join, _empty)


# -- formats that check themselves, or whose fields stand far apart --------------------------------


def _png_field(rng, data, _files):
    """A number in a chunk becomes another, and its checksum is right again."""
    chunks = _chunks(data)
    if not chunks:
        return data
    which = 0 if rng.random() < 0.5 else rng.randrange(len(chunks))
    kind, body = chunks[which]
    if body:
        start = rng.randrange(min(len(body), 32))
        size = rng.choice("BHI")
        number = rng.choice(NUMBERS) % (1 << 8 * struct.calcsize(size))
        body = _put(body, start, struct.pack(">" + size, number))
    chunks[which] = kind, body
    return _png(chunks)


def _png_chunks(rng, data, _files):
    """Chunks change places, come twice, go, are renamed, or claim to be huge."""
    chunks = _chunks(data)
    if not chunks:
        return data
    which, other = rng.randrange(len(chunks)), rng.randrange(len(chunks))
    what = rng.choice(("swap", "twice", "drop", "rename", "huge"))
    if what == "swap":
        chunks[which], chunks[other] = chunks[other], chunks[which]
    elif what == "twice":
        chunks.insert(other, chunks[which])
    elif what == "drop":
        del chunks[which]
    elif what == "rename":
        names = (b"IHDR", b"PLTE", b"IDAT", b"tRNS", b"iCCP", b"eXIf", b"acTL", b"zTXt", b"gAMA")
        chunks[which] = rng.choice(names), chunks[which][1]
    else:
        start = data.find(chunks[which][0]) - 4
        return _put(data, max(start, 0), struct.pack(">I", rng.choice(NUMBERS)))
    return _png(chunks)


def _png_rows(rng, data, _files):
    """The rows, unpacked, are broken and packed again: the decoder gets to see them."""
    chunks = _chunks(data)
    packed = b"".join(body for kind, body in chunks if kind == b"IDAT")
    try:
        rows = zlib.decompress(packed)
    except zlib.error:
        return data
    rows = rng.choice((_flip, _cut, _insert, _replace))(rng, rows, {})
    if rng.random() < 0.1:
        rows = bytes(rng.choice((10_000, 3_000_000)))
    left = [each for each in chunks if each[0] != b"IDAT"]
    return _png([*left[:-1], (b"IDAT", zlib.compress(rows)), *left[-1:]])


def _chunks(data):
    found, at = [], len(SIGNATURE)
    while at + 8 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        found.append((kind, data[at + 8 : at + 8 + length]))
        at += 12 + length
    return found


def _png(chunks):
    made = [SIGNATURE]
    for kind, body in chunks:
        made.append(struct.pack(">I", len(body)) + kind + body)
        made.append(struct.pack(">I", zlib.crc32(kind + body)))
    return b"".join(made)


def _tiff_entry(rng, data, _files):
    """A field of the directory: its tag, its type, how many values, or the value."""
    order = "<" if data[:2] == b"II" else ">"
    if len(data) < 8:
        return data
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    if at + 2 > len(data):
        return data
    (count,) = struct.unpack_from(f"{order}H", data, at)
    entry = at + 2 + 12 * rng.randrange(max(min(count, 40), 1))
    offset, size = rng.choice(((0, "H"), (2, "H"), (4, "I"), (8, "I"), (8, "H"), (8, "I")))
    known = (254, 256, 257, 258, 259, 262, 273, 274, 277, 278, 279, 284, 317, 322, 338, 339, 34675)
    value = rng.choice((*known, *NUMBERS)) if (offset, size) == (0, "H") else rng.choice(NUMBERS)
    return _put(
        data, entry + offset, struct.pack(order + size, value % (1 << 8 * struct.calcsize(size)))
    )


# -- text ------------------------------------------------------------------------------------------


def _word(rng, data, _files):
    """A value becomes what does not belong there."""
    start = _somewhere(rng, data)
    while start and data[start - 1 : start] not in b':=[, \n"':
        start -= 1
    end = start
    while end < len(data) and data[end : end + 1] not in b',]}\n"':
        end += 1
    return data[:start] + rng.choice(WORDS) + data[end:]


def _line(rng, data, _files):
    lines = data.split(b"\n")
    which, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[which], lines[other] = lines[other], lines[which]
    else:
        lines[which] = lines[other] * rng.choice((0, 1, 2, 300))
    return b"\n".join(lines)


def _token(rng, data, _files):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 3))):
        if data:
            data[_somewhere(rng, data)] = rng.choice(TOKENS)
    return bytes(data)


def _somewhere(rng, data):
    """An index; half of the time near the beginning, where formats are made."""
    if not data:
        return 0
    return rng.randrange(min(len(data), HEADER) if rng.random() < 0.5 else len(data))


def _put(data, start, piece):
    return data[:start] + piece + data[start + len(piece) :]
