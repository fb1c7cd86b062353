"""The hash of a definition: SHA-256 over the canonical form (RFC 8785) of everything in a plan that has a meaning."""

import hashlib
import json

import rfc8785

from handrail.model.codec import encode
from handrail.model.workflow.plan import Plan
from handrail.model.workflow.values import JsonValue


def fingerprint(plan: Plan) -> str:
    """Compute the hash of a plan, which is the same for the same meaning on every machine."""
    return "sha256:" + hashlib.sha256(canonical(encode(plan, hashed_only=True))).hexdigest()


def canonical(data: JsonValue) -> bytes:
    """Serialize data as canonical JSON (RFC 8785).

    The standard library writes the same bytes an order of magnitude faster as long as there are no fractions and no
    keys beyond ASCII: then sorting by code point equals sorting by UTF-16, and no number needs special formatting.
    """
    if _is_simple(data):
        return json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    return rfc8785.dumps(data)


def _is_simple(data: JsonValue) -> bool:
    pending: list[JsonValue] = [data]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            if not all(key.isascii() for key in item):
                return False
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        # RFC 8785 writes numbers as doubles, which hold integers exactly only up to 2**53 - 1.
        elif isinstance(item, float) or (isinstance(item, int) and abs(item) > 2**53 - 1):
            return False
    return True
