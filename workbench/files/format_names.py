"""The formats that are written: what users call them, and the extension that says the same."""

EXTENSION_OF = {
    "png": ".png",
    "tiff": ".tif",
    "jpeg": ".jpg",
    "webp": ".webp",
    "bmp": ".bmp",
    "pnm": ".pnm",
}
