"""Rendered objects as PNG files in memory, where this installation can render; else the page draws them itself."""

import io
from functools import lru_cache
from importlib import import_module
from threading import Thread

import numpy as np
from PIL import Image


class Pictures:
    """Rendered once, beside the server's other work."""

    def __init__(self) -> None:
        self._pixels: np.ndarray | None = None
        self.png = lru_cache(maxsize=1024)(self._png)

    def begin(self) -> None:
        Thread(target=self._render, daemon=True).start()

    def _render(self) -> None:
        try:
            pixels = import_module("implicature.spaces.pictures").object_pictures()
        except (ImportError, ValueError, OSError, RuntimeError):
            return  # not installed, or nothing here to render with
        self._pixels = np.asarray(pixels)

    @property
    def number(self) -> int:
        return 0 if self._pixels is None else len(self._pixels)

    def _png(self, instance: int) -> bytes:
        assert self._pixels is not None
        file = io.BytesIO()
        Image.fromarray(self._pixels[instance]).save(file, "PNG", optimize=True)
        return file.getvalue()
