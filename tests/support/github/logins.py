"""Installs what a token can come from beside the environment: a `gh` that is logged in, and the package `keyring`."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest


def put_gh(folder: Path, token: str) -> None:
    """Write a program `gh` that knows a token."""
    program = folder / "gh"
    program.write_text(f'#!/bin/sh\ntest "$1 $2" = "auth token" && echo {token}\n', "utf-8")
    program.chmod(0o755)


def put_keyring(monkeypatch: pytest.MonkeyPatch, folder: Path, host: str, token: str) -> None:
    """Write a package `keyring` with one entry, and let this process have it until the test is over."""
    path = folder / "keyring.py"
    entries = {("handrail", host): token}
    path.write_text(f"def get_password(*asked):\n    return {entries!r}.get(asked)\n", "utf-8")
    spec = spec_from_file_location("keyring", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "keyring", module)
