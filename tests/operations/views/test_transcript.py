"""What an agent printed is kept in pieces; a reader finds the same lines in them, wherever it starts."""

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handrail.agents.registry import KnownAgents
from handrail.operations.views.transcript import AgentStream, Transcripts
from handrail.runtime.handlers.agents import call
from handrail.runtime.handlers.agents.call import keep_stream
from handrail.store.memory.log import MemoryLog, MemoryWorld
from handrail.wiring.machine import this_machine

LINES = st.lists(st.sampled_from([b'{"type":"text","text":"%d"}' % n for n in range(40)] + [b"", b"x" * 70, b"{"]))


def reader(log: MemoryLog) -> Transcripts:
    return Transcripts(log, this_machine().processes, KnownAgents(), this_machine().redactor(), Path("/nowhere"))


def stream(log: MemoryLog, data: bytes) -> AgentStream:
    return AgentStream("case-1", "one", 1, "scripted", "scripted", 0.0, Path("/nowhere"), keep_stream(log, data))


def lines_of(log: MemoryLog, kept: AgentStream, after: int = 0) -> list[tuple[int, bytes]]:
    read = reader(log)._read_stored_lines  # pyright: ignore[reportPrivateUsage] - the law is about lines, entries hide some
    return list(read(kept.printed, after))


@given(LINES, st.booleans())
def test_every_entry_is_found_whatever_the_pieces_and_wherever_a_reader_starts(lines: list[bytes], ends: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    log = MemoryWorld().open()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call, "PART", 64)
        kept = stream(log, data)
    whole = dataclasses.replace(kept, printed=keep_stream(log, data))
    assert sum(part.size for part in kept.printed) == len(data)
    assert b"".join(log.get_blob(part.digest) for part in kept.printed) == data
    all_lines = lines_of(log, whole)
    assert [line for _, line in all_lines] == [line.rstrip(b"\r\n") for line in data.splitlines(keepends=True)]
    assert lines_of(log, kept) == all_lines
    for offset, _ in all_lines:
        assert lines_of(log, kept, offset) == [each for each in all_lines if each[0] > offset]


def test_a_reader_who_knows_the_place_opens_no_piece_before_it() -> None:
    log = MemoryWorld().open()
    data = b"".join(b'{"type":"text","text":"%08d"}\n' % n for n in range(200_000))
    kept = stream(log, data)
    assert len(kept.printed) > 4
    for part in kept.printed[:-1]:
        assert log.erase_blob(part.digest)
    found = lines_of(log, kept, len(data) - kept.printed[-1].size)
    assert found[-1] == (len(data), b'{"type":"text","text":"00199999"}')
