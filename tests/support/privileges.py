"""Root without the privilege to pass over the modes of files and folders, so that their tests run for every user."""

import ctypes
import os
from collections.abc import Generator
from contextlib import contextmanager

_VERSION = 0x20080522
_IGNORES_MODES = 1 << 1 | 1 << 2
"""The capabilities DAC_OVERRIDE and DAC_READ_SEARCH."""


@contextmanager
def held_by_modes() -> Generator[None]:
    """Let the tests do only what the modes of files and folders allow, even where they run as root."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    # Twice the effective, permitted and inheritable capabilities: the lower 32 of them, then the upper ones.
    found = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, found) == 0, os.strerror(ctypes.get_errno())
    held = (ctypes.c_uint32 * 6)(found[0] & ~_IGNORES_MODES, *found[1:])
    assert libc.capset(header, held) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert libc.capset(header, found) == 0, os.strerror(ctypes.get_errno())
