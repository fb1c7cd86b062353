"""Contents that are held until the event that names them is recorded."""

from pathlib import Path

import pytest

from handrail.errors import NotFound
from handrail.model.history.events import StepEnded
from handrail.model.history.named_blobs import StreamPart
from handrail.ports.log import Append, Holder, NewEvent
from handrail.runtime.event_records import MAX_BLOB_SIZE, MAX_BLOBS, HeldBlobs, encode_event
from handrail.store.memory.log import MemoryWorld
from handrail.store.sqlite.log import open_log


def ended(*digests: str) -> StepEnded:
    printed = tuple(StreamPart(digest, 1) for digest in digests)
    return StepEnded(address="one", began=1, status="succeeded", printed=printed, at=1.0)


def test_a_content_is_held_until_its_event_is_recorded() -> None:
    log = MemoryWorld().open()
    held = HeldBlobs(log)
    digest = held.put_blob(b"said")
    assert held.get_blob(digest) == b"said"
    with pytest.raises(NotFound):
        log.get_blob(digest)
    assert held.find_named((ended("sha256:other"),)) == {}
    assert held.find_named((ended(digest),)) == {digest: b"said"}
    log.append([Append("run", 0, (encode_event(ended(digest)),), blobs=(b"said",))], [])
    held.release((digest,))
    assert held.find_named((ended(digest),)) == {}
    assert held.get_blob(digest) == log.get_blob(digest) == b"said"


def test_a_large_content_is_stored_at_once() -> None:
    log = MemoryWorld().open()
    digest = HeldBlobs(log).put_blob(b"x" * (MAX_BLOB_SIZE + 1))
    assert len(log.get_blob(digest)) == MAX_BLOB_SIZE + 1


def test_a_content_that_others_displace_is_stored() -> None:
    log = MemoryWorld().open()
    held = HeldBlobs(log)
    digests = [held.put_blob(str(number).encode()) for number in range(MAX_BLOBS + 1)]
    assert log.get_blob(digests[0]) == b"0"
    assert all(held.get_blob(digest) == str(number).encode() for number, digest in enumerate(digests))
    with pytest.raises(NotFound):
        log.get_blob(digests[-1])


def test_an_erased_content_is_held_no_more() -> None:
    held = HeldBlobs(MemoryWorld().open())
    digest = held.put_blob(b"said")
    assert held.erase_blob(digest)
    assert not held.erase_blob(digest)


def test_an_append_that_follows_the_last_one_stores_contents_in_the_same_commit(tmp_path: Path) -> None:
    points: list[str] = []
    log = open_log(tmp_path, on_point=points.append)
    lease = log.acquire("run", "me")
    assert not isinstance(lease, Holder)
    summary = {"run": "run", "status": "running"}
    log.append([Append("run", 0, (NewEvent("a", 1, b"{}"),), summary=summary)], [lease])
    points.clear()
    next_one = Append("run", 1, (NewEvent("b", 1, b"{}"),), summary=summary, blobs=(b"said",), if_quiet=True)
    log.append([next_one], [lease])
    assert points == ["append.before", "append.after"]
    assert log.get_blob(HeldBlobs(log).put_blob(b"said")) == b"said"
    log.close()
