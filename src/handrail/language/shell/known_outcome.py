"""Shell commands whose outcome is known before they run."""

import re

ALWAYS_FAILS = re.compile(r"\s*(?:false|/bin/false|exit\s+0*[1-9]\d*)\s*;?\s*")
ALWAYS_PASSES = re.compile(r"\s*(?:true|:|/bin/true|exit\s+0+)\s*;?\s*")


def verdict(script: str) -> bool | None:
    """Return whether a command always passes or always fails; None if only running it tells."""
    if ALWAYS_FAILS.fullmatch(script):
        return False
    return True if ALWAYS_PASSES.fullmatch(script) else None
