"""Verifies everything that the database holds, and cuts damaged streams back to what is intact."""

from collections.abc import Iterator

import apsw

from handrail.ports.hash_chain import START, digest_of, intact
from handrail.ports.log import Checkpoint, Head, Lease
from handrail.ports.log_care import Finding, Report, Salvage, TruncatedStream
from handrail.store.sqlite.compression import unpack
from handrail.store.sqlite.connection import Session
from handrail.store.sqlite.database import Database
from handrail.store.sqlite.streams import check_leases, head_at, head_of, rows_of, unpack_checkpoint

BATCH = 1000
NO_END = 2**62


def check(database: Database) -> Report:
    """Verify the file, the hash chain of each stream, blobs and checkpoints."""
    # Others may append meanwhile, so the ends of streams and their events must come from one snapshot.
    with database.snapshot() as session:
        broken = file_problems(session)
        if broken:
            return Report(tuple(broken))
        found = [*_stream_problems(session), *_blob_problems(session), *_checkpoint_problems(session)]
    return Report(tuple(found))


def file_problems(session: Session) -> list[Finding]:
    """Let SQLite check the file; if it is broken, nothing else in it can be verified."""
    try:
        lines = [str(row[0]).removeprefix("*** in database main ***\n") for row in session.fetch_all("integrity")]
    except (apsw.CorruptError, apsw.NotADBError) as error:
        lines = [str(error)]
    return [Finding("database", "main", line) for line in lines if line != "ok"]


def cut_damage(database: Database) -> Salvage:
    """Move the rows after the intact part of each damaged stream aside, and return what cannot be repaired."""
    with database.writing("salvage") as session:
        damaged = _stream_problems(session)
        cuts = tuple(_cut(session, finding) for finding in damaged)
        for finding, key in _checkpoints(session):
            if finding is not None:
                session.run("forget_checkpoint", *key)
        left = tuple(_blob_problems(session))
        cuts += _forget_lost_streams(session)
    return Salvage(cuts, None, left)


def cut_stream(database: Database, lease: Lease, keep: int) -> TruncatedStream:
    """Move the rows of one stream after its first events aside."""
    with database.writing("cut") as session:
        check_leases(session, (), (lease,))
        return _cut(session, Finding("stream", lease.stream, "", keep))


def _cut(session: Session, finding: Finding) -> TruncatedStream:
    stream, kept = finding.name, finding.intact
    before = head_of(session, stream)
    end = head_at(session, stream, kept)
    highest = session.fetch_number("highest_position")
    session.run("move_damaged", stream, kept)
    moved = session.run("cut_events", stream, kept)
    session.run("keep_position", highest)
    session.run("unconsume", stream, kept)
    session.run("forget_checkpoints_after", stream, kept)
    if kept:
        session.run("set_head", stream, end.seq, end.hash, highest)
    else:
        session.run("forget_head", stream)
    # These describe what was cut; whoever can read the events rebuilds them.
    session.run("forget_summary", stream)
    session.run("forget_issue", stream)
    session.run("forget_timers", stream)
    return TruncatedStream(stream, kept, moved, max(before.seq - kept - moved, 0))


def _forget_lost_streams(session: Session) -> tuple[TruncatedStream, ...]:
    """List the streams of which no event is left, and remove what refers to them."""
    gone = [str(row[0]) for row in session.fetch_all("lost_streams")]
    for statement in ("forget_timers_alone", "forget_checkpoints_alone", "forget_consumed_alone"):
        session.run(statement)
    return tuple(TruncatedStream(stream, 0, 0) for stream in gone)


def _stream_problems(session: Session) -> list[Finding]:
    found: list[Finding] = []
    for (stream,) in session.fetch_all("all_streams"):
        reached, end = _reach(session, stream), head_of(session, stream)
        beyond = rows_of(session, stream, reached.seq, NO_END, limit=1)
        if reached != end or beyond:
            problem = f"damaged after event {reached.seq} of {max(end.seq, reached.seq)}"
            found.append(Finding("stream", stream, problem, reached.seq))
    return found


def _reach(session: Session, stream: str) -> Head:
    reached = START
    while True:
        rows = rows_of(session, stream, reached.seq, NO_END, limit=BATCH)
        after = intact(stream, reached, rows)
        if after.seq - reached.seq < BATCH:
            return after
        reached = after


def _blob_problems(session: Session) -> list[Finding]:
    found: list[Finding] = []
    # Row by row: all blobs together may be larger than the memory.
    for (digest,) in session.fetch_all("blob_digests"):
        row = session.fetch_one("get_blob", digest)
        data = None if row is None or row[1] is None else unpack(row[0], row[1])
        if data is None or digest_of(data) != digest:
            found.append(Finding("blob", digest, "the content is damaged"))
    return found


def _checkpoint_problems(session: Session) -> list[Finding]:
    return [finding for finding, _ in _checkpoints(session) if finding is not None]


def _checkpoints(session: Session) -> Iterator[tuple[Finding | None, tuple[str, int, int]]]:
    for stream, seq, reducer, packed, state, sealed, event_hash in session.fetch_all("all_checkpoints"):
        good = unpack_checkpoint(Checkpoint(stream, seq, reducer, state), packed, sealed, event_hash)
        problem = Finding("checkpoint", stream, f"the checkpoint after event {seq} is damaged")
        yield (None if good else problem), (stream, seq, reducer)
