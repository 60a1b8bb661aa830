from __future__ import annotations

import base64
import importlib
import io
import os
import pathlib
import unittest
from typing import Any, List

from facegate import Client, FacegateError
from facegate.error_codes import UnsupportedImageTypeError
from facegate.errors import FileNotReadableError, InvalidArgumentError
from facegate.images import to_image_item

from .support import TestCase, real_client

numpy: Any = None
try:
    numpy = importlib.import_module("numpy")
except ImportError:
    pass


class ImageTests(TestCase):
    def test_every_form_of_an_image_has_the_same_result(self) -> None:
        client = real_client()
        path = pathlib.Path(os.environ["FACEGATE_PHOTO"])
        jpeg = path.read_bytes()
        expected = client.detect(str(path))
        self.assertGreater(expected["faceCount"], 0)
        forms: List[Any] = [
            path,
            jpeg,
            bytearray(jpeg),
            memoryview(jpeg),
            io.BytesIO(jpeg),
            {"bytes": jpeg},
            {"bytes": base64.b64encode(jpeg).decode(), "contentType": None},
            {"kind": "image", "bytes": base64.b64encode(jpeg).decode(), "contentType": "image/jpg"},
        ]
        for form in forms:
            self.assertEqual(client.detect(form), expected)
        with open(path, "rb") as file:
            self.assertEqual(client.detect(file), expected)

    def test_the_pixels_of_an_array_are_sent_as_png(self) -> None:
        client = real_client()
        for channels in ((), (3,), (4,)):
            value = client.detect(PixelBytes((40, 60, *channels)))
            self.assertEqual((value["image"]["width"], value["image"]["height"]), (60, 40))
            self.assertEqual(value["faceCount"], 0)
        wrong: List[Any] = [PixelBytes((4, 4, 2)), PixelBytes((4, 0, 3)), PixelBytes((1, 2, 3, 4))]
        for array in [*wrong, PixelBytes((4, 4), "float32")]:
            with self.assertRaises(InvalidArgumentError):
                client.detect(array)

    @unittest.skipIf(numpy is None, "NumPy is not installed")
    def test_an_array_of_numpy_is_an_image(self) -> None:
        client = real_client()
        self.assertEqual(client.detect(numpy.zeros((40, 60, 3), numpy.uint8))["faceCount"], 0)
        pixels = numpy.zeros((40, 80, 3), numpy.uint8)[:, ::2, ::-1]  # not contiguous
        self.assertEqual(client.detect(pixels)["image"]["width"], 40)
        path = os.environ["FACEGATE_PHOTO"]
        encoded = numpy.fromfile(path, numpy.uint8)
        self.assertEqual(client.detect(encoded), client.detect(path))

    def test_an_unreadable_or_unknown_image_is_reported_before_it_is_sent(self) -> None:
        client = Client("http://127.0.0.1:1", "k", attempts_max=1)
        with self.assertRaisesRegex(FileNotReadableError, "missing.jpg cannot be read"):
            client.detect("missing.jpg")
        with self.assertRaises(UnsupportedImageTypeError):
            client.detect(b"GIF89a")
        with self.assertRaisesRegex(UnsupportedImageTypeError, __file__):
            client.detect(__file__)
        with self.assertRaises(UnsupportedImageTypeError):
            client.detect({"bytes": "not base64"})
        with self.assertRaises(FacegateError):
            text: Any = io.StringIO("text")
            client.detect(text)
        picture: Any = io.TextIOWrapper(io.BytesIO(b"\xff\xd8\xff"), encoding="utf-8")
        with self.assertRaisesRegex(FacegateError, "a binary file"):
            client.detect(picture)

    def test_the_content_type_is_detected(self) -> None:
        self.assertEqual(to_image_item(b"\x89PNG...")["contentType"], "image/png")
        encoded = base64.b64encode(b"\xff\xd8\xff...").decode()
        self.assertEqual(to_image_item({"bytes": encoded})["contentType"], "image/jpeg")


class PixelBytes:
    """What the client reads of an array, for machines without NumPy."""

    def __init__(self, shape: Any, dtype: str = "uint8") -> None:
        self.shape = shape
        self.dtype = dtype

    def tobytes(self) -> bytes:
        size = 1
        for length in self.shape:
            size *= length
        return bytes(size)
