"""A commit-graph file that lies: it says that a branch contains the commits of another one."""

import hashlib
import struct
from collections.abc import Mapping
from pathlib import Path

_NONE = 0x70000000
_DATE = 1_700_000_000


def forge_graph(objects: Path, trees: Mapping[str, str], line: tuple[str, ...]) -> None:
    """Write a commit-graph in which some commits, the newest first, are each the parent of the one before it.

    `trees` has the tree of each commit. Git believes such a file for every commit that it comes to on its way.
    """
    ids = sorted(line)
    at = {commit: number for number, commit in enumerate(ids)}
    parents = dict(zip(line, (*(at[commit] for commit in line[1:]), _NONE), strict=True))
    levels = {commit: len(line) - number for number, commit in enumerate(line)}
    fan = b"".join(struct.pack(">I", sum(int(each[:2], 16) <= first for each in ids)) for first in range(256))
    data = b"".join(
        bytes.fromhex(trees[each]) + struct.pack(">IIII", parents[each], _NONE, levels[each] << 2, _DATE)
        for each in ids
    )
    _write(objects / "info/commit-graph", {b"OIDF": fan, b"OIDL": bytes.fromhex("".join(ids)), b"CDAT": data})


def _write(path: Path, chunks: dict[bytes, bytes]) -> None:
    offset = 8 + 12 * (len(chunks) + 1)
    table = b""
    for name, chunk in chunks.items():
        table += name + struct.pack(">Q", offset)
        offset += len(chunk)
    table += bytes(4) + struct.pack(">Q", offset)
    body = b"CGPH" + bytes([1, 1, len(chunks), 0]) + table + b"".join(chunks.values())
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(body + hashlib.sha1(body, usedforsecurity=False).digest())
