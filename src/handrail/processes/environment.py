"""The one environment of everything that runs in a workspace: an allow-list, and what the user names."""

import os
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from hashlib import sha256

from handrail.model.secrets.redaction import Redactor
from handrail.ports.processes import MARK
from handrail.processes.secret_forms import FORMS

PASS_ENV = "HANDRAIL_PASS_ENV"  # noqa: S105 - the name of a variable
"""Names or globs to pass on, separated by commas, in addition to those of the configuration."""

ALLOWED = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "XDG_*"),
    *("LANG", "LANGUAGE", "LC_*", "TERM", "COLORTERM", "NO_COLOR", "CI"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO"),
    *("VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "NVM_DIR", "JAVA_HOME"),
    *("GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME"),
)
"""Variables for finding programs, talking to people, trusting certificates, and locating tool chains."""

_EACH_ITS_OWN = ("TERM", "COLORTERM", "NO_COLOR", "XDG_*")
"""Variables that differ from terminal to terminal and change nothing that a command does."""

SECRET = (
    *("*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*CREDENTIAL*"),
    *("*_KEY", "*_KEY_*", "*APIKEY*", "*_PAT", "*_DSN"),
)
"""Names of variables that contain secrets."""
_MARK_LENGTH = 12
_PATH = "/usr/local/bin:/usr/bin:/bin"
NAMED = "HANDRAIL_SECRETS"
"""Names or globs of further variables whose values are secrets, separated by commas."""


def filter_environment(parent: Mapping[str, str], pass_env: Iterable[str] = ()) -> dict[str, str]:
    """Choose what a command may see of our environment; what looks like a secret must be named, `*` does not count."""
    named = [*pass_env, *parent.get(PASS_ENV, "").split(",")]
    asked = tuple(pattern for pattern in (name.strip() for name in named) if pattern)
    chosen = {name: value for name, value in parent.items() if _is_allowed(name, asked)}
    chosen.setdefault("PATH", _PATH)
    return dict(sorted(chosen.items()))


def build_run_environment(parent: Mapping[str, str], named: Iterable[str]) -> dict[str, str]:
    """Choose the part of our environment that a run gets: what its commands and agents may see, and its settings."""
    settings = {name: parent[name] for name in (PASS_ENV, NAMED) if parent.get(name)}
    return {**filter_environment(parent, named), **settings}


def marks_of(parent: Mapping[str, str]) -> dict[str, str]:
    """Compute a hash for each variable that decides what commands find and do, without revealing any value."""
    seen = {name: parent[name] for name in filter_environment({**parent, PASS_ENV: ""}) if name in parent}
    if parent.get(PASS_ENV):
        seen[PASS_ENV] = parent[PASS_ENV]
    return {
        name: sha256(value.encode("utf-8", "surrogateescape")).hexdigest()[:_MARK_LENGTH]
        for name, value in seen.items()
        if not has_matching_glob(name, _EACH_ITS_OWN)
    }


@lru_cache(maxsize=4096)
def has_matching_glob(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a name matches one of some globs; cached, as it is asked about the same few variables."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


@lru_cache(maxsize=4096)
def _is_allowed(name: str, asked: tuple[str, ...]) -> bool:
    """Whether a command may see a variable, where these names and globs are asked for."""
    if name == MARK:
        return False
    if has_matching_glob(name, tuple(pattern for pattern in asked if pattern.strip("*"))):
        return True
    return not has_matching_glob(name.upper(), SECRET) and ("*" in asked or has_matching_glob(name, ALLOWED))


def secret_values(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that contain secrets: those listed as secret, and those whose name suggests it."""
    named = tuple(name.strip() for name in environ.get(NAMED, "").split(",") if name.strip())
    return {name: value for name, value in environ.items() if value and _is_secret(name, named)}


def process_redactor(more: Mapping[str, str] | None = None) -> Redactor:
    """Build a redactor for the secrets of this process's environment, and those of another one."""
    return Redactor({**secret_values(os.environ), **secret_values(more or {})}, FORMS)


@lru_cache(maxsize=4096)
def _is_secret(name: str, named: tuple[str, ...]) -> bool:
    return has_matching_glob(name.upper(), SECRET) or has_matching_glob(name, named)
