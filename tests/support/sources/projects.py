"""Repositories of several kinds, and what is found in them."""

import json
from pathlib import Path
from typing import Any

from handrail.sources.projects.detect import Project, detect


def project(root: Path, files: dict[str, Any], *ignored: str) -> Project:
    """Write files, data as JSON, and look at them."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return detect(root, ignored)


def checks(found: Project) -> dict[str, str]:
    return {check.name: check.command for check in found.checks}


PACKAGE = {"scripts": {"test": "vitest", "lint": "eslint .", "build": "vite build", "start": "node ."}}


PYPROJECT = """\
[project]
name = "shop"
dependencies = ["httpx"]
[dependency-groups]
dev = ["pytest>=8", "ruff"]
[tool.mypy]
files = ["src"]
"""
