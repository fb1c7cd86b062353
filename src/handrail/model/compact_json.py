"""Writes compact JSON, many small documents a second.

`JSONEncoder.encode` makes an encoder in C for each document, which takes as long as to write one of the size of an
event. This makes it once, where the interpreter has one.
"""

import json
from collections.abc import Callable
from json import encoder
from typing import Any, TypeAlias

Writer: TypeAlias = Callable[[object], str]


def compact(default: Callable[[Any], object] | None = None, *, allow_nan: bool = False) -> Writer:
    """Give a function that writes values as JSON in ASCII, without spaces."""
    whole = json.JSONEncoder(separators=(",", ":"), allow_nan=allow_nan, check_circular=False, default=default)
    try:
        return _of_c(whole, allow_nan=allow_nan)
    except (AttributeError, TypeError):
        return whole.encode


def _of_c(whole: json.JSONEncoder, *, allow_nan: bool) -> Writer:
    make: Any = getattr(encoder, "c_make_encoder")  # noqa: B009 - not declared, and not in every interpreter
    text = encoder.encode_basestring_ascii
    pieces = make(None, whole.default, text, None, ":", ",", whole.sort_keys, whole.skipkeys, allow_nan)

    def write(value: object) -> str:
        return "".join(pieces(value, 0))

    write({})
    return write
