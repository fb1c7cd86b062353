"""Marks the fields of events and states that hold the digest of a blob: without these blobs a history is not whole."""

from dataclasses import fields
from functools import cache
from typing import Annotated, Any, TypeAlias

_MARK = "digest of a blob"
BlobDigest: TypeAlias = Annotated[str, _MARK]
"""The digest of a blob, or an empty text for none."""


def blobs_named_by(record: object) -> frozenset[str]:
    """List the digests of the blobs that an event or a state names."""
    return frozenset(digest for name in digest_fields(type(record)) if (digest := getattr(record, name)))


@cache
def digest_fields(record: type[Any]) -> tuple[str, ...]:
    """Name the fields of a record that hold the digest of a blob."""
    return tuple(each.name for each in fields(record) if _MARK in getattr(each.type, "__metadata__", ()))
