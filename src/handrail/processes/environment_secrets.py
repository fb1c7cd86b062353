"""Which variables of an environment hold secrets, and what takes those out of everything that is kept or shown."""

import os
from collections.abc import Mapping

from handrail.model.secrets.redaction import Redactor
from handrail.processes.environment import SECRET, fits
from handrail.processes.secret_forms import FORMS

NAMED = "HANDRAIL_SECRETS"
"""Names or globs of further variables whose values are secrets, separated by commas."""


def secret_values(environ: Mapping[str, str]) -> dict[str, str]:
    """Give the variables that hold secrets: those that are named so, and those whose name says so."""
    named = tuple(name.strip() for name in environ.get(NAMED, "").split(",") if name.strip())
    return {name: value for name, value in environ.items() if value and _is_secret(name, named)}


def redactor_here(more: Mapping[str, str] | None = None) -> Redactor:
    """Make what takes the secrets of this process's environment out of a text, and those of another one."""
    return Redactor({**secret_values(os.environ), **secret_values(more or {})}, FORMS)


def _is_secret(name: str, named: tuple[str, ...]) -> bool:
    return fits(name.upper(), SECRET) or fits(name, named)
