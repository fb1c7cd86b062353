"""The built-in library in the form the compiler needs: texts by path, each read on first use."""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from handrail import library
from handrail.model.source import SourceText

if TYPE_CHECKING:
    from handrail.compiler.builtins import Builtins

FOLDERS = {
    "assessments": ".json",
    "contracts": ".json",
    "features": ".json",
    "prompts": ".md",
    "refs": ".md",
    "routines": ".json",
}
TOP = ("authoring-spec.json",)


class LibraryFiles(Mapping[str, SourceText]):
    """The library's files by their path in it; listing them opens none."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: dict[str, SourceText] = {}
        self._listed: tuple[str, ...] | None = None

    def __getitem__(self, path: str) -> SourceText:
        if path not in self._read:
            if path not in self._paths():
                raise KeyError(path)
            text = (self._root / path).read_text("utf-8")
            self._read[path] = SourceText(f"handrail/library/{path}", text)
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths())

    def __len__(self) -> int:
        return len(self._paths())

    def _paths(self) -> tuple[str, ...]:
        if self._listed is None:
            inside = [f"{name}/{path.name}" for name, end in FOLDERS.items() for path in self._folder(name, end)]
            self._listed = (*(name for name in TOP if (self._root / name).is_file()), *sorted(inside))
        return self._listed

    def _folder(self, name: str, ending: str) -> list[Path]:
        folder = self._root / name
        return [path for path in folder.iterdir() if path.name.endswith(ending)] if folder.is_dir() else []


def library_root() -> Path:
    """Return the folder of the library inside the installed package."""
    # importlib.resources would support zipped packages too, but takes a third of a short command's start-up.
    return Path(str(library.__file__)).parent


@cache
def builtins() -> "Builtins":
    """Return the library by id."""
    from handrail.compiler.builtins import Builtins  # noqa: PLC0415 (finding workflows needs only the folder)

    return Builtins(LibraryFiles(library_root()))
