"""Marks the fields of events and states that hold the digest of a blob, without which a history is incomplete."""

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Annotated, Any, TypeAlias

from handrail.frozen import frozen

_MARK = "digest of a blob"
BlobDigest: TypeAlias = Annotated[str, _MARK]
"""The digest of a blob, or an empty text for none."""


@frozen
class StreamPart:
    """A piece of a long output, stored as a blob; the pieces in order are the whole output."""

    digest: BlobDigest
    size: int


Stream: TypeAlias = tuple[StreamPart, ...]


def blobs_named_by(record: object) -> frozenset[str]:
    """List the digests of the blobs that an event or a state refers to."""
    return frozenset(_digests(record))


def _digests(record: object) -> Iterator[str]:
    for name in digest_fields(type(record)):
        if digest := getattr(record, name):
            yield digest
    for name in stream_fields(type(record)):
        yield from (part.digest for part in getattr(record, name))


@cache
def digest_fields(record: type[Any]) -> tuple[str, ...]:
    """List the fields of a record that hold the digest of a blob."""
    return tuple(each.name for each in fields(record) if _MARK in getattr(each.type, "__metadata__", ()))


@cache
def stream_fields(record: type[Any]) -> tuple[str, ...]:
    """List the fields of a record that hold an output in pieces."""
    return tuple(each.name for each in fields(record) if each.type == Stream)
