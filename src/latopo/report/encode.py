"""Arrays inside a page: one compressed block of bytes, and text that cannot end a script element."""

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packer", "script_json"]

Reference = dict[str, Any]
# JavaScript's typed arrays must start at multiples of their item's size.
_ALIGNMENT = 8
# Kept bits of a float's 23 after the point: three digits are shown, and zeros compress.
_KEPT_BITS = 11


class Packer:
    """Collects arrays; the page unpacks all of them at once.

    Example:
        >>> packer = Packer()
        >>> packer.integers(np.array([3, -1])), packer.floats(np.array([0.5]))
        ({'type': 'Int8Array', 'at': 0, 'length': 2}, {'type': 'Float32Array', 'at': 8, 'length': 1})
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._size = 0

    def integers(self, values: NDArray[Any]) -> Reference:
        """Keep whole numbers in the smallest type that holds all of them."""
        least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
        names = ("uint8", "uint16", "uint32") if least >= 0 else ("int8", "int16", "int32")
        for name in names:
            if np.iinfo(name).min <= least and most <= np.iinfo(name).max:
                return self._add(values.astype(name))
        raise OverflowError(f"Packer: {least} to {most} does not fit 32 bits")

    def floats(self, values: NDArray[Any]) -> Reference:
        """Keep numbers to about four digits, as 32-bit floats; NaN stays NaN."""
        rounded = np.ascontiguousarray(values, np.float32).view(np.uint32)
        half, kept = np.uint32(1 << (22 - _KEPT_BITS)), np.uint32(0xFFFFFFFF << (23 - _KEPT_BITS) & 0xFFFFFFFF)
        return self._add(np.where(np.isfinite(values), (rounded + half) & kept, rounded).view(np.float32))

    def text(self) -> str:
        """Everything: base64 of the zlib stream."""
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode("ascii")

    def _add(self, values: NDArray[Any]) -> Reference:
        at, content = self._size, values.astype(values.dtype.newbyteorder("<")).tobytes()
        padding = -len(content) % _ALIGNMENT
        self._parts += [content, b"\0" * padding]
        self._size += len(content) + padding
        return {"type": f"{values.dtype.name.capitalize()}Array", "at": at, "length": values.size}


def script_json(content: Any) -> str:
    """JSON for a script element: no "<", ">" or "&" in it, so that no text can end the element or begin another.

    Example:
        >>> script_json({"name": "</script>"})
        '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(content, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
