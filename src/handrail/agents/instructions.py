"""A repository's instructions to every agent, for agents that are started without the repository's own files.

Only files inside the repository are read, even where a link or an import (`@docs/style.md`) leads elsewhere.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from handrail.ports.agents import AgentCall

MAX_LENGTH = 64 * 1024
"""The longest text that is passed on, in characters."""
MAX_DEPTH = 5
"""How deep files may import each other."""
ALL = "/**"
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\./|\.\./)*[\w.-][\w./-]*)")


def read_instructions(call: AgentCall, names: tuple[tuple[str, ...], ...]) -> str:
    """Read the instructions between the root of the repository and the working folder; in each the first group counts.

    A name is a path or, as `FOLDER/**`, all Markdown files below a folder.
    """
    folders = call.project.folders or (os.path.realpath(call.workspace),)
    root = Path(folders[-1])
    told: dict[Path, str] = {}
    for folder in map(Path, reversed(folders)):
        groups = ([path for name in group for path in _find_files(folder, name, root)] for group in names)
        for path in next(filter(None, groups), ()):
            _read(path, root, told)
    texts = (f"The repository's {path.relative_to(root).as_posix()} says:\n\n{text}" for path, text in told.items())
    return "\n\n".join(texts)[:MAX_LENGTH]


def _find_files(folder: Path, name: str, root: Path) -> Iterator[Path]:
    if name.endswith(ALL):
        top = folder / name.removesuffix(ALL)
        yield from (path for path in sorted(top.rglob("*.md")) if _is_inside(path, root))
    elif _is_inside(folder / name, root):
        yield folder / name


def _is_inside(path: Path, root: Path) -> bool:
    return path.is_file() and Path(os.path.realpath(path)).is_relative_to(root)


def _read(path: Path, root: Path, told: dict[Path, str], depth: int = 0) -> None:
    """Read a file and then what it imports, each once."""
    if path in told or sum(map(len, told.values())) > MAX_LENGTH:
        return
    with path.open(encoding="utf-8", errors="replace") as file:
        told[path] = file.read(MAX_LENGTH)
    for named in _IMPORT.findall(told[path]) if depth < MAX_DEPTH else ():
        other = Path(os.path.normpath(path.parent / named))
        if other.is_relative_to(root) and _is_inside(other, root):
            _read(other, root, told, depth + 1)
