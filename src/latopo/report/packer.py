"""The page's arrays, packed into one compressed block of bytes."""

import base64
import json
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Packer"]

Reference = dict[str, Any]
# JavaScript's typed arrays must start at multiples of their item size.
_ALIGNMENT = 8
# Bits kept of a float's 23-bit fraction: the page shows three digits, and zeros compress.
_KEPT_BITS = 11


class Packer:
    """Collects arrays; the page unpacks all of them at once."""

    def __init__(self) -> None:
        self._block = bytearray()

    def integers(self, values: NDArray[Any]) -> Reference:
        """Add integers, in the smallest type that holds all of them."""
        least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
        for name in ("uint8", "uint16", "uint32") if least >= 0 else ("int8", "int16", "int32"):
            if np.iinfo(name).min <= least and most <= np.iinfo(name).max:
                return self._add(values.astype(name))
        raise OverflowError(f"Packer: {least} to {most} does not fit 32 bits")

    def floats(self, values: NDArray[Any]) -> Reference:
        """Add numbers to about four digits, as 32-bit floats; NaN stays NaN."""
        bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
        half, kept = np.uint32(1 << (22 - _KEPT_BITS)), np.uint32(0xFFFFFFFF << (23 - _KEPT_BITS) & 0xFFFFFFFF)
        return self._add(np.where(np.isfinite(values), (bits + half) & kept, bits).view(np.float32))

    def texts(self, values: Sequence[str]) -> Reference:
        """Add texts."""
        content = np.frombuffer(json.dumps(values, ensure_ascii=False).encode("utf-8"), np.uint8)
        return self._add(content) | {"type": "Texts"}

    def text(self) -> str:
        """Everything: base64 of the zlib stream."""
        return base64.b64encode(zlib.compress(self._block, 9)).decode("ascii")

    def _add(self, values: NDArray[Any]) -> Reference:
        at = len(self._block)
        self._block += values.astype(values.dtype.newbyteorder("<")).tobytes()
        self._block += bytes(-len(self._block) % _ALIGNMENT)
        return {"type": f"{values.dtype.name.capitalize()}Array", "at": at, "length": values.size}
