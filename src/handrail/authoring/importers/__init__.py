"""Importers that convert workflows of other systems to native folders, text to text; nothing is dropped silently."""

from handrail.authoring.importers.detect import detect, import_files
from handrail.authoring.importers.result import Imported, ImportNote

__all__ = ["ImportNote", "Imported", "detect", "import_files"]
