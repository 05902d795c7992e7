"""Small sound picture files of every format and kind that the workbench reads, as bytes."""

import io
from functools import cache

import cv2
import imagecodecs
import numpy as np
import OpenEXR
import pillow_heif
import tifffile
from PIL import Image, PngImagePlugin
from PySide6.QtGui import QColorSpace

from workbench.files import png

HEIGHT, WIDTH = 22, 29


def png_chunk(kind, data):
    """A whole chunk, its length and checksum included."""
    return b"".join(png.chunk_parts(kind, data))


@cache  # to encode them takes a tenth of a second
def all_kinds():
    """{file name: its bytes}; the same bytes in every run."""
    return {**_pngs(), **_tiffs(), **_jpegs(), **_others(), **_newer()}


def samples(dtype="uint8", channels=3, height=HEIGHT, width=WIDTH):
    """(height, width, channels): a slope with some noise, so that codecs have work to do."""
    noise = np.random.default_rng(3).random((height, width, channels))
    slope = np.linspace(0, 1, width)[:, np.newaxis]
    mixed = 0.7 * slope + 0.3 * noise
    if dtype.startswith("float"):
        return (4 * mixed - 1).astype(dtype)
    return (mixed * np.iinfo(dtype).max).astype(dtype)


def _pngs():
    rgb = Image.fromarray(samples())
    palette = rgb.quantize(16)
    text = PngImagePlugin.PngInfo()
    text.add_itxt("Comment", "made up", zip=True)
    text.add_text("Title", "made up", zip=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    return {
        "rgb8.png": _pillow(rgb, "PNG", pnginfo=text, exif=exif),
        "grey8.png": _pillow(_grey(), "PNG"),
        "grey-alpha8.png": _pillow(_grey().convert("LA"), "PNG"),
        "rgba8.png": _pillow(Image.fromarray(samples(channels=4)), "PNG", icc_profile=_icc()),
        "palette.png": _pillow(palette, "PNG", transparency=3),
        "one-bit.png": _pillow(_grey().convert("1"), "PNG"),
        "transparent-colour.png": _pillow(rgb, "PNG", transparency=(1, 2, 3)),
        "animated.png": _pillow(rgb, "PNG", save_all=True, append_images=[rgb.rotate(90)] * 2),
        "grey16.png": _opencv(".png", samples("uint16", 1)),
        "rgb16.png": _opencv(".png", samples("uint16", 3)),
        "rgba16.png": _opencv(".png", samples("uint16", 4)),
    }


def _tiffs():
    rgb, grey = Image.fromarray(samples()), _grey()
    made = {
        f"{dtype}x{channels}.tif": _tifffile(samples(dtype, channels), **options)
        for dtype, channels, options in (
            ("uint8", 3, {"photometric": "rgb"}),
            ("uint16", 1, {"photometric": "minisblack"}),
            ("uint16", 3, {"photometric": "rgb", "compression": "zlib", "predictor": True}),
            ("uint16", 4, {"photometric": "rgb", "extrasamples": ["unassalpha"]}),
            ("float32", 3, {"photometric": "rgb", "byteorder": ">"}),
            ("float16", 1, {"photometric": "minisblack"}),
            ("int16", 1, {"photometric": "minisblack"}),
        )
    }
    made["planes16.tif"] = _tifffile(
        np.moveaxis(samples("uint16"), 2, 0), photometric="rgb", planarconfig="separate"
    )
    made["tiles16.tif"] = _tifffile(
        samples("uint16", 3, 40, 50), photometric="rgb", tile=(16, 16), bigtiff=True
    )
    pages = np.stack([samples("uint16")[..., 0]] * 3)
    made["pages16.tif"] = _tifffile(pages, photometric="minisblack")
    made["white-is-zero16.tif"] = _tifffile(samples("uint16", 1), photometric="miniswhite")
    made["cmyk16.tif"] = _tifffile(samples("uint16", 4), photometric="separated")
    for name in ("tiff_lzw", "packbits", "tiff_deflate", "jpeg"):
        made[f"{name}.tif"] = _pillow(rgb, "TIFF", compression=name, icc_profile=_icc())
    made["fax.tif"] = _pillow(grey.convert("1"), "TIFF", compression="group4")
    made["cmyk.tif"] = _pillow(rgb.convert("CMYK"), "TIFF")
    made["palette.tif"] = _pillow(rgb.quantize(16), "TIFF")
    return made


def _jpegs():
    rgb = Image.fromarray(samples())
    exif = Image.Exif()
    exif[0x0112] = 3
    return {
        "rgb.jpg": _pillow(rgb, "JPEG", exif=exif, icc_profile=_icc()),
        "progressive.jpg": _pillow(rgb, "JPEG", progressive=True, subsampling=2),
        "grey.jpg": _pillow(_grey(), "JPEG"),
        "cmyk.jpg": _pillow(rgb.convert("CMYK"), "JPEG"),
        "phone.mpo": _pillow(rgb, "MPO", save_all=True, append_images=[rgb.rotate(90)]),
    }


def _others():
    rgb = Image.fromarray(samples())
    rgba = Image.fromarray(samples(channels=4))
    return {
        "rgb.bmp": _pillow(rgb, "BMP"),
        "grey.bmp": _pillow(_grey(), "BMP"),
        "one-bit.bmp": _pillow(_grey().convert("1"), "BMP"),
        "lossy.webp": _pillow(rgb, "WEBP", exif=_turned(), icc_profile=_icc()),
        "lossless.webp": _pillow(rgba, "WEBP", lossless=True, exact=True),
        "animated.webp": _pillow(rgba, "WEBP", save_all=True, append_images=[rgba.rotate(90)]),
        "palette.gif": _pillow(rgb.quantize(16), "GIF"),
        "animated.gif": _pillow(rgb, "GIF", save_all=True, append_images=[rgb.rotate(90)] * 2),
        "grey8.pgm": _pillow(_grey(), "PPM"),
        "rgb8.ppm": _pillow(rgb, "PPM"),
        "one-bit.pbm": _pillow(_grey().convert("1"), "PPM"),
        "grey16.pgm": _pnm("P5", samples("uint16", 1), 65535),
        "rgb12.ppm": _pnm("P6", samples("uint16") >> 4, 4095),
        "plain.ppm": b"P3\n# in words\n2 1\n255\n255 0 0\n0 128 255\n",
        "plain16.pgm": b"P2\n3 1\n65535\n0 4000 65535\n",
    }


def _newer():
    rgba, light = Image.fromarray(samples(channels=4)), samples("float16", 4)
    exr = io.BytesIO()
    parts = [OpenEXR.Part({}, {"RGBA": light}), OpenEXR.Part({"name": "b"}, {"Y": light[..., 0]})]
    parts[0].header["name"] = "a"
    OpenEXR.File(parts).write(exr)
    pillow_heif.register_heif_opener()
    deep = samples("uint16") >> 6
    return {
        "light.exr": exr.getvalue(),
        "rgba.avif": _pillow(rgba, "AVIF", exif=_turned(), icc_profile=_icc()),
        "animated.avif": _pillow(rgba, "AVIF", save_all=True, append_images=[rgba.rotate(90)]),
        "rgb10.avif": bytes(imagecodecs.avif_encode(deep, bitspersample=10)),
        "rgba.heic": _pillow(rgba, "HEIF", exif=_turned(), icc_profile=_icc()),
        "rgba.jxl": bytes(imagecodecs.jpegxl_encode(samples(channels=4), usecontainer=True)),
        "grey10.jxl": bytes(imagecodecs.jpegxl_encode(deep[..., 0], bitspersample=10)),
        "light.jxl": bytes(imagecodecs.jpegxl_encode(light, lossless=True)),
        "rgba.jp2": _pillow(rgba, "JPEG2000"),
        "rgb10.j2k": bytes(imagecodecs.jpeg2k_encode(deep, bitspersample=10, codecformat="j2k")),
    }


def _turned():
    exif = Image.Exif()
    exif[0x0112] = 8
    return exif


def _grey():
    return Image.fromarray(samples(channels=1)[:, :, 0])


def _icc():
    return QColorSpace(QColorSpace.NamedColorSpace.DisplayP3).iccProfile().data()


def _pillow(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def _opencv(extension, data):
    return cv2.imencode(extension, data)[1].tobytes()


def _tifffile(data, **options):
    file = io.BytesIO()
    data = data[:, :, 0] if data.shape[-1] == 1 else data
    tifffile.imwrite(file, data, metadata=None, **options)
    return file.getvalue()


def _pnm(kind, data, largest):
    height, width = data.shape[:2]
    return f"{kind}\n{width} {height}\n{largest}\n".encode() + data.astype(">u2").tobytes()
