"""Which tools the machine has."""

import re
import shutil
import subprocess

VERSION = re.compile(r"\d+(\.\d+)+")
PATIENCE = 10


def version_of(name: str) -> str | None:
    """Give the version that a tool says of itself; None when it is not there or does not answer."""
    path = shutil.which(name)
    if path is None:
        return None
    try:
        ran = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=PATIENCE, check=False)  # noqa: S603 (a tool of the user, by its full path)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = VERSION.search(ran.stdout)
    return found.group() if found is not None and ran.returncode == 0 else None
