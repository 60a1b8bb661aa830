"""Converts images to their form in requests."""

from __future__ import annotations

import base64
import binascii
import os
import struct
import zlib
from typing import IO, Any, Mapping, Optional, Protocol, Tuple, TypedDict, Union, cast

from .contract import ImageItem
from .errors import client_error


class PixelArray(Protocol):
    """A NumPy array of bytes: the pixels of an image, or an encoded image."""

    @property
    def shape(self) -> Tuple[int, ...]: ...

    @property
    def dtype(self) -> Any: ...

    def tobytes(self) -> bytes: ...


ImageSource = Union[
    str, "os.PathLike[str]", bytes, bytearray, memoryview, IO[bytes], PixelArray
]


class _Described(TypedDict):
    bytes: ImageSource
    """Text is base64, not a path."""


class DescribedImage(_Described, total=False):
    """An image with its type and its id."""

    kind: str
    contentType: str
    """Default: detected from the bytes."""
    correlationId: str
    """Returned with the result of this image."""


Image = Union[ImageSource, DescribedImage]
"""A path, the bytes of a JPEG or PNG, an open binary file, or a NumPy array.

An array of uint8 has the shape (height, width), (height, width, 3) for RGB or (height, width, 4) for
RGBA, and is sent as PNG. An array with one dimension is an encoded image.
"""


def to_image_item(image: Image) -> ImageItem:
    """Raises UNSUPPORTED_IMAGE_TYPE, before anything is sent, for neither a JPEG nor a PNG."""
    if not isinstance(image, Mapping):
        return _encode(image, {})
    if "bytes" not in image:
        raise client_error("INVALID_ARGUMENT", _EXPECTED)
    source = image["bytes"]
    if not isinstance(source, str):
        return _encode(source, image)
    try:
        first_bytes = binascii.a2b_base64(source[:8])
    except (binascii.Error, ValueError):
        first_bytes = b""
    return _build(source, first_bytes, image, "the image")


_EXPECTED = "an image must be a path, bytes, a binary file, a NumPy array or {'bytes': ...}"


def _encode(source: object, description: Mapping[str, object]) -> ImageItem:
    data = _read(source)
    name = os.fspath(source) if isinstance(source, (str, os.PathLike)) else "the image"
    return _build(base64.b64encode(data).decode("ascii"), data, description, name)


def _build(
    text: str, first_bytes: bytes, description: Mapping[str, object], name: str
) -> ImageItem:
    content_type = description.get("contentType") or _sniff(first_bytes)
    if content_type is None:
        raise client_error("UNSUPPORTED_IMAGE_TYPE", f"{name} is neither a JPEG nor a PNG")
    item = {"kind": "image", "bytes": text, "contentType": content_type}
    if description.get("correlationId") is not None:
        item["correlationId"] = description["correlationId"]
    return cast(ImageItem, item)


def _sniff(data: bytes) -> Optional[str]:
    if data[:3] == b"\xff\xd8\xff":
        return "image/jpeg"
    if data[:4] == b"\x89PNG":
        return "image/png"
    return None


def _read(source: object) -> bytes:
    if isinstance(source, (str, os.PathLike)):
        return _read_file(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    if hasattr(source, "shape") and hasattr(source, "dtype"):
        return _read_array(cast(PixelArray, source))
    read = getattr(source, "read", None)
    # A file that was opened as text cannot decode a picture.
    try:
        data = read() if callable(read) else None
    except UnicodeDecodeError as error:
        raise client_error("INVALID_ARGUMENT", _EXPECTED) from error
    if not isinstance(data, bytes):
        raise client_error("INVALID_ARGUMENT", _EXPECTED)
    return data


def _read_file(path: Union[str, "os.PathLike[str]"]) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        message = f"{os.fspath(path)} cannot be read: {reason}"
        raise client_error("FILE_NOT_READABLE", message) from error


def _read_array(array: PixelArray) -> bytes:
    shape = array.shape
    if str(array.dtype) != "uint8" or 0 in shape:
        raise client_error("INVALID_ARGUMENT", "an array must have pixels of the type uint8")
    if len(shape) == 1:
        return array.tobytes()
    channels = 1 if len(shape) == 2 else shape[2] if len(shape) == 3 else 0
    if channels not in _COLOUR_TYPES:
        message = "an array must have the shape (height, width), (height, width, 3) or (…, 4)"
        raise client_error("INVALID_ARGUMENT", message)
    return _to_png(array.tobytes(), shape[1], shape[0], channels)


# By the number of channels (PNG, third edition, 11.2.1): grey, RGB, RGBA.
_COLOUR_TYPES = {1: 0, 3: 2, 4: 6}


def _to_png(pixels: bytes, width: int, height: int, channels: int) -> bytes:
    stride = width * channels
    # Each row begins with the number of its filter; 0 is none.
    rows = b"".join(
        b"\0" + pixels[start : start + stride] for start in range(0, stride * height, stride)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOUR_TYPES[channels], 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_png_chunk(*chunk) for chunk in chunks)


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
