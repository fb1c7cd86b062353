"""Supplies a workflow's texts to the readers and the compiler, which touch no file themselves."""

from collections.abc import Callable
from pathlib import Path

from handrail.model.source import Bundle
from handrail.sources.workflow_snapshot import take


def load_bundle(main: Path, *, shown: Callable[[Path], str]) -> Bundle:
    """Read the main file and its companions; a main file that cannot be used is empty and stands in `refused`."""
    return take(main).bundle(shown)
