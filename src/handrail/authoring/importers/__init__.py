"""Importers that convert workflows of other systems to native folders, text to text; nothing is dropped silently."""

from handrail.authoring.importers.detect import detect, import_files
from handrail.authoring.importers.result import ImportedWorkflows, ImportNote

__all__ = ["ImportNote", "ImportedWorkflows", "detect", "import_files"]
