"""All calls of an account pass one gate."""

import asyncio
from pathlib import Path

import pytest

from handrail.errors import TrackerBusy
from handrail.trackers.github.api.gate import SHORT, Gate, Limit, Pacing, find_limit

NOW = 1_000.0
SECONDARY = b'{"message": "You have exceeded a secondary rate limit."}'


class Time:
    def __init__(self) -> None:
        self.now = NOW
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    @property
    def pacing(self) -> Pacing:
        return Pacing(lambda: self.now, self.sleep, 1.0)


@pytest.mark.parametrize(
    ("status", "headers", "body", "until"),
    [
        (200, {"x-ratelimit-remaining": "0"}, b"{}", None),
        (403, {"x-ratelimit-remaining": "4998"}, b'{"message": "Resource not accessible"}', None),
        (404, {}, b"", None),
        (422, {"x-ratelimit-remaining": "0"}, b"", None),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000"}, b"", 2000.0),
        (429, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "2000"}, b"", 2000.0),
        (403, {"retry-after": "7", "x-ratelimit-remaining": "4998"}, SECONDARY, NOW + 7),
        (429, {"retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "9000"}, SECONDARY, NOW + 7),
        (403, {"x-ratelimit-remaining": "4998"}, SECONDARY, NOW + 60),
        (429, {}, b"", NOW + 60),
        (429, {"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, b"", NOW + 60),
        (403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "500"}, b"", NOW + 60),
        (200, {}, b'{"errors": [{"type": "RATE_LIMITED"}]}', NOW + 60),
        (200, {}, b'[{"title": "RATE_LIMITED"}]', None),
        (200, {}, b'{"errors": "RATE_LIMITED", "data": {"type": "RATE_LIMITED"}}', None),
    ],
)
def test_a_limit_is_recognized_in_every_form(
    status: int, headers: dict[str, str], body: bytes, until: float | None
) -> None:
    found = find_limit(status, headers, body, NOW)
    assert (None if found is None else found.until) == until


def test_a_short_wait_is_waited_and_a_long_one_is_told(tmp_path: Path) -> None:
    time = Time()
    gate = Gate(tmp_path, "a", time.pacing)
    gate.close(Limit(NOW + 2, "wait"))
    asyncio.run(_pass(gate))
    assert time.waits == [2]
    gate.close(Limit(time.now + SHORT + 1, "GitHub asks to wait"))
    with pytest.raises(TrackerBusy, match="asks to wait") as busy:
        asyncio.run(_pass(gate))
    assert busy.value.until == time.now + SHORT + 1


def test_a_gate_holds_for_other_processes_and_not_for_other_accounts(tmp_path: Path) -> None:
    time = Time()
    Gate(tmp_path, "a", time.pacing).close(Limit(NOW + 600, "wait"))
    with pytest.raises(TrackerBusy):
        asyncio.run(_pass(Gate(tmp_path, "a", time.pacing)))
    asyncio.run(_pass(Gate(tmp_path, "b", time.pacing)))
    Gate(tmp_path, "a", time.pacing).close(Limit(NOW + 10, "an older answer"))
    limit = Gate(tmp_path, "a", time.pacing).limit
    assert limit is not None
    assert limit.until == NOW + 600
    time.now = NOW + 601
    asyncio.run(_pass(Gate(tmp_path, "a", time.pacing)))


def test_writes_come_one_after_the_other_and_some_time_apart(tmp_path: Path) -> None:
    time, running, most = Time(), 0, 0

    async def write(gate: Gate) -> None:
        nonlocal running, most
        async with gate.turn(writes=True):
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1

    async def write_all() -> None:
        await asyncio.gather(*(write(Gate(tmp_path, "a", time.pacing)) for _ in range(4)))

    asyncio.run(write_all())
    assert most == 1
    assert time.waits == [1.0, 1.0, 1.0]


def test_a_folder_that_cannot_be_written_holds_nobody_back(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", "utf-8")
    gate = Gate(blocked, "a", Time().pacing)
    gate.close(Limit(NOW + 600, "wait"))
    asyncio.run(_pass(gate))


async def _pass(gate: Gate, *, writes: bool = True) -> None:
    async with gate.turn(writes=writes):
        pass
