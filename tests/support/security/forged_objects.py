"""Objects that are not what their names say: git checks no name when it reads one."""

import hashlib
import struct
import zlib
from pathlib import Path


def forge_loose(objects: Path, content: bytes, false: bytes) -> None:
    """Store another content under the name of one, in a file of its own."""
    name = _name(content).hex()
    path = objects / name[:2] / name[2:]
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    path.write_bytes(zlib.compress(b"blob %d\0" % len(false) + false))


def forge_pack(objects: Path, content: bytes, false: bytes) -> None:
    """Store another content under the name of one, in a pack: what is packed counts before what has a file."""
    size, head = len(false), bytearray()
    first = 3 << 4 | size & 15
    size >>= 4
    while size:
        head.append(first | 128)
        first, size = size & 127, size >> 7
    head.append(first)
    entry = bytes(head) + zlib.compress(false)
    body = b"PACK" + struct.pack(">II", 2, 1) + entry
    pack = body + _sha(body)
    name = _name(content)
    fan = b"".join(struct.pack(">I", int(name[0] <= each)) for each in range(256))
    index = b"\xfftOc" + struct.pack(">I", 2) + fan + name + struct.pack(">II", zlib.crc32(entry), 12) + _sha(body)
    stem = objects / "pack" / f"pack-{_sha(body).hex()}"
    stem.parent.mkdir(exist_ok=True)
    stem.with_suffix(".pack").write_bytes(pack)
    stem.with_suffix(".idx").write_bytes(index + _sha(index))


def _name(content: bytes) -> bytes:
    return _sha(b"blob %d\0" % len(content) + content)


def _sha(data: bytes) -> bytes:
    return hashlib.sha1(data, usedforsecurity=False).digest()
