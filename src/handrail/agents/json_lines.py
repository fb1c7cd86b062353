"""JSON lines of agents: read without trusting their content, and how to describe a process without a result.

Most of an agent's output is only skimmed, and `skim` does that: once there is much of it, with the parser that the MCP
SDK brings along, which is three times as fast as Python's own, and takes as long to import as a megabyte takes to read.
What a step stores is read by `read_line`.
"""

import json
import math
import signal
from collections.abc import Callable
from typing import Any, TypeAlias

from handrail.model.workflow.values import JsonValue
from handrail.ports.processes import Ended, Gone

Line: TypeAlias = dict[str, JsonValue]
FAST_PARSER_FROM = 1 << 20
"""Bytes of lines from which on it pays to import a faster parser."""


def read_line(line: bytes) -> Line:
    """Parse a line that is an object; return an empty one for anything else."""
    try:
        words = line.decode().strip()
        said, end = _SCAN(words, 0)
        # Searching one byte is much faster than searching two, and few lines contain it.
        if b"\\" in line and rb"\ud" in line.lower():
            json.dumps(said, ensure_ascii=False).encode()  # fails on a lone surrogate, which cannot be stored
    except (ValueError, StopIteration, RecursionError):
        return {}
    return said if said.__class__ is dict and end == len(words) else {}


class LenientJsonParser:
    """Parses like `read_line`, except that numbers may be infinite or not a number: `number` ignores those."""

    __slots__ = ("_parse", "_seen")

    def __init__(self) -> None:
        self._seen = 0
        self._parse: Callable[[bytes], Any] | None = None

    def __call__(self, line: bytes) -> Line:
        """Parse a line that is an object; return an empty one for anything else."""
        parse = self._parse
        if parse is None:
            self._seen += len(line)
            if self._seen > FAST_PARSER_FROM:
                self.use_fast_parser()
            return read_line(line)
        try:
            said = parse(line)
        except ValueError:
            return read_line(line)
        return said if said.__class__ is dict else {}

    def use_fast_parser(self) -> None:
        """Use the faster parser from now on."""
        from pydantic_core import from_json  # noqa: PLC0415 - only where it pays off

        self._parse = from_json


skim = LenientJsonParser()


def part(said: Line, name: str) -> Line:
    """Return an object within an object; an empty one where there is none."""
    value = said.get(name)
    return value if isinstance(value, dict) else {}


def text(said: Line, name: str) -> str:
    """Return a text within an object; an empty one where there is none."""
    value = said.get(name)
    return value if isinstance(value, str) else ""


def number(value: JsonValue) -> float | None:
    """Return a finite number as it is, and None for any other value."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def amount(value: JsonValue) -> float | None:
    """Return a number that can be a cost, and None for any other value."""
    found = number(value)
    return None if found is None or found < 0 else found


def count(value: JsonValue) -> int:
    """Return a value as a count; 0 where it is not one."""
    return max(0, value) if isinstance(value, int) else 0


def explain_no_result(ended: Ended | Gone) -> str:
    """Describe how an agent without a result ended."""
    match ended:
        case Gone():
            return "the agent was stopped from outside before it returned a result"
        case Ended(reason=str(reason)):
            return reason
        case Ended(exit_code=None, signal=int(number)):
            return f"the agent was killed by {_signal(number)} before it returned a result"
        case Ended():
            return f"the agent ended with exit code {ended.code} and returned no result"


def _refuse(word: str) -> float:
    raise ValueError(word)


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


_SCAN: Callable[[str, int], tuple[Any, int]] = vars(json.JSONDecoder(parse_constant=_refuse, parse_float=_finite))[
    "scan_once"
]
"""Shared by all lines: creating it takes longer than reading a line, and so does the rest of a decoder."""


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
