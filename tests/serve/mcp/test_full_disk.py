"""A full or read-only disk while an agent is connected: it is told, nothing is lost, the same call works later."""

import asyncio
import stat
from collections.abc import Iterator
from pathlib import Path
from textwrap import wrap

import pytest
from inline_snapshot import snapshot

from handrail.errors import StorageFull
from handrail.store.bearer_token import bearer_at
from handrail.store.signing_keys import FILE, keys_in, rotate
from handrail.testing import small_disks
from handrail.testing.small_disks import fill, mounted, opened_again
from support.pull.client import mcp_client
from support.pull.room import NOTES, Pull, Said, chain

pytestmark = pytest.mark.system("disk")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes, which holds everything of Handrail."""
    home = tmp_path / "home"
    home.mkdir()
    with mounted(home, 3) as able:
        assert able
        yield home


@pytest.fixture
def small(disk: Path) -> Iterator[Pull]:
    """A room on that disk."""
    made = Pull(disk.parent)
    yield made
    made.close()


def _masked(said: Said, pull: Pull) -> str:
    return "\n".join(wrap(said.text.replace(str(pull.home), "HOME"), 100))


def _until_full(pull: Pull, at: Said) -> tuple[Said, Said]:
    """Advance until there is no room left; give the last step that was reached, and what it was answered."""
    for _ in range(60):
        said = pull.advance(at, NOTES * 2000)
        if said.is_error:
            return at, said
        at = said
    raise AssertionError("the disk never got full")


def test_an_advance_that_finds_no_room_is_told_and_the_same_call_works_once_there_is(small: Pull, disk: Path) -> None:
    at = small.start(chain(100))
    ballast = fill(disk)
    at, refused = _until_full(small, at)
    assert _masked(refused, small) == snapshot("""\
STORAGE_FULL: there is no room left for the log in HOME/data/handrail.db  Next: this is for your
user: free up space on that disk, then resume; everything recorded so far is safe. When that is
done, repeat this exact call: no run is lost\
""")
    assert refused.data["retry"] == {"kind": "retryable_after_ms", "afterMs": 1000}
    sizes = small.size()
    assert small.advance(at, NOTES * 2000).code == "STORAGE_FULL"
    assert small.rehydrate(at).address == at.address
    assert small.size() == sizes
    ballast.unlink()
    said = small.advance(at, NOTES * 2000)
    assert said.address == f"step-{int(str(at.address).removeprefix('step-')) + 1}"
    small.assert_sound()


def test_lists_and_starts_on_a_full_disk_end_in_an_answer(small: Pull, disk: Path) -> None:
    name = small.add(chain(2))
    ballast = fill(disk)
    listed = small.call("list_workflows", workspacePath=str(small.workspace))
    assert [each["workflowId"] for each in listed.data["workflows"] if each["workflowId"] == name] == [name]
    assert list((small.data / "lists").glob("*")) == []
    assert small.start(name).code == "STORAGE_FULL"
    assert small.size() == {}
    ballast.unlink()
    assert small.start(name).address == "step-1"


def test_keys_are_whole_or_not_there_when_the_disk_is_full(disk: Path) -> None:
    ballast = fill(disk)
    for make in (lambda: keys_in(disk / "data"), lambda: bearer_at(disk / "data" / "mcp-token")):
        with pytest.raises(StorageFull, match="there is no room left for the") as refused:
            make()
        assert refused.value.next_step == "free up space on that disk, then resume; everything recorded so far is safe"
    assert not [path for path in (disk / "data").glob("*") if path.is_file()]
    ballast.unlink()
    keys, bearer = keys_in(disk / "data"), bearer_at(disk / "data" / "mcp-token")
    ballast = fill(disk)
    with pytest.raises(StorageFull, match="there is no room left for the keys of tokens in"):
        rotate(disk / "data")
    assert (keys_in(disk / "data"), bearer_at(disk / "data" / "mcp-token")) == (keys, bearer)
    ballast.unlink()
    assert rotate(disk / "data")[1] == keys[0]
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (disk / "data").iterdir()}
    assert modes == {FILE: 0o600, "mcp-token": 0o600}


def test_a_server_on_a_disk_that_is_full_or_read_only_answers_and_goes_on(small: Pull, disk: Path) -> None:
    name = small.add(chain(2))
    small.close()
    for path in small.data.iterdir():
        if path.is_file():
            path.unlink()

    async def walk() -> list[Said]:
        async with mcp_client(small) as client:
            ballast = fill(disk)
            full = await client.start(name, small.workspace)
            ballast.unlink()
            assert small_disks.closed(disk)
            closed = await client.start(name, small.workspace)
            assert opened_again(disk)
            (small.data / FILE).write_text("")
            torn = await client.start(name, small.workspace)
            (small.data / FILE).unlink()
            return [full, closed, torn, await client.start(name, small.workspace)]

    full, closed, torn, first = asyncio.run(walk())
    assert (full.code, closed.code, torn.code) == ("STORAGE_FULL", "STORAGE_REFUSED", "STORAGE_DAMAGED")
    assert [_masked(each, small) for each in (closed, torn)] == snapshot(
        [
            """\
STORAGE_REFUSED: the log in HOME/data/handrail.db cannot be written: Read-only file system  Next:
this is for your user: make the folder writable for your user, or set HANDRAIL_HOME to a folder that
is. When that is done, repeat this exact call: no run is lost\
""",
            """\
STORAGE_DAMAGED: the keys of tokens in HOME/data/token-keys.json cannot be read  Next: this is for
your user: restore HOME/data/token-keys.json from a backup, or remove it: a new key is created, and
connected agents, whose tokens then become invalid, can find their runs again with resume_session.
When that is done, repeat this exact call: no run is lost\
""",
        ]
    )
    assert (first.run, first.address) == ("sample-flow-1", "step-1")
