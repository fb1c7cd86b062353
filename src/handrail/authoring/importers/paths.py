"""Splits relative paths of source files."""

from collections.abc import Mapping


def clean_paths(files: Mapping[str, str]) -> dict[str, str]:
    """Normalize paths to forward slashes without `.` parts, and drop those that leave the folder."""
    found: dict[str, str] = {}
    for path, text in files.items():
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
        if parts and ".." not in parts:
            found["/".join(parts)] = text
    return found


def folder_of(path: str) -> str:
    """Return the folder of a path with its slash, empty at the top."""
    head, slash, _ = path.rpartition("/")
    return head + slash


def file_name(path: str) -> str:
    """Return the last part of a path."""
    return path.rpartition("/")[2]


def stem_of(path: str) -> str:
    """Return the last part of a path without its extension."""
    name = file_name(path)
    return name.rpartition(".")[0] or name


def ending_of(path: str) -> str:
    """Return the extension of a path in lower case."""
    return file_name(path).rpartition(".")[2].lower()
