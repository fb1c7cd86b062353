"""Limits of connections: where they are read from, and what is left of a flood in the log."""

import logging

import pytest

from handrail.errors import UsageError
from handrail.serve.mcp.http_connections import HttpLimits, RepeatFilter, read_limits


def test_limits_are_read_from_the_environment() -> None:
    given = {"HANDRAIL_MCP_HEADER_TIMEOUT": "0.5", "HANDRAIL_MCP_BODY_TIMEOUT": "2", "HANDRAIL_MCP_CONNECTIONS": "7"}
    assert read_limits(given) == HttpLimits(0.5, 2.0, 7)
    assert read_limits({}) == HttpLimits()
    assert read_limits(given).most_connections == 7
    assert 8 <= read_limits({}).most_connections <= 512


@pytest.mark.parametrize("value", ["soon", "-1", "0", "inf", "nan"])
def test_a_limit_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(UsageError, match="HANDRAIL_MCP_BODY_TIMEOUT"):
        read_limits({"HANDRAIL_MCP_BODY_TIMEOUT": value})


def record(message: str, error: Exception | None = None) -> logging.LogRecord:
    trace = None if error is None else (type(error), error, None)
    return logging.LogRecord("asyncio", logging.ERROR, "", 0, message, (), trace)


def test_a_flood_of_messages_is_a_line_that_says_how_many_there_were() -> None:
    once = RepeatFilter(every=100.0)
    first, *more = [
        record("socket.accept() out of system resource\nsocket: x", OSError(24, "Too many")) for _ in range(9)
    ]
    assert once.filter(first)
    assert first.getMessage() == "socket.accept() out of system resource: [Errno 24] Too many"
    assert first.exc_info is None
    assert not any(once.filter(each) for each in more)
    assert once.filter(record("something else"))


def test_the_next_line_counts_what_was_left_out() -> None:
    once = RepeatFilter(every=100.0)
    assert [once.filter(record("again")) for _ in range(3)] == [True, False, False]
    once.next_at.clear()
    last = record("again")
    assert once.filter(last)
    assert last.getMessage() == "again (2 more like it)"


def test_the_trace_of_a_defect_is_kept() -> None:
    defect = record("Exception in ASGI application", TypeError("x"))
    assert RepeatFilter().filter(defect)
    assert defect.exc_info is not None
